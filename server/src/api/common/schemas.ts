import Type, { type TSchema } from 'typebox'
import { oneOf } from '../../http/schemas.ts'
import { MORTGAGE_STATUSES, STATUSES } from './parameters.ts'
import { PLACE_TYPES } from './place-types.ts'

/** The outward shapes, field by field as in interfaces.md: openapi.json is made of them. */

const EPOCH_MS = { pattern: '^\\d+$', description: 'Milliseconds since 1970-01-01 UTC, as digits.' }
const EPOCH_S = { pattern: '^\\d+$', description: 'Seconds, as digits.' }

const id = (description: string) => Type.String({ description })
const hash = (description = 'Hash: 0x and 64 hex digits.') =>
  Type.String({ pattern: '^0x[0-9a-f]{64}$', description })
const address = (description = 'Address in lower case.') =>
  Type.String({ pattern: '^0x[0-9a-f]{40}$', description })
const epochText = () => Type.String(EPOCH_MS)
const epochNumber = () => Type.Integer({ description: 'Milliseconds since 1970-01-01 UTC.' })
const iso = () => Type.String({ format: 'date-time', description: 'ISO 8601, UTC, milliseconds.' })
const mana = () => Type.Number({ minimum: 0, description: 'MANA, with up to 18 decimals.' })
const integer = (description: string) => Type.Integer({ description })
const uuid = () => Type.String({ format: 'uuid' })

function orNull<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

function closed<T extends Record<string, TSchema>>(properties: T, description: string) {
  return Type.Object(properties, { additionalProperties: false, description })
}

const publication = closed(
  {
    tx_hash: hash('Transaction that made the offer; one transaction can make several.'),
    tx_status: Type.String(),
    owner: address('The seller.'),
    price: mana(),
    expires_at: epochNumber(),
    status: oneOf(STATUSES),
    buyer: orNull(address()),
    contract_id: hash('The offer in its contract; not unique.'),
    block_number: integer('Block of creation.'),
    block_time_created_at: epochNumber(),
    block_time_updated_at: orNull(epochNumber()),
    asset_id: id('Estate id, or parcel as x,y.'),
    asset_type: oneOf(['parcel', 'estate'] as const),
    type: oneOf(['parcel', 'estate'] as const, { description: 'The same as asset_type.' }),
    marketplace_address: address('Contract of the marketplace.'),
    marketplace_id: address('The same as marketplace_address.'),
  },
  'An offer for sale.',
)

const offered = {
  publication: orNull(Type.Unsafe({ $ref: 'Publication#' })),
}

/** What an owner can write about an asset. */
const ownerText = {
  version: Type.Integer(),
  name: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  ipns: Type.Optional(Type.String()),
}

const proximity = closed(
  { district_id: uuid(), distance: Type.Integer({ minimum: 0 }) },
  'Distance in parcels.',
)

const parcel = closed(
  {
    id: id('x,y'),
    x: integer('Column.'),
    y: integer('Row.'),
    auction_price: orNull(mana()),
    district_id: orNull(uuid()),
    owner: orNull(address('Null for unowned land.')),
    operator: orNull(address()),
    update_operator: orNull(address()),
    data: closed(
      {
        ...ownerText,
      },
      'What the owner wrote.',
    ),
    auction_owner: orNull(address('Who bought it in the first sale.')),
    auction_timestamp: Type.Null(),
    tags: closed(
      {
        proximity: Type.Optional(
          closed({ plaza: Type.Optional(proximity), road: Type.Optional(proximity) }, 'What is near.'),
        ),
      },
      'May be empty.',
    ),
    last_transferred_at: orNull(epochText()),
    in_estate: Type.Boolean(),
    estate_id: orNull(id('Estate that holds it.')),
    ...offered,
  },
  'A piece of land on the grid.',
)

const estate = closed(
  {
    id: id('Decimal digits.'),
    token_id: Type.String({ pattern: '^\\d+$' }),
    owner: address(),
    operator: orNull(address()),
    update_operator: orNull(address()),
    data: closed(
      {
        ...ownerText,
        parcels: Type.Array(closed({ x: Type.Integer(), y: Type.Integer() }, 'A parcel of the estate.')),
      },
      'What the owner wrote, and the parcels in the order in which they were added.',
    ),
    last_transferred_at: epochText(),
    tx_hash: hash(),
    district_id: orNull(uuid()),
    ...offered,
  },
  'A group of adjacent parcels.',
)

