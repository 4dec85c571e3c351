import { CONTRACT_LIMIT, parseTokenId } from '@landpass/client/grid'
import type * as schemaParts from '../../schema-parts.ts'
import * as is from './checks.ts'
import { address, addresses, bytes, choice, deadlineMsDigits, derived, optional } from './fields.ts'
import { textJson } from './json.ts'

export const ASSET_TYPES = ['parcel', 'estate'] as const
export type AssetType = (typeof ASSET_TYPES)[number]

/** A parcel or an estate, by the name that offers and bids use for it. */
export interface AssetName {
  readonly type: AssetType
  readonly id: string
}

/**
 * What an id stands for. Only parcels have a comma in theirs.
 *
 * @example
 * findAsset('10,-3', undefined) // { type: 'parcel', id: '10,-3' }
 */
export function findAsset(id: string, type: AssetType | undefined): AssetName {
  const named = type ?? (id.includes(',') ? 'parcel' : 'estate')
  return { type: named, id: named === 'estate' ? estateIdOf(id) : id }
}

/**
 * The decimal digits of an estate id that may be written as `0x` and hex digits. Other text stays: no estate has it as its id.
 *
 * @example
 * estateIdOf('0x25') // '37'
 */
export function estateIdOf(text: string): string {
  return /^0x/i.test(text) ? String(parseTokenId(text) ?? text) : text
}

export const assetType = () => choice<AssetType>(is.oneOf('parcel', 'estate'), ASSET_TYPES, 'AssetType')

/** One of the two numbers of a place, within the contract's own bounds. */
export const GRID_NUMBER = is.integer(-CONTRACT_LIMIT, CONTRACT_LIMIT)

/** Who else may act for the owner of a parcel or an estate. */
export const RIGHTS = {
  approvals_for_all: addresses('Who may do what the owner may, with all land of the owner.'),
  update_managers: addresses('Who may change what is built on all land of the owner.'),
}

/** What the chain says of a parcel or an estate besides; a snapshot may leave it out. */
export const CHAIN_FACTS = {
  /** What the owner wrote, byte for byte. Null where it is unknown: nothing was written, or the row is of a snapshot without it. */
  data_text: optional(bytes('What the owner wrote, byte for byte.')),
  /** Who has the token according to its registry; null where that is `owner`. For rented land it is the contract of the rent. */
  holder: optional(address('Who has the token, where that is not the owner: the contract of a rent.')),
  tenant: optional(address('Who rents it, or rented it last.')),
  rented_until: optional(deadlineMsDigits()),
}

/** The rent of a parcel or an estate in answers, while it runs: see {@link rentJson}. It depends on the clock. */
export const RUNNING_RENT = {
  tenant: derived(
    ({ orNull, addressText }) => orNull(addressText()),
    () => 'null',
  ),
  rented_until: derived(
    ({ orNull, epochMsText }) => orNull(epochMsText()),
    () => 'null',
  ),
}

/** The columns that say who else may act for the owner of a parcel or an estate. */
interface RightsRow {
  readonly operator: string | null
  readonly update_operator: string | null
  readonly approvals_for_all: readonly string[] | null
  readonly update_managers: readonly string[] | null
}

/** No address: contracts and snapshots have it where no address is set, and columns that take no null. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/**
 * Everybody besides its owner who may operate or update a parcel or an estate, each once, without {@link ZERO_ADDRESS}.
 *
 * @example
 * operatorsOf({ operator: '0xa…', update_operator: null, approvals_for_all: null, update_managers: ['0xa…', '0xb…'] })
 * // ['0xa…', '0xb…']
 */
export function operatorsOf(row: RightsRow): readonly string[] {
  const { operator, update_operator, approvals_for_all, update_managers } = row
  if (operator === null && update_operator === null && !approvals_for_all && !update_managers)
    return NO_OPERATORS
  const all = [operator, update_operator, ...(approvals_for_all ?? []), ...(update_managers ?? [])]
  return [...new Set(all.filter((address) => address !== null))].filter((address) => address !== ZERO_ADDRESS)
}

const NO_OPERATORS: readonly string[] = []

/** What an owner says about a parcel or an estate. A missing key is not the same as ''. */
export interface AssetData {
  version: number
  name?: string
  description?: string
  ipns?: string
}

/** The fields of {@link AssetData}, as checks: those that are always there, and the others. */
export const DATA_CHECKS = { version: is.isCount }
export const DATA_TEXT_CHECKS = { name: is.isText, description: is.isText, ipns: is.isText }

/** The columns that keep {@link AssetData}: null where a key is missing. */
export const DATA_COLUMNS = {
  data_version: (data: AssetData): number => data.version,
  name: (data: AssetData): string | null => data.name ?? null,
  description: (data: AssetData): string | null => data.description ?? null,
  ipns: (data: AssetData): string | null => data.ipns ?? null,
}

/** The same in openapi.json. */
export function dataProperties({ Type }: typeof schemaParts) {
  return {
    version: Type.Integer(),
    name: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    ipns: Type.Optional(Type.String()),
  }
}

export interface DataRow {
  readonly data_version: number
  readonly name: string | null
  readonly description: string | null
  readonly ipns: string | null
}

/** @param more fields that follow, each after a comma */
export function assetDataJson({ data_version, name, description, ipns }: DataRow, more = ''): string {
  let json = `{"version":${data_version}`
  if (name !== null) json += `,"name":${textJson(name)}`
  if (description !== null) json += `,"description":${textJson(description)}`
  if (ipns !== null) json += `,"ipns":${textJson(ipns)}`
  return `${json}${more}}`
}

/** The end of an asset's JSON: what stands here is replaced when the asset is for sale. */
const NO_PUBLICATION = 'null}'

/** The end of an asset's JSON from the value of `tenant` on: what stands here is replaced while the asset is rented. */
export const NO_RENT = `null,"rented_until":null,"publication":${NO_PUBLICATION}`

/**
 * What replaces {@link NO_RENT}, up to the publication.
 *
 * @example
 * rentJson({ tenant: '0xa…', untilMs: 1551398400000 }) // '"0xa…","rented_until":"1551398400000","publication":'
 */
export function rentJson({ tenant, untilMs }: { readonly tenant: string; readonly untilMs: number }): string {
  return `"${tenant}","rented_until":"${untilMs}","publication":`
}

/** The last field of an asset: null here, see {@link NO_PUBLICATION}. */
export const publicationOfAsset = () =>
  derived(
    ({ Type, orNull }) => orNull(Type.Unsafe({ $ref: 'Publication#' })),
    () => 'null',
  )
