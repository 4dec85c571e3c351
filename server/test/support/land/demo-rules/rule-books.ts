import type { DemoWorld } from '@landpass/simulators/demo/demo-world'
import type { BidRecord } from '../../../../src/land/records/bid.ts'
import type { EstateRecord } from '../../../../src/land/records/estate.ts'
import type { ParcelRecord } from '../../../../src/land/records/parcel.ts'
import type { PublicationRecord } from '../../../../src/land/records/publication.ts'

/** For tests: a world's records, sorted for checking, and where to report what is wrong with them. */
export interface Books {
  readonly world: DemoWorld
  readonly presentMs: number
  readonly parcels: ReadonlyMap<string, ParcelRecord>
  readonly estates: ReadonlyMap<string, EstateRecord>
  readonly publications: ReadonlyMap<string, readonly PublicationRecord[]>
  readonly bids: ReadonlyMap<string, readonly BidRecord[]>
  readonly broken: (rule: string, about: string) => void
}

export const assetKey = (one: { asset_type: string; asset_id: string }): string =>
  `${one.asset_type} ${one.asset_id}`

// Map.groupBy came with Node 21.
export function byAsset<T extends { asset_type: string; asset_id: string }>(
  records: readonly T[],
): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const record of records) {
    const group = groups.get(assetKey(record))
    if (group) group.push(record)
    else groups.set(assetKey(record), [record])
  }
  return groups
}

export function checkUnique(books: Books, what: string, values: readonly (string | number)[]): void {
  const seen = new Set<string | number>()
  for (const value of values) {
    if (seen.has(value)) books.broken(`${what} is unique`, String(value))
    seen.add(value)
  }
}