const bid = closed(
  {
    id: hash('Id of the bid in its contract.'),
    token_address: address('Contract of the asset.'),
    token_id: Type.String({ pattern: '^\\d+$', description: 'Exact decimal digits.' }),
    bidder: address(),
    seller: address(),
    price: mana(),
    expires_at: epochText(),
    fingerprint: Type.String({
      pattern: '^0x[0-9a-f]*$',
      description: "0x for parcels, the estate's contents for estates.",
    }),
    status: oneOf(STATUSES),
    asset_id: id('Estate id, or parcel as x,y.'),
    asset_type: oneOf(['parcel', 'estate'] as const),
    block_number: integer('Block of the last change.'),
    block_time_created_at: epochText(),
    block_time_updated_at: epochText(),
    created_at: iso(),
    updated_at: iso(),
    tx_hash: Type.Optional(orNull(hash('With sanitize=false: transaction of the bid, where known.'))),
    log_index: Type.Optional(orNull(Type.Integer({ description: 'With sanitize=false.' }))),
    contract_address: Type.Optional(orNull(address('With sanitize=false.'))),
  },
  'An offer to buy.',
)

const mortgage = closed(
  {
    tx_hash: hash(),
    tx_status: Type.String(),
    block_number: integer('Block of creation.'),
    status: oneOf(MORTGAGE_STATUSES),
    asset_id: id('Parcel as x,y.'),
    asset_type: oneOf(['parcel', 'estate'] as const),
    borrower: address(),
    lender: orNull(address()),
    loan_id: Type.Integer(),
    mortgage_id: Type.Integer(),
    amount: mana(),
    is_due_at: Type.String(EPOCH_S),
    expires_at: epochText(),
    block_time_created_at: epochText(),
    block_time_updated_at: orNull(epochText()),
    created_at: iso(),
    updated_at: iso(),
    outstanding_amount: mana(),
    payable_at: Type.String(EPOCH_S),
    interest_rate: Type.Integer({ description: 'A smaller number is a higher rate.' }),
    punitory_interest_rate: Type.Integer({ description: 'A smaller number is a higher rate.' }),
    paid: mana(),
    started_at: orNull(epochText()),
  },
  'A loan for buying a parcel.',
)

const district = closed(
  {
    id: uuid(),
    name: Type.String(),
    description: Type.String(),
    link: Type.String(),
    public: Type.Boolean(),
    parcel_count: Type.String({ pattern: '^\\d+$' }),
    center: Type.String({ description: 'x,y' }),
  },
  'A themed area.',
)

const contribution = closed(
  { address: address(), district_id: uuid(), land_count: Type.String({ pattern: '^\\d+$' }) },
  'How many parcels an address gave to a district.',
)

const joins = (where: string) => `The neighbour to the ${where} is of the same estate or the same district.`

/** Which of them a tile has depends on what is known of it, and on include and exclude. */
const tile = closed(
  {
    id: Type.Optional(id('x,y')),
    x: Type.Optional(integer('Column.')),
    y: Type.Optional(integer('Row.')),
    updatedAt: Type.Optional(integer('Last change of the parcel or its estate, in seconds since 1970.')),
    type: Type.Optional(oneOf(['owned', 'unowned', 'plaza', 'road', 'district'] as const)),
    top: Type.Optional(Type.Boolean({ description: joins('north') })),
    left: Type.Optional(Type.Boolean({ description: joins('west') })),
    topLeft: Type.Optional(Type.Boolean({ description: joins('north-west') })),
    name: Type.Optional(Type.String({ description: "The estate's, or else the parcel's." })),
    estateId: Type.Optional(id('Estate that holds the parcel.')),
    owner: Type.Optional(address("The estate's, or else the parcel's.")),
    price: Type.Optional(mana()),
    expiresAt: Type.Optional(integer('When the offer ends, in seconds since 1970.')),
    tokenId: Type.Optional(Type.String({ pattern: '^\\d+$', description: 'Exact decimal digits.' })),
  },
  'A place of the map.',
)

const one = (where: string) => Type.Optional(Type.Literal(1, { description: joins(where) }))

