import { ASSET_TYPES, type AssetType } from './assets.ts'
import * as is from './checks.ts'
import { address, boolean, type ColumnField, choice, hash, integer } from './fields.ts'
import { plainJson } from './json.ts'
import { defineRecord, type Line, type Row } from './record.ts'

/**
 * What a chain says of owners and of signed trades, and not of one asset. Worlds from other sources have none of it, and no answer
 * shows it.
 */

const RIGHT_KINDS = ['approval', 'manager'] as const
export type RightKind = (typeof RIGHT_KINDS)[number]

const LAND_RIGHT = defineRecord({
  description: 'A right over all parcels, or all estates, of an owner.',
  fields: {
    kind: choice<RightKind>(is.oneOf('approval', 'manager'), RIGHT_KINDS),
    /** Whether over parcels or estates. */
    registry: choice<AssetType>(is.oneOf('parcel', 'estate'), ASSET_TYPES),
    owner: address(),
    operator: address(),
  },
  places: {},
  derived: {},
  answer: [],
  notAnswered: ['kind', 'registry', 'owner', 'operator'],
})

const TRADE_SIGNATURE = defineRecord({
  description: 'How often a signed trade was used, and whether it was cancelled.',
  fields: {
    marketplace: address(),
    signer: address(),
    signature_key: hash(),
    is_cancelled: boolean(),
    uses: integer(is.isCount),
  },
  places: {},
  derived: {},
  answer: [],
  notAnswered: ['marketplace', 'signer', 'signature_key', 'is_cancelled', 'uses'],
})

/** Null on a line is '' in the column: the index of the whole contract. */
const signerOrNull: ColumnField<string, string | null, '', false> = {
  kind: 'column',
  unit: '',
  check: is.orNull(is.isAddress),
  isOptional: false,
  toColumn: (line) => line ?? '',
  text: (column) => plainJson(column === '' ? null : column),
  schema: address().schema,
}

const TRADE_INDEX = defineRecord({
  description: 'The index that trades must be signed with, and whether the marketplace is paused.',
  fields: {
    marketplace: address(),
    signer: signerOrNull,
    value: { ...address(), check: is.isUint256 },
    is_paused: boolean(),
  },
  places: {},
  derived: {},
  answer: [],
  notAnswered: ['marketplace', 'signer', 'value', 'is_paused'],
})

/** These records by their tables, all of which are small and shared by all worlds. */
export const CHAIN_RECORDS = {
  land_right: LAND_RIGHT,
  trade_signature: TRADE_SIGNATURE,
  trade_index: TRADE_INDEX,
} as const

export type ChainTable = keyof typeof CHAIN_RECORDS
export type ChainRows = { readonly [Table in ChainTable]: Row<(typeof CHAIN_RECORDS)[Table]> }
export type ChainLines = { readonly [Table in ChainTable]: Line<(typeof CHAIN_RECORDS)[Table]> }
