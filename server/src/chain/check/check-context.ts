import { type Coord, encodeTokenId, parseCoord } from '@landpass/client/grid'
import type { AssetName } from '../../land/records/assets.ts'
import type { Network } from '../chain-types.ts'
import type { ContractState } from './contract-state.ts'
import type { Findings } from './findings.ts'
import type { KnownRights } from './known-rights.ts'
import type { LandIndex } from './land-index.ts'

/** What all comparisons of one block share. */
export interface CheckContext {
  readonly network: Network
  /** The contracts after the block of the rows. */
  readonly state: ContractState
  readonly rows: LandIndex
  readonly rights: KnownRights
  readonly findings: Findings
  readonly lists: ListLimit
}

/** As many parcels and estates that are compared together have in their lists: a large estate has some thousand parcels. */
const MOST_ITEMS = 50_000n

/** Limits what is read of lists, such as the bids on an asset: a node may answer any number of items. */
export class ListLimit {
  private left = MOST_ITEMS

  /** Whether so many items may be read, beside all those that were taken before. */
  take(items: bigint): boolean {
    if (items > this.left) return false
    this.left -= items
    return true
  }
}

/** A parcel or an estate as its registry knows it. */
export interface Token {
  readonly name: AssetName
  /** `parcel 3,-4` or `estate 12`. */
  readonly asset: string
  /** The contract of the registry. */
  readonly registry: string
  readonly id: bigint
  /** Undefined for an estate. */
  readonly coord?: Coord
}

/**
 * The token of a parcel or an estate; undefined for an estate in a network without estates.
 *
 * @example
 * tokenOf(network, { type: 'estate', id: '12' }) // { asset: 'estate 12', id: 12n, … }
 */
export function tokenOf({ contracts }: Network, name: AssetName): Token | undefined {
  const asset = `${name.type} ${name.id}`
  const coord = name.type === 'parcel' ? parseCoord(name.id) : undefined
  if (coord) return { name, asset, registry: contracts.LANDRegistry.address, id: encodeTokenId(coord), coord }
  const registry = contracts.EstateRegistry?.address
  return registry === undefined ? undefined : { name, asset, registry, id: BigInt(name.id) }
}
