/**
 * Lengths of a prefix code (Huffman's) for symbols that occur so and so often: frequent ones get short codes.
 * At least two symbols get a code, whether they occur or not: some readers refuse a code of fewer.
 *
 * @param counts less than 2^22 each
 * @param lengths takes the answer: bits per symbol, 0 for those without a code
 * @param limit the most bits that a code may have
 */
export function codeLengths(counts: Int32Array, lengths: Uint8Array, limit: number): void {
  const used = usedSymbols(counts)
  const depths = treeDepths(Int32Array.from(used, (entry) => entry >>> SYMBOL_BITS))
  limitDepths(depths, limit)
  lengths.fill(0)
  for (let i = 0; i < used.length; i++) lengths[used[i]! & SYMBOL_MASK] = depths[i]!
}

/**
 * The codes that belong to such lengths, in the canonical order of deflate.
 *
 * @param codes takes the answer: in the lower 16 bits the code, first bit lowest, above them its length
 */
export function codesOf(lengths: Uint8Array, codes: Int32Array): void {
  const next = new Int32Array(17)
  for (const length of lengths) if (length > 0) next[length + 1]!++
  for (let length = 1; length <= 16; length++) next[length] = (next[length - 1]! + next[length]!) << 1
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol]!
    codes[symbol] = length === 0 ? 0 : reversed(next[length]!++, length) | (length << 16)
  }
}

const SYMBOL_BITS = 9
const SYMBOL_MASK = (1 << SYMBOL_BITS) - 1

/** How often and which, in one number each, the rarest first. */
function usedSymbols(counts: Int32Array): Int32Array {
  const used: number[] = []
  for (let symbol = 0; symbol < counts.length; symbol++) {
    if (counts[symbol]! > 0) used.push((counts[symbol]! << SYMBOL_BITS) | symbol)
  }
  for (let symbol = 0; used.length < 2; symbol++) {
    if (counts[symbol] === 0) used.push((1 << SYMBOL_BITS) | symbol)
  }
  return Int32Array.from(used).sort()
}

/**
 * Depths of the leaves in Huffman's tree, in place of their weights, which come in ascending order (so the depths
 * come out in descending order). After Moffat and Katajainen: the array holds first weights of leaves and of inner nodes,
 * then parents of inner nodes, then depths of inner nodes, then those of leaves.
 */
function treeDepths(tree: Int32Array): Int32Array {
  const count = tree.length
  let leaf = 0
  let root = 0
  for (let node = 0; node < count - 1; node++) {
    let weight = 0
    for (let child = 0; child < 2; child++) {
      if (leaf >= count || (root < node && tree[root]! < tree[leaf]!)) {
        weight += tree[root]!
        tree[root++] = node
      } else weight += tree[leaf++]!
    }
    tree[node] = weight
  }
  tree[count - 2] = 0
  for (let node = count - 3; node >= 0; node--) tree[node] = tree[tree[node]!]! + 1
  let free = 1
  let depth = 0
  let inner = count - 2
  let next = count - 1
  while (free > 0) {
    let innerHere = 0
    for (; inner >= 0 && tree[inner] === depth; inner--) innerHere++
    for (; free > innerHere; free--) tree[next--] = depth
    free = 2 * innerHere
    depth++
  }
  return tree
}

/** Makes the deepest leaves shallower, and pays for it by making as few others deeper as can be. */
function limitDepths(depths: Int32Array, limit: number): void {
  const whole = 2 ** limit
  let spent = 0
  for (let i = 0; i < depths.length; i++) {
    depths[i] = Math.min(depths[i]!, limit)
    spent += 2 ** (limit - depths[i]!)
  }
  for (let i = 0; spent > whole; ) {
    while (depths[i] === limit) i++
    depths[i]!++
    spent -= 2 ** (limit - depths[i]!)
  }
  // What was overpaid goes to the most frequent ones that can take it: a code must leave no bits unused.
  for (let i = depths.length - 1; spent < whole && i >= 0; i--) {
    while (spent + 2 ** (limit - depths[i]!) <= whole && depths[i]! > 1) {
      spent += 2 ** (limit - depths[i]!)
      depths[i]!--
    }
  }
}

function reversed(code: number, length: number): number {
  let bits = 0
  for (let i = 0; i < length; i++) bits |= ((code >> i) & 1) << (length - 1 - i)
  return bits
}
