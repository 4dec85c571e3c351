import { keccak256 } from '@landpass/server/ethereum/keccak256'
import type { SimulatedLog } from '../contracts/machine.ts'
import type { SentTransaction } from '../contracts/transactions.ts'
import { addToBloom, BLOOM_BYTES } from '../encoding/bloom.ts'
import { type RlpItem, rlp, rlpNumber } from '../encoding/rlp.ts'
import { trieRoot } from '../encoding/trie.ts'
import {
  type Address,
  bytesOf,
  hashOfParts,
  hexOf,
  type Word,
  ZERO_ADDRESS,
  ZERO_WORD,
} from '../encoding/words.ts'

/** A transaction in a block, with what came of it. */
export interface MinedTransaction {
  readonly hash: Word
  readonly from: Address
  readonly to: Address
  /** 0 or 2: its receipt is hashed with this byte before it, unless it is 0. */
  readonly type: 0 | 2
  readonly isSuccess: boolean
  readonly gasUsed: number
  readonly cumulativeGasUsed: number
  /** Index of its first log in the block. */
  readonly firstLogIndex: number
  readonly logs: readonly SimulatedLog[]
}

export interface Block {
  readonly number: number
  readonly hash: Word
  readonly parentHash: Word
  /** Seconds since 1970. */
  readonly timeS: number
  readonly transactionsRoot: Word
  readonly receiptsRoot: Word
  /** Undefined: no bit is set. */
  readonly logsBloom: string | undefined
  readonly gasUsed: number
  /** Number of the fork in which it was made: blocks of two forks always differ. */
  readonly fork: number
  /** How many of the fields that later versions of Ethereum added its header has. */
  readonly addedFields: number
  readonly transactions: readonly MinedTransaction[]
}

/** What a block is made of. */
export interface BlockContents {
  readonly number: number
  readonly parentHash: Word
  readonly timeS: number
  readonly fork: number
  readonly addedFields: number
  readonly transactions: readonly MinedTransaction[]
}

/** A field of a header: numbers are shortened in RLP and in JSON, the others are not. */
export interface HeaderField {
  readonly name: string
  readonly value: string | number
}

export const ADDED_FIELDS = [
  'baseFeePerGas',
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
] as const

const NO_TRANSACTIONS: readonly MinedTransaction[] = []
const EMPTY_ROOT = hexOf(trieRoot([]))
const NO_UNCLES = hexOf(keccak256(rlp([])))
const NO_BLOOM = hexOf(new Uint8Array(BLOOM_BYTES))
/** SHA-256 of nothing. */
const NO_REQUESTS = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const MINER = ZERO_ADDRESS
const GAS_LIMIT = 36_000_000
const TRANSACTION_GAS = 21_000
const LOG_GAS = 3_000
const BASE_FEE_WEI = 1_000_000_000
const EXTRA_DATA = hexOf(Buffer.from('landpass '))

/** The header of a block, in the order in which it is hashed. Its state root is made up. */
export function headerFields(block: Omit<Block, 'hash'>): readonly HeaderField[] {
  const added: Record<(typeof ADDED_FIELDS)[number], string | number> = {
    baseFeePerGas: BASE_FEE_WEI,
    withdrawalsRoot: EMPTY_ROOT,
    blobGasUsed: 0,
    excessBlobGas: 0,
    parentBeaconBlockRoot: block.parentHash,
    requestsHash: NO_REQUESTS,
  }
  return [
    { name: 'parentHash', value: block.parentHash },
    { name: 'sha3Uncles', value: NO_UNCLES },
    { name: 'miner', value: MINER },
    { name: 'stateRoot', value: block.parentHash },
    { name: 'transactionsRoot', value: block.transactionsRoot },
    { name: 'receiptsRoot', value: block.receiptsRoot },
    { name: 'logsBloom', value: block.logsBloom ?? NO_BLOOM },
    { name: 'difficulty', value: block.addedFields > 1 ? 0 : 131_072 },
    { name: 'number', value: block.number },
    { name: 'gasLimit', value: GAS_LIMIT },
    { name: 'gasUsed', value: block.gasUsed },
    { name: 'timestamp', value: block.timeS },
    { name: 'extraData', value: EXTRA_DATA + block.fork.toString(16).padStart(8, '0') },
    { name: 'mixHash', value: ZERO_WORD },
    { name: 'nonce', value: '0x0000000000000000' },
    ...ADDED_FIELDS.slice(0, block.addedFields).map((name) => ({ name, value: added[name] })),
  ]
}

