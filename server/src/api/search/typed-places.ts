import { coordText, decodeTokenId, parseTokenId } from '@landpass/client/grid'
import type { AssetName } from '../../land/records/assets.ts'

/** What a text may name by place or id: a parcel, an estate, a district or an address that may or may not be there. */
export type TypedPlace = AssetName | { readonly type: 'district' | 'address'; readonly id: string }

/**
 * The places that a folded text ({@link foldText}) names by coordinates or by an id of any kind; mostly none.
 *
 * @example
 * typedPlaces('(12, -34)') // [{ type: 'parcel', id: '12,-34' }]
 * typedPlaces('#7') // [{ type: 'estate', id: '7' }]
 * typedPlaces('SEVEN') // []
 */
export function typedPlaces(folded: string): TypedPlace[] {
  return READERS.flatMap((read) => read(folded) ?? [])
}

type Reader = (folded: string) => TypedPlace | undefined

/** Two whole numbers with a comma, semicolon or space between them, in brackets or not. */
const COORDS = /^[([]? ?([+-]?\d{1,6}) ?[,;、 ] ?([+-]?\d{1,6}) ?[)\]]?$/
const ESTATE_ID = /^#? ?0*(\d{1,78})$/
const ADDRESS = /^0X[0-9A-F]{40}$/
const UUID = /^[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/
/** A shorter number is an estate's id: of all parcels only some of column 0 have so short a token id. */
const TOKEN_ID = /^(?:\d{13,}|0X[0-9A-F]{13,})$/

const READERS: readonly Reader[] = [
  (folded) => {
    const [, x, y] = COORDS.exec(folded) ?? []
    return x === undefined ? undefined : parcelAt(Number(x), Number(y))
  },
  (folded) => {
    const tokenId = TOKEN_ID.test(folded) && !ADDRESS.test(folded) ? parseTokenId(folded) : undefined
    const coord = tokenId === undefined ? undefined : decodeTokenId(tokenId)
    return coord && parcelAt(coord.x, coord.y)
  },
  (folded) => {
    const [, id] = ESTATE_ID.exec(folded) ?? []
    return id === undefined ? undefined : { type: 'estate', id }
  },
  (folded) => (ADDRESS.test(folded) ? { type: 'address', id: folded.toLowerCase() } : undefined),
  (folded) => (UUID.test(folded) ? { type: 'district', id: folded.toLowerCase() } : undefined),
]

/** `-0`, as somebody may type it, is written `0`. */
function parcelAt(x: number, y: number): TypedPlace {
  return { type: 'parcel', id: coordText({ x, y }) }
}
