import { type Coord, coordText, parseCoord } from '@landpass/client/grid'
import type { LandEvent } from '../events/land-event.ts'
import type { RightRow } from '../events/land-rows.ts'
import type { AssetName } from '../records/assets.ts'

/** Who owns land of a registry. */
export type Owner = Pick<RightRow, 'registry' | 'owner'>

/** The same text for the same owner. */
export function ownerText({ registry, owner }: Owner): string {
  return `${registry} ${owner}`
}

/** The same text for the same asset. */
export function assetText({ type, id }: AssetName): string {
  return `${type} ${id}`
}

/** The owners that tokens are transferred to: their rights stand on these tokens. */
export function newOwnersIn(events: readonly LandEvent[]): readonly Owner[] {
  return events.flatMap((event) =>
    event.kind === 'asset-transferred' && event.to !== null
      ? [{ registry: event.asset.type, owner: event.to }]
      : [],
  )
}

export interface Named {
  readonly parcels: readonly Coord[]
  readonly estates: readonly string[]
  readonly assets: readonly AssetName[]
}

/** The assets that events name, each once. */
export function namedBy(events: readonly LandEvent[]): Named {
  const assets = new Map<string, AssetName>()
  const add = (asset: AssetName) => assets.set(assetText(asset), asset)
  for (const event of events) {
    if ('asset' in event) add(event.asset)
    if ('estateId' in event) add({ type: 'estate', id: event.estateId })
    if ('parcel' in event) add({ type: 'parcel', id: coordText(event.parcel) })
    if ('parcels' in event) for (const parcel of event.parcels) add({ type: 'parcel', id: coordText(parcel) })
  }
  const all = [...assets.values()]
  const parcels = all.filter(({ type }) => type === 'parcel').map(({ id }) => parseCoord(id))
  return {
    parcels: parcels.filter((coord) => coord !== undefined),
    estates: all.filter(({ type }) => type === 'estate').map(({ id }) => id),
    assets: all,
  }
}
