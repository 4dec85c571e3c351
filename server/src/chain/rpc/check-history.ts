import type { NetworkContract } from '../chain-types.ts'
import { readLogRanges } from './log-ranges.ts'
import type { EthereumNode } from './node.ts'
import { ignoreNodeError, NodeError } from './node-error.ts'
import type { Nodes } from './nodes.ts'
import type { BlockRange } from './refusals.ts'
import type { Timing } from './timing.ts'

export interface HistoryOptions {
  /** The contract whose first logs are looked for, and the block from which on the history is read. */
  readonly contract: NetworkContract
  /** The last block that counts: a final one. */
  readonly toBlock: number
  /**
   * The first logs are within so many blocks of the start block: later ones do not show that a node has the first. Undefined
   * where that is not known: then any logs up to `toBlock` count, and the caller must check that they are the first.
   */
  readonly firstLogsWithin: number | undefined
  readonly timing: Timing
  readonly signal?: AbortSignal | undefined
}

/** The first block without proof of work. */
const OFTEN_REMOVED_BEFORE = 15_537_393

/** No node has the history of the land: the message names each node with its answer, and the kind of node that is needed. */
export class HistoryMissingError extends Error {
  constructor(startBlock: number, reasons: readonly string[]) {
    super(
      `No node has the logs from block ${startBlock} on, which the history of the land needs: ${reasons.join('; ')}. ` +
        `Use an archive node, or a full node that keeps the blocks and receipts of all times${startBlock < OFTEN_REMOVED_BEFORE ? `: on mainnet also those before block ${OFTEN_REMOVED_BEFORE}, which many nodes remove` : ''}`,
    )
    this.name = 'HistoryMissingError'
  }
}

/**
 * Finds the nodes that have the history, before it is read from them. A node without old blocks may answer an error, or an
 * empty list: only one that answers the first logs of the contract has them. Where other nodes have earlier logs, those of a
 * node were not the first: it would leave out logs of the ranges that it is asked for.
 *
 * @returns the nodes with history, in order of preference; at least one
 * @throws {HistoryMissingError} where no node has it
 * @throws {NodeError | NoNodeError} where that cannot be known now, because nodes do not answer
 */
export async function findNodesWithHistory(
  nodes: Nodes,
  options: HistoryOptions,
): Promise<readonly EthereumNode[]> {
  const found: { readonly node: EthereumNode; readonly first: number }[] = []
  const reasons: string[] = []
  const failures: NodeError[] = []
  const candidates = await nodes.candidates()
  if (candidates.length === 0) throw nodes.noNode()
  for (const node of candidates) {
    try {
      const first = await findFirstBlock(nodes, node, options)
      if (typeof first === 'number') found.push({ node, first })
      else reasons.push(`${node.shown} ${first.reason}`)
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      if (error.kind === 'history') reasons.push(error.message)
      else failures.push(error)
    }
  }
  const earliest = Math.min(...found.map(({ first }) => first))
  if (found.length > 0) return found.filter(({ first }) => first === earliest).map(({ node }) => node)
  throw failures[0] ?? new HistoryMissingError(options.contract.startBlock, reasons)
}

/** The block of the first logs that a node has, or why it does not have the history. */
async function findFirstBlock(
  nodes: Nodes,
  node: EthereumNode,
  { contract, toBlock, firstLogsWithin = Number.POSITIVE_INFINITY, timing, signal }: HistoryOptions,
): Promise<number | { readonly reason: string }> {
  const { address, startBlock } = contract
  const oldest = (await capabilitiesOf(node))?.oldestLogs
  if (oldest === 'disabled') return { reason: 'says that it has no logs' }
  if (oldest !== undefined && oldest > startBlock)
    return { reason: `says that its oldest logs are of block ${oldest}` }
  const range: BlockRange = {
    fromBlock: startBlock,
    toBlock: Math.min(toBlock, startBlock + firstLogsWithin - 1),
  }
  const ranges = readLogRanges(nodes, {
    ...range,
    addresses: [address],
    among: [node],
    inFlight: 1,
    timing,
    signal,
  })
  for await (const { logs } of ranges) for (const { blockNumber } of logs) return blockNumber
  return {
    reason: `answers no logs of ${address} for the blocks ${range.fromBlock} to ${range.toBlock}, as if there were none`,
  }
}

/** Nodes refuse a method that they do not know in many ways; whatever it is, the probe decides. */
function capabilitiesOf(node: EthereumNode) {
  return node.capabilities().catch(ignoreNodeError)
}
