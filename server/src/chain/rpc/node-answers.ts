import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { BlockHeader, RawLog } from '../chain-types.ts'
import { PackedLogs } from '../packed-logs.ts'
import { checkHeaderHash } from '../proofs/header-hash.ts'
import type { Receipt } from '../proofs/receipts-root.ts'
import {
  readAddress,
  readHash,
  readHex,
  readList,
  readObject,
  readQuantity,
  WrongAnswerError,
} from './hex-values.ts'
import { JsonList } from './json-list.ts'
import type { BlockRange } from './refusals.ts'

/** A header, with what its block can be checked by. */
export interface NodeHeader extends BlockHeader {
  /** 256 bytes in hex; zeros where the node does not say it. */
  readonly logsBloom: string
  readonly receiptsRoot: string
  /** Whether the hash is that of the fields; false where a field is unknown, so it cannot be checked. */
  readonly isHashChecked: boolean
}

/** What a node has, as `eth_capabilities` answers it. Undefined: the node does not say. */
export interface Capabilities {
  /** The oldest block whose logs the node has. `disabled`: it has none at all. */
  readonly oldestLogs: number | 'disabled' | undefined
}

/** For errors. */
const LIST_OF_LOGS = 'the list of logs'
const BLOOM_BYTES = 256
const NO_BLOOM = `0x${'00'.repeat(BLOOM_BYTES)}`
const MAX_TOPICS = 4
const WORD_BYTES = 32

/**
 * Reads a header, and checks its hash.
 *
 * @param wanted what the request named: its number or its hash
 * @throws {WrongAnswerError}
 */
export function readHeader(
  value: unknown,
  wanted: { readonly number?: number; readonly hash?: string },
): NodeHeader {
  const fields = readObject(value, 'the header')
  const header = {
    number: readQuantity(fields.number, 'number'),
    hash: readHash(fields.hash, 'hash'),
    parentHash: readHash(fields.parentHash, 'parentHash'),
    timeS: readQuantity(fields.timestamp, 'timestamp'),
    logsBloom: readBloom(fields.logsBloom),
    receiptsRoot: readHash(fields.receiptsRoot, 'receiptsRoot'),
  }
  if (wanted.number !== undefined && header.number !== wanted.number) {
    throw new WrongAnswerError('the header is of another number')
  }
  if (wanted.hash !== undefined && header.hash !== wanted.hash) {
    throw new WrongAnswerError('the header is of another hash')
  }
  const check = checkHeaderHash(fields)
  if (check === 'differs') throw new WrongAnswerError('the hash of the header is not that of its fields')
  return { ...header, isHashChecked: check === 'matches' }
}

/**
 * Reads the logs of one block: in the order of their indexes, of these addresses alone. The node may have them in another
 * order, or the same log twice; null is no logs.
 *
 * @throws {WrongAnswerError} for a log of another block or address, a removed one, or two with one index
 */
export function readLogsOfBlock(
  value: unknown,
  blockHash: string,
  addresses: ReadonlySet<string>,
): readonly RawLog[] {
  const logs = inOrder(readLogs(value ?? []))
  if (logs.some((log) => log.blockHash !== blockHash)) throw new WrongAnswerError('a log is of another block')
  checkAddresses(logs, addresses)
  return logs
}

/**
 * Reads the logs of a range: in the order of blocks and indexes, of these addresses alone. The node may have them in
 * another order, or the same log twice; null is no logs. Yields to the event loop between the parts of a long list: a server
 * goes on answering meanwhile.
 *
 * @param isCompared whether the logs get a digest
 *
 * @throws {WrongAnswerError} as {@link readLogsOfBlock}, for two hashes of one block, and for one of two
 */
export async function readLogsOfRange(
  value: unknown,
  { fromBlock, toBlock }: BlockRange,
  addresses: ReadonlySet<string>,
  isCompared = false,
): Promise<PackedLogs> {
  const packed = new PackedLogs(isCompared)
  /** All logs, from the first list on that does not follow the ones before it. */
  let unsorted: RawLog[] | undefined
  for (const items of value instanceof JsonList ? value : [readList(value ?? [], LIST_OF_LOGS)]) {
    const logs = readLogs(items, unsorted?.at(-1) ?? packed.newest)
    if (logs.some(({ blockNumber }) => blockNumber < fromBlock || blockNumber > toBlock)) {
      throw new WrongAnswerError('a log is outside the range')
    }
    checkAddresses(logs, addresses)
    if (!unsorted && !areSorted(logs, packed.newest)) unsorted = [...packed]
    if (unsorted) for (const log of logs) unsorted.push(log)
    else {
      checkOrder(logs, packed.newest)
      packed.add(logs)
    }
    if (value instanceof JsonList) await yieldToEventLoop()
  }
  return unsorted ? PackedLogs.from(inOrder(unsorted), isCompared) : packed
}

/**
 * Logs in the order of blocks and indexes, each of them once.
 *
 * @throws {WrongAnswerError} where they do not fit together
 */
export function inOrder(logs: readonly RawLog[]): readonly RawLog[] {
  const sorted = areSorted(logs)
    ? logs
    : logs
        .toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
        .filter((log, at, all) => at === 0 || !isSame(log, all[at - 1]!))
  checkOrder(sorted)
  return sorted
}

function areSorted(logs: readonly RawLog[], first?: RawLog): boolean {
  let before = first
  for (const log of logs) {
    const isAfter =
      !before ||
      log.blockNumber > before.blockNumber ||
      (log.blockNumber === before.blockNumber && log.logIndex > before.logIndex)
    if (!isAfter) return false
    before = log
  }
  return true
}

