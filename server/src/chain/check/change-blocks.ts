/** The most changes that are looked for between two blocks. */
const MOST_CHANGES = 16

/**
 * Blocks in which a value changed, found by binary search: those after `first`, up to `last`. A value that changes and later is the
 * same again may be missed.
 *
 * @param valueAt the value after a block
 * @example
 * await findChanges(async (block) => String(block >= 7), { first: 1, last: 100 }) // [7]
 */
export async function findChanges(
  valueAt: (block: number) => Promise<string>,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<readonly number[]> {
  const found: number[] = []
  const search = async (low: number, lowValue: string, high: number, highValue: string): Promise<void> => {
    if (lowValue === highValue || low >= high || found.length >= MOST_CHANGES) return
    if (high === low + 1) {
      found.push(high)
      return
    }
    const middle = low + Math.floor((high - low) / 2)
    const value = await valueAt(middle)
    await search(low, lowValue, middle, value)
    await search(middle, value, high, highValue)
  }
  if (last > first) await search(first, await valueAt(first), last, await valueAt(last))
  return found
}
