import { setImmediate } from 'node:timers/promises'
import { PublicCommandError } from '../../errors.ts'
import { applyEvent } from '../../land/events/apply-event.ts'
import type { LandEvent } from '../../land/events/land-event.ts'
import type { MemoryRows } from '../../land/events/memory-rows.ts'
import type { RuleContext } from '../../land/events/rule-context.ts'
import type { TimedLog } from '../packed-logs.ts'
import type { StoredRange } from './spool-frames.ts'
import type { TokenTrail } from './token-trail.ts'

export interface ReplayOptions {
  /** What the events are applied to. */
  readonly rows: MemoryRows
  /** Finds logs that are missing. */
  readonly trail: TokenTrail
  /** The first block of the history. */
  readonly firstBlock: number
  readonly context: RuleContext
  /** The events of logs, with what has to be read from contracts for them. */
  readonly eventsOf: (logs: readonly TimedLog[]) => Promise<readonly LandEvent[]>
  /** The last block to replay: at the latest when the stored ranges end it is known, and infinite until then. */
  readonly last: () => number
  readonly signal: AbortSignal
  readonly onProgress: (block: number, events: number) => void
}

/**
 * Applies all stored logs to rows in memory.
 *
 * @throws {CommandError} where the stored logs have a gap or end before the last block: the world would be incomplete
 * @throws {MissingLogsError} where a node has left out logs
 */
export async function replay(
  stored: { readonly ranges: () => AsyncIterable<StoredRange> },
  options: ReplayOptions,
): Promise<void> {
  const { rows, trail, context, eventsOf, signal, onProgress } = options
  let events = 0
  let next = options.firstBlock
  for await (const range of stored.ranges()) {
    signal.throwIfAborted()
    const last = options.last()
    if (range.first !== next) throw incomplete(next, last)
    next = range.last + 1
    for await (const part of range.parts) {
      const logs = range.last <= last ? part : part.filter(({ blockNumber }) => blockNumber <= last)
      for (const event of await eventsOf(logs)) {
        trail.note(event)
        const applied = applyEvent(rows, event, context)
        if (applied instanceof Promise) await applied
        events++
      }
    }
    onProgress(Math.min(range.last, last), events)
    if (range.last >= last) break
    await setImmediate() // A stop signal must be able to come in between.
  }
  if (next <= options.last()) throw incomplete(next, options.last())
  trail.finish()
}

function incomplete(missing: number, last: number): PublicCommandError {
  return new PublicCommandError(
    `The stored logs lack block ${missing}, and the world needs all${Number.isFinite(last) ? ` up to ${last}` : ''}: the file was damaged while it was read. Nothing was changed. The next start requests again what is missing.`,
  )
}
