import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { SECOND_MS } from '../../src/clock.ts'
import { childrenOf, isAlive, killHard } from '../support/children.ts'
import { emptyDir, freshDataDir } from '../support/engines.ts'
import { eventually, type Serving, serve, statusOf } from '../support/landpass.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))
const SOON_MS = 10 * SECOND_MS
/** The printed example, to be copied: one command a line, after two blanks. */
const COMMAND = /^ {2}((?:curl|npm) .*)$/gm

const hasCurl = spawnSync('sh', ['-c', 'curl --version']).status === 0

/**
 * `npm start` without its world, which takes longer to make than all of this; scripts/check-fresh-clone.mjs does
 * the same with it.
 */
test.skipIf(!hasCurl)(
  'the printed example ends with a token in the ledger, and Ctrl-C ends the server and both simulators',
  async () => {
    const server = await serveDemo()
    const commands = [...server.stdout().matchAll(COMMAND)].map(([, command = '']) => command)
    const simulators = childrenOf(server.child.pid!)

    const said: string[] = []
    for (const command of commands) said.push(await paste(command))

    expect(commands.map((command) => command.split(' ', 1)[0])).toEqual(['curl', 'curl', 'npm', 'curl'])
    expect(JSON.parse(said[0]!)).toMatchObject({ ok: true, data: { id: 90_001, coordinates: '52,-10' } })
    expect(JSON.parse(said[1]!)).toMatchObject({ ok: true, data: { body: { num: 100, available: 100 } } })
    expect(said[2]).toMatch(/\nminted: the issuer's ledger has your token\n$/)
    expect(JSON.parse(said[3]!)).toMatchObject({ count: 1, mints: [{ event_id: 90_001 }] })
    expect(simulators).toHaveLength(2)

    const { code, stderr } = await server.stop()

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(simulators.filter(isAlive)).toEqual([])
    for (const address of addressesIn(server)) expect(await statusOf(address), address).toBe(0)
  },
)

test('the simulators end when their server is killed', async () => {
  const server = await serveDemo()
  const simulators = childrenOf(server.child.pid!)
  expect(simulators.filter(isAlive)).toHaveLength(2)

  await killHard(server.child)

  await eventually(
    () => simulators.filter(isAlive),
    ({ length }) => length === 0,
    SOON_MS,
  )
})

test('with an issuer in the settings, none is simulated', async () => {
  const server = await serveDemo({
    ISSUER_API_KEY: 'a-key',
    ISSUER_CLIENT_ID: 'a-client',
    ISSUER_CLIENT_SECRET: 'a-secret',
  })

  expect(server.stdout()).not.toMatch(COMMAND)
  expect(childrenOf(server.child.pid!)).toEqual([])
  await server.stop()
})

async function serveDemo(env = {}): Promise<Serving> {
  return serve({ DATA_DIR: await freshDataDir(), ...env }, ['--demo', '--only', 'attendance'])
}

/** Runs a line as a shell does; only `npm run landpass --`, which would look whether to compile, is the program itself. */
async function paste(command: string): Promise<string> {
  const line = command
    .replace('npm run landpass --', `'${process.execPath}' '${MAIN}'`)
    .replace(/^curl /, 'curl -sS ')
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd: emptyDir() })
  return stdout
}

function addressesIn(server: Serving): readonly string[] {
  return [...new Set(server.stdout().match(/http:\/\/127\.0\.0\.1:\d+/g))]
}
