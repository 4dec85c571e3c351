import type { RawLog } from '../chain-types.ts'
import type { Receipt } from '../proofs/receipts-root.ts'
import { hexOfNumber, readHex, readQuantity, WrongAnswerError } from './hex-values.ts'
import { JsonRpc, type JsonRpcOptions, type Outcome } from './json-rpc.ts'
import { withoutAddress } from './node-address.ts'
import {
  type Capabilities,
  type NodeHeader,
  readCapabilities,
  readHeader,
  readLogsOfBlock,
  readLogsOfRange,
  readReceipts,
} from './node-answers.ts'
import { type FailureKind, NodeError, type NodeFailure } from './node-error.ts'
import type { NodeHealth } from './node-health.ts'
import type { BlockRange } from './refusals.ts'

/** The most headers that are asked for in one request. */
export const MAX_BATCH = 100

const HEADER_BY_NUMBER = 'eth_getBlockByNumber'
/** Nodes refuse batches, or large ones, in many words: only a smaller one shows whether its size was the reason. */
const MAY_REFUSE_BATCHES: ReadonlySet<FailureKind> = new Set<FailureKind>([
  'refused',
  'rate_limit',
  'too_large',
  'too_many_results',
  'range_too_large',
  'unknown_method',
  'late',
  'wrong_answer',
])

export type BlockTag = 'latest' | 'safe' | 'finalized'

/**
 * One Ethereum node. Every answer is checked before it is returned: hex is in lower case, numbers are safe integers, and
 * contents that contradict the request or themselves are refused. All methods throw {@link NodeError} when there is no usable
 * answer; none of them repeats a call.
 *
 * @example
 * const head = await node.headerAt('latest')
 * const logs = head && (await node.logsOfBlock(head.hash, [LAND]))
 */
export class EthereumNode {
  private readonly rpc: JsonRpc
  /** Calls in the next batch; at 1, calls are single. Grows up to `maxBatch` while batches are answered. */
  private batchSize = MAX_BATCH
  /** Becomes smaller when the node refuses a batch for its size, or all batches. */
  private maxBatch = MAX_BATCH

  constructor(options: JsonRpcOptions) {
    this.rpc = new JsonRpc(options)
  }

  /** Short, for logs and metrics: `node1`. */
  get name(): string {
    return this.rpc.address.name
  }

  /** For logs, with scheme and host: `node1 (https://rpc.example)`. */
  get shown(): string {
    return this.rpc.address.shown
  }

  /** A text for everyone: the short name of the node instead of its address. */
  withoutAddress(text: string): string {
    return withoutAddress(this.rpc.address, text)
  }

  get health(): NodeHealth {
    return this.rpc.health
  }

  /** Milliseconds of a pause that the node has asked for; 0 where there is none. */
  get pauseMs(): number {
    return this.rpc.limiter.pauseMs
  }

  /** Requests to the node that run now. */
  get inFlight(): number {
    return this.rpc.limiter.inFlight
  }

  chainId(): Promise<number> {
    return this.rpc.call({ method: 'eth_chainId', params: [] }, (result) =>
      readQuantity(result, 'the chain id'),
    )
  }

  /** Undefined where the node does not have the block, or not yet. */
  headerAt(block: BlockTag | number): Promise<NodeHeader | undefined> {
    const isNumber = typeof block === 'number'
    const params = [isNumber ? hexOfNumber(block) : block, false]
    return this.rpc.call({ method: HEADER_BY_NUMBER, params }, (result) => {
      if (result === null && block === 'latest') throw new WrongAnswerError('there is no latest block')
      return result === null ? undefined : readHeader(result, isNumber ? { number: block } : {})
    })
  }

  /** Undefined where the node does not know the block. */
  headerOf(blockHash: string): Promise<NodeHeader | undefined> {
    return this.rpc.call({ method: 'eth_getBlockByHash', params: [blockHash, false] }, (result) =>
      result === null ? undefined : readHeader(result, { hash: blockHash }),
    )
  }

  /**
   * Headers by number, in batches as large as the node allows, in the order of `numbers`; undefined for blocks that it does
   * not have.
   */
  async headersAt(numbers: readonly number[]): Promise<readonly (NodeHeader | undefined)[]> {
    const found = new Map<number, NodeHeader | undefined>()
    let missing = [...new Set(numbers)]
    while (missing.length > 0) {
      const next = missing.slice(0, this.batchSize)
      const isSingle = next.length === 1
      if (isSingle) found.set(next[0]!, await this.headerAt(next[0]!))
      else await this.addBatch(next, found)
      missing = missing.filter((number) => !found.has(number))
    }
    return numbers.map((number) => found.get(number))
  }

