import { coordText, decodeTokenId, parseTokenId } from '@landpass/client/grid'
import type { AssetName } from '../../land/records/assets.ts'
import { foldText } from '../common/fold.ts'

/** What a text names by coordinates or id: a parcel, estate, district or address, which may not exist. */
export type TypedPlace = AssetName | { readonly type: 'district' | 'address'; readonly id: string }

/** The first digits of an address, and possibly its last ones. */
export interface AddressPart {
  /** `0x` and 1 to 39 digits, in lower case. */
  readonly start: string
  /** Up to 39 digits, in lower case. */
  readonly end: string
}

/**
 * The places that a folded text ({@link foldText}) names by coordinates or by an id of any kind; mostly none.
 *
 * @example
 * typedPlaces('(12, -34)') // [{ type: 'parcel', id: '12,-34' }]
 * typedPlaces('#7') // [{ type: 'estate', id: '7' }]
 * typedPlaces('ESTATE 7') // [{ type: 'estate', id: '7' }], and the same in the other languages of the pages
 * typedPlaces('SEVEN') // []
 */
export function typedPlaces(folded: string): TypedPlace[] {
  return READERS.flatMap((read) => read(folded) ?? [])
}

/**
 * Reads a part of an address from folded text; undefined for a whole address and for other text. Pages shorten
 * addresses in the middle, and that form is read, too.
 *
 * @example
 * typedAddressPart('0X12AB') // { start: '0x12ab', end: '' }
 * typedAddressPart(foldText('0x12ab…cdef')) // { start: '0x12ab', end: 'cdef' }
 */
export function typedAddressPart(folded: string): AddressPart | undefined {
  const [, start, end = ''] = ADDRESS_PART.exec(folded) ?? []
  return start === undefined ? undefined : { start: start.toLowerCase(), end: end.toLowerCase() }
}

/** The word for estate in the languages of the pages: `asset.estate` and `asset.estate.many` of web/locales. */
export const ESTATE_WORDS = [
  'estate',
  'estates',
  'finca',
  'fincas',
  'domaine',
  'domaines',
  '에스테이트',
  '地产',
] as const

type Reader = (folded: string) => TypedPlace | undefined

/** Two whole numbers with a comma, semicolon or space between them, in brackets or not. */
const COORDS = /^[([]? ?([+-]?\d{1,6}) ?[,;、 ] ?([+-]?\d{1,6}) ?[)\]]?$/
const ESTATE_WORD = ESTATE_WORDS.map((word) => foldText(word)).join('|')
const ESTATE_ID = new RegExp(`^(?:${ESTATE_WORD})? ?#? ?0*(\\d{1,78})$`)
const ADDRESS = /^0X[0-9A-F]{40}$/
/** Folding replaces `…` by three full stops. */
const ADDRESS_PART = /^(0X[0-9A-F]{1,39})(?:\.\.\.([0-9A-F]{0,39}))?$/
const UUID = /^[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/
/** A shorter number is read as an estate's id. Only some parcels of column 0 have a token id that short. */
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

/** The parcel at coordinates; `-0` is written `0`. */
function parcelAt(x: number, y: number): TypedPlace {
  return { type: 'parcel', id: coordText({ x, y }) }
}
