import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { ChainHead } from '../../config/config.ts'
import type { BlockHeader, RawLog } from '../chain-types.ts'
import {
  type Confirmation,
  type ConfirmedLogs,
  confirmedLogsOf,
  provenLogsOf,
  repeatedLogsOf,
} from '../rpc/confirm-logs.ts'
import { NoNodeError } from '../rpc/no-node-error.ts'
import type { EthereumNode } from '../rpc/node.ts'
import type { NodeHeader } from '../rpc/node-answers.ts'
import { ignoreNodeError, NodeError } from '../rpc/node-error.ts'
import type { Nodes } from '../rpc/nodes.ts'
import { type ChainHeads, type ChainSource, ContradictionError } from './chain-source.ts'

/**
 * How many new blocks pass until the nodes are asked for the last final one again. Ethereum makes 32 blocks final at once, some
 * quarter of an hour after they came: a call for each block would find out nothing new with most of them.
 */
export const ASK_FINAL_EVERY_BLOCKS = 8

/** On Ethereum, 64 to 96 blocks follow the last final one, and some 30 more until the nodes are asked again. */
const FAR_FROM_FINAL_BLOCKS = 160

/** How long a newest block waits for the next one, by which its logs are confirmed. */
const WAIT_FOR_BLOCK_MS = 15 * SECOND_MS

/** How far the time of a block may be ahead of the clock: clocks of nodes and servers differ. */
const MAX_AHEAD_MS = 15 * MINUTE_MS

export interface NodeSourceOptions {
  readonly nodes: Nodes
  /** The contracts whose logs are read, in lower case. */
  readonly addresses: readonly string[]
  readonly head: ChainHead
  /** How many blocks must follow one before it is the head, where `head` is `latest`. */
  readonly confirmations: number
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
  /** Milliseconds that pass evenly. */
  readonly steadyMs: () => number
  readonly readRange: (
    range: { readonly first: number; readonly last: number },
    except: EthereumNode | undefined,
    beforeEachTry: (() => Promise<void>) | undefined,
  ) => ReturnType<ChainSource['logsOfRange']>
}

/**
 * The chain as nodes show it. Header and logs of a block come from the node that gave the head, as long as it answers. What a
 * node leaves out is noticed by the bloom, another node, the receipts, or the next block: see {@link confirmedLogsOf}. The
 * second look at final blocks comes from another one, where there is one.
 */
export class NodeSource implements ChainSource {
  private readonly options: NodeSourceOptions
  private node: EthereumNode | undefined
  /** Since when newest blocks are waited with, by their hashes. */
  private readonly waiting = new Map<string, number>()
  private last: ChainHeads | undefined
  private latestHash = ''
  private final: BlockHeader | undefined
  /** Number of the newest block when the nodes said which one is final. */
  private finalAskedAt = Number.NEGATIVE_INFINITY

  constructor(options: NodeSourceOptions) {
    this.options = options
  }

  readonly heads = async (): Promise<ChainHeads> => {
    const { nodes, head, confirmations, nowMs } = this.options
    const { node, header: latest } = await nodes.head()
    if (!latest.isHashChecked && latest.timeS * SECOND_MS > nowMs() + MAX_AHEAD_MS)
      throw node.accuse('eth_getBlockByNumber', 'the time of its newest block has not come yet')
    const isSame = this.node === node && this.last !== undefined && this.latestHash === latest.hash
    this.node = node
    if (isSame) return this.last!
    const safe = head === 'safe' ? await node.headerAt('safe') : undefined
    const isFollowed = head === 'finalized' || (head === 'safe' && !safe)
    const finalized = await this.finalBlock(latest.number, isFollowed)
    const confirmed = head === 'latest' ? await this.confirmed(latest, finalized, confirmations) : undefined
    const followed = confirmed ?? safe ?? finalized
    // A final block is asked of all nodes: it may be newer than the head of one that lags.
    this.last = { latest, head: followed.number < finalized.number ? finalized : followed, finalized }
    this.latestHash = latest.hash
    return this.last
  }

  /** Why blocks do not become final, in words, where the last final one is far below the newest; undefined else. */
  get finalityProblem(): string | undefined {
    const { last } = this
    const distance = last ? last.latest.number - last.finalized.number : 0
    if (!last || distance <= FAR_FROM_FINAL_BLOCKS) return undefined
    return `no block after ${last.finalized.number} has become final: the nodes stand still, or the chain makes no block final. With CHAIN_FINALITY, blocks that are deep enough count as final`
  }

  /** The heads that were read last, without a call; undefined before the first time. */
  get lastHeads(): ChainHeads | undefined {
    return this.last
  }

  readonly headerByHash = async (hash: string): Promise<BlockHeader> =>
    (await this.options.nodes.headerOf(hash, this.fromHead())) ?? missing(`with the hash ${hash}`)

