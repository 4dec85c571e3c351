import type { Coord } from '@landpass/client/grid'
import type { Registry } from '../../land/events/land-event.ts'
import type { RightRow } from '../../land/events/land-rows.ts'
import type { CheckedBid, CheckedLand, CheckedPublication } from '../../land/queries/checked-land.ts'
import type { AssetName } from '../../land/records/assets.ts'

/** The rows to compare, found by what they belong to. */
export class LandIndex {
  readonly land: CheckedLand
  private readonly publications: ReadonlyMap<string, readonly CheckedPublication[]>
  private readonly bids: ReadonlyMap<string, readonly CheckedBid[]>
  private readonly members: ReadonlyMap<string, readonly Coord[]>
  private readonly operators: ReadonlyMap<string, readonly RightRow[]>

  constructor(land: CheckedLand) {
    const ofAsset = ({ asset_type, asset_id }: { asset_type: string; asset_id: string }) =>
      `${asset_type} ${asset_id}`
    this.land = land
    this.publications = grouped(land.publications, ofAsset)
    this.bids = grouped(land.bids, ofAsset)
    this.members = grouped(land.members, ({ estate_id }) => estate_id)
    this.operators = grouped(land.rights, ({ kind, registry, owner }) => rightKey(kind, registry, owner))
  }

  publicationsOf({ type, id }: AssetName): readonly CheckedPublication[] {
    return this.publications.get(`${type} ${id}`) ?? []
  }

  bidsOf({ type, id }: AssetName): readonly CheckedBid[] {
    return this.bids.get(`${type} ${id}`) ?? []
  }

  membersOf(estateId: string): readonly Coord[] {
    return this.members.get(estateId) ?? []
  }

  /** Who has a right over all land of an owner, according to the table of rights. */
  operatorsOf(kind: RightRow['kind'], registry: Registry, owner: string): readonly string[] {
    return (this.operators.get(rightKey(kind, registry, owner)) ?? []).map(({ operator }) => operator)
  }
}

function grouped<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

function rightKey(kind: string, registry: string, owner: string): string {
  return `${kind} ${registry} ${owner}`
}
