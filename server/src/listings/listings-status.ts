import { type Clock, secondsSince } from '../clock.ts'
import type { Db } from '../db/engine.ts'
import type { SeriesSource } from '../http/metrics.ts'
import {
  type ListingsStatus,
  type ReadingName,
  readListingsStatus,
  SERVERS,
} from '../land/changes/listings-reading.ts'
import { RecentStatus } from '../work/recent-status.ts'
import type { ListingsReader } from './listings-reader.ts'

/** How far the readings are, whichever process does them. */
export class ListingsStatusReader extends RecentStatus<ListingsStatus> {
  private readonly db: Db
  private readonly clock: Clock

  readonly name: ReadingName

  constructor(name: ReadingName, db: Db, clock: Clock) {
    super()
    this.name = name
    this.db = db
    this.clock = clock
  }

  protected readNow(): Promise<ListingsStatus> {
    return readListingsStatus(this.db, this.name, this.clock.nowMs())
  }

  /** The age of the last whole reading; undefined before the first one. */
  ageSeconds({ readAtMs }: ListingsStatus): number | undefined {
    return readAtMs === null ? undefined : secondsSince(readAtMs, this.clock)
  }

  /** Nothing where no process has read offers yet. */
  series(): readonly SeriesSource[] {
    const gauge = (
      name: string,
      help: string,
      value: (status: ListingsStatus) => number | undefined,
    ): SeriesSource => ({
      ...{ kind: 'gauge', name: `landpass_${this.name}_${name}`, help, labelNames: [] },
      read: async () => {
        const status = await this.recent()
        const shown =
          status && (status.state !== 'off' || status.readAtMs !== null) ? value(status) : undefined
        return shown === undefined ? [] : [{ labels: {}, value: shown }]
      },
    })
    return [
      gauge('following', `1 while offers are read from the ${SERVERS[this.name]}, else 0.`, ({ state }) =>
        Number(state === 'following'),
      ),
      gauge('age_seconds', 'Time since all of them were read.', (status) => this.ageSeconds(status)),
      gauge('offers', 'Offers that are stored.', ({ offers }) => offers),
      gauge('open_offers', 'Offers that can be accepted now.', ({ open }) => open),
    ]
  }
}

/** What this process has read since it started. */
export function readerSeries({
  name: reading,
  counts,
}: Pick<ListingsReader, 'name' | 'counts'>): readonly SeriesSource[] {
  const counter = (name: string, help: string, value: () => number): SeriesSource => ({
    ...{ kind: 'counter', name: `landpass_${reading}_${name}_total`, help, labelNames: [] },
    read: () => [{ labels: {}, value: value() }],
  })
  return [
    counter('readings', `Whole readings of the ${SERVERS[reading]}.`, () => counts.readings),
    counter('failures', 'Readings that failed.', () => counts.failures),
    counter('trades', 'Signed offers that were stored.', () => counts.trades),
    counter('bad_signatures', 'Offers that their signer did not sign.', () => counts.badSignatures),
  ]
}
