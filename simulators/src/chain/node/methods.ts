import { createHash } from 'node:crypto'
import type { Block } from '../blocks/block.ts'
import { Revert } from '../contracts/machine.ts'
import { blockJson, type Json, type LogJson, quantity, receiptJson } from './block-json.ts'
import type { ContractReads } from './contract-reads.ts'
import { type LogFilter, logsOf, parseLogFilter } from './log-filter.ts'
import { aggregate3, MULTICALL3 } from './multicall.ts'
import { RpcError, refuseRange } from './range-refusals.ts'
import type { NodeSettings } from './settings.ts'
import type { SimulatedNode } from './simulated-node.ts'

/** One call: its node, the faults that it meets, and its parameters. */
interface Call {
  readonly node: SimulatedNode
  readonly faults: NodeSettings
  readonly reads: ContractReads
  readonly params: readonly unknown[]
}

const CODE = {
  revert: 3,
  pruned: 4444,
  server: -32000,
  unknownMethod: -32601,
  invalidParams: -32602,
} as const
const ONE_DAY_S = 86_400

const METHODS: Readonly<Record<string, (call: Call) => unknown>> = {
  eth_chainId: ({ node }) => quantity(chainIdOf(node)),
  net_version: ({ node }) => String(chainIdOf(node)),
  web3_clientVersion: () => 'Landpass-simulated-chain/v1.0.0',
  eth_syncing: () => false,
  eth_blockNumber: ({ node, faults }) =>
    quantity(node.head.number + (faults.invented_block === 'next' ? 1 : 0)),
  eth_getBlockByNumber: getBlockByNumber,
  eth_getBlockByHash: getBlockByHash,
  eth_getLogs: getLogs,
  eth_getBlockReceipts: getBlockReceipts,
  eth_getTransactionReceipt: getTransactionReceipt,
  eth_call: callContract,
  eth_capabilities: getCapabilities,
}

/** Every method that a node has. */
export const METHOD_NAMES = Object.keys(METHODS)

/** Answers one call of JSON-RPC. @throws {RpcError} */
export function answerCall(
  method: string,
  call: { node: SimulatedNode; faults: NodeSettings; reads: ContractReads; params: readonly unknown[] },
): unknown {
  const answer = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
  if (!answer) {
    throw new RpcError(CODE.unknownMethod, `the method ${method} does not exist/is not available`)
  }
  return answer(call)
}

function chainIdOf({ settings, chain }: SimulatedNode): number {
  return settings.chain_id === 0 ? chain.options.chainId : settings.chain_id
}

function getBlockByNumber({ node, faults, params }: Call): Json | null {
  if (faults.null_block) return null
  const isFull = params[1] === true
  const number = numberOf(node, params[0])
  if (faults.invented_block === 'next' && number >= node.head.number) {
    const next = { ...node.head, number: node.head.number + 1, parentHash: node.head.hash, transactions: [] }
    return { ...blockJson(next, isFull), hash: `0x${'1badb10c'.repeat(8)}` }
  }
  const block = node.block(number)
  if (!block) return null
  const isChanged = faults.invented_block === 'changed' && number === node.head.number
  return blockJson(isChanged ? { ...block, timeS: block.timeS + ONE_DAY_S } : block, isFull)
}

function getBlockByHash({ node, faults, params }: Call): Json | null {
  const block = node.blockByHash(hashOf(params[0]))
  return block && !faults.null_block ? blockJson(block, params[1] === true) : null
}

function getLogs({ node, faults, params }: Call): readonly LogJson[] {
  const [query] = params
  if (typeof query !== 'object' || query === null)
    throw invalidParams('missing value for required argument 0')
  const { blockHash, fromBlock, toBlock, ...rest } = query as Readonly<Record<string, unknown>>
  const filter = parseLogFilter(rest)
  const { address_limit } = node.settings
  if (address_limit > 0 && (filter.addresses?.size ?? 0) > address_limit)
    throw new RpcError(CODE.server, `exceed max addresses: ${address_limit}`)
  if (blockHash !== undefined && blockHash !== null) {
    if (node.settings.dialect === 'no_block_hash') throw invalidParams('invalid argument 0: unknown field')
    if (fromBlock !== undefined || toBlock !== undefined) {
      throw invalidParams('cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other')
    }
    const hash = hashOf(blockHash)
    node.remember({ blockHash: hash })
    const block = node.blockByHash(hash)
    if (!block) throw new RpcError(CODE.server, 'unknown block')
    refusePruned(node, block.number)
    if (faults.empty_by_hash) return []
    return isPruned(node, block.number) ? [] : faultyLogs(node, faults, block, filter)
  }
  const range = { from: numberOf(node, fromBlock ?? 'latest'), to: numberOf(node, toBlock ?? 'latest') }
  node.remember(range)
  return logsOfRange(node, faults, range, filter)
}

