import { type Clock, SECOND_MS, steadyMs } from '../clock.ts'
import type { Config } from '../config/config.ts'
import type { Db } from '../db/engine.ts'
import { CommandError, PublicCommandError } from '../errors.ts'
import {
  changeCompleteness,
  isOfChain,
  type KnownChain,
  readPositionRow,
} from '../land/changes/chain-position.ts'
import { readLandHead } from '../land/changes/land-head.ts'
import type { RuleContext } from '../land/events/rule-context.ts'
import { countAssets, readAssetsAfter } from '../land/queries/land-order.ts'
import { makeWorld, type WorldChoice } from './chain-history.ts'
import type { BlockHeader, BlockRef, Network, RawLog } from './chain-types.ts'
import { BackgroundCheck, type CheckedWorld } from './check/background-check.ts'
import { type CheckRequest, type CheckResult, checkLand } from './check/check-land.ts'
import {
  MOST_NAMED,
  namesIn,
  parseCompleteness,
  type StoredCompleteness,
  type WholeRound,
} from './check/completeness.ts'
import { contractsAt } from './check/contracts-at.ts'
import { DatabaseWriter } from './follow/database-writer.ts'
import { readEvents } from './follow/event-reader.ts'
import { FollowState } from './follow/follow-state.ts'
import { Follower, type StepResult } from './follow/follower.ts'
import { HistoryAnnouncer } from './follow/history-announcer.ts'
import { newHolder } from './follow/holder.ts'
import { LoanReader, type LoanReaderOptions } from './follow/loan-reader.ts'
import { NodeSource } from './follow/node-source.ts'
import { publicText } from './follow/public-text.ts'
import { RULES_VERSION } from './follow/rules-version.ts'
import { runFollower } from './follow/run-follower.ts'
import { findStoredPart } from './history/grow-spool.ts'
import type { HistoryStep } from './history/history-step.ts'
import { mendLogs } from './history/mend-logs.ts'
import { chainOf } from './history/network-part.ts'
import { hasStoredLogs } from './history/spool.ts'
import { spoolFolderIn, spoolPlace } from './history/spool-place.ts'
import { filterAddresses } from './logs/log-filter.ts'
import { LogTally } from './logs/log-tally.ts'
import { ruleContextOf } from './meaning/rule-context-of.ts'
import { readNetwork } from './networks/read-network.ts'
import { CallCounters } from './rpc/call-counters.ts'
import type { Confirmation } from './rpc/confirm-logs.ts'
import { connectNodes, omissionText, withoutReceiptsText } from './rpc/connect.ts'
import { MAX_WAIT_MS } from './rpc/json-rpc.ts'
import { readLogRanges } from './rpc/log-ranges.ts'
import type { Nodes } from './rpc/nodes.ts'
import { withRetries } from './rpc/retries.ts'
import { REAL_TIMING, type Timing } from './rpc/timing.ts'

export interface ChainOptions {
  readonly config: Pick<Config, 'chain' | 'world' | 'dataDir'>
  readonly db: Db
  /** Statements that write the rows of a history at the same time; 1 where it is left out. */
  readonly insertsAtOnce?: number | undefined
  readonly clock: Clock
  /** Ends all calls to nodes. */
  readonly signal: AbortSignal
  /** Writes a line for operators. It contains no key of a node's address. */
  readonly log: (line: string) => void
  /** Deadlines and pauses; real ones where it is left out. */
  readonly timing?: Timing
  /** From 0 up to 1, for the jitter of pauses; `Math.random` where it is left out. */
  readonly random?: () => number
  /** Requests the logs of the history in this thread, and not in one of their own: for `timing` and `random`. */
  readonly fetchesHere?: boolean
}

export interface ReadHistoryOptions {
  /** Folder of a snapshot; undefined: that of the world that is shown or, without any, every parcel, unowned. */
  readonly ground: string | undefined
  /** Undefined: the last final block. */
  readonly until: number | undefined
  /** Whether a world that is shown may be replaced. */
  readonly replaces: boolean
}

