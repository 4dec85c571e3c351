import type { Db } from '../../db/engine.ts'
import { readChangedAssets, revisionAt } from '../../land/changes/change-journal.ts'
import { changedAssets } from '../../state/differences/changed-assets.ts'
import { changedCells } from '../../state/differences/changed-cells.ts'
import { type StateAt, versionOf, versionText } from '../../state/differences/state-version.ts'
import type { RowRange } from '../../state/state.ts'
import { PromiseCache } from '../common/promise-cache.ts'

/** Many clients poll for changes since the same time. */
const MAX_CACHED_ANSWERS = 8

/** Finds the tiles that changed since a time, and caches the last results. */
export class NewTiles {
  private readonly db: Db
  private readonly found = new PromiseCache<readonly RowRange[] | undefined>(MAX_CACHED_ANSWERS)

  constructor(db: Db) {
    this.db = db
  }

  /**
   * Finds the rows whose tiles may have changed after a time, by a change of the land or an expired offer.
   *
   * @returns ranges of rows; undefined if the journal does not reach back so far or does not name the changes, so that
   * any tile may have changed
   */
  async since(now: StateAt, fromMs: number): Promise<readonly RowRange[] | undefined> {
    if (fromMs >= now.state.changedAtMs && fromMs >= now.openOffers.lastExpiryMs) return []
    return this.found.get(`${fromMs} ${versionText(versionOf(now))}`, () => this.find(now, fromMs))
  }

  private async find(now: StateAt, fromMs: number): Promise<readonly RowRange[] | undefined> {
    const { state, openOffers } = now
    const known = await this.revisionAt(now, fromMs)
    if (known === undefined) return undefined
    const since = {
      ...versionOf(now),
      // The database may be ahead of the state that this process holds.
      revision: Math.min(known, state.revision),
      lastExpiryMs: Math.min(fromMs, openOffers.lastExpiryMs),
    }
    const assets = await changedAssets(
      (worldId, range) => readChangedAssets(this.db, worldId, range),
      since,
      now,
    )
    if (!assets) return undefined
    const { rowAt } = state.parts.parcels
    return runsOf(Array.from(changedCells(now, since, assets), (cell) => rowAt[cell]!))
  }

  private async revisionAt({ state }: StateAt, timeMs: number): Promise<number | undefined> {
    return timeMs >= state.changedAtMs ? state.revision : revisionAt(this.db, state.worldId, timeMs)
  }
}

/** Joins ascending rows to ranges; -1 is a cell without a parcel. */
function runsOf(rows: readonly number[]): RowRange[] {
  const runs: { from: number; to: number }[] = []
  for (const row of rows) {
    if (row < 0) continue
    const last = runs.at(-1)
    if (last?.to === row) last.to++
    else runs.push({ from: row, to: row + 1 })
  }
  return runs
}
