import fs from 'node:fs'
import path from 'node:path'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { SECOND_MS } from '../../clock.ts'
import { CommandError } from '../../errors.ts'
import type { Engine, EngineSettings } from '../engine.ts'
import { FolderLock, type LockHolder } from './folder-lock.ts'
import type { ThreadData, ThreadReport } from './messages.ts'
import { joinBySocket, openLentPort } from './remote-engine.ts'
import { newSocketPath, removeSocketPath } from './socket-path.ts'
import type { ThreadOrder } from './thread.ts'

/** How long a join waits for an owner that is still opening its database, and how often it looks. */
const JOIN_PATIENCE_MS = 15 * SECOND_MS
const JOIN_PAUSE_MS = 100

/** Whether the folder holds an embedded database: complete, because one in the making has another name. */
export function hasDatabase(dataDir: string): boolean {
  return fs.existsSync(databaseDirOf(path.resolve(dataDir)))
}

/** Opens the embedded engine, or joins the process that has it: see `EngineSettings.mode`. */
export async function openEmbedded(settings: EngineSettings): Promise<Engine> {
  const dataDir = path.resolve(settings.dataDir)
  createFolder(dataDir)
  const giveUpAtMs = performance.now() + JOIN_PATIENCE_MS
  do {
    const socketPath = newSocketPath()
    const lock = await FolderLock.take(dataDir, socketPath)
    if (lock instanceof FolderLock) return own(settings, dataDir, lock, socketPath)
    removeSocketPath(socketPath)
    if (settings.mode === 'own') throw inUse(dataDir, lock)
    const engine = await join(lock, settings.statementTimeoutMs)
    if (engine) return engine
    // The owner is still opening its database, or has just ended
    await new Promise((resolve) => setTimeout(resolve, JOIN_PAUSE_MS))
  } while (performance.now() < giveUpAtMs)
  throw new CommandError(`The process that uses ${dataDir} does not answer. Stop it and try again.`)
}

function createFolder(dataDir: string): void {
  try {
    fs.mkdirSync(dataDir, { recursive: true })
    fs.accessSync(dataDir, fs.constants.W_OK)
  } catch (error) {
    throw new CommandError(`The data folder ${dataDir} cannot be written: ${(error as Error).message}`)
  }
}

function inUse(dataDir: string, holder: LockHolder): CommandError {
  return new CommandError(
    `The data folder ${dataDir} is in use by process ${holder.pid}. ` +
      'Stop that process first, or choose another data folder.',
  )
}

async function join({ socketPath }: LockHolder, statementTimeoutMs: number): Promise<Engine | undefined> {
  return joinBySocket({ kind: 'joined', socketPath, statementTimeoutMs }).catch(() => undefined)
}

async function own(
  settings: EngineSettings,
  dataDir: string,
  lock: FolderLock,
  socketPath: string,
): Promise<Engine> {
  const thread = startThread({
    databaseDir: databaseDirOf(dataDir),
    syncToDisk: settings.syncToDisk,
    socketPath,
  })
  // Removes the socket also when the process ends without close. The lock stays: the thread may still be writing.
  const removeSocket = () => removeSocketPath(socketPath)
  process.once('exit', removeSocket)
  const releaseFolder = () => {
    process.off('exit', removeSocket)
    removeSocket()
    lock.release()
  }
  try {
    await waitForReport(thread, 'ready')
  } catch (error) {
    releaseFolder()
    throw error
  }
  thread.unref()
  const { port1, port2 } = new MessageChannel()
  order(thread, { op: 'serve', port: port2 }, [port2])
  const { statementTimeoutMs } = settings
  return openLentPort({ kind: 'embedded', port: port1, statementTimeoutMs }, async () => {
    await closeThread(thread)
    releaseFolder()
  })
}

function startThread(data: ThreadData): Worker {
  const thread = new Worker(new URL('./thread.js', import.meta.url), { workerData: data })
  // Without a listener an error of the thread would end the process. waitForReport passes the error to its caller.
  thread.on('error', () => {})
  return thread
}

async function closeThread(thread: Worker): Promise<void> {
  thread.ref()
  const closed = waitForReport(thread, 'closed')
  order(thread, { op: 'close' })
  // A thread that failed or ended needs no closing
  await closed.catch(() => {})
  await thread.terminate()
}

function order(thread: Worker, message: ThreadOrder, transfer: MessagePort[] = []): void {
  thread.postMessage(message, transfer)
}

/** @throws {CommandError} when the thread reports a failure or another step, or ends without a report. */
function waitForReport(thread: Worker, expected: ThreadReport['op']): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new CommandError(why))
    thread.once('error', (error) => fail(`The embedded database failed: ${error.message}`))
    thread.once('exit', () => fail('The embedded database ended.'))
    thread.once('message', (report: ThreadReport) => {
      if (report.op === expected) resolve()
      else fail(report.op === 'failed' ? report.sentence : `unexpected report ${report.op}`)
    })
  })
}

function databaseDirOf(dataDir: string): string {
  return path.join(dataDir, 'database')
}
