import { reusedIntegers } from './reused-memory.ts'

/**
 * Computes the lengths of a prefix code (Huffman) for symbols: frequent symbols get short codes. At least two symbols
 * get a code, even if they do not occur, because some decoders refuse a code of fewer.
 *
 * @param counts how often each symbol occurs, less than 2^22
 * @param lengths is filled with the bits per symbol, 0 for symbols without a code
 * @param limit the most bits that a code may have
 */
export function codeLengths(counts: Int32Array, lengths: Uint8Array, limit: number): void {
  const used = usedSymbols(counts)
  const depths = DEPTHS.take(used.length)
  for (let i = 0; i < used.length; i++) depths[i] = used[i]! >>> SYMBOL_BITS
  treeDepths(depths)
  limitDepths(depths, limit)
  lengths.fill(0)
  for (let i = 0; i < used.length; i++) lengths[used[i]! & SYMBOL_MASK] = depths[i]!
}

/**
 * Computes the codes for these lengths, in the canonical order of deflate.
 *
 * @param codes is filled: the lower 16 bits are the code, its first bit lowest, and the bits above them its length
 */
export function codesOf(lengths: Uint8Array, codes: Int32Array): void {
  const next = NEXT_CODES.fill(0)
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol]!
    if (length > 0) next[length + 1]!++
  }
  for (let length = 1; length <= 16; length++) next[length] = (next[length - 1]! + next[length]!) << 1
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol]!
    codes[symbol] = length === 0 ? 0 : reversed(next[length]!++, length) | (length << 16)
  }
}

const SYMBOL_BITS = 9
const SYMBOL_MASK = (1 << SYMBOL_BITS) - 1

const USED = reusedIntegers(1 << SYMBOL_BITS)
const DEPTHS = reusedIntegers(1 << SYMBOL_BITS)
/** For each length of a code the next code. */
const NEXT_CODES = new Int32Array(17)

/** The symbols that get a code, the rarest first: each a number of count and, in the lowest bits, symbol. */
function usedSymbols(counts: Int32Array): Int32Array {
  const used = USED.take(counts.length)
  let count = 0
  for (let symbol = 0; symbol < counts.length; symbol++) {
    if (counts[symbol]! > 0) used[count++] = (counts[symbol]! << SYMBOL_BITS) | symbol
  }
  for (let symbol = 0; count < 2; symbol++) {
    if (counts[symbol] === 0) used[count++] = (1 << SYMBOL_BITS) | symbol
  }
  return used.subarray(0, count).sort()
}

/**
 * Replaces the weights of the leaves of Huffman's tree, in ascending order, by their depths, which are in descending
 * order. The algorithm of Moffat and Katajainen, in place: the array holds first the weights of leaves and inner nodes,
 * then the parents of inner nodes, then the depths of inner nodes, and at the end the depths of leaves.
 */
function treeDepths(tree: Int32Array): void {
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
}

/** Limits the depths: the deepest leaves become shallower, and as few others as possible become deeper. */
function limitDepths(depths: Int32Array, limit: number): void {
  const whole = 1 << limit
  let spent = 0
  for (let i = 0; i < depths.length; i++) {
    depths[i] = Math.min(depths[i]!, limit)
    spent += 1 << (limit - depths[i]!)
  }
  for (let i = 0; spent > whole; ) {
    while (depths[i] === limit) i++
    depths[i]!++
    spent -= 1 << (limit - depths[i]!)
  }
  // A code must be complete: where bits are left, the most frequent symbols get shorter codes.
  for (let i = depths.length - 1; spent < whole && i >= 0; i--) {
    while (spent + (1 << (limit - depths[i]!)) <= whole && depths[i]! > 1) {
      spent += 1 << (limit - depths[i]!)
      depths[i]!--
    }
  }
}

function reversed(code: number, length: number): number {
  let bits = 0
  for (let i = 0; i < length; i++) bits |= ((code >> i) & 1) << (length - 1 - i)
  return bits
}
