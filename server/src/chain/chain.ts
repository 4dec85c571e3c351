import { join } from 'node:path'
import { type Clock, steadyMs } from '../clock.ts'
import type { Config } from '../config/config.ts'
import type { Db } from '../db/engine.ts'
import { CommandError } from '../errors.ts'
import { readChainPosition } from '../land/changes/chain-position.ts'
import { readLandHead } from '../land/changes/land-head.ts'
import type { RuleContext } from '../land/events/rule-context.ts'
import type { BlockHeader, BlockRef, Network, RawLog } from './chain-types.ts'
import { ContradictionError } from './follow/chain-source.ts'
import { DatabaseDoor, newHolder } from './follow/database-door.ts'
import { readEvents } from './follow/event-reader.ts'
import { Follower, type StepResult } from './follow/follower.ts'
import { readLoanTerms } from './follow/loan-terms.ts'
import { NodeSource } from './follow/node-source.ts'
import { RULES_VERSION } from './follow/rules-version.ts'
import { runFollower } from './follow/run-follower.ts'
import type { FollowFailure, SharedStatus } from './follow/status-reader.ts'
import { type GroundChoice, type HistoryStep, readHistory } from './history/read-history.ts'
import { filterAddresses } from './logs/log-filter.ts'
import { LogTally } from './logs/log-tally.ts'
import { contractsHash } from './networks/contracts-hash.ts'
import { readNetwork } from './networks/read-network.ts'
import { CallCounters } from './rpc/call-counters.ts'
import { connectNodes } from './rpc/connect.ts'
import { readLogRanges } from './rpc/log-ranges.ts'
import { NoNodeError } from './rpc/no-node-error.ts'
import { NodeError } from './rpc/node-error.ts'
import type { Nodes } from './rpc/nodes.ts'
import { REAL_TIMING } from './rpc/timing.ts'

export interface ChainOptions {
  readonly config: Pick<Config, 'chain' | 'world' | 'dataDir'>
  readonly db: Db
  readonly clock: Clock
  /** Ends all calls to nodes. */
  readonly signal: AbortSignal
  /** Writes a line for operators. It contains no key of a node's address. */
  readonly log: (line: string) => void
}

export interface ReadHistoryOptions {
  /** Folder of a snapshot; undefined: every parcel of the world, unowned. */
  readonly ground: string | undefined
  /** Undefined: the last final block. */
  readonly until: number | undefined
  /** Whether a world that is shown may be replaced. */
  readonly replaces: boolean
}

export interface FollowRun {
  readonly until: number | undefined
  readonly signal: AbortSignal
  /** Results that end the run. */
  readonly endsAt: readonly StepResult[]
}

/** How often a failure that goes on is logged again. */
const LOG_EVERY_FAILURES = 20

/** Connects the parts that follow a chain. Makes no call yet. @throws {CommandError} where the network file is bad */
export async function openChain(options: ChainOptions): Promise<Chain> {
  return new Chain(options, await readNetwork(options.config.chain.network))
}

/** The chain that the land comes from: its history, and its head. */
export class Chain {
  readonly network: Network
  readonly nodes: Nodes
  readonly follower: Follower
  readonly tally = new LogTally()
  readonly calls = new CallCounters()
  private readonly options: ChainOptions
  private readonly source: NodeSource
  private readonly door: DatabaseDoor
  private readonly context: RuleContext
  private problem: string | undefined
  private failing: string | undefined
  private failure: FollowFailure | null = null
  private doubt: string | undefined

  constructor(options: ChainOptions, network: Network) {
    const { config, db, clock, signal } = options
    const { nodeUrls: urls, callsInFlight, maxRangeBlocks, head } = config.chain
    this.options = options
    this.network = network
    this.nodes = connectNodes({ urls, network, signal, counters: this.calls, maxInFlight: 2 * callsInFlight })
    this.context = contextOf(network)
    const addresses = filterAddresses(network)
    this.source = new NodeSource({
      nodes: this.nodes,
      addresses,
      head,
      readRange: async ({ first, last }, except) => {
        const ranges = readLogRanges(this.nodes, {
          fromBlock: first,
          toBlock: last,
          addresses,
          ...(except && { except }),
          maxBlocks: maxRangeBlocks,
          timing: REAL_TIMING,
          signal,
        })
        const logs: RawLog[] = []
        const ends: BlockRef[] = []
        for await (const range of ranges) {
          for (const log of range.logs) logs.push(log)
          ends.push(range.last)
          if (range.suspectBlocks.length > 0) this.warnOfSuspects(range.suspectBlocks)
        }
        return { logs, ends }
      },
    })
    this.door = new DatabaseDoor({
      db,
      clock,
      holder: newHolder(),
      context: this.context,
      status: () => JSON.stringify(this.sharedStatus()),
      steadyMs: () => steadyMs(clock),
    })
    this.follower = new Follower({
      source: this.source,
      door: this.door,
      eventsOf: (logs, block) => this.eventsOf(logs, () => block.timeS * 1_000),
      steadyMs: () => steadyMs(clock),
      maxRangeBlocks,
    })
  }

