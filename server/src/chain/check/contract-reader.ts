import type { BlockRef } from '../chain-types.ts'
import { UnfitLogError } from '../logs/log-data.ts'
import type { ContractCall, EthereumNode, StateBlock } from '../rpc/node.ts'
import { type FailureKind, NodeError } from '../rpc/node-error.ts'
import type { Nodes } from '../rpc/nodes.ts'
import { withRetries } from '../rpc/retries.ts'
import type { Timing } from '../rpc/timing.ts'
import { type CallResult, decodeAggregate3, encodeAggregate3, MULTICALL3 } from './aggregate3.ts'
import { BlockGoneError, StateMissingError } from './check-errors.ts'

export interface ContractReaderOptions {
  readonly nodes: Nodes
  /** Contracts are read in the state after this block, and of no other block with its number. */
  readonly block: BlockRef
  /** Requests at a time. */
  readonly callsInFlight: number
  readonly timing: Timing
  readonly signal: AbortSignal
  /** Is called before each request, and waits where that is not due yet; none waits where it is left out. */
  readonly beforeRequest?: (() => Promise<void>) | undefined
}

/** How a node is asked for the state of contracts. */
interface Support {
  /** Whether it takes the hash of a block (EIP-1898). */
  readonly isByHash: boolean
  /** How many calls one call of Multicall3 makes; 0 where the contract is not there at this block. Halved at refusals. */
  callsOfOne: number
}

/** Calls that are sent to one node together; a failure costs no more than these. */
const CALLS_OF_CHUNK = 400
/** More calls than these make several requests of JSON-RPC. */
const CALLS_OF_REQUEST = 100
/** Reading through a proxy costs about 10,000 gas, and nodes allow 50 million in one call. */
const CALLS_OF_MULTICALL = 400
/** What a node answers that does not know the hash of a block as a parameter. */
const MAY_NOT_KNOW_HASHES: ReadonlySet<FailureKind> = new Set<FailureKind>(['refused', 'wrong_answer'])
/** What a node may answer to a call that makes too many calls. */
const MAY_BE_TOO_MUCH: ReadonlySet<FailureKind> = new Set<FailureKind>([
  'refused',
  'late',
  'timeout',
  'too_large',
  'too_many_results',
  'range_too_large',
])

/**
 * Reads functions of contracts in the state after one block, in as few requests as the nodes allow: through Multicall3 where
 * that is there, else in batches of JSON-RPC.
 */
export class ContractReader {
  private readonly options: ContractReaderOptions
  private readonly supports = new Map<EthereumNode, Promise<Support>>()

  constructor(options: ContractReaderOptions) {
    this.options = options
  }

  /**
   * What the calls return, in their order; undefined where the contract refuses the call.
   *
   * @throws {BlockGoneError} where no node has the block in its chain
   * @throws {StateMissingError} where no node has the state of so old a block
   * @throws {NodeError | NoNodeError} where nodes do not answer
   */
  async readAll(calls: readonly ContractCall[]): Promise<readonly (string | undefined)[]> {
    const chunks: (readonly ContractCall[])[] = []
    for (let at = 0; at < calls.length; at += CALLS_OF_CHUNK)
      chunks.push(calls.slice(at, at + CALLS_OF_CHUNK))
    const answers: (readonly (string | undefined)[])[] = []
    let next = 0
    const work = async () => {
      for (let at = next++; at < chunks.length; at = next++) answers[at] = await this.readChunk(chunks[at]!)
    }
    await Promise.all(Array.from({ length: Math.min(this.options.callsInFlight, chunks.length) }, work))
    return answers.flat()
  }

  private async readChunk(calls: readonly ContractCall[]): Promise<readonly (string | undefined)[]> {
    const { nodes } = this.options
    const read = () => nodes.run((node) => this.readFrom(node, calls))
    return withRetries(read, this.options).catch((error) => {
      throw this.failureOf(error)
    })
  }

  private failureOf(error: unknown): unknown {
    if (!(error instanceof NodeError)) return error
    if (error.kind === 'unknown_block' || error.kind === 'beyond_head')
      return new BlockGoneError(this.options.block, error)
    return error.kind === 'history' ? new StateMissingError(this.options.block, error) : error
  }

