import { setImmediate } from 'node:timers/promises'
import { PublicCommandError } from '../../errors.ts'
import { applyEvent } from '../../land/events/apply-event.ts'
import type { LandEvent } from '../../land/events/land-event.ts'
import { MemoryRows } from '../../land/events/memory-rows.ts'
import type { RuleContext } from '../../land/events/rule-context.ts'
import type { Ground } from '../../land/snapshot/ground.ts'
import type { Spool, TimedLog } from './spool.ts'
import type { TokenTrail } from './token-trail.ts'

export interface ReplayOptions {
  readonly ground: Ground
  /** Finds logs that are missing. */
  readonly trail: TokenTrail
  readonly context: RuleContext
  /** The events of logs, with what has to be read from contracts for them. */
  readonly eventsOf: (logs: readonly TimedLog[]) => Promise<readonly LandEvent[]>
  /** The last block to replay; the spool may reach further. */
  readonly last: number
  readonly signal: AbortSignal
  readonly onProgress: (block: number, events: number) => void
}

/**
 * Applies all stored logs to the ground, in memory.
 *
 * @throws {CommandError} where the stored logs have a gap or end before the last block: the world would be incomplete
 * @throws {MissingLogsError} where a node has left out logs
 */
export async function replay(
  spool: Pick<Spool, 'firstBlock' | 'ranges'>,
  options: ReplayOptions,
): Promise<MemoryRows> {
  const { ground, trail, context, eventsOf, last, signal, onProgress } = options
  const rows = new MemoryRows()
  for (const parcel of ground.parcels) rows.put('parcel', parcel)
  let events = 0
  let next = spool.firstBlock
  for await (const range of spool.ranges()) {
    signal.throwIfAborted()
    if (range.first !== next) throw incomplete(next, last)
    next = range.last + 1
    const logs = range.last <= last ? range.logs : range.logs.filter(({ blockNumber }) => blockNumber <= last)
    for (const event of await eventsOf(logs)) {
      trail.note(event)
      await applyEvent(rows, event, context)
      events++
    }
    onProgress(Math.min(range.last, last), events)
    if (range.last >= last) break
    await setImmediate() // A stop signal must be able to come in between.
  }
  if (next <= last) throw incomplete(next, last)
  trail.finish()
  return rows
}

function incomplete(missing: number, last: number): PublicCommandError {
  return new PublicCommandError(
    `The stored logs lack block ${missing}, and the world needs all up to ${last}: the file was damaged while it was read. Nothing was changed. The next start requests again what is missing.`,
  )
}
