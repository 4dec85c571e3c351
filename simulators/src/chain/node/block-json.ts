import type { Block, MinedTransaction } from '../blocks/block.ts'
import { ADDED_FIELDS, bloomOf, EMPTY_BLOOM, headerFields } from '../blocks/block.ts'
import type { SimulatedLog } from '../contracts/machine.ts'

/** A whole number as JSON-RPC writes it: `0x` and no leading zeros. */
export const quantity = (value: number | bigint): string => `0x${value.toString(16)}`

export type Json = Readonly<Record<string, unknown>>

/** A log as nodes answer it. */
export interface LogJson {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockNumber: string
  readonly transactionHash: string
  readonly transactionIndex: string
  readonly blockHash: string
  readonly blockTimestamp?: string
  readonly logIndex: string
  readonly removed: boolean
}

/** @param withTransactions whole transactions in place of their hashes */
export function blockJson(block: Block, withTransactions: boolean): Json {
  const header = headerFields(block).map(({ name, value }) => [
    name,
    typeof value === 'number' ? quantity(value) : value,
  ])
  const hasWithdrawals = block.addedFields > ADDED_FIELDS.indexOf('withdrawalsRoot')
  return {
    ...Object.fromEntries(header),
    hash: block.hash,
    size: quantity(600),
    uncles: [],
    ...(hasWithdrawals ? { withdrawals: [] } : {}),
    transactions: block.transactions.map((transaction, index) =>
      withTransactions ? transactionJson(block, transaction, index) : transaction.hash,
    ),
  }
}

function transactionJson(block: Block, { hash, from, to, type }: MinedTransaction, index: number): Json {
  const place = {
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    transactionIndex: quantity(index),
  }
  return { ...place, hash, from, to, type: quantity(type), input: '0x', nonce: '0x0', value: '0x0' }
}

export function receiptJson(block: Block, index: number, withTimestamps: boolean): Json {
  const transaction = block.transactions[index]!
  return {
    type: quantity(transaction.type),
    status: quantity(transaction.isSuccess ? 1 : 0),
    cumulativeGasUsed: quantity(transaction.cumulativeGasUsed),
    logs: logsOfTransaction(block, index, withTimestamps),
    logsBloom: bloomOf(transaction.logs) ?? EMPTY_BLOOM,
    transactionHash: transaction.hash,
    transactionIndex: quantity(index),
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    gasUsed: quantity(transaction.gasUsed),
    effectiveGasPrice: '0x3b9aca00',
    from: transaction.from,
    to: transaction.to,
    contractAddress: null,
  }
}

function logsOfTransaction(block: Block, index: number, withTimestamps: boolean): readonly LogJson[] {
  const { logs, firstLogIndex } = block.transactions[index]!
  return logs.map((log, i) =>
    logJson(block, { log, transactionIndex: index, logIndex: firstLogIndex + i }, withTimestamps),
  )
}

export function logJson(
  block: Block,
  place: { readonly log: SimulatedLog; readonly transactionIndex: number; readonly logIndex: number },
  withTimestamp: boolean,
): LogJson {
  const { log, transactionIndex, logIndex } = place
  return {
    address: log.address,
    topics: log.topics,
    data: log.data,
    blockNumber: quantity(block.number),
    transactionHash: block.transactions[transactionIndex]!.hash,
    transactionIndex: quantity(transactionIndex),
    blockHash: block.hash,
    ...(withTimestamp ? { blockTimestamp: quantity(block.timeS) } : {}),
    logIndex: quantity(logIndex),
    removed: false,
  }
}
