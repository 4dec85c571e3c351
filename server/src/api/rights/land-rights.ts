import { coordText } from '@landpass/client/grid'
import type { AssetType } from '../../land/records/assets.ts'
import type { AssetRow, State } from '../../state/state.ts'

/** Who may do what with land, and why, from what answers show of an asset. */

/** Somebody, and a right that is the reason. */
export interface RightOf {
  readonly address: string
  readonly why: string
}

/** What the JSON of a parcel or an estate says of rights, at a time. */
export interface AssetRights {
  readonly owner: string | null
  readonly operator: string | null
  readonly update_operator: string | null
  readonly approvals_for_all: readonly string[]
  readonly update_managers: readonly string[]
  /** Null while it is not rented. */
  readonly tenant: string | null
  readonly rented_until: string | null
}

export function rightsOf(state: State, asset: AssetRow, nowMs: number): AssetRights {
  return JSON.parse(Buffer.concat([...state.assetPieces(asset, nowMs)]).toString()) as AssetRights
}

/** The id of an asset, as offers and bids name it. */
export function assetIdOf({ parts }: State, { type, row }: AssetRow): string {
  if (type === 'estate') return parts.estates.ids[row]!
  return coordText({ x: parts.parcels.x[row]!, y: parts.parcels.y[row]! })
}

/**
 * Who may deploy there, the strongest right first; an address can have several. In an estate, the rights over the estate count, and
 * the operators of the parcel itself.
 *
 * @param rights those of the asset, where they were read already
 */
export function deployersOf(
  state: State,
  asset: AssetRow,
  nowMs: number,
  rights = rightsOf(state, asset, nowMs),
): RightOf[] {
  const estate = asset.type === 'parcel' ? state.parts.parcels.estate[asset.row]! : -1
  if (estate < 0) return [...ownersRights(rights), ...operatorsRights(rights), ...givenRights(rights)]
  const ofEstate = rightsOf(state, { type: 'estate', row: estate }, nowMs)
  const inherited = [...ownersRights(ofEstate), ...operatorsRights(ofEstate), ...givenRights(ofEstate)]
  return [...operatorsRights(rights), ...inherited.map((one) => ({ ...one, why: `estate's ${one.why}` }))]
}

/** While land is rented, the contract of the rent has the token: the tenant may deploy, and the lessor may not. */
function ownersRights({ owner, tenant }: AssetRights): RightOf[] {
  if (tenant !== null) return [{ address: tenant, why: 'tenant' }]
  return owner === null ? [] : [{ address: owner, why: 'owner' }]
}

function operatorsRights({ operator, update_operator }: AssetRights): RightOf[] {
  return [
    ...(operator === null ? [] : [{ address: operator, why: 'operator' }]),
    ...(update_operator === null ? [] : [{ address: update_operator, why: 'update_operator' }]),
  ]
}

function givenRights({ owner, approvals_for_all, update_managers }: AssetRights): RightOf[] {
  return [
    ...approvals_for_all.map((address) => ({ address, why: `approved by ${owner}` })),
    ...update_managers.map((address) => ({ address, why: `update_manager of ${owner}` })),
  ]
}

/** Whether an address may deploy there, and the first reason. */
export function mayUpdate(
  state: State,
  asset: AssetRow,
  address: string,
  nowMs: number,
): { readonly may_update: boolean; readonly why: string } {
  const found = deployersOf(state, asset, nowMs).find((one) => one.address === address)
  if (found) return { may_update: true, why: found.why }
  const estate = asset.type === 'parcel' ? state.parts.parcels.estate[asset.row]! : -1
  const holder = estate < 0 ? asset : ({ type: 'estate', row: estate } as const)
  return { may_update: false, why: whyNot(rightsOf(state, holder, nowMs), address, estate >= 0) }
}

function whyNot({ owner, tenant }: AssetRights, address: string, isInEstate: boolean): string {
  const whose = isInEstate ? "the estate's " : 'the '
  if (owner === address) return `${whose}owner let it to ${tenant}, who may deploy until the rent ends`
  if (tenant !== null) return `it is rented to ${tenant}, and ${address} has no right of its own`
  if (owner === null) return 'it has no owner'
  return `${whose}owner is ${owner}, who gave ${address} no right`
}

export interface RightOver {
  readonly asset_type: AssetType
  readonly asset_id: string
  readonly why: string
}

export const ADDRESS_RIGHTS = [
  'owns',
  'lets',
  'rents',
  'operates',
  'may_update',
  'manages',
  'approved_for_all',
] as const
export type AddressRights = Record<(typeof ADDRESS_RIGHTS)[number], RightOver[]>

/** Every right of an address, each over parcels by x, then y, and then over estates by id. */
export function rightsOfAddress(state: State, address: string, nowMs: number): AddressRights {
  const found: AddressRights = {
    ...{ owns: [], lets: [], rents: [], operates: [], may_update: [], manages: [], approved_for_all: [] },
  }
  for (const asset of candidates(state, address, nowMs)) {
    const rights = rightsOf(state, asset, nowMs)
    if (hasRightsOfEstateOnly(state, asset, rights, address)) continue
    const add = (name: keyof AddressRights, why: string) =>
      found[name].push({ asset_type: asset.type, asset_id: assetIdOf(state, asset), why })
    const { owner, tenant } = rights
    if (owner === address) add('owns', 'owner')
    if (owner === address && tenant !== null) add('lets', `rented to ${tenant}`)
    if (tenant === address) add('rents', 'tenant')
    if (rights.operator === address) add('operates', 'operator')
    const first = deployersOf(state, asset, nowMs, rights).find((one) => one.address === address)
    // A dissolved estate has a token, and no place to deploy at.
    const hasPlace = asset.type === 'parcel' || !state.isDissolved(asset.row)
    if (first && hasPlace) add('may_update', first.why)
    if (rights.update_managers.includes(address)) add('manages', `update_manager of ${owner}`)
    if (rights.approvals_for_all.includes(address)) add('approved_for_all', `approved by ${owner}`)
  }
  return found
}

/** Everything over which an address can have a right. */
function candidates(state: State, address: string, nowMs: number): AssetRow[] {
  const { parcels, estates } = state.parts
  const rentedBy = ({ rows, untilMs, tenants }: typeof parcels.rents) =>
    [...rows].filter((_, place) => tenants[place] === address && untilMs[place]! > nowMs)
  const inEstate = (row: number) => parcels.estate[row]! >= 0
  const parcelRows = new Set([
    ...[...state.parcelsOf(address)].filter((row) => !inEstate(row)),
    ...state.parcelsOperatedBy(address),
    ...rentedBy(parcels.rents),
  ])
  const estateRows = new Set([
    ...state.estatesOf(address),
    ...state.estatesOperatedBy(address),
    ...rentedBy(estates.rents),
  ])
  const inOrder = (rows: ReadonlySet<number>) => [...rows].sort((a, b) => a - b)
  return [
    ...inOrder(parcelRows).map((row) => ({ type: 'parcel' as const, row })),
    ...inOrder(estateRows).map((row) => ({ type: 'estate' as const, row })),
  ]
}

/** The rights over an estate are written on each of its parcels, too. */
function hasRightsOfEstateOnly(state: State, asset: AssetRow, rights: AssetRights, address: string): boolean {
  const isInEstate = asset.type === 'parcel' && state.parts.parcels.estate[asset.row]! >= 0
  return isInEstate && rights.operator !== address && rights.update_operator !== address
}
