import type { BlockHeader, Network } from '../chain-types.ts'
import { callData, wordOf } from '../follow/loan-terms.ts'
import { filterAddresses } from '../logs/log-filter.ts'
import { findNodesWithHistory } from '../rpc/check-history.ts'
import { readLogRanges } from '../rpc/log-ranges.ts'
import type { EthereumNode } from '../rpc/node.ts'
import type { Nodes } from '../rpc/nodes.ts'
import type { Timing } from '../rpc/timing.ts'
import type { HistorySource } from './fetch-history.ts'

export interface NodeHistoryOptions {
  readonly nodes: Nodes
  readonly network: Network
  readonly maxRangeBlocks: number
  readonly callsInFlight: number
  readonly timing: Timing
}

/** The history of the land, as nodes have it. */
export class NodeHistory implements Omit<HistorySource, 'headerByNumber'> {
  private readonly options: NodeHistoryOptions
  private among: readonly EthereumNode[] | undefined

  constructor(options: NodeHistoryOptions) {
    this.options = options
  }

  readonly ranges: HistorySource['ranges'] = (blocks, signal) => this.readRanges(blocks, signal)

  readonly headersByHash = async (hashes: readonly string[]): Promise<readonly BlockHeader[]> => {
    const { nodes, callsInFlight } = this.options
    const headers: BlockHeader[] = []
    for (let at = 0; at < hashes.length; at += callsInFlight) {
      const part = hashes.slice(at, at + callsInFlight)
      headers.push(
        ...(await Promise.all(part.map(async (hash) => (await nodes.headerOf(hash)) ?? gone(hash)))),
      )
    }
    return headers
  }

  readonly hasNoParcels = async (): Promise<boolean> => {
    const { nodes, network } = this.options
    const final = await nodes.finalized()
    if (!final) return false
    const call = { to: network.contracts.LANDRegistry.address, data: callData('totalSupply()') }
    const returned = await nodes.run((node) => node.read(call, final.hash))
    return /^0x[0-9a-f]{64}$/.test(returned) && wordOf(returned) === 0n
  }

  private async *readRanges(
    { first, last }: { readonly first: number; readonly last: number },
    signal: AbortSignal,
  ) {
    const { nodes, network, maxRangeBlocks, callsInFlight, timing } = this.options
    const addresses = filterAddresses(network)
    const ranges = readLogRanges(nodes, {
      fromBlock: first,
      toBlock: last,
      addresses,
      inFlight: callsInFlight,
      firstBlocks: Math.min(FIRST_BLOCKS, maxRangeBlocks),
      maxBlocks: maxRangeBlocks,
      among: await this.nodesWithHistory(last, signal),
      timing,
      signal,
    })
    for await (const { fromBlock, toBlock, last: header, logs, suspectBlocks } of ranges)
      yield { first: fromBlock, last: toBlock, lastHash: header.hash, logs, suspectBlocks }
  }

  /** Nodes without old blocks may answer as if nothing had happened in them. */
  private async nodesWithHistory(toBlock: number, signal: AbortSignal): Promise<readonly EthereumNode[]> {
    const { nodes, network, timing } = this.options
    if (!this.among && (await this.hasNoParcels().catch(() => false))) this.among = await nodes.candidates()
    const contract = network.contracts.LANDRegistry
    this.among ??= await findNodesWithHistory(nodes, { contract, toBlock, timing, signal })
    return this.among
  }
}

/** Blocks of the first range; later ones grow as the node allows. */
const FIRST_BLOCKS = 2_000

function gone(hash: string): never {
  throw new Error(`no node has the header of block ${hash}, whose logs it has`)
}