function logsOfRange(
  node: SimulatedNode,
  faults: NodeSettings,
  { from, to }: { from: number; to: number },
  filter: LogFilter,
): readonly LogJson[] {
  const { beyond_head, range_limit, result_limit, limit_words, silent_result_limit } = node.settings
  const head = node.head.number
  if (to < from) throw invalidParams('invalid block range params')
  if (to > head && beyond_head === 'error')
    throw invalidParams('block range extends beyond current head block')
  if (to > head && beyond_head === 'empty') return []
  const blocks = to - from + 1
  if (range_limit > 0 && blocks > range_limit) {
    throw refuseRange(limit_words, { blocks, limit: range_limit, from, goodTo: from + range_limit - 1 })
  }
  refusePruned(node, from)
  const logs: LogJson[] = []
  for (let number = from; number <= Math.min(to, head); number++) {
    if (isPruned(node, number) || isGap(faults, number)) continue
    const block = node.block(number)!
    if (block.transactions.length > 0) logs.push(...faultyLogs(node, faults, block, filter))
    if (result_limit > 0 && logs.length > result_limit) {
      const goodTo = Math.max(from, number - 1)
      throw refuseRange(limit_words, { blocks: undefined, limit: result_limit, from, goodTo })
    }
  }
  return silent_result_limit > 0 ? logs.slice(0, silent_result_limit) : logs
}

/** Whether the node leaves out the logs of a block where it is one of a range. */
function isGap({ gap_percent, gap_seed }: NodeSettings, number: number): boolean {
  if (gap_percent === 0) return false
  return createHash('sha256').update(`${gap_seed} ${number}`).digest().readUInt32BE() % 100 < gap_percent
}

/** The logs of a block, with the faults of the answer. */
function faultyLogs(
  node: SimulatedNode,
  faults: NodeSettings,
  block: Block,
  filter: LogFilter,
): readonly LogJson[] {
  if (faults.newest_logs_empty && block.number === node.head.number) return []
  const logs = logsOf(block, filter, node.settings.log_timestamps)
  const middle = logs.length > 1 ? 1 : 0
  const log = logs[middle]
  if (!log) return logs
  if (faults.missing_log) logs.splice(middle, 1)
  else if (faults.foreign_log) logs[middle] = { ...log, blockHash: block.parentHash }
  else if (faults.doubled_log_index) logs[middle] = { ...log, logIndex: logs[0]!.logIndex }
  return logs
}

function getBlockReceipts({ node, faults, params }: Call): readonly (Json | null)[] | null {
  const { block_receipts, log_timestamps } = node.settings
  if (block_receipts === 'unknown_method') {
    throw new RpcError(CODE.unknownMethod, 'the method eth_getBlockReceipts does not exist/is not available')
  }
  const block = blockOf(node, params[0])
  if (!block || block_receipts === 'null' || faults.null_block) return null
  refusePruned(node, block.number)
  if (isPruned(node, block.number)) return []
  const receipts = block.transactions.map((_, index) => receiptJson(block, index, log_timestamps))
  return block_receipts === 'null_entries'
    ? receipts.map((receipt, i) => (i === 0 ? null : receipt))
    : receipts
}

function getTransactionReceipt({ node, params }: Call): Json | null {
  const hash = hashOf(params[0])
  const number = node.chain.blockOfTransaction(hash)
  const block = number === undefined ? undefined : node.block(number)
  if (!block || isPruned(node, block.number)) return null
  const index = block.transactions.findIndex((transaction) => transaction.hash === hash)
  return receiptJson(block, index, node.settings.log_timestamps)
}

function callContract({ node, reads, params }: Call): string {
  const { to, data, input } = (params[0] ?? {}) as Readonly<Record<string, unknown>>
  const callData = input ?? data ?? '0x'
  if (typeof to !== 'string' || typeof callData !== 'string') throw invalidParams('to and data are missing')
  const block = stateBlockOf(node, params[1] ?? 'latest')
  const { oldestReadable } = node.chain.machine.history
  const isKept = block.number >= Math.max(oldestReadable, node.settings.state_pruned_below)
  if (!node.chain.hasState || !isKept || node.chain.block(block.number) !== block) {
    throw new RpcError(CODE.server, `missing trie node ${block.hash.slice(2)} (path ) state is not available`)
  }
  const at = { block: block.number, timeS: block.timeS }
  const call = (target: string, callData: string) => reads.call(target, callData, at)
  const { multicall, multicall_limit: most } = node.settings
  try {
    const isMulticall = multicall && to.toLowerCase() === MULTICALL3
    return isMulticall
      ? aggregate3(callData.toLowerCase(), { most, call })
      : call(to.toLowerCase(), callData.toLowerCase())
  } catch (error) {
    if (error instanceof Revert) throw new RpcError(CODE.revert, 'execution reverted', '0x')
    throw error
  }
}

