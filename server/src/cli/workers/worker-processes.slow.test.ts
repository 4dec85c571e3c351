import { expect, onTestFinished, test } from 'vitest'
import { freshDatabaseUrl } from '../../../test/support/database/engines.ts'
import { childrenOf, killHard } from '../../../test/support/processes/children.ts'
import { eventually, startProgram } from '../../../test/support/processes/landpass.ts'
import { programPath } from '../../../test/support/run/programs.ts'

/** Above what a busy machine keeps a process waiting for. */
const SILENCE_LIMIT_MS = 9_000
/** Only for tests that hang. */
const SOON_MS = 150_000

test('a worker process that does not answer is killed and replaced, and the other goes on', async () => {
  const server = startProgram(
    programPath('test/support/processes/workers-child.js'),
    [String(SILENCE_LIMIT_MS)],
    {
      ...{ WORKERS: '2', DATABASE_URL: await freshDatabaseUrl(), PORT: '0', LOG_LEVEL: 'warn' },
    },
  )
  onTestFinished(() => killHard(server.child))
  const workers = () => childrenOf(server.child.pid ?? 0)
  await server.said('Ctrl-C stops it.')
  await eventually(workers, (pids) => pids.length === 2, SOON_MS)
  const origin = /(http:\/\/[\d.]+:\d+)\/health\/ready/.exec(server.stdout())?.[1]
  const bothServe = async () =>
    (await (await fetch(`${origin}/metrics`)).text()).match(/^landpass_land_revision\{/gm)?.length === 2
  await eventually(bothServe, Boolean, SOON_MS)
  const [first = 0, second = 0] = workers()

  process.kill(second, 'SIGSTOP')
  const stoppedAtMs = performance.now()

  await eventually(workers, (pids) => pids.length === 2 && !pids.includes(second), SOON_MS)
  expect(performance.now() - stoppedAtMs).toBeGreaterThan(SILENCE_LIMIT_MS / 2)
  expect(workers()).toContain(first)
  await eventually(bothServe, Boolean, SOON_MS)
  expect(server.stderr()).toContain('worker process 2 did not answer for 9 s and is killed')
  expect(server.stderr()).toContain('worker process 2 ended (SIGKILL); another one takes its place')
  expect(server.stderr()).not.toContain('worker process 1')
})
