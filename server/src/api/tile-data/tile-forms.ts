import { tokenIdText } from '@landpass/client/grid'
import { SECOND_MS } from '../../clock.ts'
import { textJson } from '../../land/records/json.ts'
import { JOINS_LEFT, JOINS_TOP, JOINS_TOP_LEFT, type Kind } from '../../state/parts/tile-cells.ts'
import type { Tile } from './tile-source.ts'

/** The fields of a tile, in the order in which they are answered. */
export const TILE_FIELDS = [
  'id',
  'x',
  'y',
  'updatedAt',
  'type',
  'top',
  'left',
  'topLeft',
  'name',
  'estateId',
  'district_id',
  'owner',
  'price',
  'expiresAt',
  'tokenId',
  'nftId',
] as const
export type TileField = (typeof TILE_FIELDS)[number]

/** How tiles are written: a version of the interface, and the requested fields. */
export interface TileForm {
  readonly version: 'v1' | 'v2'
  /** Whether it has all fields. Only such tiles are cached. */
  readonly isWhole: boolean
  /** Whether it shows offers, so that its tiles change when an offer expires. */
  readonly showsOffers: boolean
  /** Writes a tile as a member of a JSON object, followed by a comma: `"-3,7":{…},`. */
  write(tile: Tile): string
}

/** Writes one field; empty text if the tile does not have it. */
type WriteField = (tile: Tile) => string

/** The form of `/v2/tiles`. */
export function tileForm(fields: ReadonlySet<TileField>): TileForm {
  const isWhole = fields.size === TILE_FIELDS.length
  const named = writersOf(TILE_FIELDS.filter((field) => fields.has(field)))
  // A whole tile has one field that cannot be named.
  const writers = isWhole ? [...named, writeRental] : named
  return {
    version: 'v2',
    isWhole,
    showsOffers: fields.has('price') || fields.has('expiresAt'),
    write: (tile) => memberOf(tile, writers),
  }
}

/** The form of `/v1/tiles`, with the fields that are made of these `/v2` fields. */
export function legacyTileForm(fields: ReadonlySet<TileField>): TileForm {
  const withPrice = fields.has('price')
  const isWhole = fields.size === TILE_FIELDS.length
  const named = LEGACY.filter(([field]) => fields.has(field)).map(([, write]) =>
    write === writeLegacyType && !withPrice ? writeKindNumber : write,
  )
  const writers = isWhole ? [...named, writeHighestRent] : named
  return {
    version: 'v1',
    isWhole,
    showsOffers: withPrice,
    write: (tile) => memberOf(tile, writers),
  }
}

/**
 * A function that writes a tile as JSON with these fields. Fields that a tile does not have are left out.
 *
 * @example
 * tileWriter(['x', 'type'])(tile) // '{"x":-3,"type":"road"}'
 */
export function tileWriter(fields: readonly TileField[]): (tile: Tile) => string {
  const writers = writersOf(fields)
  return (tile) => objectOf(tile, writers)
}

function writersOf(fields: readonly TileField[]): readonly WriteField[] {
  return fields.map((field) => WRITE[field])
}

function memberOf(tile: Tile, writers: readonly WriteField[]): string {
  return `"${tile.x},${tile.y}":${objectOf(tile, writers)},`
}

function objectOf(tile: Tile, writers: readonly WriteField[]): string {
  let fields = ''
  for (const write of writers) {
    const field = write(tile)
    if (field !== '') fields += fields === '' ? field : `,${field}`
  }
  return `{${fields}}`
}

const WRITE: Readonly<Record<TileField, WriteField>> = {
  id: ({ x, y }) => `"id":"${x},${y}"`,
  x: ({ x }) => `"x":${x}`,
  y: ({ y }) => `"y":${y}`,
  updatedAt: ({ updatedAtS }) => `"updatedAt":${updatedAtS * SECOND_MS}`,
  type: ({ kind }) => `"type":"${kind}"`,
  top: ({ joins }) => `"top":${(joins & JOINS_TOP) !== 0}`,
  left: ({ joins }) => `"left":${(joins & JOINS_LEFT) !== 0}`,
  topLeft: ({ joins }) => `"topLeft":${(joins & JOINS_TOP_LEFT) !== 0}`,
  name: ({ name }) => writeName(name),
  estateId: ({ estateId }) => (estateId === undefined ? '' : `"estateId":"${estateId}"`),
  district_id: ({ districtId }) => (districtId === undefined ? '' : `"district_id":"${districtId}"`),
  owner: ({ owner }) => (owner === undefined ? '' : `"owner":"${owner}"`),
  price: ({ price }) => (price === undefined ? '' : `"price":${price}`),
  expiresAt: ({ expiresAtS }) => (expiresAtS === undefined ? '' : `"expiresAt":${expiresAtS}`),
  tokenId: (tile) => `"tokenId":"${tokenIdText(tile)}"`,
  nftId: (tile) => `"nftId":"${nftId(tile)}"`,
}