export interface FollowRun {
  readonly until: number | undefined
  readonly signal: AbortSignal
  /** Whether the land is compared with the contracts meanwhile; where it is left out, only in a run without end. */
  readonly isCompared?: boolean
  /** Results that end the run. */
  readonly endsAt: readonly StepResult[]
}

/** The comparison in the background makes no more requests to the nodes. */
const CHECK_REQUEST_EVERY_MS = SECOND_MS
/** Why a world is to be made again: contracts were added to the network, older rules made it, or it lacks logs. */
export type Outdated = 'contracts' | 'rules' | 'missing logs'

/** How often a range near the head is tried: the follower tries again by itself, and the head does not wait for it. */
const RANGE_TRIES = 2

/** Connects the parts that follow a chain. Makes no call yet. @throws {CommandError} where the network file is bad */
export async function openChain(options: ChainOptions): Promise<Chain> {
  return new Chain(options, await readNetwork(options.config.chain.network))
}

/** The chain that the land comes from: its history, and its head. */
export class Chain {
  readonly network: Network
  readonly nodes: Nodes
  readonly follower: Follower
  /** For the commands that read the history. */
  readonly announcer: HistoryAnnouncer
  readonly tally: LogTally
  readonly calls = new CallCounters()
  readonly checking: BackgroundCheck
  /** Is called where missing logs are to be looked for: see {@link mend}. */
  onMendDue: () => void = () => undefined
  private readonly options: ChainOptions
  private readonly timing: Timing
  private readonly source: NodeSource
  private readonly writer: DatabaseWriter
  private readonly loans: LoanReader
  private readonly context: RuleContext
  /** What this process knows of the worlds that it can follow. */
  private readonly known: KnownChain
  private readonly state: FollowState
  private nextCheckRequestAtMs = Number.NEGATIVE_INFINITY

