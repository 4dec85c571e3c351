import type { LandEvent, LandFact } from '../../land/events/land-event.ts'
import type { Network, RawLog } from '../chain-types.ts'
import { type DecodedLog, decodeLog, type OtherLog } from '../logs/decode-log.ts'
import type { EventName } from '../logs/layouts.ts'
import { UnfitLogError } from '../logs/log-data.ts'
import { MARKET_FACTS } from './market-facts.ts'
import type { Meanings, Source } from './meaning.ts'
import { MORTGAGE_FACTS } from './mortgage-facts.ts'
import { REGISTRY_FACTS } from './registry-facts.ts'
import { RENTAL_FACTS } from './rental-facts.ts'
import { TRADE_FACTS } from './trade-facts.ts'

/** What a log means. A log that was read and changes nothing of the land has no events. */
export type LogMeaning = { readonly outcome: 'events'; readonly events: readonly LandEvent[] } | OtherLog

/**
 * What happened to the land by a log, in the order in which it must be applied. Never throws: logs without meaning and
 * logs that cannot be read are answered as such, and should be counted (`LogTally`).
 *
 * @param timeMs time of the log's block, in milliseconds since 1970
 * @example
 * landEventsOf(MAINNET, log, 1_535_500_898_000)
 * // { outcome: 'events', events: [{ kind: 'parcel-joined-estate', estateId: '1', parcel: { x: 5, y: 20 }, at: … }] }
 */
export function landEventsOf(network: Network, log: RawLog, timeMs: number): LogMeaning {
  const decoded = decodeLog(network, log)
  if (decoded.outcome !== 'decoded') return decoded
  const { blockNumber, txHash, logIndex } = log
  const at = { blockNumber, timeMs, txHash, logIndex }
  try {
    const facts = factsOf(decoded, { network, role: decoded.role, contract: log.address, blockNumber })
    return { outcome: 'events', events: facts.map((fact) => ({ ...fact, at })) }
  } catch (error) {
    if (!(error instanceof UnfitLogError)) throw error
    return { outcome: 'unreadable', role: decoded.role, topic0: log.topics[0]!, reason: error.message }
  }
}

const MEANINGS: Meanings<EventName> = {
  ...REGISTRY_FACTS,
  ...MARKET_FACTS,
  ...MORTGAGE_FACTS,
  ...TRADE_FACTS,
  ...RENTAL_FACTS,
}

function factsOf({ event, fields }: DecodedLog, source: Source): readonly LandFact[] {
  // The compiler does not see that the fields are those of the same event.
  const factsOfEvent = MEANINGS[event] as (fields: unknown, source: Source) => readonly LandFact[]
  return factsOfEvent(fields, source)
}