/** Seals a block: its header names the receipts and the logs of its transactions, and its hash names the header. */
export function makeBlock(contents: BlockContents): Block {
  const { transactions } = contents
  const receipts = transactions.map(encodeReceipt)
  const last = transactions.at(-1)
  const unsealed = {
    ...contents,
    transactions: last ? transactions : NO_TRANSACTIONS,
    transactionsRoot: last ? hashOfParts(...transactions.map(({ hash }) => hash)) : EMPTY_ROOT,
    receiptsRoot: last ? hexOf(trieRoot(receipts)) : EMPTY_ROOT,
    logsBloom: bloomOf(transactions.flatMap(({ logs }) => logs)),
    gasUsed: last?.cumulativeGasUsed ?? 0,
  }
  const hash = hexOf(keccak256(rlp(headerFields(unsealed).map(({ value }) => encodeValue(value)))))
  return { ...unsealed, hash }
}

/** Puts transactions in a row: gas and log indexes go on from one to the next. */
export class TransactionList {
  readonly transactions: MinedTransaction[] = []
  private gas = 0
  private logCount = 0

  add(
    { hash, from, to }: SentTransaction,
    outcome: { isSuccess: boolean; logs: readonly SimulatedLog[] },
  ): void {
    const { isSuccess, logs } = outcome
    const gasUsed = TRANSACTION_GAS + logs.length * LOG_GAS
    this.gas += gasUsed
    const type = Number.parseInt(hash.slice(-1), 16) % 2 === 0 ? 2 : 0
    const place = { cumulativeGasUsed: this.gas, firstLogIndex: this.logCount }
    this.transactions.push({ hash, from, to, type, isSuccess, gasUsed, logs, ...place })
    this.logCount += logs.length
  }
}

/** The bloom filter of some logs in hex; undefined where no bit is set. */
export function bloomOf(logs: readonly SimulatedLog[]): string | undefined {
  return logs.length === 0 ? undefined : hexOf(bloomBytesOf(logs))
}

function bloomBytesOf(logs: readonly SimulatedLog[]): Uint8Array {
  const bloom = new Uint8Array(BLOOM_BYTES)
  for (const log of logs) addToBloom(bloom, log)
  return bloom
}

export const EMPTY_BLOOM = NO_BLOOM

function encodeReceipt({ type, isSuccess, cumulativeGasUsed, logs }: MinedTransaction): Uint8Array {
  const encoded = rlp([
    rlpNumber(isSuccess ? 1 : 0),
    rlpNumber(cumulativeGasUsed),
    bloomBytesOf(logs),
    logs.map(({ address, topics, data }): RlpItem => [bytesOf(address), topics.map(bytesOf), bytesOf(data)]),
  ])
  return type === 0 ? encoded : Buffer.concat([Uint8Array.of(type), encoded])
}

/** Values that most headers have: parsing their hex again for each block takes a fifth of the time. */
const COMMON_VALUES = new Map(
  [EMPTY_ROOT, NO_UNCLES, NO_BLOOM, NO_REQUESTS, MINER, ZERO_WORD].map((hex) => [hex, bytesOf(hex)]),
)

function encodeValue(value: string | number): Uint8Array {
  return typeof value === 'number' ? rlpNumber(value) : (COMMON_VALUES.get(value) ?? bytesOf(value))
}
