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
export function replacePieces<V extends Values>(
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
