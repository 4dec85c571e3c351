import { keccak256 } from '@landpass/server/ethereum/keccak256'
import { type RlpItem, rlp, rlpNumber } from './rlp.ts'

interface Entry {
  /** The key as numbers from 0 to 15. */
  readonly path: readonly number[]
  readonly value: Uint8Array
}

const EMPTY_ROOT = keccak256(rlp(new Uint8Array()))
const HASH_BYTES = 32
const NO_VALUE = new Uint8Array()

/**
 * The root of the Merkle-Patricia trie of a list: the key of a value is its index in RLP. Headers name the receipts and
 * withdrawals of a block by it.
 *
 * @example
 * trieRoot([]) // 56e81f17…b421
 */
export function trieRoot(values: readonly Uint8Array[]): Uint8Array {
  if (values.length === 0) return EMPTY_ROOT
  const entries = values.map((value, index) => ({ path: nibblesOf(rlp(rlpNumber(index))), value }))
  return keccak256(rlp(nodeOf(entries, 0)))
}

/** The node of all entries that are equal in their first `depth` nibbles. */
function nodeOf(entries: readonly Entry[], depth: number): readonly RlpItem[] {
  const [first] = entries as [Entry]
  if (entries.length === 1) return [compact(first.path.slice(depth), true), first.value]
  const shared = sharedLength(entries, depth)
  if (shared > 0) {
    const path = first.path.slice(depth, depth + shared)
    return [compact(path, false), reference(nodeOf(entries, depth + shared))]
  }
  const children = Array.from({ length: 16 }, (_, nibble) => {
    const group = entries.filter(({ path }) => path[depth] === nibble)
    return group.length > 0 ? reference(nodeOf(group, depth + 1)) : NO_VALUE
  })
  // No index in RLP starts another one, so a branch has no value of its own.
  return [...children, NO_VALUE]
}

/** A short node stands in its parent itself, a long one by its hash. */
function reference(node: readonly RlpItem[]): RlpItem {
  const encoded = rlp(node)
  return encoded.length < HASH_BYTES ? node : keccak256(encoded)
}

function sharedLength(entries: readonly Entry[], depth: number): number {
  const [first] = entries as [Entry]
  let length = 0
  while (entries.every(({ path }) => path[depth + length] === first.path[depth + length])) length++
  return length
}

/** Nibbles as bytes: the first nibble says whether it is a leaf, and whether their number is odd. */
function compact(nibbles: readonly number[], isLeaf: boolean): Uint8Array {
  const isOdd = nibbles.length % 2 === 1
  const flag = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0)
  const all = isOdd ? [flag, ...nibbles] : [flag, 0, ...nibbles]
  return Uint8Array.from({ length: all.length / 2 }, (_, i) => all[2 * i]! * 16 + all[2 * i + 1]!)
}

function nibblesOf(bytes: Uint8Array): readonly number[] {
  return Array.from(bytes).flatMap((byte) => [byte >> 4, byte & 15])
}
