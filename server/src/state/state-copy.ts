import { MINUTE_MS } from '../clock.ts'
import { MAX_PATCHED_ASSETS } from './change-queries.ts'
import type { StateParts } from './parts/parts.ts'
import { loadState, saveState } from './saved-state.ts'

/** The copy is written again after so many changed assets: half of what the next start can patch into it. */
const SAVE_AFTER_CHANGES = MAX_PATCHED_ASSETS / 2
const SAVE_EVERY_MS = MINUTE_MS

/** Writes the copy on disk (saved-state.ts) again after enough changes, at most once a minute. */
export class StateCopy {
  private readonly folder: string
  private readonly onFailure: (error: unknown) => void
  private saving: Promise<void> | undefined
  private savedAtMs = Number.NEGATIVE_INFINITY
  private changes = 0

  constructor(folder: string, onFailure: (error: unknown) => void) {
    this.folder = folder
    this.onFailure = onFailure
  }

  load(): Promise<StateParts | undefined> {
    return loadState(this.folder)
  }

  /** Call it with a state that was read from the tables: writes the copy at once. */
  replace(parts: StateParts): void {
    this.savedAtMs = Number.NEGATIVE_INFINITY
    this.follow(parts, SAVE_AFTER_CHANGES)
  }

  /**
   * Call it with each patched state, and how many changes are new in it. Writes the copy in the background when it is
   * due.
   */
  follow(parts: StateParts, changes: number): void {
    this.changes += changes
    const isDue = performance.now() - this.savedAtMs >= SAVE_EVERY_MS
    if (this.changes < SAVE_AFTER_CHANGES || !isDue || this.saving) return
    this.changes = 0
    this.savedAtMs = performance.now()
    this.saving = saveState(this.folder, parts)
      .catch(this.onFailure)
      .finally(() => {
        this.saving = undefined
      })
  }

  /** Waits for a copy that is being written. */
  async close(): Promise<void> {
    await this.saving
  }
}
