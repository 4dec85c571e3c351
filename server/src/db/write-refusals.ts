import { SECOND_MS } from '../clock.ts'
import type { DatabaseRefusal } from './statement-error.ts'

/** How long a refused write says something about the next one. */
const VALID_FOR_MS = 10 * SECOND_MS

/**
 * Remembers for some seconds that the database refused to write. A full disk cannot be noticed in another cheap way:
 * reads and small writes still succeed.
 */
export class WriteRefusals {
  readonly #steadyMs: () => number
  #last: { readonly code: DatabaseRefusal; readonly atMs: number } | undefined

  /** @param steadyMs a clock that is never set */
  constructor(steadyMs = () => performance.now()) {
    this.#steadyMs = steadyMs
  }

  note(code: DatabaseRefusal): void {
    if (code !== 'database_unavailable') this.#last = { code, atMs: this.#steadyMs() }
  }

  /** Why writes failed in the last seconds; undefined where none did. */
  recent(): DatabaseRefusal | undefined {
    const last = this.#last
    return last && this.#steadyMs() - last.atMs < VALID_FOR_MS ? last.code : undefined
  }
}