/** As older services have it: prices in wei of MANA, times in milliseconds. */
function writeRental({ rental }: Tile): string {
  if (!rental) return ''
  const { expiresAtMs: expiration, madeAtMs: updatedAt, periods } = rental
  return `"rentalListing":${JSON.stringify({ expiration, updatedAt, periods })}`
}

/** For a day of the dearest period. */
function writeHighestRent({ rental }: Tile): string {
  if (!rental) return ''
  const highest = rental.periods.reduce((most, { pricePerDay }) => {
    const price = BigInt(pricePerDay)
    return price > most ? price : most
  }, 0n)
  return `"rentalPricePerDay":"${highest}"`
}

/** The id of the tile's token in public indexes: that of its estate, or else its own. */
function nftId({ registries, estateId, ...place }: Tile): string {
  return estateId === undefined
    ? `parcel-${registries.land}-${tokenIdText(place)}`
    : `estate-${registries.estate}-${estateId}`
}

function writeName(name: string | undefined): string {
  return name === undefined ? '' : `"name":${textJson(name)}`
}

/** The numbers of types in the older form. */
const KIND_NUMBERS: Readonly<Record<Kind, number>> = {
  outside: -1,
  district: 5,
  road: 7,
  plaza: 8,
  owned: 9,
  unowned: 11,
}
const ON_SALE_NUMBER = 10

const writeKindNumber: WriteField = ({ kind }) => `"type":${KIND_NUMBERS[kind]}`
const writeLegacyType: WriteField = (tile) =>
  tile.price === undefined ? writeKindNumber(tile) : `"type":${ON_SALE_NUMBER}`

const writeLegacyEstate: WriteField = ({ estateId }) =>
  estateId === undefined ? '' : `"estate_id":"${estateId}"`

/** The fields of the older form in their order, each with the `/v2` field that it is made of. */
const LEGACY: readonly (readonly [TileField, WriteField])[] = [
  ['type', writeLegacyType],
  ['x', WRITE.x],
  ['y', WRITE.y],
  ['top', ({ joins }) => (joins & JOINS_TOP ? '"top":1' : '')],
  ['left', ({ joins }) => (joins & JOINS_LEFT ? '"left":1' : '')],
  ['topLeft', ({ joins }) => (joins & JOINS_TOP_LEFT ? '"topLeft":1' : '')],
  ['owner', WRITE.owner],
  ['name', ({ kind, name, districtName }) => writeName(kind === 'district' ? (districtName ?? name) : name)],
  ['estateId', writeLegacyEstate],
  ['district_id', WRITE.district_id],
  ['price', WRITE.price],
]

/** Types that a tile has only for one address, with the numbers of the older form. */
export const ADDRESS_TYPES = {
  ownParcel: 0,
  ownParcelOnSale: 1,
  ownEstate: 2,
  ownEstateOnSale: 3,
  /** The address may operate or update the parcel or its estate. */
  operated: 4,
  /** The address contributed to the tile's district. */
  contributed: 6,
} as const
export type AddressType = (typeof ADDRESS_TYPES)[keyof typeof ADDRESS_TYPES]

const ADDRESS_PLACE = LEGACY.filter(([field]) => ['x', 'y', 'top', 'left', 'topLeft'].includes(field)).map(
  ([, write]) => write,
)

/**
 * Writes a tile as a member of the answer of `/v1/tiles/:address`: in the older form, with the type that the tile has
 * for the address, its price as text, and no owner.
 */
export function writeAddressTile(tile: Tile, type: AddressType): string {
  const { name, districtName } = tile
  return memberOf(tile, [
    () => `"type":${type}`,
    ...ADDRESS_PLACE,
    () => writeName(type === ADDRESS_TYPES.contributed ? (districtName ?? name) : name),
    writeLegacyEstate,
    ({ price }) => (price === undefined ? '' : `"price":"${price}"`),
  ])
}

export const ALL_FIELDS: ReadonlySet<TileField> = new Set(TILE_FIELDS)
