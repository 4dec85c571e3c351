import type { LandEvent } from '../../land/events/land-event.ts'
import type { BlockHeader, RawLog } from '../chain-types.ts'
import type { NewBlock } from './land-writer.ts'
import { logsDigest } from './logs-digest.ts'
import { assertOfBlock } from './range-logs.ts'

/** The events of a block's logs, with what has to be read from contracts for them. */
export type EventsOf = (logs: readonly RawLog[], block: BlockHeader) => Promise<readonly LandEvent[]>

/**
 * A block as it is applied, made of its logs.
 *
 * @throws {ContradictionError} where they are of another block, or not in their order
 */
export async function newBlockOf(
  header: BlockHeader,
  logs: readonly RawLog[],
  eventsOf: EventsOf,
): Promise<NewBlock> {
  assertOfBlock(header, logs)
  return { ...header, logsDigest: logsDigest(logs), events: await eventsOf(logs, header) }
}
