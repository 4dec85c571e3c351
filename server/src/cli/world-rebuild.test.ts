import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { WorldRebuild } from './world-rebuild.ts'

/** A process in the place of `landpass follow --rebuild`. */
const commandThat = (program: string) => () =>
  spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })

const FAILS = `console.log(JSON.stringify({ ok: false, error: 'no node answers' })); process.exitCode = 1; process.disconnect()`
const SUCCEEDS = `console.log(JSON.stringify({ phase: 'replay', block: 7 })); process.disconnect()`
const WAITS = `console.log('waits'); process.once('disconnect', () => process.exit(1))`

/** The process leads from the second look on. */
function outdatedChain() {
  let looks = 0
  return {
    get leads() {
      looks += 1
      return looks > 1
    },
    whyOutdated: async () => 'rules' as const,
    hasStoredLogs: async () => true,
  }
}

test('the process that leads makes an old world again, and tries again what failed', async () => {
  const commands = [commandThat(FAILS), commandThat(SUCCEEDS)]
  const [lines, pauses]: [string[], number[]] = [[], []]
  const rebuild = new WorldRebuild({
    chain: outdatedChain(),
    log: (line) => lines.push(line),
    startCommand: () => commands.shift()!(),
    pause: async (ms) => {
      pauses.push(ms)
    },
  })
  rebuild.start()
  await rebuild.finished

  expect(lines).toEqual([
    'the world was made by older rules: it is made again from the stored logs, and followed meanwhile',
    'the world cannot be made again at this time, which is tried again: no node answers',
    'the world was made again, by the newest rules',
  ])
  expect(pauses).toEqual([5_000, 10_000])
})

test('a world that differs from the contracts is mended by the command, each time that this is found', async () => {
  const lines: string[] = []
  let commands = 0
  const rebuild = new WorldRebuild({
    chain: { leads: true, whyOutdated: async () => 'missing logs', hasStoredLogs: async () => commands < 2 },
    log: (line) => lines.push(line),
    startCommand: () => {
      commands += 1
      return commandThat(SUCCEEDS)()
    },
  })
  for (let found = 0; found < 3; found++) rebuild.start()
  await rebuild.finished

  expect(lines.map((line) => line.slice(0, 40))).toEqual([
    'some of the land is not what the contrac',
    'the blocks of the land that differs were',
    'some of the land is not what the contrac',
    'the blocks of the land that differs were',
    'some of the land is not what the contrac',
  ])
  expect(lines.at(-1)).toContain('landpass follow --new-world')
})

test('a world of the newest rules starts no command, and a process that ends takes the command with it', async () => {
  const current = new WorldRebuild({
    chain: { leads: true, whyOutdated: async () => undefined, hasStoredLogs: async () => true },
    log: () => expect.unreachable(),
    startCommand: () => expect.unreachable(),
  })
  current.start()
  await current.finished

  const lines: string[] = []
  const child = commandThat(WAITS)()
  await once(child, 'spawn')
  const rebuild = new WorldRebuild({
    chain: { leads: true, whyOutdated: async () => 'rules' as const, hasStoredLogs: async () => true },
    log: (line) => lines.push(line),
    startCommand: () => child,
  })
  rebuild.start()
  await once(child.stdout!, 'data')
  await rebuild.close()
  expect([lines.length, child.exitCode]).toEqual([1, 1])
})

test.each([
  ['rules', 'made by older rules'],
  ['contracts', 'without contracts that were added'],
] as const)(
  'a world without stored logs is followed as it is, and the log says how to make it again: %s',
  async (why, reason) => {
    const lines: string[] = []
    const rebuild = new WorldRebuild({
      chain: { leads: true, whyOutdated: async () => why, hasStoredLogs: async () => false },
      log: (line) => lines.push(line),
      startCommand: () => expect.unreachable(),
    })
    rebuild.start()
    await rebuild.finished
    expect(lines).toEqual([expect.stringMatching(`${reason}.*landpass follow --new-world`)])
  },
)

test('a command that cannot be started is tried again, and one is not started after the end', async () => {
  const lines: string[] = []
  const commands = [() => spawn('/no/such/program', [], { stdio: 'pipe' }), commandThat(SUCCEEDS)]
  const rebuild = new WorldRebuild({
    chain: { leads: true, whyOutdated: async () => 'rules' as const, hasStoredLogs: async () => true },
    log: (line) => lines.push(line),
    startCommand: () => commands.shift()!(),
    pause: async () => undefined,
  })
  rebuild.start()
  await rebuild.finished
  expect(lines.at(1)).toContain('ENOENT')
  expect(lines.at(-1)).toContain('was made again')

  let answer: (why: 'rules') => void = () => expect.unreachable()
  const ending = new WorldRebuild({
    chain: {
      leads: true,
      whyOutdated: () => new Promise<'rules'>((resolve) => (answer = resolve)),
      hasStoredLogs: async () => true,
    },
    log: () => expect.unreachable(),
    startCommand: () => expect.unreachable(),
  })
  ending.start()
  await new Promise(setImmediate)
  const closed = ending.close()
  answer('rules')
  await closed
})
