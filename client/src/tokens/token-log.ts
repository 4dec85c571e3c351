import { concat, fromHex, keccak256, toHex, utf8 } from './bytes.ts'

/** A token in the public log of an issuer. */
export interface LogEntry {
  readonly uid: string
  readonly signer: string
}

/** The root before the first day. */
export const NO_LOG_ROOT = `0x${'0'.repeat(64)}`

const LEAF = new Uint8Array([0])
const NODE = new Uint8Array([1])

/**
 * The Merkle tree of one day of the log (RFC 6962 with keccak-256): its first leaf is the root of the day before, then
 * each entry is one. So a root that was put on a chain fixes all entries up to its day.
 *
 * @example
 * const day = new LogDay(NO_LOG_ROOT)
 * day.add({ uid, signer })
 * day.root() // '0x…'
 */
export class LogDay {
  /** Roots of complete subtrees, each with its number of leaves, the larger ones first. */
  private readonly subtrees: { readonly leaves: number; readonly hash: Uint8Array }[] = []

  /** @param previousRoot of the last day before that has entries, or {@link NO_LOG_ROOT} */
  constructor(previousRoot: string) {
    this.addLeaf(fromHex(previousRoot))
  }

  add({ uid, signer }: LogEntry): void {
    this.addLeaf(concat(fromHex(signer), fromHex(uid)))
  }

  root(): string {
    const [last, ...others] = this.subtrees.toReversed()
    return toHex(others.reduce((right, { hash }) => nodeHash(hash, right), last!.hash))
  }

  private addLeaf(bytes: Uint8Array): void {
    let added = { leaves: 1, hash: keccak256(concat(LEAF, bytes)) }
    for (;;) {
      const last = this.subtrees.at(-1)
      if (last?.leaves !== added.leaves) break
      this.subtrees.pop()
      added = { leaves: 2 * last.leaves, hash: nodeHash(last.hash, added.hash) }
    }
    this.subtrees.push(added)
  }
}

/**
 * The data of a transaction that notes a root on a chain, for the contract of the Ethereum Attestation Service: its
 * function `timestamp(bytes32)`.
 */
export function timestampCall(root: string): string {
  return toHex(concat(keccak256(utf8('timestamp(bytes32)')).subarray(0, 4), fromHex(root)))
}

function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return keccak256(concat(NODE, left, right))
}
