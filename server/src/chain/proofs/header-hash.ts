import { RLP } from '@ethereumjs/rlp'
import { keccak256 } from '../../ethereum/keccak256.ts'
import { bytesOf, hexOf } from './hex-bytes.ts'

/** The fields of a header as a node answers them, by name; values are hex texts. */
export type HeaderFields = Readonly<Record<string, unknown>>

/**
 * `matches`: the hash of the fields is the header's hash. `differs`: it is not, so the answer is wrong. `unknown`: a field is
 * missing, or there is one that later forks may have put into the hash, so nothing can be said.
 */
export type HashCheck = 'matches' | 'differs' | 'unknown'

/** The fields of every header, in the order in which they are hashed. */
const FIRST_FIELDS = [
  'parentHash',
  'sha3Uncles',
  'miner',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'nonce',
]
/** Fields that forks have appended. A header with one of them has all before it. */
const LATER_FIELDS = [
  'baseFeePerGas',
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
]
/** Numbers: hashed without leading zeros. All other fields are hashed as they are. */
const QUANTITIES = new Set([
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'baseFeePerGas',
  'blobGasUsed',
  'excessBlobGas',
])
/** What nodes answer beside the fields of the header. */
const OUTSIDE_THE_HASH = new Set(['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals'])

/**
 * Compares the hash of a header with its fields: with `matches`, the node cannot have made up the fields for this hash.
 *
 * @example
 * checkHeaderHash({ ...fields, hash: hashOfHeader(fields) }) // 'matches'
 */
export function checkHeaderHash(fields: HeaderFields): HashCheck {
  const hash = hashOfHeader(fields)
  if (hash === undefined) return 'unknown'
  if (hash === String(fields.hash).toLowerCase()) return 'matches'
  return hasUnknownField(fields) ? 'unknown' : 'differs'
}

/** The hash of the known fields of a header; undefined where one that each header has is missing or is not hex. */
export function hashOfHeader(fields: HeaderFields): string | undefined {
  const later = LATER_FIELDS.findLastIndex((name) => isPresent(fields[name])) + 1
  const items: Uint8Array[] = []
  for (const name of [...FIRST_FIELDS, ...LATER_FIELDS.slice(0, later)]) {
    const bytes = fieldBytes(name, fields[name])
    if (!bytes) return undefined
    items.push(bytes)
  }
  return hexOf(keccak256(RLP.encode(items)))
}

function hasUnknownField(fields: HeaderFields): boolean {
  return Object.keys(fields).some(
    (name) =>
      isPresent(fields[name]) &&
      !FIRST_FIELDS.includes(name) &&
      !LATER_FIELDS.includes(name) &&
      !OUTSIDE_THE_HASH.has(name),
  )
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

function fieldBytes(name: string, given: unknown): Uint8Array | undefined {
  const value = QUANTITIES.has(name) ? inHex(given) : given
  if (typeof value !== 'string' || !/^0x[0-9a-f]*$/i.test(value)) return undefined
  if (QUANTITIES.has(name)) return bytesOf(value.replace(/^0x0*/i, '0x'))
  return value.length % 2 === 0 ? bytesOf(value) : undefined
}

/** Some nodes write numbers in decimals. */
function inHex(value: unknown): unknown {
  const isDecimal = typeof value === 'string' ? /^\d+$/.test(value) : Number.isSafeInteger(value)
  return isDecimal ? `0x${BigInt(value as string | number).toString(16)}` : value
}
