import { coordText } from '@landpass/client/grid'
import type { ChangedAssets } from '../../land/changes/change-journal.ts'
import { resoldAssets } from './resold-assets.ts'
import type { StateAt, StateVersion } from './state-version.ts'

/** What is other than it was, by name. Some of it may be as it was: what changed and changed back. */
export interface ChangedNames {
  /** `x,y`, by x ascending, then y descending. */
  readonly parcels: readonly string[]
  /** Ids, in the order of `/estates`. */
  readonly estates: readonly string[]
}

/**
 * Names what changed between an earlier state and now, in the same world: parcels and estates whose own record is
 * another one, and those that came on sale, went from it or have another offer. What an estate's change does to its
 * parcels is not named again.
 *
 * @param assets what was committed between the two
 */
export function changedNames(now: StateAt, since: StateVersion, assets: ChangedAssets): ChangedNames {
  const { state } = now
  const { parcels, estates } = state.parts
  const resold = resoldAssets(now, since, new Set(assets.publications))
  const parcelRows = assets.parcels.map((coord) => state.parcelRow(coord))
  const estateRows = assets.estates.map((id) => state.estateRow(id))
  return {
    parcels: inOrder([...parcelRows, ...resold.parcels]).map((row) =>
      coordText({ x: parcels.x[row]!, y: parcels.y[row]! }),
    ),
    estates: inOrder([...estateRows, ...resold.estates]).map((row) => estates.ids[row]!),
  }
}

/** Rows, each once; those of what this process does not show are -1. */
function inOrder(rows: readonly number[]): number[] {
  return [...new Set(rows)].filter((row) => row >= 0).sort((a, b) => a - b)
}