  /**
   * Logs of one block, from any of these addresses.
   *
   * @param addresses in lower case
   * @throws {NodeError} of kind `unknown_block` where the node does not know the block
   */
  logsOfBlock(blockHash: string, addresses: readonly string[]): Promise<readonly RawLog[]> {
    const params = [{ blockHash, address: addresses }]
    const asked = new Set(addresses)
    return this.rpc.call({ method: 'eth_getLogs', params }, (result) => {
      if (result === null) throw new WrongAnswerError('there is no list of logs')
      return readLogsOfBlock(result, blockHash, asked)
    })
  }

  /** Logs of a range of blocks, both ends included, from any of these addresses (in lower case). */
  logsOfRange(range: BlockRange, addresses: readonly string[]): Promise<readonly RawLog[]> {
    const { fromBlock, toBlock } = range
    const params = [{ fromBlock: hexOfNumber(fromBlock), toBlock: hexOfNumber(toBlock), address: addresses }]
    const asked = new Set(addresses)
    return this.rpc.call({ method: 'eth_getLogs', params }, (result) => readLogsOfRange(result, range, asked))
  }

  /**
   * What a function of a contract returns, in the state after this block.
   *
   * @throws {NodeError} of kind `reverted` where the contract refuses the call
   */
  read(call: { readonly to: string; readonly data: string }, blockHash: string): Promise<string> {
    return this.rpc.call({ method: 'eth_call', params: [call, { blockHash }] }, (result) =>
      readHex(result, 'the result'),
    )
  }

  /** Receipts of all transactions of a block; undefined where the node does not have them. */
  receiptsOf(blockHash: string): Promise<readonly Receipt[] | undefined> {
    return this.rpc.call({ method: 'eth_getBlockReceipts', params: [blockHash] }, (result) =>
      result === null ? undefined : readReceipts(result, blockHash),
    )
  }

  /** Which old blocks the node has; undefined where it does not offer this method, as most do not. */
  async capabilities(): Promise<Capabilities | undefined> {
    try {
      return await this.rpc.call({ method: 'eth_capabilities', params: [] }, readCapabilities)
    } catch (error) {
      if (error instanceof NodeError && error.kind === 'unknown_method') return undefined
      throw error
    }
  }

  /** The error for an answer that another answer has proven wrong; the node is avoided for a while. */
  accuse(method: string, reason: string): NodeError {
    return this.rpc.wrongAnswer(method, reason)
  }

  /** An error of this node that is no answer of its own, for example for a block that it answers as missing. */
  failure(method: string, failure: NodeFailure): NodeError {
    return new NodeError(this.rpc.address, method, failure)
  }

  /** Adds what a batch answers. Headers that it does not answer because of its rate limit are left for the next batch. */
  private async addBatch(
    numbers: readonly number[],
    found: Map<number, NodeHeader | undefined>,
  ): Promise<void> {
    const outcomes = await this.batchOrSmaller(numbers)
    for (const [at, outcome] of outcomes.entries()) {
      if ('result' in outcome) found.set(numbers[at]!, this.readBatched(outcome.result, numbers[at]!))
    }
    const errors = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []))
    const serious = errors.find(({ kind }) => kind !== 'rate_limit')
    if (serious) throw serious
    if (errors.length > 0) this.batchSize = Math.max(1, numbers.length >> 1)
    else if (outcomes.length > 0) this.batchSize = Math.min(this.maxBatch, numbers.length * 2)
  }

  /** No outcomes where the node has refused the batch: then the next one is smaller. */
  private async batchOrSmaller(numbers: readonly number[]): Promise<readonly Outcome[]> {
    try {
      const params = numbers.map((number) => [hexOfNumber(number), false])
      return await this.rpc.batch(HEADER_BY_NUMBER, params)
    } catch (error) {
      if (!(error instanceof NodeError) || !MAY_REFUSE_BATCHES.has(error.kind)) throw error
      this.batchSize = Math.max(1, numbers.length >> 1)
      if (error.kind !== 'rate_limit') this.maxBatch = this.batchSize
      return []
    }
  }

  private readBatched(result: unknown, number: number): NodeHeader | undefined {
    try {
      return result === null ? undefined : readHeader(result, { number })
    } catch (error) {
      if (error instanceof WrongAnswerError) throw this.accuse(HEADER_BY_NUMBER, error.message)
      throw error
    }
  }
}
