import type { BlockHeader, Network, RawLog } from '../chain-types.ts'
import { ContradictionError } from '../follow/chain-source.ts'
import { callData, wordOf } from '../follow/loan-terms.ts'
import { isKnownNetwork } from '../networks/known-networks.ts'
import { findNodesWithHistory } from '../rpc/check-history.ts'
import { readLogRanges } from '../rpc/log-ranges.ts'
import type { EthereumNode } from '../rpc/node.ts'
import { NodeError } from '../rpc/node-error.ts'
import type { Nodes } from '../rpc/nodes.ts'
import { runWithRetries, withRetries } from '../rpc/retries.ts'
import type { Timing } from '../rpc/timing.ts'
import type { HistorySource, RangesRequest } from './fetch-history.ts'
import { isWithoutState } from './read-near.ts'

export interface NodeHistoryOptions {
  readonly nodes: Nodes
  readonly network: Network
  readonly maxRangeBlocks: number
  readonly callsInFlight: number
  readonly timing: Timing
  readonly signal: AbortSignal
  /** Gets each failure after which a call is tried again. */
  readonly onFailure?: ((error: unknown) => void) | undefined
}

/** Headers that are asked for together. */
const HEADERS_OF_BATCH = 100

/** The history of the land, as nodes have it. */
export class NodeHistory implements HistorySource {
  private readonly options: NodeHistoryOptions
  private among: readonly EthereumNode[] | undefined
  /** The nodes of `among` have the logs from this block on. */
  private amongFrom = Number.POSITIVE_INFINITY
  /** Name of the node that gave the last range. */
  private lastNode: string | undefined
  private except: EthereumNode | undefined

  constructor(options: NodeHistoryOptions) {
    this.options = options
  }

  readonly ranges: HistorySource['ranges'] = (request) => this.readRanges(request)

  readonly avoidLastNode = (): void => {
    this.except = this.among?.find(({ name }) => name === this.lastNode)
  }

  readonly headerByNumber = async (number: number): Promise<BlockHeader> => {
    const { nodes } = this.options
    const header = await withRetries(() => nodes.headerAt(number), this.options)
    if (!header) throw new ContradictionError(`no node has block ${number}, which it must have`)
    return header
  }

  readonly headersByHash = async (hashes: readonly string[]): Promise<readonly BlockHeader[]> => {
    const { nodes } = this.options
    const headers: BlockHeader[] = []
    for (let at = 0; at < hashes.length; at += HEADERS_OF_BATCH) {
      const part = hashes.slice(at, at + HEADERS_OF_BATCH)
      const found = await withRetries(() => nodes.headersAt(part), this.options)
      // What one node does not have, another one may.
      for (const [place, hash] of part.entries()) headers.push(found[place] ?? (await this.headerOf(hash)))
    }
    return headers
  }

  readonly parcelCount: HistorySource['parcelCount'] = async ({ hash }) => {
    const { nodes, network } = this.options
    const call = { to: network.contracts.LANDRegistry.address, data: callData('totalSupply()') }
    try {
      const returned = await runWithRetries(nodes, (node) => node.read(call, hash), this.options)
      return Number(wordOf(returned))
    } catch (error) {
      const isUnknown = error instanceof RangeError || isReverted(error) || isWithoutState(error)
      if (isUnknown) return undefined
      throw error
    }
  }

  private async *readRanges({ blocks: { first, last }, addresses, known, signal }: RangesRequest) {
    const { nodes, maxRangeBlocks, callsInFlight, timing, onFailure } = this.options
    const among = await this.nodesWithHistory({ last, known }, signal)
    const ranges = readLogRanges(nodes, {
      fromBlock: first,
      toBlock: last,
      addresses,
      inFlight: callsInFlight,
      firstBlocks: Math.min(FIRST_BLOCKS, maxRangeBlocks),
      maxBlocks: maxRangeBlocks,
      among,
      except: this.except,
      isCompared: true,
      timing,
      signal,
      onFailure,
    })
    for await (const { fromBlock, toBlock, last: header, logs, suspectBlocks, node } of ranges) {
      this.lastNode = node
      yield { first: fromBlock, last: toBlock, lastHash: header.hash, logs, suspectBlocks }
    }
  }

  private async headerOf(hash: string): Promise<BlockHeader> {
    const { nodes } = this.options
    const headerFrom = async (node: EthereumNode) => {
      const header = await node.headerOf(hash)
      if (!header) throw node.failure('eth_getBlockByHash', { kind: 'unknown_block' })
      return header
    }
    return runWithRetries(nodes, headerFrom, this.options)
  }

  /** Nodes without old blocks may answer as if nothing had happened in them. */
  private async nodesWithHistory(
    { last, known }: { readonly last: number; readonly known: RawLog | undefined },
    signal: AbortSignal,
  ): Promise<readonly EthereumNode[]> {
    const from = known?.blockNumber ?? 0
    if (!this.among || this.amongFrom > from) {
      this.among = known ? await this.nodesWithLog(known, signal) : await this.nodesFromStart(last, signal)
      this.amongFrom = from
    }
    return this.among
  }

  /** A node that has a stored log has all later ones: it need not have the first logs of the land. */
  private nodesWithLog(
    { address, blockNumber }: RawLog,
    signal: AbortSignal,
  ): Promise<readonly EthereumNode[]> {
    const { nodes, timing } = this.options
    const contract = { address, startBlock: blockNumber }
    return findNodesWithHistory(nodes, { contract, toBlock: blockNumber, firstLogsWithin: 1, timing, signal })
  }

  private async nodesFromStart(last: number, signal: AbortSignal): Promise<readonly EthereumNode[]> {
    const { nodes, network, timing } = this.options
    const final = await withRetries(() => nodes.finalized(), { ...this.options, signal })
    const isEmpty = final !== undefined && (await this.parcelCount(final)) === 0
    const contract = network.contracts.LANDRegistry
    // The first logs of the land may be later than the last block that is wanted.
    const toBlock = Math.max(last, final?.number ?? 0)
    const firstLogsWithin = isKnownNetwork(network) ? FIRST_LOGS_WITHIN : undefined
    return isEmpty
      ? nodes.candidates()
      : findNodesWithHistory(nodes, { contract, toBlock, firstLogsWithin, timing, signal })
  }
}

/** Blocks of the first range; later ones grow as the node allows. */
const FIRST_BLOCKS = 2_000
/** The contracts of known networks logged something within so many blocks of their start block. */
const FIRST_LOGS_WITHIN = 50_000

function isReverted(error: unknown): boolean {
  return error instanceof NodeError && error.kind === 'reverted'
}
