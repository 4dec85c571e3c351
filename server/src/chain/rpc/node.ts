import type { BlockRef, RawLog } from '../chain-types.ts'
import { PackedLogs } from '../packed-logs.ts'
import type { Receipt } from '../proofs/receipts-root.ts'
import { hexOfNumber, readHex, readQuantity, WrongAnswerError } from './hex-values.ts'
import { parseAnswer } from './json-list.ts'
import { JsonRpc, type JsonRpcOptions, type Outcome } from './json-rpc.ts'
import { hideSecrets, withoutAddress } from './node-address.ts'
import {
  type Capabilities,
  inOrder,
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
const MAX_BATCH = 100

const HEADER_BY_NUMBER = 'eth_getBlockByNumber'
const HEADER_BY_HASH = 'eth_getBlockByHash'
const CALL = 'eth_call'
const LOGS = 'eth_getLogs'
const RECEIPTS = 'eth_getBlockReceipts'
const MEBIBYTE = 1_048_576
/** The most that the receipts of one block may have, which are parsed at once. Those of mainnet have 3 MB at most. */
const RECEIPTS_BYTES = 8 * MEBIBYTE
/** What one range may hold. A larger answer is asked for in shorter ranges. */
const MANY_LOGS = { method: LOGS, maxBytes: 64 * MEBIBYTE, isDivisible: true }
/** A call of Multicall3 returns what some hundred functions return. */
const CALL_OF_CONTRACT = { method: CALL, maxBytes: 16 * MEBIBYTE, isDivisible: true }
/** What a contract of anyone may use: a wallet with several owners needs 0.3 million, a node answers within some milliseconds. */
const GAS_OF_ANYONE = hexOfNumber(3_000_000)
const BYTES_OF_ANYONE = 64 * 1_024
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

/** A call of a function of a contract that only reads. */
export interface ContractCall {
  readonly to: string
  /** Selector and arguments, in hex. */
  readonly data: string
}

/**
 * The block in whose state contracts are read: by hash (EIP-1898), where an answer of another chain is impossible, or by
 * number for nodes that do not know that form.
 */
export type StateBlock = { readonly blockHash: string; readonly requireCanonical: true } | number

/**
 * One Ethereum node. Every answer is checked before it is returned: hex is in lower case, numbers are safe integers, and
 * contents that contradict the request or themselves are refused. All methods throw {@link NodeError} when there is no usable
 * answer; none of them repeats a call.
 *
 * @example
 * const head = await node.headerAt('latest')
 * const logs = head && (await node.logsOfBlock(head, [LAND]))
 */
export class EthereumNode {
  private readonly rpc: JsonRpc
  /** Calls in the next batch; at 1, calls are single. Grows up to `maxBatch` while batches are answered. */
  private batchSize = MAX_BATCH
  /** Becomes smaller when the node refuses a batch for its size, or all batches. */
  private maxBatch = MAX_BATCH

  /** How many addresses the node takes in one filter of logs, as far as it has said so. */
  private maxAddresses = Number.POSITIVE_INFINITY
  /** It does not offer the receipts of a block, so it is not asked for them again. */
  private lacksReceipts = false
  /** Whether it takes the hash of a block in a filter of logs (EIP-234). */
  private takesBlockHash = true
  /** Whether no other node can be asked now: see {@link JsonRpcOptions}. */
  isAlone: () => boolean = () => false

  constructor(options: JsonRpcOptions) {
    this.rpc = new JsonRpc({ ...options, isAlone: () => this.isAlone() })
  }

  /** Short, for logs and metrics: `node1`. */
  get name(): string {
    return this.rpc.address.name
  }

  /** Nodes of one host may be the same one, or have the same gaps. */
  get host(): string {
    return this.rpc.address.url.hostname
  }

  /** For logs, with scheme and host: `node1 (https://rpc.example)`. */
  get shown(): string {
    return this.rpc.address.shown
  }

  /** A text for everyone: the short name of the node instead of its address. */
  withoutAddress(text: string): string {
    return withoutAddress(this.rpc.address, text)
  }

  /** A text for the log: the secrets of the node's address are masked. */
  hideSecrets(text: string): string {
    return hideSecrets(this.rpc.address, text)
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
    return this.rpc.call({ method: HEADER_BY_HASH, params: [blockHash, false] }, (result) =>
      result === null ? undefined : readHeader(result, { hash: blockHash }),
    )
  }

  /**
   * Headers, in batches as large as the node allows, in the order of `blocks`; undefined for blocks that it does not have.
   *
   * @param blocks all of them numbers, or all of them hashes
   */
  async headersAt<Block extends number | string>(
    blocks: readonly Block[],
  ): Promise<readonly (NodeHeader | undefined)[]> {
    const found = new Map<number | string, NodeHeader | undefined>()
    let missing = [...new Set<number | string>(blocks)]
    while (missing.length > 0) {
      const next = missing.slice(0, this.batchSize)
      const [only] = next
      if (next.length > 1) await this.addBatch(next, found)
      else found.set(only!, typeof only === 'number' ? await this.headerAt(only) : await this.headerOf(only!))
      missing = missing.filter((block) => !found.has(block))
    }
    return blocks.map((block) => found.get(block))
  }

  /**
   * Logs of one block, from any of these addresses. A node that does not take the hash of a block in a filter is asked by
   * the number, and then whether its block of that number is this one.
   *
   * @param addresses in lower case
   * @throws {NodeError} of kind `unknown_block` where the node does not know the block
   */
  async logsOfBlock(block: BlockRef, addresses: readonly string[]): Promise<readonly RawLog[]> {
    if (this.takesBlockHash) {
      try {
        return await this.logsByFilter({ blockHash: block.hash }, block, addresses)
      } catch (error) {
        if (!(error instanceof NodeError) || error.kind !== 'refused') throw error
        const logs = await this.logsByNumber(block, addresses).catch(() => undefined)
        if (!logs) throw error
        this.takesBlockHash = false
        return logs
      }
    }
    return this.logsByNumber(block, addresses)
  }

  private async logsByNumber(block: BlockRef, addresses: readonly string[]): Promise<readonly RawLog[]> {
    const number = hexOfNumber(block.number)
    const logs = await this.logsByFilter({ fromBlock: number, toBlock: number }, block, addresses)
    const header = await this.headerAt(block.number)
    if (header?.hash !== block.hash) throw this.failure(LOGS, { kind: 'unknown_block' })
    return logs
  }

  private logsByFilter(
    filter: Readonly<Record<string, string>>,
    { hash }: BlockRef,
    addresses: readonly string[],
  ): Promise<readonly RawLog[]> {
    return this.inParts(
      addresses,
      (part) =>
        this.rpc.call({ ...MANY_LOGS, params: [{ ...filter, address: part }] }, (result) =>
          readLogsOfBlock(result, hash, new Set(part)),
        ),
      (parts) => inOrder(parts.flat()),
    )
  }

  /**
   * Logs of a range of blocks, both ends included, from any of these addresses (in lower case).
   *
   * @param isCompared whether the logs get a digest
   */
  logsOfRange(range: BlockRange, addresses: readonly string[], isCompared = false): Promise<PackedLogs> {
    const blocks = { fromBlock: hexOfNumber(range.fromBlock), toBlock: hexOfNumber(range.toBlock) }
    return this.inParts(
      addresses,
      (part) => {
        const call = { ...MANY_LOGS, params: [{ ...blocks, address: part }], parse: parseAnswer }
        return this.rpc.call(call, (result) => readLogsOfRange(result, range, new Set(part), isCompared))
      },
      (parts) => PackedLogs.from(inOrder(parts.flatMap((part) => [...part])), isCompared),
    )
  }

  /**
   * What a function of a contract returns, in the state after this block.
   *
   * @throws {NodeError} of kind `reverted` where the contract refuses the call
   */
  read(call: ContractCall, blockHash: string): Promise<string> {
    return this.rpc.call({ ...CALL_OF_CONTRACT, params: [call, { blockHash }] }, readReturned)
  }

  /**
   * What a function of a contract that anyone may have written returns in the newest state; undefined where the contract
   * refuses the call, uses too much gas or returns too much.
   */
  async readAnyone(call: ContractCall): Promise<string | undefined> {
    const params = [{ ...call, gas: GAS_OF_ANYONE }, 'latest']
    const limits = { maxBytes: BYTES_OF_ANYONE, isDivisible: true }
    try {
      return await this.rpc.call({ method: CALL, params, ...limits }, readReturned)
    } catch (error) {
      if (error instanceof NodeError && (error.kind === 'reverted' || error.kind === 'too_large'))
        return undefined
      throw error
    }
  }

  /**
   * What functions of contracts return in the state after a block, in batches as large as the node allows, in the order of
   * `calls`; undefined where the contract refuses the call.
   */
  async readMany(
    calls: readonly ContractCall[],
    block: StateBlock,
  ): Promise<readonly (string | undefined)[]> {
    const blockParam = typeof block === 'number' ? hexOfNumber(block) : block
    const found = new Map<number, string | undefined>()
    let missing = [...calls.keys()]
    while (missing.length > 0) {
      const next = missing.slice(0, this.batchSize)
      const params = next.map((at) => [calls[at], blockParam])
      if (next.length === 1) found.set(next[0]!, await this.readOrRefused(params[0]!))
      else
        for (const [at, outcome] of await this.batchOrLess(CALL, params))
          found.set(next[at]!, 'error' in outcome ? undefined : this.readBatched(CALL, outcome, readReturned))
      missing = missing.filter((at) => !found.has(at))
    }
    return [...calls.keys()].map((at) => found.get(at))
  }

  /** Receipts of all transactions of a block; undefined where the node does not have them. */
  async receiptsOf(blockHash: string): Promise<readonly Receipt[] | undefined> {
    const call = { method: RECEIPTS, params: [blockHash], maxBytes: RECEIPTS_BYTES }
    if (this.lacksReceipts) throw this.failure(RECEIPTS, { kind: 'unknown_method' })
    try {
      return await this.rpc.call({ ...call, isDivisible: true }, (result) =>
        result === null ? undefined : readReceipts(result, blockHash),
      )
    } catch (error) {
      if (error instanceof NodeError && error.kind === 'unknown_method') this.lacksReceipts = true
      throw error
    }
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

  /**
   * An error of this node that is no answer of its own, for example for a block that it answers as missing. The node is not
   * avoided for it.
   */
  failure(method: string, failure: NodeFailure, words = ''): NodeError {
    return new NodeError(this.rpc.address, method, failure, words)
  }

  /** Asks with all addresses at once or, where the node takes fewer, with some at a time. */
  private async inParts<T>(
    addresses: readonly string[],
    ask: (part: readonly string[]) => Promise<T>,
    join: (parts: readonly T[]) => T,
  ): Promise<T> {
    for (;;) {
      const size = Math.min(this.maxAddresses, addresses.length)
      try {
        const parts: T[] = []
        for (let at = 0; at < addresses.length; at += size)
          parts.push(await ask(addresses.slice(at, at + size)))
        return parts.length === 1 ? parts[0]! : this.readBatched(LOGS, { result: parts }, () => join(parts))
      } catch (error) {
        if (!(error instanceof NodeError) || error.kind !== 'too_many_addresses' || size === 1) throw error
        const named = 'maxAddresses' in error.failure ? error.failure.maxAddresses : undefined
        this.maxAddresses = named !== undefined && named < size ? named : size >> 1
      }
    }
  }

  private async readOrRefused(params: readonly unknown[]): Promise<string | undefined> {
    try {
      return await this.rpc.call({ ...CALL_OF_CONTRACT, params }, readReturned)
    } catch (error) {
      if (error instanceof NodeError && error.kind === 'reverted') return undefined
      throw error
    }
  }

  /** Adds what a batch answers. */
  private async addBatch(
    blocks: readonly (number | string)[],
    found: Map<number | string, NodeHeader | undefined>,
  ): Promise<void> {
    const method = typeof blocks[0] === 'number' ? HEADER_BY_NUMBER : HEADER_BY_HASH
    const params = blocks.map((block) => [typeof block === 'number' ? hexOfNumber(block) : block, false])
    for (const [at, outcome] of await this.batchOrLess(method, params)) {
      if ('error' in outcome) throw outcome.error
      const block = blocks[at]!
      const expected = typeof block === 'number' ? { number: block } : { hash: block }
      const read = (result: unknown) => (result === null ? undefined : readHeader(result, expected))
      found.set(block, this.readBatched(method, outcome, read))
    }
  }

  /**
   * What a batch answers, with the position of each call: a result, or that the contract refused the call. Calls that are
   * not answered are missing, also where the node refused the whole batch: the next batch is smaller.
   *
   * @throws {NodeError} where no call is answered, and not because of the rate limit or of the batch
   */
  private async batchOrLess(
    method: string,
    params: readonly (readonly unknown[])[],
  ): Promise<readonly (readonly [number, Outcome])[]> {
    const outcomes = await this.batchOrNothing(method, params)
    const errors = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []))
    const isAnswer = (outcome: Outcome) => 'result' in outcome || outcome.error.kind === 'reverted'
    const answers = [...outcomes.entries()].filter(([, outcome]) => isAnswer(outcome))
    const serious = errors.find(({ kind }) => kind !== 'rate_limit' && kind !== 'reverted')
    // What was answered is kept: the rest is asked for again, in the end one by one
    if (serious && answers.length === 0) throw serious
    if (answers.length < outcomes.length) this.batchSize = Math.max(1, params.length >> 1)
    else if (outcomes.length > 0) this.batchSize = Math.min(this.maxBatch, params.length * 2)
    return answers
  }

  /** No outcomes where the node has refused the batch: then the next one is smaller. */
  private async batchOrNothing(
    method: string,
    params: readonly (readonly unknown[])[],
  ): Promise<readonly Outcome[]> {
    try {
      return await this.rpc.batch(method, params)
    } catch (error) {
      if (!(error instanceof NodeError) || !MAY_REFUSE_BATCHES.has(error.kind)) throw error
      this.batchSize = Math.max(1, params.length >> 1)
      if (error.kind !== 'rate_limit') this.maxBatch = this.batchSize
      return []
    }
  }

  private readBatched<T>(
    method: string,
    { result }: { readonly result: unknown },
    read: (result: unknown) => T,
  ): T {
    try {
      return read(result)
    } catch (error) {
      if (error instanceof WrongAnswerError) throw this.accuse(method, error.message)
      throw error
    }
  }
}

function readReturned(result: unknown): string {
  return readHex(result, 'the result')
}
