import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { SECOND_MS } from '../../clock.ts'
import { placeOfPids, startOfProcess } from '../process-identity.ts'
import { removeSocketPath } from './socket-path.ts'

/** The process that uses, or used, a data folder: the content of a lock file. */
export interface LockHolder {
  readonly pid: number
  /** See `startOfProcess`. */
  readonly start: string
  /** See `placeOfPids`. */
  readonly place: string
  /** Socket by which other processes of this user connect to its engine; empty where there is none. */
  readonly socketPath: string
  readonly isReleased: boolean
}

/** How often a holder touches its file. */
const HEARTBEAT_MS = 3 * SECOND_MS
/** How long a file must stay untouched before a holder whose process cannot be looked up counts as ended. */
const SILENCE_MS = 10 * HEARTBEAT_MS

/**
 * Two processes on one PGlite folder corrupt it, and PGlite does not refuse the second one. This lock does.
 *
 * The folder `<dataDir>/lock` holds a file per holder, named by a number that only grows: 1.json, 2.json… The
 * highest number has the folder.
 *
 *   held ──release──▶ released      the file stays and says so
 *   held ──process dies──▶ stale
 *   released, stale ──take──▶ the next number is held; lower ones are removed
 *
 * Invariant: a process takes a number by creating its file, which the file system allows only once. A process that
 * then sees a higher number has lost the race and withdraws. No file is removed before a higher number is taken, so
 * a slow process cannot remove the lock of a faster one.
 */
export class FolderLock {
  readonly #file: string
  readonly #holder: LockHolder
  readonly #heartbeat: NodeJS.Timeout

  private constructor(file: string, holder: LockHolder) {
    this.#file = file
    this.#holder = holder
    this.#heartbeat = setInterval(() => touch(file), HEARTBEAT_MS)
    this.#heartbeat.unref()
  }

  /** The lock, or the process that holds it. Waits only for holders on another machine or in another container. */
  static async take(
    dataDir: string,
    socketPath: string,
    silenceMs = SILENCE_MS,
  ): Promise<FolderLock | LockHolder> {
    const dir = path.join(dataDir, 'lock')
    fs.mkdirSync(dir, { recursive: true })
    const start = startOfProcess(process.pid) ?? 'unknown'
    const holder = { pid: process.pid, start, place: placeOfPids(), socketPath, isReleased: false }
    for (;;) {
      const highest = Math.max(0, ...numbersIn(dir))
      const other = highest > 0 ? readHolder(fileOf(dir, highest)) : undefined
      if (other && (await isHolding(other, fileOf(dir, highest), silenceMs))) return other
      const file = fileOf(dir, highest + 1)
      if (!createWhole(file, holder)) continue
      if (numbersIn(dir).some((number) => number > highest + 1)) {
        fs.rmSync(file, { force: true })
        continue
      }
      removeBelow(dir, highest + 1)
      if (other) removeSocketPath(other.socketPath)
      return new FolderLock(file, holder)
    }
  }

  release(): void {
    clearInterval(this.#heartbeat)
    // Replaced, not removed: the next process has to find the highest number
    if (fs.existsSync(this.#file)) replaceWhole(this.#file, { ...this.#holder, isReleased: true })
  }
}

function fileOf(dir: string, number: number): string {
  return path.join(dir, `${number}.json`)
}

function numbersIn(dir: string): number[] {
  return fs.readdirSync(dir).flatMap((name) => {
    const [, digits] = /^(\d+)\.json$/.exec(name) ?? []
    return digits ? [Number(digits)] : []
  })
}

/** Undefined when the file is missing or damaged. Lock files are created whole, so no running process wrote it. */
function readHolder(file: string): LockHolder | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as LockHolder
  } catch {
    return undefined
  }
}

async function isHolding(holder: LockHolder, file: string, silenceMs: number): Promise<boolean> {
  if (holder.isReleased) return false
  if (holder.place !== placeOfPids()) return isTouchedWithin(file, silenceMs)
  const start = startOfProcess(holder.pid)
  if (start === undefined) return false
  if (start === 'unknown' || holder.start === 'unknown') return isTouchedWithin(file, silenceMs)
  return start === holder.start
}

/** Watches the file instead of comparing its time with the clock: the clocks of two machines may differ. */
async function isTouchedWithin(file: string, silenceMs: number): Promise<boolean> {
  const before = touchedAtMs(file)
  const endMs = performance.now() + silenceMs
  while (performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(SECOND_MS, silenceMs / 4)))
    if (touchedAtMs(file) !== before) return true
  }
  return false
}

function touchedAtMs(file: string): number | undefined {
  return fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs
}

function touch(file: string): void {
  const now = new Date()
  // The data folder may have been removed already, for example at the end of a test
  if (fs.existsSync(file)) fs.utimesSync(file, now, now)
}

/** Creates a file with all its content, or not at all. @returns false when there is one already */
function createWhole(file: string, holder: LockHolder): boolean {
  const draft = writeDraft(file, holder)
  try {
    fs.linkSync(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    fs.rmSync(draft, { force: true })
  }
}

function replaceWhole(file: string, holder: LockHolder): void {
  fs.renameSync(writeDraft(file, holder), file)
}

function writeDraft(file: string, holder: LockHolder): string {
  const draft = `${file}.${randomBytes(6).toString('hex')}.draft`
  fs.writeFileSync(draft, JSON.stringify(holder))
  return draft
}

function removeBelow(dir: string, number: number): void {
  for (const lower of numbersIn(dir)) if (lower < number) fs.rmSync(fileOf(dir, lower), { force: true })
}