const legacyTile = closed(
  {
    type: Type.Optional(
      Type.Integer({ description: '5 district, 7 road, 8 plaza, 9 owned, 10 on sale, 11 unowned.' }),
    ),
    x: Type.Optional(integer('Column.')),
    y: Type.Optional(integer('Row.')),
    top: one('north'),
    left: one('west'),
    topLeft: one('north-west'),
    owner: Type.Optional(address("The estate's, or else the parcel's.")),
    name: Type.Optional(Type.String({ description: "The estate's, or else the parcel's." })),
    estate_id: Type.Optional(id('Estate that holds the parcel.')),
    price: Type.Optional(mana()),
  },
  'A place of the map, in the older form.',
)

const tokenMetadata = closed(
  {
    id: Type.String({ pattern: '^\\d+$', description: 'Token id, exact decimal digits.' }),
    name: Type.String(),
    description: Type.String({ description: 'May be empty.' }),
    image: Type.String({ format: 'uri' }),
    external_url: Type.String({ format: 'uri', description: 'A page about the token.' }),
    attributes: Type.Array(
      closed(
        {
          trait_type: oneOf(['X', 'Y', 'Size', 'Distance to Plaza', 'Distance to Road'] as const),
          value: Type.Integer(),
          display_type: Type.Literal('number'),
        },
        'A number that marketplaces show. Distances are in parcels, and missing where nothing is near.',
      ),
    ),
    background_color: Type.String({ pattern: '^[0-9a-f]{6}$' }),
  },
  'A parcel or an estate as a token.',
)

const districtWithParcels = closed(
  {
    ...district.properties,
    parcels: Type.Array(Type.String(), { description: 'x,y of each, by x ascending, then y descending.' }),
  },
  'A themed area and its parcels.',
)

const searchResult = closed(
  {
    type: oneOf(PLACE_TYPES),
    id: id('Parcel: x,y. Estate: decimal digits. District: UUID. Address: the address.'),
    name: orNull(Type.String({ description: 'As its owner wrote it.' })),
    x: orNull(integer('Column of a parcel of it; null for an address that owns nothing.')),
    y: orNull(integer('Row of that parcel.')),
    parcels: Type.Integer({
      minimum: 0,
      description: 'How many it has: 1 for a parcel; for an address those that it owns outside its estates.',
    }),
    estates: orNull(
      Type.Integer({ minimum: 0, description: 'For an address: how many estates with parcels it owns.' }),
    ),
    owner: orNull(
      address(
        "Of a parcel in an estate the estate's, of an address itself. Null for districts and unowned land.",
      ),
    ),
  },
  'A place that was found.',
)

const prices = () => Type.Array(mana(), { description: 'With every digit of the offers.' })
const expiryTimes = () => Type.Array(epochNumber())

const offers = closed(
  {
    total: Type.Integer({ minimum: 0, description: 'Offers of both lists.' }),
    parcels: closed(
      {
        x: Type.Array(Type.Integer()),
        y: Type.Array(Type.Integer()),
        price: prices(),
        expires_at: expiryTimes(),
      },
      'By x ascending, then y descending.',
    ),
    estates: closed(
      { id: Type.Array(id('Decimal digits.')), price: prices(), expires_at: expiryTimes() },
      'By id. Those without parcels are left out.',
    ),
  },
  'Lists of the same length: what stands at the same place of each belongs together.',
)

/** The shapes that openapi.json names once. */
export const LAND_SHAPES = {
  Publication: publication,
  Parcel: parcel,
  Estate: estate,
  Bid: bid,
  Mortgage: mortgage,
  District: district,
  Contribution: contribution,
  Tile: tile,
  LegacyTile: legacyTile,
  TokenMetadata: tokenMetadata,
  DistrictWithParcels: districtWithParcels,
  SearchResult: searchResult,
  Offers: offers,
} as const

function shape(name: keyof typeof LAND_SHAPES) {
  return Type.Unsafe({ $ref: `${name}#` })
}

export const publicationSchema = shape('Publication')
export const parcelSchema = shape('Parcel')
export const estateSchema = shape('Estate')
export const bidSchema = shape('Bid')
export const mortgageSchema = shape('Mortgage')
export const districtSchema = shape('District')
export const contributionSchema = shape('Contribution')
export const tileSchema = shape('Tile')
export const legacyTileSchema = shape('LegacyTile')
export const tokenMetadataSchema = shape('TokenMetadata')
export const districtWithParcelsSchema = shape('DistrictWithParcels')
export const searchResultSchema = shape('SearchResult')
export const offersSchema = shape('Offers')
