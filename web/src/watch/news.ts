import { signal } from '@preact/signals'
import { readStored } from '../stored.ts'

/** Rows of the watched searches that the reader has not seen. */
export const newsCount = signal(0)

/** Follows the searches that this browser keeps: their code is loaded where there are any. */
export function followWatches(): void {
  if (readStored('watched') !== null) void import('./watches.ts').then(({ startWatching }) => startWatching())
}
