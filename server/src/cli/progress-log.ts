import { SECOND_MS } from '../clock.ts'
import type { MeasuredProgress } from './progress.ts'

/** How often a log gets a line about a phase that goes on. */
const LOG_EVERY_MS = 5 * SECOND_MS

export interface ProgressLogOptions {
  /** Writes a line for people. */
  readonly write: (line: string) => void
  /** False where the commands draw a bar themselves: then only warnings are written. */
  readonly showsProgress: boolean
  /** Milliseconds, from any start. */
  readonly nowMs?: () => number
}

/**
 * Takes the lines that the commands of the demo write on a pipe, and writes some of them for people: the phases, every
 * few seconds how far one has come, and every warning once. A line that is not of a command, such as a warning of
 * Node.js, is written as it is.
 *
 * @example
 * const takeLine = newProgressLog({ write: console.error, showsProgress: true })
 * takeLine('{"phase":"load","done":10,"total":48}') // landpass: demo world: load 10 of 48
 * takeLine('{"ok":true,"warnings":["It is small."]}') // landpass: demo world: It is small.
 */
export function newProgressLog({
  write,
  showsProgress,
  nowMs = () => performance.now(),
}: ProgressLogOptions): (line: string) => void {
  const warned = new Set<string>()
  let loggedPhase = ''
  let loggedAtMs = 0
  return (line) => {
    const message = parseMessage(line)
    if (!message) return write(line)
    for (const warning of message.warnings ?? []) {
      if (!warned.has(warning)) write(`landpass: demo world: ${warning}`)
      warned.add(warning)
    }
    const { phase, done, total } = message
    if (!showsProgress || phase === undefined) return
    if (phase === loggedPhase && nowMs() - loggedAtMs < LOG_EVERY_MS) return
    loggedPhase = phase
    loggedAtMs = nowMs()
    write(`landpass: demo world: ${phase} ${done} of ${total}`)
  }
}

/** Progress, the result of a command, or its error: the last is on stderr, too. */
interface Message extends Partial<MeasuredProgress> {
  readonly warnings?: readonly string[]
}

function parseMessage(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Message) : undefined
  } catch {
    return undefined
  }
}
