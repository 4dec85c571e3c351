import fs from 'node:fs'
import path from 'node:path'
import { SECOND_MS } from '../../clock.ts'
import { CommandError } from '../../errors.ts'
import type { Engine, EngineSettings } from '../engine.ts'
import { Notices } from '../notices.ts'
import { EngineThread } from './engine-thread.ts'
import { FolderLock, type LockHolder } from './folder-lock.ts'
import { engineOf, joinBySocket } from './remote-engine.ts'
import { newSocketPath, removeSocketPath } from './socket-path.ts'

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
  const data = { databaseDir: databaseDirOf(dataDir), syncToDisk: settings.syncToDisk, socketPath }
  // Removes the socket also when the process ends without close. The lock stays: the thread may still be writing.
  const removeSocket = () => removeSocketPath(socketPath)
  process.once('exit', removeSocket)
  const releaseFolder = () => {
    process.off('exit', removeSocket)
    removeSocket()
    lock.release()
  }
  const notices = new Notices()
  try {
    const thread = await EngineThread.start(data, settings.statementTimeoutMs, notices)
    const afterClose = async () => {
      await thread.close()
      releaseFolder()
    }
    return engineOf(thread.client, settings.statementTimeoutMs, { afterClose, notices })
  } catch (error) {
    releaseFolder()
    throw error
  }
}

function databaseDirOf(dataDir: string): string {
  return path.join(dataDir, 'database')
}