/** The block whose state is read. */
function stateBlockOf(node: SimulatedNode, value: unknown): Block {
  const isObject = typeof value === 'object' && value !== null
  if (isObject && !node.settings.calls_by_hash) {
    throw invalidParams('invalid argument 1: json: cannot unmarshal object into Go value of type string')
  }
  const block = blockOf(node, value)
  if (!block) throw new RpcError(CODE.server, 'header not found')
  const isCanonical = node.chain.block(block.number) === block
  if (isObject && 'requireCanonical' in value && value.requireCanonical === true && !isCanonical) {
    throw new RpcError(CODE.server, 'hash is not currently canonical')
  }
  return block
}

function getCapabilities({ node }: Call): Json {
  const { capabilities } = node.settings
  if (!capabilities) {
    throw new RpcError(CODE.unknownMethod, 'the method eth_capabilities does not exist/is not available')
  }
  const { head } = node
  const oldest = oldestOf(node)
  const all = { disabled: false, oldestBlock: quantity(node.chain.oldest.number) }
  const kept = { disabled: false, oldestBlock: quantity(oldest) }
  const state = { disabled: false, oldestBlock: quantity(node.chain.machine.history.oldestReadable) }
  return {
    head: { number: quantity(head.number), hash: head.hash },
    ...{ state, blocks: all, tx: all, logs: kept, receipts: kept },
  }
}

function isPruned(node: SimulatedNode, number: number): boolean {
  return number < oldestOf(node)
}

/** The oldest block whose logs the node has: its settings say so, or the chain has forgotten the older ones. */
function oldestOf({ settings, chain }: SimulatedNode): number {
  return Math.max(settings.pruned_below, chain.oldest.number)
}

/** @throws {RpcError} in the words of the node, unless it is one that answers an empty list */
function refusePruned(node: SimulatedNode, number: number): void {
  if (!isPruned(node, number)) return
  switch (node.settings.pruned_form) {
    case '4444':
      throw new RpcError(CODE.pruned, 'pruned history unavailable')
    case 'geth_block_0':
      throw new RpcError(CODE.server, `failed to get logs for block #${number}`)
    case 'nethermind':
      throw new RpcError(CODE.server, `Receipt not available for From block ${number}.`)
    case 'erigon':
      throw new RpcError(
        CODE.server,
        `receipts are pruned: data before txNum=${number * 100} is not available`,
      )
    case 'empty':
      return
  }
}

/** A block by tag, number or hash, as eth_call and eth_getBlockReceipts take it. */
function blockOf(node: SimulatedNode, value: unknown): Block | undefined {
  if (typeof value === 'object' && value !== null) {
    const { blockHash, blockNumber } = value as Readonly<Record<string, unknown>>
    if (blockHash !== undefined) return node.blockByHash(hashOf(blockHash))
    return node.block(numberOf(node, blockNumber))
  }
  if (typeof value === 'string' && /^0x[\da-f]{64}$/i.test(value))
    return node.blockByHash(value.toLowerCase())
  return node.block(numberOf(node, value))
}

/** The number of a block that is named by a tag or a number. @throws {RpcError} for anything else */
function numberOf(node: SimulatedNode, value: unknown): number {
  const { finalized_depth, finalized_until, safe_depth } = node.settings
  const head = node.head.number
  if (value === 'latest' || value === 'pending') return head
  const first = node.chain.first.number
  if (value === 'earliest') return first
  if (value === 'safe') return Math.max(first, head - safe_depth)
  if (value === 'finalized') {
    const last = finalized_until > 0 ? Math.min(finalized_until, head) : head
    return Math.max(first, Math.min(last, head - finalized_depth))
  }
  if (typeof value !== 'string' || !/^0x(?:0|[1-9a-f][\da-f]{0,12})$/i.test(value)) {
    throw invalidParams('invalid argument 0: hex string or tag expected')
  }
  return Number(value)
}

function hashOf(value: unknown): string {
  if (typeof value !== 'string' || !/^0x[\da-f]{64}$/i.test(value)) {
    throw invalidParams('invalid argument 0: hash of 32 bytes expected')
  }
  return value.toLowerCase()
}

function invalidParams(message: string): RpcError {
  return new RpcError(CODE.invalidParams, message)
}