function isSame(log: RawLog, other: RawLog): boolean {
  return JSON.stringify(log) === JSON.stringify(other)
}

/**
 * Reads the receipts of a block, in the order of its transactions.
 *
 * @throws {WrongAnswerError} for receipts or logs of another block, missing ones, or another order
 */
export function readReceipts(value: unknown, blockHash: string): readonly Receipt[] {
  const receipts = readList(value, 'the list of receipts').map((item, index) => {
    const fields = readObject(item, 'a receipt')
    if (readHash(fields.blockHash, 'blockHash') !== blockHash) {
      throw new WrongAnswerError('a receipt is of another block')
    }
    if (readQuantity(fields.transactionIndex, 'transactionIndex') !== index) {
      throw new WrongAnswerError('a receipt is missing or out of order')
    }
    return readReceipt(fields)
  })
  const logs = receipts.flatMap((receipt) => receipt.logs)
  if (logs.some((log) => log.blockHash !== blockHash)) throw new WrongAnswerError('a log is of another block')
  checkOrder(logs)
  return receipts
}

/** Reads what `eth_capabilities` answers; parts that are missing are undefined. @throws {WrongAnswerError} */
export function readCapabilities(value: unknown): Capabilities {
  const fields = readObject(value, 'the capabilities')
  return { oldestLogs: oldest(fields.logs) }
}

function oldest(value: unknown): number | 'disabled' | undefined {
  if (value === undefined || value === null) return undefined
  const { disabled, oldestBlock } = readObject(value, 'a capability')
  if (disabled === true) return 'disabled'
  return oldestBlock === undefined || oldestBlock === null
    ? undefined
    : readQuantity(oldestBlock, 'oldestBlock')
}

function readReceipt(fields: Readonly<Record<string, unknown>>): Receipt {
  const { type, status, root } = fields
  return {
    type: type === undefined || type === null ? 0 : readQuantity(type, 'type'),
    outcome:
      status === undefined || status === null
        ? readHex(root, 'root', WORD_BYTES)
        : readQuantity(status, 'status'),
    cumulativeGasUsed: `0x${readQuantity(fields.cumulativeGasUsed, 'cumulativeGasUsed').toString(16)}`,
    logsBloom: readBloom(fields.logsBloom),
    logs: readLogs(fields.logs),
  }
}

/** @param before the log before the first one of the list */
function readLogs(value: unknown, before?: RawLog): readonly RawLog[] {
  const logs: RawLog[] = []
  for (const item of readList(value, LIST_OF_LOGS)) logs.push(readLog(item, logs.at(-1) ?? before))
  return logs
}

/** @param before what a log has in common with the one before it is right, and is the same text in memory */
function readLog(value: unknown, before: RawLog | undefined): RawLog {
  const fields = readObject(value, 'a log')
  if (fields.removed !== undefined && fields.removed !== null && fields.removed !== false) {
    throw new WrongAnswerError('a log is marked as removed')
  }
  const topics = readList(fields.topics, 'topics')
  if (topics.length > MAX_TOPICS) throw new WrongAnswerError('a log has more than four topics')
  const { address, blockHash, transactionHash: txHash } = fields
  return {
    address: before && address === before.address ? before.address : readAddress(address, 'address'),
    topics: topics.map((topic) => readHash(topic, 'topic')),
    data: readHex(fields.data, 'data'),
    blockNumber: readQuantity(fields.blockNumber, 'blockNumber'),
    blockHash: before && blockHash === before.blockHash ? before.blockHash : readHash(blockHash, 'blockHash'),
    txHash: before && txHash === before.txHash ? before.txHash : readHash(txHash, 'transactionHash'),
    txIndex: readQuantity(fields.transactionIndex, 'transactionIndex'),
    logIndex: readQuantity(fields.logIndex, 'logIndex'),
    blockTimeS: blockTimeOf(fields.blockTimestamp),
  }
}

/** Some nodes do not have it. */
function readBloom(value: unknown): string {
  return value === undefined || value === null ? NO_BLOOM : readHex(value, 'logsBloom', BLOOM_BYTES)
}

/** Some services put zero where they do not know the time. */
function blockTimeOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  return readQuantity(value, 'blockTimestamp') || undefined
}

/**
 * Each log comes after the one before it, and agrees with it about their block and transaction.
 *
 * @param first the log before them
 */
function checkOrder(logs: readonly RawLog[], first?: RawLog): void {
  let before = first
  for (const log of logs) {
    if (before) checkFollows(log, before)
    before = log
  }
}

function checkFollows(log: RawLog, before: RawLog): void {
  if (log.blockNumber < before.blockNumber) throw new WrongAnswerError('the logs are not in order')
  if (log.blockNumber > before.blockNumber) {
    if (log.blockHash === before.blockHash) throw new WrongAnswerError('two blocks have one hash')
    return
  }
  if (log.blockHash !== before.blockHash) throw new WrongAnswerError('one block has two hashes')
  if (log.logIndex <= before.logIndex) throw new WrongAnswerError('the log indexes do not rise')
  if (log.txIndex < before.txIndex) throw new WrongAnswerError('the transaction indexes go back')
  if ((log.txIndex === before.txIndex) !== (log.txHash === before.txHash)) {
    throw new WrongAnswerError('index and hash of a transaction do not agree')
  }
}

function checkAddresses(logs: readonly RawLog[], addresses: ReadonlySet<string>): void {
  if (!logs.every(({ address }) => addresses.has(address))) {
    throw new WrongAnswerError('a log is of an address that was not asked for')
  }
}