  /** The newest block of the world; undefined while this process does not follow. */
  get block(): BlockHeader | undefined {
    return this.follower.block
  }

  /** Why the world is not followed, in words. */
  whyNot(): string | undefined {
    return this.problem ?? this.follower.reason
  }

  /**
   * Whether the world that is shown can be followed.
   *
   * @throws {CommandError} where it was made with other contracts, or of another chain
   */
  async hasPosition(): Promise<boolean> {
    const position = await readChainPosition(this.options.db)
    if (!position) return false
    const { network } = this
    if (position.chainId !== network.chainId || position.contractsHash !== contractsHash(network))
      throw new CommandError(
        `The world that is shown comes from other contracts than those of the network ${network.name} (chain ${network.chainId}). Set CHAIN_NETWORK as before, or replace the world: landpass follow --new-world.`,
      )
    return true
  }

  /** Whether the world that is shown was made by older rules: then {@link rebuild} makes it again. */
  async isOutdated(): Promise<boolean> {
    const position = await readChainPosition(this.options.db)
    return position !== undefined && position.rulesVersion < RULES_VERSION
  }

  /**
   * Makes the world again, with the rules of this version, from the stored logs. The node is asked for newer blocks, and
   * for logs that are not stored. Readers have the world that is shown until then, and it may be followed meanwhile.
   *
   * @throws {CommandError} where the world does not come from the chain, or node or stored logs cannot be used; nothing
   * has changed then
   */
  async rebuild(onProgress: (line: HistoryStep, sentence: string) => void): Promise<void> {
    if (!(await this.hasPosition()))
      throw new CommandError(
        'The world that is shown does not come from the chain, so it cannot be made again. landpass follow --new-world replaces it by the history of the chain.',
      )
    await this.makeWorld('as shown', undefined, onProgress)
  }

  /** Whether this process follows the chain, and no other one. */
  get leads(): boolean {
    return this.follower.block !== undefined
  }

  /** The number of a block by its name. */
  async blockNumberOf(block: 'finalized' | 'latest' | number): Promise<number> {
    if (typeof block === 'number') return block
    const { head, finalized } = await this.source.heads()
    return block === 'latest' ? head.number : finalized.number
  }

  /**
   * Reads the history and shows the world that it makes.
   *
   * @throws {CommandError} where there is a world that may not be replaced, or node or snapshot cannot be used
   */
  async readHistory(
    { ground, until, replaces }: ReadHistoryOptions,
    onProgress: (line: HistoryStep, sentence: string) => void,
  ): Promise<void> {
    const { worldId } = await readLandHead(this.options.db)
    if (worldId !== null && !replaces)
      throw new CommandError(
        'The world that is shown does not come from the chain: it was imported. It stays, and nothing was changed. landpass follow --new-world replaces it by the history of the chain.',
      )
    await this.makeWorld(ground === undefined ? 'every parcel' : { folder: ground }, until, onProgress)
  }

  private async makeWorld(
    ground: GroundChoice,
    until: number | undefined,
    onProgress: (line: HistoryStep, sentence: string) => void,
  ): Promise<void> {
    const { config, db, clock, signal } = this.options
    const { heads, headerByNumber, headerByHash, logsOfBlock } = this.source
    const { nodeUrls: urls, head, maxRangeBlocks, callsInFlight } = config.chain
    const { block, revision } = await readHistory({
      db,
      clock,
      signal,
      network: this.network,
      world: config.world,
      ground,
      spoolFolder: join(config.dataDir, 'chain'),
      source: { heads, headerByNumber, headerByHash, logsOfBlock },
      fetch: { urls, head, maxRangeBlocks },
      context: this.context,
      eventsOf: (logs) => this.eventsOf(logs, ({ blockTimeS }) => blockTimeS * 1_000),
      eventsOfBlock: (logs, { timeS }) => this.eventsOf(logs, () => timeS * 1_000),
      readContract: (call, blockHash) => this.nodes.run((node) => node.read(call, blockHash)),
      callsInFlight,
      until: until ?? Number.POSITIVE_INFINITY,
      onProgress: (step) => onProgress(step, sentenceOf(step)),
      onSuspectBlocks: (blocks) => this.warnOfSuspects(blocks),
    })
    this.options.log(`the world is at block ${block.number}, revision ${revision}`)
  }

