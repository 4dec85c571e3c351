import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { readChangedAssets, revisionAt } from '../../land/changes/change-journal.ts'
import { changedAssets } from '../../state/differences/changed-assets.ts'
import { changedCells } from '../../state/differences/changed-cells.ts'
import {
  type StateAt,
  type StateVersion,
  versionOf,
  versionText,
} from '../../state/differences/state-version.ts'
import type { RowRange } from '../../state/state.ts'
import { PromiseCache } from '../common/promise-cache.ts'
import { runsOf } from './row-runs.ts'

/** Many clients poll for changes since the same time. */
const MAX_CACHED_ANSWERS = 8
const MAX_CACHED_REVISIONS = 32
/**
 * The search begins this long before the requested time. A revision has the time at which its transaction began. This
 * process shows it later: after the commit and after the state is built, which takes seconds for an import. Until then
 * clients still get the old tiles. Clocks may differ as well.
 */
const MARGIN_MS = MINUTE_MS
/** Times are rounded down to a multiple of this: clients that poll at about the same time share one search. */
const TIME_STEP_MS = 10 * SECOND_MS

/** Finds the tiles that changed since a time, and caches the last results. */
export class NewTiles {
  private readonly db: Db
  private readonly revisions = new PromiseCache<number | undefined>(MAX_CACHED_REVISIONS)
  private readonly found = new PromiseCache<readonly RowRange[] | undefined>(MAX_CACHED_ANSWERS)

  constructor(db: Db) {
    this.db = db
  }

  /**
   * Finds the rows whose tiles may have changed after a time, by a change of the land or an expired offer. They include
   * what changed up to {@link MARGIN_MS} and {@link TIME_STEP_MS} before it.
   *
   * @param fromMs any number of milliseconds
   * @returns ranges of rows; undefined if the journal does not reach back so far or does not name the changes, so that
   * any tile may have changed
   */
  async since(now: StateAt, fromMs: number): Promise<readonly RowRange[] | undefined> {
    const { state, openOffers } = now
    const timeMs = Math.floor((fromMs - MARGIN_MS) / TIME_STEP_MS) * TIME_STEP_MS
    const nowText = versionText(versionOf(now))
    const revision = await this.revisions.get(`${timeMs} ${nowText}`, () =>
      revisionAt(this.db, state.worldId, timeMs),
    )
    if (revision === undefined) return undefined
    const since = {
      ...versionOf(now),
      // The database may be ahead of the state that this process holds.
      revision: Math.min(revision, state.revision),
      lastExpiryMs: Math.min(timeMs, openOffers.lastExpiryMs),
    }
    return this.found.get(`${since.revision} ${since.lastExpiryMs} ${nowText}`, () => this.find(now, since))
  }

  private async find(now: StateAt, since: StateVersion): Promise<readonly RowRange[] | undefined> {
    const assets = await changedAssets(
      (worldId, range) => readChangedAssets(this.db, worldId, range),
      since,
      now,
    )
    if (!assets) return undefined
    const { rowAt } = now.state.parts.parcels
    return runsOf(Array.from(changedCells(now, since, assets), (cell) => rowAt[cell]!))
  }
}