  private async readFrom(
    node: EthereumNode,
    calls: readonly ContractCall[],
  ): Promise<readonly (string | undefined)[]> {
    const support = await this.supportOf(node)
    if (support.isByHash) return this.readAt(node, calls, support)
    await this.requireBlock(node)
    const answers = await this.readAt(node, calls, support)
    await this.requireBlock(node)
    return answers
  }

  private async readAt(
    node: EthereumNode,
    calls: readonly ContractCall[],
    support: Support,
  ): Promise<readonly (string | undefined)[]> {
    const block = this.stateBlock(support.isByHash)
    const results: CallResult[] = []
    while (results.length < calls.length) {
      // Other requests to the node may have made it smaller meanwhile.
      const { callsOfOne } = support
      if (callsOfOne === 0) return this.request(node, calls, block)
      const part = calls.slice(results.length, results.length + callsOfOne)
      const found = await this.aggregate(node, part, block)
      if (found) results.push(...found)
      else support.callsOfOne = Math.min(support.callsOfOne, part.length >> 1)
    }
    return this.readRefusedAgain(node, calls, results, block)
  }

  /** Undefined where the node refuses so many calls at once. */
  private async aggregate(
    node: EthereumNode,
    calls: readonly ContractCall[],
    block: StateBlock,
  ): Promise<readonly CallResult[] | undefined> {
    try {
      const [returned] = await this.request(node, [{ to: MULTICALL3, data: encodeAggregate3(calls) }], block)
      const results = returned === undefined ? undefined : resultsIn(returned)
      return results?.length === calls.length ? results : undefined
    } catch (error) {
      if (error instanceof NodeError && MAY_BE_TOO_MUCH.has(error.kind)) return undefined
      throw error
    }
  }

  /** Calls that failed are made again alone: they may have run out of the gas that all calls share. */
  private async readRefusedAgain(
    node: EthereumNode,
    calls: readonly ContractCall[],
    results: readonly CallResult[],
    block: StateBlock,
  ): Promise<readonly (string | undefined)[]> {
    const refused = calls.filter((_, at) => !results[at]!.isSuccess)
    const again = refused.length === 0 ? [] : await this.request(node, refused, block)
    const left = again.values()
    return results.map(({ isSuccess, returned }) => (isSuccess ? returned : left.next().value))
  }

  private async request(
    node: EthereumNode,
    calls: readonly ContractCall[],
    block: StateBlock,
  ): Promise<readonly (string | undefined)[]> {
    const { beforeRequest } = this.options
    if (!beforeRequest) return node.readMany(calls, block)
    const answers: (string | undefined)[] = []
    for (let at = 0; at < calls.length; at += CALLS_OF_REQUEST) {
      await beforeRequest()
      answers.push(...(await node.readMany(calls.slice(at, at + CALLS_OF_REQUEST), block)))
    }
    return answers
  }

  private supportOf(node: EthereumNode): Promise<Support> {
    const known = this.supports.get(node)
    if (known) return known
    const support = this.findSupport(node)
    this.supports.set(node, support)
    support.catch(() => this.supports.delete(node))
    return support
  }

  /** One call of Multicall3 without any calls in it shows both how the block is named and whether the contract is there. */
  private async findSupport(node: EthereumNode): Promise<Support> {
    const probe = [{ to: MULTICALL3, data: encodeAggregate3([]) }]
    const supportWith = async (isByHash: boolean): Promise<Support> => {
      const [returned] = await this.request(node, probe, this.stateBlock(isByHash))
      const isThere = returned !== undefined && resultsIn(returned)?.length === 0
      return { isByHash, callsOfOne: isThere ? CALLS_OF_MULTICALL : 0 }
    }
    try {
      return await supportWith(true)
    } catch (error) {
      if (!(error instanceof NodeError) || !MAY_NOT_KNOW_HASHES.has(error.kind)) throw error
      return supportWith(false)
    }
  }

  private stateBlock(isByHash: boolean): StateBlock {
    const { number, hash } = this.options.block
    return isByHash ? { blockHash: hash, requireCanonical: true } : number
  }

  private async requireBlock(node: EthereumNode): Promise<void> {
    const { number, hash } = this.options.block
    if ((await node.headerAt(number))?.hash !== hash)
      throw node.failure('eth_call', { kind: 'unknown_block' })
  }
}

/** Undefined for what `aggregate3` does not return. */
function resultsIn(returned: string): readonly CallResult[] | undefined {
  try {
    return decodeAggregate3(returned)
  } catch (error) {
    if (error instanceof UnfitLogError) return undefined
    throw error
  }
}
