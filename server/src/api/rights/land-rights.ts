import { coordText } from '@landpass/client/grid'
import { ZERO_ADDRESS } from '../../land/records/assets.ts'
import { findRent } from '../../state/parts/rents.ts'
import type { AssetRow, State } from '../../state/state.ts'
import { filePieces } from '../common/row-files.ts'
import { WorkSlice } from '../common/work-slice.ts'

/** Who may do what with land, and why, from what answers show of an asset. */

/** Somebody, and a right that is the reason. */
export interface RightOf {
  readonly address: string
  readonly why: string
}

/** What the state says of rights over a parcel or an estate, at a time. */
export interface AssetRights {
  readonly owner: string | null
  readonly operator: string | null
  readonly update_operator: string | null
  readonly approvals_for_all: readonly string[]
  readonly update_managers: readonly string[]
  /** Null while it is not rented. */
  readonly tenant: string | null
  /** Who rented it, where the rent has ended and the contract of the rent still has the token: nobody deploys by owning it. */
  readonly lastTenant: string | null
}

/** Reads rights at one time, those of each estate once: its parcels have them too. */
export class RightsReader {
  private readonly ofEstates = new Map<number, AssetRights>()
  readonly state: State
  private readonly nowMs: number

  constructor(state: State, nowMs: number) {
    this.state = state
    this.nowMs = nowMs
  }

  of(asset: AssetRow): AssetRights {
    if (asset.type === 'parcel') return this.read(asset)
    const known = this.ofEstates.get(asset.row)
    if (known) return known
    const rights = this.read(asset)
    this.ofEstates.set(asset.row, rights)
    return rights
  }

  /** The estate that holds a parcel. */
  estateOf({ type, row }: AssetRow): AssetRow | undefined {
    const estate = type === 'parcel' ? this.state.parts.parcels.estate[row]! : -1
    return estate < 0 ? undefined : { type: 'estate', row: estate }
  }

  private read(asset: AssetRow): AssetRights {
    const { state, nowMs } = this
    const json = Buffer.concat([...state.assetPieces(asset, nowMs)]).toString()
    const { approvals_for_all, update_managers, tenant, ...shown } = JSON.parse(json) as AssetRights
    // No player can act as the zero address, which the answers of the land show as it was imported
    const set = (address: string | null) => (address === ZERO_ADDRESS ? null : address)
    const isSet = (address: string) => address !== ZERO_ADDRESS
    const { parcels, estates } = state.parts
    const rent = findRent(asset.type === 'parcel' ? parcels.rents : estates.rents, asset.row)
    const lastTenant = rent?.isHeld && rent.untilMs <= nowMs ? rent.tenant : null
    return {
      ...{
        owner: set(shown.owner),
        operator: set(shown.operator),
        update_operator: set(shown.update_operator),
      },
      approvals_for_all: approvals_for_all.filter(isSet),
      update_managers: update_managers.filter(isSet),
      ...{ tenant, lastTenant },
    }
  }
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
export function deployersOf(reader: RightsReader, asset: AssetRow, rights = reader.of(asset)): RightOf[] {
  const estate = reader.estateOf(asset)
  if (!estate) return [...ownersRights(rights), ...operatorsRights(rights), ...givenRights(rights)]
  const ofEstate = reader.of(estate)
  const inherited = [...ownersRights(ofEstate), ...operatorsRights(ofEstate), ...givenRights(ofEstate)]
  return [...operatorsRights(rights), ...inherited.map((one) => ({ ...one, why: `estate's ${one.why}` }))]
}

/**
 * While land is rented, the contract of the rent has the token: the tenant may deploy, and the lessor may not. After the end neither
 * may by that, until the lessor claims the token.
 */
function ownersRights({ owner, tenant, lastTenant }: AssetRights): RightOf[] {
  if (tenant !== null) return [{ address: tenant, why: 'tenant' }]
  return owner === null || lastTenant !== null ? [] : [{ address: owner, why: 'owner' }]
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
  reader: RightsReader,
  asset: AssetRow,
  address: string,
): { readonly may_update: boolean; readonly why: string } {
  const rights = reader.of(asset)
  const found = deployersOf(reader, asset, rights).find((one) => one.address === address)
  if (found) return { may_update: true, why: found.why }
  const estate = reader.estateOf(asset)
  return {
    may_update: false,
    why: whyNot(estate ? reader.of(estate) : rights, address, estate !== undefined),
  }
}

function whyNot({ owner, tenant, lastTenant }: AssetRights, address: string, isInEstate: boolean): string {
  const whose = isInEstate ? "the estate's " : 'the '
  if (owner === address && lastTenant !== null)
    return `${whose}owner let it to ${lastTenant}; the rent has ended, and the owner has not claimed the token from the contract of the rent`
  if (owner === address) return `${whose}owner let it to ${tenant}, who may deploy until the rent ends`
  if (tenant !== null) return `it is rented to ${tenant}, and ${address} has no right of its own`
  if (owner === null) return 'it has no owner'
  return `${whose}owner is ${owner}, who gave ${address} no right`
}

/** A right over an asset. */
export interface RightOver {
  readonly asset: AssetRow
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

/** Every right of an address, each over parcels by x, then y, and then over estates by id. It can have one over half of the world. */
export async function rightsOfAddress(state: State, address: string, nowMs: number): Promise<AddressRights> {
  const reader = new RightsReader(state, nowMs)
  const slice = new WorkSlice()
  const found: AddressRights = {
    ...{ owns: [], lets: [], rents: [], operates: [], may_update: [], manages: [], approved_for_all: [] },
  }
  for (const asset of candidates(state, address, nowMs)) {
    if (slice.isOver) await slice.next()
    const rights = reader.of(asset)
    if (hasRightsOfEstateOnly(reader, asset, rights, address)) continue
    const add = (name: keyof AddressRights, why: string) => found[name].push({ asset, why })
    const { owner, tenant } = rights
    if (owner === address) add('owns', 'owner')
    if (owner === address && tenant !== null) add('lets', `rented to ${tenant}`)
    if (tenant === address) add('rents', 'tenant')
    if (rights.operator === address) add('operates', 'operator')
    const first = deployersOf(reader, asset, rights).find((one) => one.address === address)
    // A dissolved estate has a token, and no place to deploy at.
    const hasPlace = asset.type === 'parcel' || !state.isDissolved(asset.row)
    if (first && hasPlace) add('may_update', first.why)
    if (rights.update_managers.includes(address)) add('manages', `update_manager of ${owner}`)
    if (rights.approvals_for_all.includes(address)) add('approved_for_all', `approved by ${owner}`)
  }
  return found
}

/** The JSON of all rights of an address, some kilobytes at a time. */
export function* addressRightsJson(state: State, rights: AddressRights): Generator<Uint8Array> {
  const write = ({ asset, why }: RightOver) =>
    JSON.stringify({ asset_type: asset.type, asset_id: assetIdOf(state, asset), why })
  for (const [i, name] of ADDRESS_RIGHTS.entries())
    yield* filePieces(
      { start: `${i === 0 ? '{' : ','}"${name}":[`, between: ',', end: ']', write },
      rights[name],
    )
  yield Buffer.from('}')
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
function hasRightsOfEstateOnly(
  reader: RightsReader,
  asset: AssetRow,
  rights: AssetRights,
  address: string,
): boolean {
  return (
    reader.estateOf(asset) !== undefined && rights.operator !== address && rights.update_operator !== address
  )
}