  constructor(options: ChainOptions, network: Network) {
    const { config, db, clock, signal, timing = REAL_TIMING, random = Math.random } = options
    const { nodeUrls: urls, callsInFlight, maxRangeBlocks, head, confirmations, finality } = config.chain
    this.options = options
    this.timing = timing
    this.network = network
    this.tally = new LogTally(options.log)
    this.nodes = connectNodes({
      ...{ urls, network, signal, timing, random, finality },
      ...{ counters: this.calls, maxInFlight: 2 * callsInFlight },
      onUnusable: (shown, reason) => options.log(`${shown} is not used now: ${withoutName(shown, reason)}`),
      onOmission: (shown, block) => options.log(omissionText(shown, block)),
      onWithoutReceipts: (shown) => options.log(withoutReceiptsText(shown, this.nodes.haveTwoHosts)),
    })
    this.context = ruleContextOf(network)
    this.known = {
      ...chainOf(network),
      rulesVersion: RULES_VERSION,
    }
    const holder = newHolder()
    this.announcer = new HistoryAnnouncer({ db, network, holder, timing })
    const addresses = filterAddresses(network)
    this.source = new NodeSource({
      nodes: this.nodes,
      addresses,
      head,
      confirmations,
      nowMs: () => clock.nowMs(),
      steadyMs: () => timing.nowMs(),
      readRange: async ({ first, last }, except, beforeEachTry) => {
        const ranges = readLogRanges(this.nodes, {
          fromBlock: first,
          toBlock: last,
          addresses,
          ...(except && { except }),
          ...(beforeEachTry && { beforeEachTry }),
          isCompared: true,
          maxTries: RANGE_TRIES,
          maxPauseMs: MAX_WAIT_MS,
          maxBlocks: maxRangeBlocks,
          timing,
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
    this.loans = new LoanReader({
      contract: network.contracts.RCNEngine?.address,
      readContract: this.readContract,
      lastHeads: () => this.source.lastHeads,
    })
    this.writer = new DatabaseWriter({
      db,
      clock,
      holder,
      context: this.context,
      known: this.known,
      status: () => JSON.stringify(this.state.shared()),
      steadyMs: () => steadyMs(clock),
    })
    this.follower = new Follower({
      source: this.source,
      writer: this.writer,
      eventsOf: (logs, block) => this.eventsOfBlock(logs, block),
      steadyMs: () => steadyMs(clock),
      maxRangeBlocks,
    })
    this.state = new FollowState({
      follower: this.follower,
      finalityProblem: () => this.source.finalityProblem,
      isFollowedToFinal: head !== 'latest',
      network: network.name,
      clock,
      publicText: (error) => this.publicText(error),
      log: options.log,
    })
    this.checking = new BackgroundCheck({
      roundMs: config.chain.checkRoundMs,
      check: (request) => this.checkSlowly(request),
      readWorld: () => this.readWorldToCheck(),
      assetsAfter: (worldId, place) => readAssetsAfter(db, worldId, place),
      countAssets: (worldId) => countAssets(db, worldId),
      onMendDue: () => this.onMendDue(),
      store: (worldId, change) => this.changeCompleteness(worldId, change),
      isLeading: () => this.leads,
      nowMs: () => clock.nowMs(),
      pause: (ms, ended) => timing.pause(ms, ended),
      log: options.log,
    })
  }

  /** The newest block of the world; undefined while this process does not follow. */
  get block(): BlockHeader | undefined {
    return this.follower.block
  }

  /** The newest stored block of the world, whichever process follows; undefined where it cannot be followed. */
  readNewest(): Promise<BlockRef | undefined> {
    return this.writer.readNewest()
  }

  /** How many blocks were shown, by how it was known that no log is missing. */
  get confirmations(): ReadonlyMap<Confirmation, number> {
    return this.source.confirmations
  }

  /** Why the world is not followed, in words. */
  whyNot(): string | undefined {
    return this.state.whyNot()
  }

  /**
   * Whether the world that is shown can be followed.
   *
   * @throws {CommandError} where it was made with other contracts, of another chain, or by newer rules
   */
  async hasPosition(): Promise<boolean> {
    const position = await readPositionRow(this.options.db)
    if (!position) return false
    const { network, known } = this
    if (!isOfChain(position, known))
      throw new PublicCommandError(
        `The world that is shown comes from other contracts than those of the network ${network.name} (chain ${network.chainId}). Set CHAIN_NETWORK as before, or replace the world: landpass follow --new-world.`,
      )
    if (position.rulesVersion > known.rulesVersion)
      throw new PublicCommandError(
        'The world that is shown was made by a newer version of Landpass. Start that version here too, or replace the world: landpass follow --new-world.',
      )
    return true
  }

  /**
   * Why the world that is shown is to be made again. {@link rebuild} is enough, except for missing logs: {@link mend} comes before.
   */
  async whyOutdated(): Promise<Outdated | undefined> {
    const position = await readPositionRow(this.options.db)
    if (!position) return undefined
    if (position.contractsHash !== this.known.contractsHash) return 'contracts'
    if (position.rulesVersion < this.known.rulesVersion) return 'rules'
    const { whole } = parseCompleteness(position.completeness)
    return whole && whole.mending !== 'done' ? 'missing logs' : undefined
  }

  /**
   * Looks for missing logs in the blocks of the land that differs from the contracts, and stores them: see {@link mendLogs}.
   *
   * @returns whether there were any: then {@link rebuild} makes the world again with them
   * @throws {CommandError | NodeError | NoNodeError} where the nodes cannot be asked
   */
  async mend(): Promise<boolean> {
    const { config, db, signal, log } = this.options
    const { network, nodes, source, timing } = this
    const position = await readPositionRow(db)
    const { whole } = parseCompleteness(position?.completeness)
    if (!position || !whole || whole.mending === 'done') return false
    if (whole.mending === 'found') return true
    const note = (mending: WholeRound['mending']) =>
      this.changeCompleteness(position.worldId, (now) =>
        now.whole && (mending === 'found' || now.whole.startedAtMs === whole.startedAtMs)
          ? { ...now, whole: { ...now.whole, mending } }
          : now,
      )
    const retries = { timing, signal, onFailure: () => undefined }
    const blocks = await mendLogs({
      ...spoolPlace({ network, spoolFolder: spoolFolderIn(config.dataDir) }),
      assets: namesIn(whole.assets),
      network,
      contractsAt: (block) =>
        contractsAt(block, {
          ...{ nodes, callsInFlight: 1, timing, signal },
          beforeRequest: this.beforeRequest,
        }),
      headerByNumber: (number) => withRetries(() => source.headerByNumber(number), retries),
      logsOfBlock: (block) => withRetries(() => source.logsOfBlock(block), retries),
      // A process that is killed after the logs are stored would not find them again.
      onFound: async () => void (await note('found')),
      log,
    })
    if (blocks.length === 0) await note('done')
    const named = blocks.slice(0, MOST_NAMED).join(', ')
    const more = blocks.length > MOST_NAMED ? ` and ${blocks.length - MOST_NAMED} more` : ''
    log(
      blocks.length === 0
        ? `no missing logs were found in the blocks of ${whole.assets.slice(0, MOST_NAMED).join(', ')}`
        : `logs were missing in ${blocks.length === 1 ? 'block' : 'blocks'} ${named}${more}: they are stored now`,
    )
    return blocks.length > 0
  }

  /** Whether the logs of the history are stored, or those of some of the contracts. A world that began with a snapshot may have none. */
  async hasStoredLogs(): Promise<boolean> {
    const { network } = this
    const spoolFolder = spoolFolderIn(this.options.config.dataDir)
    if (await hasStoredLogs(spoolPlace({ network, spoolFolder }))) return true
    const part = await findStoredPart(network, spoolFolder)
    return part !== undefined && hasStoredLogs(spoolPlace({ network: part, spoolFolder }))
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
        'The world that is shown does not come from the chain: it was imported. It stays, and nothing was changed. With --new-world, landpass follow replaces it: by the history of the chain, and by --ground where that is given.',
      )
    await this.makeWorld({ ground, until, isRebuild: false }, onProgress)
  }

  /**
   * Makes the world again, with the rules of this version, from the stored logs. The node is asked for newer blocks, and
   * for logs that are not stored. Readers have the world that is shown until then, and it may be followed meanwhile.
   *
   * @param until no newer block than this one is read, unless the world that is shown has it; undefined: the newest
   * @throws {CommandError} where the world does not come from the chain, or node or stored logs cannot be used; nothing
   * has changed then
   */
  async rebuild(
    until: number | undefined,
    onProgress: (line: HistoryStep, sentence: string) => void,
  ): Promise<void> {
    const newest = (await this.hasPosition()) ? await this.readNewest() : undefined
    if (!newest)
      throw new CommandError(
        'The world that is shown does not come from the chain, so it cannot be made again. landpass follow --new-world replaces it by the history of the chain.',
      )
    const last = until === undefined ? undefined : Math.max(until, newest.number)
    await this.makeWorld({ ground: undefined, until: last, isRebuild: true }, onProgress)
  }

  /** Follows the chain: see {@link runFollower}. Compares the land with the contracts meanwhile, where it does not end at a block. */
  async follow({
    until,
    signal,
    endsAt,
    isCompared = until === undefined,
  }: FollowRun): Promise<StepResult | 'reached' | undefined> {
    const ending = new AbortController()
    const checking = isCompared ? this.checking.run(AbortSignal.any([signal, ending.signal])) : undefined
    let hasAsked = false
    try {
      return await runFollower(this.follower, {
        until,
        signal,
        timing: this.timing,
        steadyMs: () => steadyMs(this.options.clock),
        pollMs: this.options.config.chain.pollMs,
        pollsWhenDue: this.options.config.chain.head === 'latest',
        endsWith: (result) => endsAt.includes(result),
        onStep: (result) => {
          this.state.noteStep(result)
          // A process that waits for the one that follows asks its nodes nothing.
          if (this.leads && !hasAsked) void this.askForReceipts()
          hasAsked ||= this.leads
        },
        onFailure: (error, inRow) => this.state.noteFailure(error, inRow),
      })
    } finally {
      ending.abort()
      await checking
    }
  }

  /** Compares the tables with the contracts: see {@link checkLand}. */
  check(request: CheckRequest): Promise<CheckResult> {
    const { nodes, network, known, timing } = this
    const { config, db, signal } = this.options
    const { callsInFlight } = config.chain
    return checkLand({ db, nodes, network, known, callsInFlight, timing, signal }, request)
  }

  /** The same with one request at a time, and at most one in {@link CHECK_REQUEST_EVERY_MS}. */
  private checkSlowly(request: CheckRequest): Promise<CheckResult> {
    const { nodes, network, known, timing, beforeRequest } = this
    const { db, signal } = this.options
    return checkLand({ db, nodes, network, known, callsInFlight: 1, timing, signal, beforeRequest }, request)
  }

  private readonly beforeRequest = async (): Promise<void> => {
    const { timing } = this
    const waitMs = this.nextCheckRequestAtMs - timing.nowMs()
    if (waitMs > 0) await timing.pause(waitMs, this.options.signal)
    this.nextCheckRequestAtMs = timing.nowMs() + CHECK_REQUEST_EVERY_MS
    this.checking.counts.requests += 1
  }

  /** Undefined for a world of fewer contracts that is made again. */
  private async readWorldToCheck(): Promise<CheckedWorld | undefined> {
    const position = await readPositionRow(this.options.db)
    const isOfAll = position?.contractsHash === this.known.contractsHash
    return isOfAll || !(await this.hasStoredLogs()) ? position : undefined
  }

  private async changeCompleteness(
    worldId: number,
    change: (stored: StoredCompleteness) => StoredCompleteness,
  ): Promise<StoredCompleteness> {
    let now: StoredCompleteness = { whole: null, round: null }
    await changeCompleteness(this.options.db, worldId, (text) => {
      now = change(parseCompleteness(text))
      return JSON.stringify(now)
    })
    return now
  }

  /** Lets another process follow at once. */
  async close(): Promise<void> {
    await this.writer.release().catch(() => undefined)
  }

  private async makeWorld(
    choice: WorldChoice,
    onProgress: (line: HistoryStep, sentence: string) => void,
  ): Promise<void> {
    const { log, fetchesHere = false } = this.options
    const parts = {
      ...this.options,
      fetchesHere,
      network: this.network,
      nodes: this.nodes,
      calls: this.calls,
      source: this.source,
      timing: this.timing,
      context: this.context,
      loans: this.loans,
      tally: this.tally,
      eventsOfBlock: (logs: readonly RawLog[], block: BlockHeader) => this.eventsOfBlock(logs, block),
      onSuspectBlocks: (blocks: readonly number[]) => this.warnOfSuspects(blocks),
      publicText: (error: unknown) => this.publicText(error),
    }
    await this.askForReceipts()
    const { block, revision } = await makeWorld(parts, choice, onProgress)
    log(`the world is at block ${block.number}, revision ${revision}`)
  }

  /** Names the nodes without receipts. Without them, only the newest blocks are shown later. */
  private async askForReceipts(): Promise<void> {
    if (this.options.config.chain.head !== 'latest') return
    // What ends the program also ends the calls that follow this one.
    await this.nodes.askForReceipts().catch(() => undefined)
  }

  private warnOfSuspects(blocks: readonly number[]): void {
    this.options.log(
      `warning: logs may be missing in ${blocks.length === 1 ? 'block' : 'blocks'} ${blocks.join(', ')}: the node answered an exactly round number of logs, and no receipts prove that there are no more`,
    )
  }

  /** What everyone may read of an error: see {@link publicText}. */
  publicText(error: unknown): string {
    return this.nodes.withoutAddresses(publicText(error))
  }

  private eventsOfBlock(logs: readonly RawLog[], { timeS }: BlockHeader) {
    const { network, tally, loans } = this
    return readEvents(logs, () => timeS * 1_000, {
      network,
      tally,
      loanTerms: (id, block) => loans.termsAt(id, block),
    })
  }

  /** What a function of a contract returns after a block, from any node. */
  private readonly readContract: LoanReaderOptions['readContract'] = (call, blockHash) =>
    this.nodes.run((node) => node.read(call, blockHash))
}

/** Messages of nodes begin with their name. */
function withoutName(shown: string, reason: string): string {
  return reason.startsWith(`${shown}: `) ? reason.slice(shown.length + 2) : reason
}
