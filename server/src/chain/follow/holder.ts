import { randomUUID } from 'node:crypto'
import { placeOfPids, startOfProcess } from '../../db/process-identity.ts'

/** What a name says of its process. */
interface Identity {
  /** Where its pid is valid: see {@link placeOfPids}. */
  readonly place: string
  readonly pid: number
  /** See {@link startOfProcess}. */
  readonly start: string
}

/**
 * A name for this process that no other one has. Processes of the same machine and container see from it whether this
 * process still runs.
 *
 * @example
 * newHolder() // 'host/4a1c…/pid:[4026531836] 17 123456 0f5d…': place, pid, start, and a random part
 */
export function newHolder(): string {
  const start = startOfProcess(process.pid) ?? 'unknown'
  return [oneWord(placeOfPids()), process.pid, oneWord(start), randomUUID()].join(' ')
}

/**
 * Whether the process with this name has certainly ended. False where that is not known: a process of another machine or
 * another container, or one whose version writes other names.
 */
export function hasEnded(holder: string): boolean {
  const identity = readHolder(holder)
  if (!identity || identity.place !== oneWord(placeOfPids())) return false
  const start = startOfProcess(identity.pid)
  if (start === undefined) return true
  const isKnown = start !== 'unknown' && identity.start !== 'unknown'
  return isKnown && oneWord(start) !== identity.start
}

/** For how long an answer is remembered: the operating system is asked with a process of its own where it is not Linux. */
const REMEMBERED_MS = 5_000

/**
 * {@link hasEnded} for a path that is taken often: it remembers each answer for 5 seconds.
 *
 * @param steadyMs a clock that never goes back, in milliseconds
 */
export class HolderWatch {
  private readonly steadyMs: () => number
  private readonly ask: (holder: string) => boolean
  private readonly answers = new Map<string, { readonly ended: boolean; readonly atMs: number }>()

  constructor(steadyMs = () => performance.now(), ask = hasEnded) {
    this.steadyMs = steadyMs
    this.ask = ask
  }

  hasEnded(holder: string): boolean {
    const nowMs = this.steadyMs()
    const known = this.answers.get(holder)
    if (known && nowMs - known.atMs < REMEMBERED_MS) return known.ended
    for (const [name, { atMs }] of this.answers) if (nowMs - atMs >= REMEMBERED_MS) this.answers.delete(name)
    const ended = this.ask(holder)
    this.answers.set(holder, { ended, atMs: nowMs })
    return ended
  }
}

function readHolder(holder: string): Identity | undefined {
  const [place, pid, start, random] = holder.split(' ')
  if (!place || !start || !random || !/^\d{1,10}$/.test(pid ?? '')) return undefined
  return { place, pid: Number(pid), start }
}

/** The parts of a name are separated by blanks. */
function oneWord(text: string): string {
  return text.replace(/\s+/g, '/')
}
