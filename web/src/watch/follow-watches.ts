import { readStored } from '../stored.ts'

/** Follows the searches that this browser keeps: their code is loaded where there are any. */
export function followWatches(): void {
  if (readStored('watched') !== null) void import('./watches.ts').then(({ startWatching }) => startWatching())
}
