import { encodeTokenId } from '@landpass/client/grid'
import type { ExactNumber } from '../../../src/land/records/exact-json.ts'
import type { ReferenceLand } from './reference-land.ts'

/** What a map shows of a parcel: undefined is what it does not have. */
export interface ReferenceTile {
  readonly x: number
  readonly y: number
  readonly type: 'unowned' | 'owned' | 'district' | 'road' | 'plaza'
  readonly name: string | undefined
  readonly owner: string | undefined
  readonly estateId: string | undefined
  readonly district_id: string | undefined
  readonly tokenId: string
  readonly price: ExactNumber | undefined
  /** In seconds. */
  readonly expiresAt: number | undefined
  /** Of one estate, or of one district, with the neighbours to the west, north and north-west. */
  readonly joins: { readonly left: boolean; readonly top: boolean; readonly topLeft: boolean }
}

/** The tiles of a whole world, worked out from its records alone: by x ascending, then y descending. */
export function referenceTiles(land: ReferenceLand, nowMs: number): ReferenceTile[] {
  const parcels = [...land.parcels].sort((a, b) => a.x - b.x || b.y - a.y)
  const groundOf = new Map(parcels.map((parcel) => [`${parcel.x},${parcel.y}`, ground(parcel)]))
  const kinds = districtKinds(land)
  const estates = new Map(land.estates.map((estate) => [estate.id, estate]))
  return parcels.map((parcel) => {
    const { x, y, id, district_id, estate_id } = parcel
    const estate = estate_id === null ? undefined : estates.get(estate_id)!
    const estateOffer = estate && land.offer('estate', estate.id, nowMs)
    const offer = (estateOffer ?? land.offer('parcel', id, nowMs)) as Offer | null
    const isJoined = (dx: number, dy: number) =>
      groundOf.get(id) !== '' && groundOf.get(`${x + dx},${y + dy}`) === groundOf.get(id)
    return {
      x,
      y,
      type: district_id === null ? (parcel.owner === null ? 'unowned' : 'owned') : kinds.get(district_id)!,
      name: estate?.data.name || parcel.data.name || undefined,
      owner: (estate ?? parcel).owner ?? undefined,
      estateId: estate?.id,
      district_id: district_id ?? undefined,
      tokenId: String(encodeTokenId({ x, y })),
      price: offer?.price,
      expiresAt: offer ? Math.floor(offer.expires_at / 1000) : undefined,
      joins: { left: isJoined(-1, 0), top: isJoined(0, 1), topLeft: isJoined(-1, 1) },
    }
  })
}

interface Offer {
  readonly price: ExactNumber
  readonly expires_at: number
}

/** What a parcel is a part of; nothing for a parcel that stands alone. */
function ground({ estate_id, district_id }: ReferenceLand['parcels'][number]): string {
  if (estate_id !== null) return `estate ${estate_id}`
  return district_id === null ? '' : `district ${district_id}`
}

/** The tags of the parcels around say which districts are roads and plazas. */
function districtKinds({ parcels }: ReferenceLand): ReadonlyMap<string, ReferenceTile['type']> {
  const kinds = new Map<string, ReferenceTile['type']>()
  for (const { district_id } of parcels) if (district_id !== null) kinds.set(district_id, 'district')
  for (const { tags } of parcels) {
    const { plaza, road } = (tags as Tags).proximity ?? {}
    if (plaza) kinds.set(plaza.district_id, 'plaza')
    if (road) kinds.set(road.district_id, 'road')
  }
  return kinds
}

interface Tags {
  readonly proximity?: Partial<Record<'plaza' | 'road', { readonly district_id: string }>>
}
