import { DAY_MS } from '../../../src/clock.ts'
import type { LandChange } from './land-changes.ts'
import { addressOf, bidRow, hashOf, publicationRow } from './land-rows.ts'
import type { ReferenceLand } from './reference-land.ts'

export const SELLER = addressOf('seller')
export const OPERATOR = addressOf('operator')

/** Changes that show in rows of `/v2/land`, the same sequence in every run: offers come and go, land is sold, renamed, joined and given rights. */
export class SomeChanges {
  private seed = 0
  private readonly land: { readonly reference: ReferenceLand; nowMs(): number }

  /** @param land as it is when a change is made up */
  constructor(land: { readonly reference: ReferenceLand; nowMs(): number }) {
    this.land = land
  }

  /** Changes of different rows, because they are made at once. */
  some(count: number): LandChange[] {
    const changes = Array.from({ length: count }, () => this.one())
    return [...new Map(changes.map((change) => [rowOf(change), change])).values()]
  }

  one(): LandChange {
    const now = this.land.nowMs()
    const { parcels, estates, publications } = this.land.reference
    const pick = (limit: number) => this.pick(limit)
    const parcel = parcels[pick(parcels.length)]!
    const estate = estates[pick(estates.length)]!
    const asset = pick(2) === 0 ? (['parcel', parcel.id] as const) : (['estate', estate.id] as const)
    const one = publications[pick(publications.length)]!
    switch (pick(10)) {
      case 0:
      case 1:
      case 2:
        return {
          kind: 'open-publication',
          publication: publicationRow(`found ${this.seed}`, {
            asset_type: asset[0],
            asset_id: asset[1],
            price: ['5', '5.000000000000000001', '1000', '9007199254740993', '7.5'][pick(5)]!,
            expires_at_ms: now + (pick(3) + 1) * DAY_MS,
            block_time_created_at_ms: now - pick(5) * DAY_MS,
          }),
        }
      case 3:
      case 4:
        return one.shown.status === 'open'
          ? {
              kind: 'close-publication',
              key: one.key,
              to: { status: 'sold', buyer: SELLER, atMs: now - pick(4) * DAY_MS },
            }
          : { kind: 'remove-publication', key: one.key }
      case 9:
        return {
          kind: 'place-bid',
          bid: bidRow(`found ${this.seed}`, {
            ...{ status: 'sold', price: '4.5', asset_type: asset[0], asset_id: asset[1] },
            block_time_updated_at_ms: now - pick(4) * DAY_MS,
          }),
        }
      case 5:
        return {
          kind: 'change-estate',
          id: estate.id,
          to: { name: ['Élan', 'zoo', 'Zoo', 'Old Arc'][pick(4)]! },
        }
      case 6:
        return {
          kind: 'change-parcel',
          ...{ x: parcel.x, y: parcel.y },
          to:
            pick(2) === 0
              ? { owner: SELLER, operator: OPERATOR }
              : { name: 'Éla', description: 'a quiet "zoo"\\' },
        }
      default:
        return {
          kind: 'change-parcel',
          ...{ x: parcel.x, y: parcel.y },
          to:
            pick(2) === 0
              ? { estate_id: null, estate_position: null }
              : { estate_id: estate.id, estate_position: 99 },
        }
    }
  }

  private pick(limit: number): number {
    return Number.parseInt(hashOf(`${this.seed++}`).slice(2, 12), 16) % limit
  }
}

/** What a change is of. */
export function rowOf(change: LandChange): string {
  if (change.kind === 'open-publication') return change.publication.tx_hash
  if (change.kind === 'place-bid') return change.bid.id
  if ('key' in change) return `publication ${change.key}`
  return 'x' in change ? `${change.x},${change.y}` : JSON.stringify(change)
}
