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
    isOutdated: async () => true,
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

test('a world of the newest rules starts no command, and a process that ends takes the command with it', async () => {
  const current = new WorldRebuild({
    chain: { leads: true, isOutdated: async () => false, hasStoredLogs: async () => true },
    log: () => expect.unreachable(),
    startCommand: () => expect.unreachable(),
  })
  current.start()
  await current.finished

  const lines: string[] = []
  const child = commandThat(WAITS)()
  await once(child, 'spawn')
  const rebuild = new WorldRebuild({
    chain: { leads: true, isOutdated: async () => true, hasStoredLogs: async () => true },
    log: (line) => lines.push(line),
    startCommand: () => child,
  })
  rebuild.start()
  await once(child.stdout!, 'data')
  await rebuild.close()
  expect([lines.length, child.exitCode]).toEqual([1, 1])
})

test('a world without stored logs is followed as it is, and the log says how to make it again', async () => {
  const lines: string[] = []
  const rebuild = new WorldRebuild({
    chain: { leads: true, isOutdated: async () => true, hasStoredLogs: async () => false },
    log: (line) => lines.push(line),
    startCommand: () => expect.unreachable(),
  })
  rebuild.start()
  await rebuild.finished
  expect(lines).toEqual([expect.stringContaining('landpass follow --new-world')])
})

test('a command that cannot be started is tried again, and one is not started after the end', async () => {
  const lines: string[] = []
  const commands = [() => spawn('/no/such/program', [], { stdio: 'pipe' }), commandThat(SUCCEEDS)]
  const rebuild = new WorldRebuild({
    chain: { leads: true, isOutdated: async () => true, hasStoredLogs: async () => true },
    log: (line) => lines.push(line),
    startCommand: () => commands.shift()!(),
    pause: async () => undefined,
  })
  rebuild.start()
  await rebuild.finished
  expect(lines.at(1)).toContain('ENOENT')
  expect(lines.at(-1)).toContain('was made again')

  let answer: (isOutdated: boolean) => void = () => expect.unreachable()
  const ending = new WorldRebuild({
    chain: {
      leads: true,
      isOutdated: () => new Promise<boolean>((resolve) => (answer = resolve)),
      hasStoredLogs: async () => true,
    },
    log: () => expect.unreachable(),
    startCommand: () => expect.unreachable(),
  })
  ending.start()
  const closed = ending.close()
  answer(true)
  await closed
})
