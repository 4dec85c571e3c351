import { coordText } from '@landpass/client/grid'
import type { ChangedAssets } from '../../land/changes/change-journal.ts'
import { compareEstateIds } from '../parts/estate-ids.ts'
import { assetsWithChangedOffers } from './changed-offers.ts'
import type { StateAt, StateVersion } from './state-version.ts'

/** Ids of the assets that differ. Some may be equal: those that changed and changed back. */
export interface ChangedNames {
  /** `x,y`, by x ascending, then y descending. */
  readonly parcels: readonly string[]
  /** Ids, in the order of `/estates`, followed by those of the estates that were removed. */
  readonly estates: readonly string[]
}

/**
 * The ids of what changed between an earlier state and now, in the same world: parcels and estates whose own record
 * differs, and those that have got, lost or changed an offer. The parcels of a changed estate are not included for
 * that.
 *
 * @param assets what was committed between the two
 */
export function changedNames(now: StateAt, since: StateVersion, assets: ChangedAssets): ChangedNames {
  const { state } = now
  const { parcels, estates } = state.parts
  const withChangedOffers = assetsWithChangedOffers(now, since, new Set(assets.publications))
  const parcelRows = assets.parcels.map((coord) => state.parcelRow(coord))
  const estateRows = assets.estates.map((id) => state.estateRow(id))
  return {
    parcels: sortedRows([...parcelRows, ...withChangedOffers.parcels]).map((row) =>
      coordText({ x: parcels.x[row]!, y: parcels.y[row]! }),
    ),
    estates: [
      ...sortedRows([...estateRows, ...withChangedOffers.estates]).map((row) => estates.ids[row]!),
      ...assets.estates.filter((_, i) => estateRows[i]! < 0).sort(compareEstateIds),
    ],
  }
}

/** Rows in ascending order, each once; without -1, which stands for assets outside of the world of this process. */
function sortedRows(rows: readonly number[]): number[] {
  return [...new Set(rows)].filter((row) => row >= 0).sort((a, b) => a - b)
}
