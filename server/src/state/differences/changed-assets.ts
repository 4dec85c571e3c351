import type { ChangedAssets, RevisionRange } from '../../land/changes/change-journal.ts'
import type { StateAt, StateVersion } from './state-version.ts'

/** Reads from the journal what changed in a world; undefined where the journal does not reach back so far. */
export type ReadChanges = (worldId: number, range: RevisionRange) => Promise<ChangedAssets | undefined>

const NOTHING: ChangedAssets = { parcels: [], estates: [], publications: [] }

/**
 * What was committed between an earlier state and now. Offers that expired in between are not included.
 *
 * @returns undefined where that is unknown: `since` is of another database or another shape of the world, of a later revision than this process has, or
 * older than the journal
 */
export async function changedAssets(
  readChanges: ReadChanges,
  since: StateVersion,
  { state }: StateAt,
): Promise<ChangedAssets | undefined> {
  const { revision, worldId, origin } = state
  // A later revision comes from another process that has read more commits than this one.
  if (since.origin !== origin || since.revision > revision) return undefined
  if (since.revision === revision) return NOTHING
  return readChanges(worldId, { afterRevision: since.revision, toRevision: revision })
}
