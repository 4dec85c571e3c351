import type { ChangedAssets, RevisionRange } from '../land/changes/change-journal.ts'
import type { StateChanges } from './builders/patch-state.ts'
import type { StateParts } from './parts/parts.ts'

/** What changed in a world between two revisions of it, as the journal names it. */
export interface KnownChange extends RevisionRange {
  readonly worldId: number
  readonly assets: ChangedAssets
}

/** @param held the parts that the changes were read for */
export function knownChange({ worldId, revision }: StateParts, changes: StateChanges): KnownChange {
  const { parcels, estates, publications, removed } = changes
  const assets = {
    parcels: parcels.map(({ x, y }) => ({ x, y })),
    estates: [...estates.map(({ id }) => id), ...removed.estates],
    publications: [...publications.map(({ key }) => key), ...removed.publications],
  }
  return { worldId, afterRevision: revision, toRevision: changes.revision, assets }
}

/** The assets that changed between these revisions; undefined where the change is another one. */
export function assetsOf(
  change: KnownChange | undefined,
  worldId: number,
  { afterRevision, toRevision }: RevisionRange,
): ChangedAssets | undefined {
  const isSame = change?.worldId === worldId && change.afterRevision === afterRevision
  return isSame && change.toRevision === toRevision ? change.assets : undefined
}