  readonly headerByNumber = async (number: number): Promise<BlockHeader> =>
    (await this.options.nodes.headerAt(number, this.fromHead())) ?? missing(String(number))

  readonly hasBlock: ChainSource['hasBlock'] = async ({ number, hash }) => {
    for (const node of await this.options.nodes.candidates(this.fromHead())) {
      const header = await node.headerAt(number).catch(ignoreNodeError)
      if (header?.hash === hash) return true
    }
    return false
  }

  readonly refuteHead: ChainSource['refuteHead'] = (reason) => {
    this.node?.accuse('eth_getBlockByNumber', reason)
  }

  readonly logsOfBlock: ChainSource['logsOfBlock'] = async (block) => {
    const header = await this.wholeHeader(block)
    const read = await this.readLogs(header)
    return read.by === 'alone' ? this.readAgain(header, read.logs) : read.logs
  }

  readonly confirmedLogs: ChainSource['confirmedLogs'] = async (block) => {
    const header = await this.wholeHeader(block)
    const isNewest = this.last !== undefined && this.last.latest.number <= block.number
    const { logs, by } = await this.readLogs(header)
    if (by !== 'alone') return this.counted(logs, by)
    if (isNewest && !this.hasWaited(block.hash)) return undefined
    return this.counted(await this.readAgain(header, logs), isNewest ? 'alone' : 'repeated')
  }

  private readLogs(header: NodeHeader): Promise<ConfirmedLogs> {
    const { nodes, addresses } = this.options
    return confirmedLogsOf(nodes, header, addresses, this.fromHead())
  }

  private async readAgain(header: NodeHeader, logs: readonly RawLog[]): Promise<readonly RawLog[]> {
    const { nodes, addresses } = this.options
    const again = await repeatedLogsOf(nodes, header, addresses, { logs, choice: this.fromHead() })
    if (!again) throw new ContradictionError(`block ${header.number} changed while its logs were read`)
    return again
  }

  /** How many blocks were shown, by how it was known that no log is missing. */
  readonly confirmations = new Map<Confirmation, number>()

  private counted(logs: readonly RawLog[], by: Confirmation): readonly RawLog[] {
    this.confirmations.set(by, (this.confirmations.get(by) ?? 0) + 1)
    this.waiting.clear()
    return logs
  }

  /** Whether a further block has been waited for long enough. */
  private hasWaited(hash: string): boolean {
    const nowMs = this.options.steadyMs()
    const sinceMs = this.waiting.get(hash) ?? nowMs
    this.waiting.set(hash, sinceMs)
    return nowMs - sinceMs >= WAIT_FOR_BLOCK_MS
  }

  readonly logsOfRange: ChainSource['logsOfRange'] = (range, beforeEachTry) =>
    this.options.readRange(range, this.node, beforeEachTry)

  readonly provenLogs: ChainSource['provenLogs'] = async (block) => {
    const { nodes, addresses } = this.options
    return provenLogsOf(nodes, await this.wholeHeader(block), addresses)
  }

  /**
   * Where no node says now which block is final, what was final before still is: only finality waits.
   *
   * @param isFollowed whether the world is followed to the final block: then the nodes are asked each time
   */
  private async finalBlock(latestNumber: number, isFollowed: boolean): Promise<BlockHeader> {
    const newBlocks = latestNumber - this.finalAskedAt
    const wasAskedLately = newBlocks >= 0 && newBlocks < ASK_FINAL_EVERY_BLOCKS
    if (this.final && wasAskedLately && !isFollowed) return this.final
    try {
      const final = await this.options.nodes.finalized()
      if (final) {
        this.final = final
        this.finalAskedAt = latestNumber
      }
    } catch (error) {
      const isOfNodes = error instanceof NodeError || error instanceof NoNodeError
      if (!isOfNodes || !this.final) throw error
    }
    if (!this.final)
      throw new ContradictionError(
        'no node says which block is final: set CHAIN_FINALITY for a chain, or for nodes, without the tag finalized',
      )
    return this.final
  }

  /** The block that so many follow, or the last final one where that is newer. */
  private async confirmed(
    latest: NodeHeader,
    finalized: BlockHeader,
    confirmations: number,
  ): Promise<BlockHeader> {
    const number = latest.number - confirmations
    if (confirmations === 0 || number <= finalized.number) return confirmations === 0 ? latest : finalized
    return (await this.node?.headerAt(number)) ?? missing(String(number))
  }

  private fromHead() {
    return this.node ? { from: this.node } : {}
  }

  /** The header with its bloom and its root of receipts, which the database does not have. */
  private async wholeHeader(block: BlockHeader): Promise<NodeHeader> {
    if ('logsBloom' in block) return block as NodeHeader
    return (await this.options.nodes.headerOf(block.hash, this.fromHead())) ?? missing(String(block.number))
  }
}

function missing(block: string): never {
  throw new ContradictionError(`no node has block ${block}, which it must have`)
}
