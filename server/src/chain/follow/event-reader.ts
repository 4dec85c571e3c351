import type { LandEvent, LoanTerms } from '../../land/events/land-event.ts'
import type { BlockRef, Network, RawLog } from '../chain-types.ts'
import type { LogTally } from '../logs/log-tally.ts'
import { landEventsOf } from '../meaning/land-events-of.ts'

export interface EventReaderOptions {
  readonly network: Network
  /** Counts the logs that change nothing. */
  readonly tally: LogTally
  /** The terms after the block of the log; undefined where the contract has no such loan. */
  readonly loanTerms: (loanId: bigint, block: BlockRef) => Promise<LoanTerms | undefined>
}

/**
 * The events of logs, in the order in which they must be applied. The terms of a loan, which no log has, follow the event
 * that requests the mortgage.
 *
 * @param timeMsOf time of a log's block, in milliseconds since 1970
 */
export async function readEvents<Log extends RawLog>(
  logs: readonly Log[],
  timeMsOf: (log: Log) => number,
  { network, tally, loanTerms }: EventReaderOptions,
): Promise<readonly LandEvent[]> {
  const events: LandEvent[] = []
  for (const log of logs) {
    const meaning = landEventsOf(network, log, timeMsOf(log))
    if (meaning.outcome !== 'events') {
      tally.add(meaning, log)
      continue
    }
    for (const event of meaning.events) {
      events.push(event)
      if (event.kind !== 'mortgage-requested') continue
      const { at, loanId } = event
      const terms = await loanTerms(loanId, { number: log.blockNumber, hash: log.blockHash })
      if (terms) events.push({ at, kind: 'loan-terms-read', loanId, terms })
    }
  }
  return events
}
