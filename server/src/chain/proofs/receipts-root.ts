import { RLP } from '@ethereumjs/rlp'
import type { RawLog } from '../chain-types.ts'
import { bytesOf, hexOf } from './hex-bytes.ts'
import { trieRoot } from './trie-root.ts'

/** What one transaction has left, in the order of the transactions of a block. */
export interface Receipt {
  /** 0 for transactions without a type. */
  readonly type: number
  /** Status, 0 or 1; before mainnet's block 4370000 the state root, 32 bytes in hex. */
  readonly outcome: number | string
  /** Hex. */
  readonly cumulativeGasUsed: string
  /** 256 bytes in hex. */
  readonly logsBloom: string
  readonly logs: readonly RawLog[]
}

/**
 * The root that a block with these receipts has in its header. Where it is equal, the receipts are whole: no log is missing,
 * added or changed. The root says nothing of hashes of transactions.
 *
 * @param receipts of all transactions of a block, in their order
 * @example
 * receiptsRootOf([]) // '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
 */
export function receiptsRootOf(receipts: readonly Receipt[]): string {
  const entries = receipts.map((receipt, index) => [RLP.encode(index), encodeReceipt(receipt)] as const)
  return hexOf(trieRoot(entries))
}

/**
 * The logs of a block from any of these addresses; undefined where the receipts are not whole.
 *
 * @param root the root of receipts in the header of the block
 * @param addresses in lower case
 */
export function logsProvenBy(
  receipts: readonly Receipt[],
  root: string,
  addresses: readonly string[],
): readonly RawLog[] | undefined {
  if (receiptsRootOf(receipts) !== root) return undefined
  const wanted = new Set(addresses)
  return receipts.flatMap(({ logs }) => logs.filter(({ address }) => wanted.has(address)))
}

function encodeReceipt({ type, outcome, cumulativeGasUsed, logsBloom, logs }: Receipt): Uint8Array {
  const encoded = RLP.encode([
    typeof outcome === 'number' ? outcome : bytesOf(outcome),
    bytesOf(cumulativeGasUsed.replace(/^0x0*/, '0x')),
    bytesOf(logsBloom),
    logs.map(({ address, topics, data }) => [bytesOf(address), topics.map(bytesOf), bytesOf(data)]),
  ])
  return type === 0 ? encoded : Buffer.concat([Uint8Array.of(type), encoded])
}
