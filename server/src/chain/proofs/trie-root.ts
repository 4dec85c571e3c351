import { RLP } from '@ethereumjs/rlp'
import { keccak256 } from '../../ethereum/keccak256.ts'

/** A node of the trie before it is encoded: two items, or seventeen. */
type Node = (Uint8Array | Node)[]

interface Entry {
  /** The key as half-bytes. */
  readonly nibbles: Uint8Array
  readonly value: Uint8Array
}

const EMPTY = new Uint8Array()
/** Shorter nodes are put into their parent, longer ones are named there by their hash. */
const HASHED_FROM_BYTES = 32

/**
 * The root of Ethereum's Merkle-Patricia trie with these entries, 32 bytes. The trie is built only to be hashed, so nothing
 * of it is stored.
 *
 * @param entries pairs of key and value; keys are different, values are not empty
 * @example
 * Buffer.from(trieRoot([])).toString('hex') // '56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
 */
export function trieRoot(entries: readonly (readonly [key: Uint8Array, value: Uint8Array])[]): Uint8Array {
  const sorted = entries.map(([key, value]) => ({ nibbles: nibblesOf(key), value }))
  return keccak256(RLP.encode(nodeOf(sorted, 0) ?? EMPTY))
}

/** The node below which all these entries are; their keys are equal up to `depth`. Undefined for no entries. */
function nodeOf(entries: readonly Entry[], depth: number): Node | undefined {
  const [first] = entries
  if (!first) return undefined
  if (entries.length === 1) return [packedPath(first.nibbles.subarray(depth), true), first.value]
  const shared = sharedDepth(entries, depth)
  if (shared === depth) return branchOf(entries, depth)
  return [packedPath(first.nibbles.subarray(depth, shared), false), reference(branchOf(entries, shared))]
}

/** Sixteen children, and the value of the key that ends here. */
function branchOf(entries: readonly Entry[], depth: number): Node {
  const children: Entry[][] = Array.from({ length: 16 }, () => [])
  let value: Uint8Array = EMPTY
  for (const entry of entries) {
    const nibble = entry.nibbles[depth]
    if (nibble === undefined) value = entry.value
    else children[nibble]?.push(entry)
  }
  return [...children.map((child) => reference(nodeOf(child, depth + 1))), value]
}

function reference(node: Node | undefined): Uint8Array | Node {
  if (!node) return EMPTY
  const encoded = RLP.encode(node)
  return encoded.length < HASHED_FROM_BYTES ? node : keccak256(encoded)
}

/** Up to where the keys of all entries are equal. */
function sharedDepth([first, ...others]: readonly Entry[], depth: number): number {
  if (!first) return depth
  let shared = first.nibbles.length
  for (const { nibbles } of others) {
    let equal = depth
    while (equal < shared && nibbles[equal] === first.nibbles[equal]) equal += 1
    shared = equal
  }
  return shared
}

/** A path as bytes: the first half-byte says whether a value ends here, and whether the number of half-bytes is odd. */
function packedPath(nibbles: Uint8Array, isLeaf: boolean): Uint8Array {
  const isOdd = nibbles.length % 2
  const flag = (isLeaf ? 2 : 0) + isOdd
  const padded = isOdd ? [flag, ...nibbles] : [flag, 0, ...nibbles]
  const bytes = new Uint8Array(padded.length / 2)
  for (let at = 0; at < bytes.length; at++) bytes[at] = padded[2 * at]! * 16 + padded[2 * at + 1]!
  return bytes
}

function nibblesOf(key: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(2 * key.length)
  key.forEach((byte, at) => {
    nibbles[2 * at] = byte >> 4
    nibbles[2 * at + 1] = byte & 15
  })
  return nibbles
}
