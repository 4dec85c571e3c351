import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { freshDataDir, TEST_SETTINGS } from '../../../test/support/database/engines.ts'
import { holdTime } from '../../../test/support/database/held-time.ts'
import { nextMessage, startChild } from '../../../test/support/processes/children.ts'
import { CommandError } from '../../errors.ts'
import type { Engine, EngineSource } from '../engine.ts'
import { Notices } from '../notices.ts'
import { openEngine } from '../open-engine.ts'
import { databaseUnavailable } from '../statement-error.ts'
import { inTransaction } from '../transaction.ts'
import { EngineClient } from './engine-client.ts'
import { EngineThread } from './engine-thread.ts'
import { engineOf } from './remote-engine.ts'
import { newSocketPath } from './socket-path.ts'

describe('an embedded engine', () => {
  let dataDir: string
  let owner: Engine

  beforeAll(async () => {
    dataDir = await freshDataDir()
    owner = await openEngine({ ...TEST_SETTINGS, dataDir })
    await sql`create table note (text text)`.execute(owner.db)
  })
  afterAll(() => owner.close())

  const notes = async () => (await sql<{ text: string }>`select text from note`.execute(owner.db)).rows

  test('has its folder for itself', async () => {
    const second = await openEngine({ ...TEST_SETTINGS, dataDir }).catch((error) => error)

    expect(second).toBeInstanceOf(CommandError)
    expect(second.message).toContain(dataDir)
    expect(second.message).toContain(`process ${process.pid}`)
  })

  test('never holds up the event loop of its owner', async () => {
    const order: string[] = []
    const timer = setTimeout(() => order.push('timer'), 1)

    await sql`select pg_sleep(0.2)`.execute(owner.db)

    order.push('statement')
    clearTimeout(timer)
    expect(order).toEqual(['timer', 'statement'])
  })

  test('is used by another process, which writes while the owner reads', async () => {
    const child = startChild('join-child', dataDir)
    expect(await nextMessage(child)).toBe('joined')
    const notified = new Promise<string>((resolve) => void owner.listen('note', resolve))

    child.send('write')
    for (const written = nextMessage(child); ; ) {
      await notes()
      if ((await Promise.race([written, Promise.resolve()])) === 'written') break
    }

    expect(await notified).toBe('written')
    expect(await notes()).toEqual([{ text: 'from another process' }])
    child.send('close')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('rolls back the transaction of a process that was killed, and serves the others', async () => {
    const before = await notes()
    const child = startChild('join-child', dataDir)
    await nextMessage(child)
    child.send('begin')
    expect(await nextMessage(child)).toBe('begun')
    const waiting = notes()

    child.kill('SIGKILL')

    expect(await waiting).toEqual(before)
  })

  test('runs no statement of other sessions inside a transaction, and rolls back an abandoned one', async () => {
    const joined = await openEngine({ ...TEST_SETTINGS, dataDir, mode: 'join', statementTimeoutMs: 100 })
    const before = await notes()

    await inTransaction(owner.db, async (tx) => {
      await sql`insert into note values ('inside')`.execute(tx)
      const outside = sql`insert into note values ('outside')`.execute(joined.db)
      await expect(outside).rejects.toMatchObject({ code: 'database_unavailable' })
    })

    holdTime() // the limit of 100 ms must not end the next statement
    // The caller got an error, so the statement must not run later
    await sql`select 1`.execute(joined.db)
    expect(await notes()).toEqual([...before, { text: 'inside' }])
    await joined.close()
  })

  test('is shared with a thread, which reads and listens', async () => {
    const { source, transfer } = owner.lend()
    const thread = new Worker(new URL('../../../test/support/processes/lent-thread.js', import.meta.url), {
      workerData: source satisfies EngineSource,
      transferList: [...transfer],
    })
    const first = await once(thread, 'message')
    expect(first).toEqual([{ op: 'listening' }])

    // The thread may answer, and end, before the next statement of this one is done
    const [answered, ended] = [once(thread, 'message'), once(thread, 'exit')]
    await sql`select pg_notify('news', 'for the thread')`.execute(owner.db)

    const { lineage } = await owner.db.selectFrom('land_state').select('lineage').executeTakeFirstOrThrow()
    expect(await answered).toEqual([{ op: 'result', lineage, payload: 'for the thread' }])
    await ended
  })
})

test('a closed engine refuses statements, its socket, to which no other user could connect, is gone, and its folder can be opened again', async () => {
  const dataDir = await freshDataDir()
  const first = await openEngine({ ...TEST_SETTINGS, dataDir })
  const [lockFile = ''] = fs.readdirSync(path.join(dataDir, 'lock'))
  const { socketPath } = JSON.parse(fs.readFileSync(path.join(dataDir, 'lock', lockFile), 'utf8'))
  if (process.platform !== 'win32') {
    expect(fs.statSync(path.dirname(socketPath)).mode & 0o777).toBe(0o700)
    expect(fs.statSync(socketPath).mode & 0o777).toBe(0o600)
  }
  await sql`create table kept (n integer)`.execute(first.db)
  await first.close()
  await first.close()
  expect(fs.existsSync(path.dirname(socketPath))).toBe(false)

  await expect(sql`select 1`.execute(first.db)).rejects.toThrow()
  const second = await openEngine({ ...TEST_SETTINGS, dataDir, mode: 'join' })
  expect((await sql`select * from kept`.execute(second.db)).rows).toEqual([])
  await second.close()
})

test('a data folder that cannot be one is refused with a sentence', async () => {
  const file = path.join(await freshDataDir(), 'database', 'PG_VERSION')

  const refused = await openEngine({ ...TEST_SETTINGS, dataDir: file }).catch((error) => error)

  expect(refused).toBeInstanceOf(CommandError)
  expect(refused.message).toContain(`The data folder ${file} cannot be written`)
})

test('a thread that ends is started again: nothing committed is lost, and open transactions are refused', async () => {
  const dataDir = await freshDataDir()
  const data = { databaseDir: path.join(dataDir, 'database'), syncToDisk: false, socketPath: newSocketPath() }
  const notices = new Notices()
  const said: string[] = []
  notices.listen((notice) => said.push(notice))
  const threads: Worker[] = []
  const thread = await EngineThread.start(data, 5_000, notices, (worker) => threads.push(worker))
  const engine = engineOf(thread.client, 5_000, { afterClose: () => thread.close() })
  onTestFinished(() => engine.close())
  await sql`create table kept (n integer)`.execute(engine.db)
  await sql`insert into kept values (1)`.execute(engine.db)
  const heard: string[] = []
  let hear = () => {}
  const healed = new Promise<void>((resolve) => (hear = resolve))
  await engine.listen('land', (payload) => {
    heard.push(payload)
    hear()
  })

  const open = inTransaction(engine.db, async (tx) => {
    await sql`insert into kept values (2)`.execute(tx)
    await threads[0]!.terminate()
    const meanwhile = await sql`select 1`.execute(engine.db).catch((error) => error)
    expect(meanwhile).toMatchObject({ message: expect.stringContaining('use the transaction') })
    await healed
    await sql`insert into kept values (3)`.execute(tx)
  })

  await expect(open).rejects.toMatchObject({ code: 'database_unavailable' })
  expect(heard).toEqual([''])
  expect((await sql`select n from kept`.execute(engine.db)).rows).toEqual([{ n: 1 }])
  expect(said).toEqual([
    'The thread of the embedded database ended; it is started again.',
    'The embedded database runs again.',
  ])
  const gone = threads[1]!.terminate()
  await expect(sql`select 1`.execute(engine.db)).rejects.toMatchObject({ code: 'database_unavailable' })
  await gone
})

test('there is never more than one engine on a folder, whatever happens while it is started again', async () => {
  const dataDir = await freshDataDir()
  const data = { databaseDir: path.join(dataDir, 'database'), syncToDisk: false, socketPath: newSocketPath() }
  const notices = new Notices()
  const said: string[] = []
  let onRunning = () => {}
  const running = new Promise<void>((resolve) => (onRunning = resolve))
  notices.listen((notice) => {
    said.push(notice)
    if (notice === 'The embedded database runs again.') onRunning()
  })
  const threads: Worker[] = []
  const runningAtStart: number[] = []
  let count = 0
  const thread = await EngineThread.start(data, 5_000, notices, (worker) => {
    runningAtStart.push(count)
    count += 1
    worker.once('exit', () => {
      count -= 1
    })
    threads.push(worker)
    // The second one ends while the client waits for it to listen
    if (threads.length === 2) void worker.terminate()
  })
  onTestFinished(() => thread.close())
  await thread.client.listen('land', () => {})
  const relink = vi.spyOn(EngineClient.prototype, 'relink')
  onTestFinished(() => relink.mockRestore())

  const first = threads[0]!
  const late = once(first, 'exit')
  await first.terminate()
  await late
  while (threads.length < 2) await new Promise(setImmediate)
  // The third one lives, but does not answer in time
  relink.mockRejectedValueOnce(databaseUnavailable('a statement took too long'))
  await running

  expect(runningAtStart).toEqual([0, 0, 0, 0])
  const ended = 'The thread of the embedded database ended; it is started again.'
  expect(said).toEqual([ended, ended, ended, 'The embedded database runs again.'])
})
