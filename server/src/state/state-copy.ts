import { MINUTE_MS } from '../clock.ts'
import { PATCHED_ASSETS } from './change-queries.ts'
import type { StateParts } from './parts/parts.ts'
import { loadState, saveState } from './saved-state.ts'

/** As much as this may have changed since the copy: half of what the next start may lay into it at most. */
const SAVE_AFTER_CHANGES = PATCHED_ASSETS / 2
const SAVE_EVERY_MS = MINUTE_MS

/** Keeps the copy on disk near the state that is held: see saved-state.ts. */
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

  /** A state that was read from the tables: the copy, if there is one, is far from it. */
  replace(parts: StateParts): void {
    this.savedAtMs = Number.NEGATIVE_INFINITY
    this.follow(parts, SAVE_AFTER_CHANGES)
  }

  /** A state with so many more changes in it. Writes it when it is time, beside whatever else is done. */
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
