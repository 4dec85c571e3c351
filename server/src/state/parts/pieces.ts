type Values = Uint8Array | Uint32Array

/** Pieces one after another: piece i is `values` from `starts[i]` to `starts[i + 1]`. */
export interface Pieces<V extends Values> {
  readonly starts: Uint32Array
  readonly values: V
}

/**
 * Replaces some pieces, by their index. Indexes beyond the end add pieces, up to `count` in all. Unchanged pieces
 * between two changed ones are copied as a block.
 */
function replacePieces<V extends Values>(
  old: Pieces<V>,
  changed: ReadonlyMap<number, V>,
  count: number,
): Pieces<V> {
  const oldStart = (place: number) => old.starts[place] ?? old.values.length
  const starts = new Uint32Array(count + 1)
  for (let place = 0; place < count; place++) {
    const length = changed.get(place)?.length ?? oldStart(place + 1) - oldStart(place)
    starts[place + 1] = starts[place]! + length
  }
  const values = new (old.values.constructor as new (length: number) => V)(starts[count]!)
  let from = 0
  for (const place of [...changed.keys()].sort((a, b) => a - b)) {
    values.set(old.values.subarray(oldStart(from), oldStart(place)), starts[from]!)
    values.set(changed.get(place)!, starts[place]!)
    from = place + 1
  }
  values.set(old.values.subarray(oldStart(from)), starts[from]!)
  return { starts, values }
}

/** Chunks with the same number of pieces each; the last one may have fewer. */
export type Chunks<V extends Values> = readonly Pieces<V>[]

/** How many pieces there are. @param size pieces of a chunk */
export function countPieces(chunks: Chunks<Values>, size: number): number {
  const last = chunks.at(-1)
  return last ? (chunks.length - 1) * size + last.starts.length - 1 : 0
}

/**
 * Replaces some pieces, by their index over all chunks. Chunks without a changed piece are shared with the old ones. Pieces
 * beyond the end are added, and must leave no gap.
 *
 * @param size pieces of a chunk
 * @param none an empty value of this kind
 */
export function patchChunks<V extends Values>(
  chunks: Chunks<V>,
  changed: ReadonlyMap<number, V>,
  { size, none }: { readonly size: number; readonly none: V },
): Chunks<V> {
  if (changed.size === 0) return chunks
  const byChunk = new Map<number, Map<number, V>>()
  let count = countPieces(chunks, size)
  for (const [place, piece] of changed) {
    const number = Math.floor(place / size)
    const inChunk = byChunk.get(number) ?? new Map<number, V>()
    byChunk.set(number, inChunk.set(place % size, piece))
    count = Math.max(count, place + 1)
  }
  const patched = chunks.slice()
  for (const number of [...byChunk.keys()].sort((a, b) => a - b)) {
    const old = chunks[number] ?? { starts: Uint32Array.of(0), values: none }
    patched[number] = replacePieces(old, byChunk.get(number)!, Math.min(size, count - number * size))
  }
  return patched
}