  /** Follows the chain: see {@link runFollower}. */
  follow({ until, signal, endsAt }: FollowRun): Promise<StepResult | 'reached' | undefined> {
    return runFollower(this.follower, {
      until,
      signal,
      pollMs: this.options.config.chain.pollMs,
      steadyMs: () => steadyMs(this.options.clock),
      endsWith: (result) => endsAt.includes(result),
      onStep: (result) => this.noteStep(result),
      onFailure: (error, inRow) => this.noteFailure(error, inRow),
    })
  }

  /** Lets another process follow at once. */
  async close(): Promise<void> {
    await this.door.release().catch(() => undefined)
  }

  private warnOfSuspects(blocks: readonly number[]): void {
    this.options.log(
      `warning: logs may be missing in ${blocks.length === 1 ? 'block' : 'blocks'} ${blocks.join(', ')}: the node answered an exactly round number of logs, and no receipts prove that there are no more`,
    )
  }

  private noteStep(result: StepResult): void {
    const before = this.problem
    if (this.failing !== undefined) this.options.log('the chain is followed again')
    this.failing = undefined
    this.failure = null
    const { finalityProblem } = this.follower
    if (finalityProblem !== this.doubt && finalityProblem !== undefined)
      this.options.log(`blocks cannot become final now, which is tried again: ${finalityProblem}`)
    this.doubt = finalityProblem
    this.problem =
      result === 'stopped'
        ? this.follower.reason
        : result === 'no position'
          ? 'The world that is shown does not come from the chain: an import has replaced it. It is not followed. landpass follow --new-world replaces it by the history of the chain.'
          : undefined
    if (this.problem !== undefined && this.problem !== before) this.options.log(this.problem)
  }

  private noteFailure(error: unknown, inRow: number): void {
    const message = error instanceof Error ? error.message : String(error)
    if (message !== this.failing || inRow % LOG_EVERY_FAILURES === 0)
      this.options.log(`the chain cannot be followed at this time, which is tried again: ${message}`)
    this.failing = message
    this.failure = this.failureOf(error)
  }

  /** Of a failure, what everyone may read. */
  private failureOf(error: unknown): FollowFailure {
    const { clock } = this.options
    const { answeredAtMs } = this.follower
    const nowMs = clock.nowMs()
    return {
      message: publicMessage(error),
      sinceMs: this.failure?.sinceMs ?? nowMs,
      answeredAtMs: answeredAtMs === undefined ? null : Math.round(nowMs - (steadyMs(clock) - answeredAtMs)),
    }
  }

  private sharedStatus(): SharedStatus {
    const { nodeHead: head, reason = null } = this.follower
    return {
      network: this.network.name,
      head: head ? { number: head.number, timeS: head.timeS } : null,
      reason,
      failure: this.failure,
    }
  }

  private eventsOf<Log extends RawLog>(logs: readonly Log[], timeMsOf: (log: Log) => number) {
    const { network, tally } = this
    return readEvents(logs, timeMsOf, { network, tally, loanTerms: (loanId) => this.loanTerms(loanId) })
  }

  private async loanTerms(loanId: bigint) {
    const to = this.network.contracts.RCNEngine?.address
    if (to === undefined) return undefined
    // Terms never change: any block after the loan was created will do, and a final one is the same on all nodes.
    const { head } = await this.source.heads()
    try {
      return await readLoanTerms(
        (data) => this.nodes.run((node) => node.read({ to, data }, head.hash)),
        loanId,
      )
    } catch (error) {
      const hasNoSuchLoan =
        error instanceof RangeError || (error instanceof NodeError && error.kind === 'reverted')
      if (hasNoSuchLoan) return undefined
      throw error
    }
  }
}

/** The contracts that rules must know. */
function contextOf({ contracts }: Network): RuleContext {
  return {
    contracts: {
      estateRegistry: contracts.EstateRegistry?.address ?? null,
      legacyMarketplace: contracts.LegacyMarketplace?.address ?? null,
      bids: contracts.ERC721Bid?.address ?? null,
      rentals: contracts.Rentals?.address ?? null,
    },
  }
}

/** Messages about nodes have no secrets of their addresses. Those of the database and its driver are for the log only. */
function publicMessage(error: unknown): string {
  const isAboutNodes =
    error instanceof NodeError || error instanceof NoNodeError || error instanceof ContradictionError
  return isAboutNodes ? error.message : 'the server has a failure of its own, which is in its log'
}

function sentenceOf(step: HistoryStep): string {
  switch (step.phase) {
    case 'history': {
      const { block, last, percent, logs, logsPerSecond, secondsLeft } = step
      const left = secondsLeft === null ? '' : `, ${secondsLeft} s left`
      return `history: block ${block} of ${last} (${percent} %), ${logs} logs, ${logsPerSecond} logs/s${left}`
    }
    case 'replay':
      return `replay: block ${step.block} of ${step.last}, ${step.events} events`
    case 'write':
      return `write: the world of block ${step.block}`
  }
}
