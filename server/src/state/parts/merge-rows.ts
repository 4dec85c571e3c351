/**
 * Merges two sorted sequences. Of equal rows the old one comes first. Fast for few added rows: the position of each is
 * found by binary search, and the rows between are copied as a block.
 *
 * @example
 * mergeRows(Uint32Array.of(1, 5, 9), Uint32Array.of(6), (a, b) => a - b) // 1, 5, 6, 9
 */
export function mergeRows(
  old: Uint32Array,
  added: Uint32Array,
  compare: (a: number, b: number) => number,
): Uint32Array {
  if (added.length === 0) return old
  const merged = new Uint32Array(old.length + added.length)
  let from = 0
  let at = 0
  for (const row of added) {
    const end = firstBeyond(old, from, (other) => compare(other, row) > 0)
    merged.set(old.subarray(from, end), at)
    at += end - from
    merged[at++] = row
    from = end
  }
  merged.set(old.subarray(from), at)
  return merged
}

/** Binary search: the first index from `from` on for which `isBeyond` holds. It holds for all values after it too. */
export function firstBeyond<Value>(
  values: ArrayLike<Value>,
  from: number,
  isBeyond: (value: Value) => boolean,
): number {
  let low = from
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBeyond(values[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}
