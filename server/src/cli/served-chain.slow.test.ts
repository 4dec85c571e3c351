import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { beforeEach, expect, test } from 'vitest'
import { describeOnOneEngine, emptyDir } from '../../test/support/database/engines.ts'
import { testClock } from '../../test/support/http/land-server.ts'
import { TINY_WORLD, tinySnapshot } from '../../test/support/land/tiny-world.ts'
import { PRIVATE_FAILURE } from '../chain/follow/public-text.ts'
import { readConfig } from '../config/config.ts'
import type { Db } from '../db/engine.ts'
import { putHistoryNotice, removeHistoryNotice } from '../land/changes/history-notice.ts'
import { importSnapshot } from '../land/snapshot/import.ts'
import { ServedChain } from './served-chain.ts'

const STOPPED = 'The chain cannot be followed now, which is tried again: '

/** The command that reads the history, as a server sees it. */
class Command extends EventEmitter {
  readonly stdout = new PassThrough()

  /** Writes a last line and ends with exit code 1. */
  fail(line: object): void {
    this.stdout.end(`${JSON.stringify(line)}\n`)
    this.emit('exit', 1)
  }
}

describeOnOneEngine('a server that follows the chain', (open) => {
  let db: Db
  let commands: Command[]
  let pauses: { readonly ms: number; readonly end: () => void }[]
  let logged: string[]

  beforeEach(async () => {
    db = (await open()).db
    commands = []
    pauses = []
    logged = []
  })

  const log = {
    info: () => undefined,
    error: (facts: object) => logged.push(JSON.stringify(facts, errorText)),
  }
  const create = () =>
    ServedChain.create({
      config: readConfig({ CHAIN_RPC_URLS: 'http://127.0.0.1:9/secret-key', DATA_DIR: emptyDir() }),
      engine: { db },
      startCommand: () => {
        const command = new Command()
        commands.push(command)
        return command as unknown as ChildProcess
      },
      pause: (ms, signal) =>
        new Promise((resolve) => {
          pauses.push({ ms, end: resolve })
          signal.addEventListener('abort', () => resolve())
        }),
    })
  const command = async (count: number) => {
    await expect.poll(() => commands.length).toBe(count)
    return commands[count - 1]!
  }
  const pause = async (count: number) => {
    await expect.poll(() => pauses.length).toBe(count)
    return pauses[count - 1]!
  }

  test('that is closed before it has looked at the database starts no command', async () => {
    const served = await create()
    served.start(log)
    await served.close()
    expect(commands).toEqual([])
  })

  test('answers of a failure only what everyone may read, and looks every 5 s whether a world has appeared', async () => {
    const served = await create()
    served.start(log)
    expect((await command(1)).stdout).toBeDefined()
    commands[0]!.stdout.write('{"phase":"history","block":7,"last":9,"percent":77.7}\n')
    await expect
      .poll(() => served.ownState())
      .toEqual({ state: 'history', reason: 'history: block 7 of 9 (77.7 %)' })
    commands[0]!.stdout.write('{"phase":"waits","reason":"node1 is away"}\n')
    await expect.poll(() => served.ownState()!.reason).toContain('is tried again: node1 is away')
    commands[0]!.fail({ ok: false, error: 'EACCES: permission denied, open /data/land/chain/1.logs' })
    expect((await pause(1)).ms).toBe(5_000)
    expect(served.ownState()).toEqual({ state: 'stopped', reason: `${STOPPED}${PRIVATE_FAILURE}` })
    expect(logged.join()).toContain('/data/land/chain/1.logs')

    pauses[0]!.end()
    ;(await pause(2)).end() // 10 s in all, in which no world appeared
    const second = await command(2)
    expect(served.ownState()).toEqual({
      state: 'history',
      reason: `The history is read again. The last time it failed: ${PRIVATE_FAILURE}`,
    })
    second.fail({
      ok: false,
      error: 'node of http://127.0.0.1:9/secret-key',
      public: 'The node lacks blocks.',
    })
    await pause(3)
    expect(served.ownState()!.reason).toBe(`${STOPPED}The node lacks blocks.`)
    expect(logged.at(-1)).toContain('node of')
    expect(logged.join()).not.toContain('secret-key')

    await importSnapshot(db, tinySnapshot(), { world: TINY_WORLD, clock: testClock(), dryRun: false })
    pauses[2]!.end()
    await expect.poll(() => served.ownState()!.reason).toContain('was imported and is not followed')
    expect(commands).toHaveLength(2)
    await served.close()
  })
})

describeOnOneEngine('a server beside a process that reads the history', (open) => {
  test('starts no second command, until that process has ended', async () => {
    const { db } = await open()
    const notice = { holder: 'elsewhere', network: 'mainnet', chainId: 1, progress: 'half' }
    await putHistoryNotice(db, notice, 90_000)
    const commands: Command[] = []
    const pauses: (() => void)[] = []
    const served = await ServedChain.create({
      config: readConfig({ CHAIN_RPC_URLS: 'http://127.0.0.1:9', DATA_DIR: emptyDir() }),
      engine: { db },
      startCommand: () => {
        commands.push(new Command())
        return commands.at(-1) as unknown as ChildProcess
      },
      pause: () => new Promise((resolve) => pauses.push(resolve)),
    })
    served.start({ info: () => undefined, error: () => undefined })
    await expect.poll(() => pauses.length).toBe(1)
    expect([commands.length, served.ownState()]).toEqual([0, undefined])
    await removeHistoryNotice(db, 'elsewhere')
    pauses[0]!()
    await expect.poll(() => commands.length).toBe(1)
    const closed = served.close()
    commands[0]!.fail({})
    await closed
  })
})

/** The message of an error. */
function errorText(_: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value
}
