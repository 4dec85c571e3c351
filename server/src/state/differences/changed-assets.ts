import type { ChangedAssets, RevisionRange } from '../../land/changes/change-journal.ts'
import type { StateAt, StateVersion } from './state-version.ts'

/** What the journal knows of a world; undefined where it does not reach back so far. */
export type ReadChanges = (worldId: number, range: RevisionRange) => Promise<ChangedAssets | undefined>

const NOTHING: ChangedAssets = { parcels: [], estates: [], publications: [] }

/**
 * What was committed between an earlier state and now. Offers that expired in between are not among it.
 *
 * @returns undefined where nobody knows: another database, a later revision than ours, or too long ago for the journal
 */
export async function changedAssets(
  readChanges: ReadChanges,
  since: StateVersion,
  { state }: StateAt,
): Promise<ChangedAssets | undefined> {
  const { revision, worldId, parts } = state
  // A later revision than ours was told by a process that is ahead of us: nothing here knows it.
  if (since.lineage !== parts.lineage || since.revision > revision) return undefined
  if (since.revision === revision) return NOTHING
  return readChanges(worldId, { afterRevision: since.revision, toRevision: revision })
}
