import { PositionMovedError } from '../../land/changes/chain-position.ts'
import type { BlockHeader, BlockRef, RawLog } from '../chain-types.ts'
import { NoNodeError } from '../rpc/no-node-error.ts'
import { NodeError } from '../rpc/node-error.ts'
import { type ChainHeads, type ChainSource, ContradictionError } from './chain-source.ts'
import { findPath, type Path } from './find-path.ts'
import { FollowCounts } from './follow-counts.ts'
import type { ChainPosition, FollowedBlock, LandWriter, NewBlock } from './land-writer.ts'
import { logsDigest } from './logs-digest.ts'
import { type EventsOf, newBlockOf } from './new-block.ts'
import { assertOfBlock, logsByBlock, partsOf } from './range-logs.ts'
import { UnfinishedPath } from './unfinished-path.ts'
import { whileLeading } from './while-leading.ts'

/** How many blocks one transaction moves the world forward where blocks are read one by one. */
const BLOCKS_OF_STEP = 64
/** From this number of final blocks on that are missing, they are read by ranges and not one by one. */
const BLOCKS_WORTH_A_RANGE = 32
/** How long a second look that failed is not repeated. */
const LOOK_AGAIN_AFTER_MS = 30_000
/** How often the stored position moves over blocks that changed nothing. */
const STORE_EVERY_MS = 3_000

export interface FollowerOptions {
  readonly source: ChainSource
  readonly writer: LandWriter
  readonly eventsOf: EventsOf
  /** Milliseconds that pass evenly. */
  readonly steadyMs: () => number
  /** The most blocks of one request for logs. */
  readonly maxRangeBlocks: number
}

/** What a step found: more to do at once; nothing until the next poll; no world to follow; another process follows. */
export type StepResult = 'again' | 'nothing new' | 'no position' | 'waits' | 'stopped'

/** The world in this process: `blocks` that are stored or waiting, and those of them that are waiting. */
interface Standing {
  readonly position: ChainPosition
  /** From the last final block to the newest. Those after `stored` are in `waiting`, too. */
  known: readonly FollowedBlock[]
  stored: FollowedBlock
  waiting: readonly NewBlock[]
}

/**
 * Moves the world along the chain, one step at a time. Nothing but the stored position counts: a process that is killed
 * between two steps, or whose transaction fails, reads the position again and asks for the same blocks.
 */
export class Follower {
  readonly counts = new FollowCounts()
  private readonly options: FollowerOptions
  private readonly source: ChainSource
  private standing: Standing | undefined
  private storedAtMs: number
  private heads: ChainHeads | undefined
  private headsAtMs: number | undefined
  private readonly unfinished = new UnfinishedPath()
  private stopReason: string | undefined
  private doubt: string | undefined
  private nextLookAtMs = Number.NEGATIVE_INFINITY

  constructor(options: FollowerOptions) {
    this.options = options
    this.source = whileLeading(options.source, () => this.keepLead())
    this.storedAtMs = options.steadyMs()
  }

  /** The newest block of the world; undefined while this process does not follow. */
  get block(): BlockHeader | undefined {
    return this.standing?.known.at(-1)
  }

  get finalized(): BlockHeader | undefined {
    return this.standing?.known[0]
  }

  /** When a node last said which block is its newest, on the steady clock; undefined before the first time. */
  get answeredAtMs(): number | undefined {
    return this.headsAtMs
  }

  /** The newest block of the node that answered last, also where the world is followed only to a safe or final one. */
  get nodeHead(): BlockHeader | undefined {
    return this.heads?.latest
  }

  /** Why blocks cannot become final, in words; undefined where they can. */
  get finalityProblem(): string | undefined {
    return this.doubt
  }

  /** Why the world is not followed further, in words; undefined while it is followed. */
  get reason(): string | undefined {
    return this.stopReason
  }

  /**
   * One poll of the chain, and at most one transaction for what is new.
   *
   * @param until no block above this number is applied
   * @throws what the source throws where no node gives a usable answer, and errors of the database: try again later
   */
  async step(until = Number.POSITIVE_INFINITY): Promise<StepResult> {
    const lead = await this.options.writer.lead()
    if (lead !== 'leads') {
      this.standing = undefined
      this.stopReason = undefined // Another process knows by now whether the chain still contradicts the world.
      return lead
    }
    try {
      this.standing ??= await this.readStanding()
      return this.standing ? await this.advance(this.standing, until) : 'no position'
    } catch (error) {
      // What is in memory may be ahead of a transaction that failed, or behind that of another process.
      this.standing = undefined
      if (error instanceof PositionMovedError) return 'again'
      throw error
    }
  }

  /** The newest stored block of the world, whichever process leads; undefined where it cannot be followed. */
  readNewest(): Promise<BlockRef | undefined> {
    return this.options.writer.readNewest()
  }

  /** @throws {PositionMovedError} where another process leads now, which ends the step */
  private async keepLead(): Promise<void> {
    if ((await this.options.writer.renew()) !== 'leads')
      throw new PositionMovedError('another leader', 'this process has lost its lease in a step')
  }

  private async readStanding(): Promise<Standing | undefined> {
    const position = await this.options.writer.readPosition()
    if (!position) return undefined
    const known = position.blocks
    return { position, known, stored: known.at(-1)!, waiting: [] }
  }

  private async advance(standing: Standing, until: number): Promise<StepResult> {
    const { source } = this
    const heads = await source.heads()
    this.heads = heads
    this.headsAtMs = this.options.steadyMs()
    const [base, newest] = [standing.known[0]!, standing.known.at(-1)!]
    const isStillStopped =
      this.stopReason !== undefined && heads.head.number >= base.number && !(await source.hasBlock(base))
    if (isStillStopped) return this.stop()
    const final = Math.min(heads.finalized.number, until)
    const isFarBehind = final - newest.number >= BLOCKS_WORTH_A_RANGE && (await this.isOnChain(newest))
    if (isFarBehind && (await this.advanceByRange(standing, heads, final))) return 'again'
    const isNear = heads.head.number <= Math.min(newest.number + BLOCKS_OF_STEP, until)
    const targetNumber = Math.min(newest.number + BLOCKS_OF_STEP, until)
    if (!isNear && targetNumber <= base.number) return 'nothing new'
    const target = isNear ? heads.head : await source.headerByNumber(targetNumber)
    const path = await this.findPath(standing, target)
    if (path.kind === 'below finality') return this.stopAt(standing, path.found)
    this.stopReason = undefined
    if (path.kind === 'forward') await this.takePath(standing, path)
    await this.storeIfDue(standing)
    await this.tryToFinalize(standing, heads.finalized)
    return path.kind === 'forward' && !isNear ? 'again' : 'nothing new'
  }

  /** Headers that contradict each other refute the head: another node may have the right ones. */
  private async findPath({ known }: Standing, target: BlockHeader): Promise<Path> {
    const { source, unfinished } = this
    try {
      return await findPath(known, target, {
        headerByHash: (hash) => unfinished.header(hash, () => source.headerByHash(hash)),
      })
    } catch (error) {
      if (error instanceof ContradictionError) {
        unfinished.clear()
        source.refuteHead(error.message)
      }
      throw error
    }
  }

  /** Whether the chain of the node has this block. */
  private async isOnChain(block: BlockRef): Promise<boolean> {
    return (await this.source.headerByNumber(block.number)).hash === block.hash
  }

  /** A branch that leaves below finality is believed only where no node has the final block of the world. */
  private async stopAt(standing: Standing, found: BlockRef): Promise<StepResult> {
    const base = standing.known[0]!
    if (await this.source.hasBlock(base)) {
      const reason = `a branch without the final block ${base.number} was announced`
      this.source.refuteHead(reason)
      throw new ContradictionError(reason)
    }
    this.stopReason = `The node has another block ${found.number} (${found.hash}). Block ${base.number} and all blocks before it were final. The land stays as it was at block ${standing.stored.number}. If the nodes are right, read the history again: landpass follow --new-world.`
    return this.stop()
  }

  /** The next step reads the position again: another process may show a new world. */
  private stop(): StepResult {
    this.standing = undefined
    return 'stopped'
  }

  /** Undoes to the ancestor and applies the headers. */
  private async takePath(
    standing: Standing,
    { ancestor, headers }: { readonly ancestor: FollowedBlock; readonly headers: readonly BlockHeader[] },
  ): Promise<void> {
    const blocks = await this.unfinished.blocks(headers, (header) => this.readConfirmed(header))
    if (blocks.length === 0) return
    const undone = standing.known.at(-1)!.number - ancestor.number
    await this.branchOff(standing, ancestor, blocks)
    this.counts.noteUndone(undone)
    this.counts.blocks += blocks.length
    if (blocks.length === headers.length) this.unfinished.clear()
  }

  /** Undefined for a newest block of which it is not known yet whether a log is missing. */
  private async readConfirmed(header: BlockHeader): Promise<NewBlock | undefined> {
    const logs = await this.source.confirmedLogs(header)
    return logs && this.newBlock(header, logs)
  }

  /** Puts blocks in the place of all after an ancestor: in one transaction where the tables have to be undone. */
  private async branchOff(
    standing: Standing,
    ancestor: FollowedBlock,
    blocks: readonly NewBlock[],
  ): Promise<void> {
    const { known, stored, waiting } = standing
    const isStaying = ({ number }: BlockRef) => number <= ancestor.number
    if (ancestor.number >= stored.number) {
      standing.waiting = [...waiting.filter(isStaying), ...blocks]
      standing.known = [...known.filter(isStaying), ...blocks]
      return
    }
    await this.options.writer.commit({
      ...this.expected(standing),
      undoTo: ancestor,
      blocks,
      finalized: known[0]!,
    })
    standing.waiting = []
    standing.known = [...known.filter(isStaying), ...blocks]
    this.noteStored(standing)
  }

  private async readBlock(header: BlockHeader): Promise<NewBlock> {
    return this.newBlock(header, await this.source.logsOfBlock(header))
  }

  private newBlock(header: BlockHeader, logs: readonly RawLog[]): Promise<NewBlock> {
    return newBlockOf(header, logs, () => {
      this.counts.logs += logs.length
      return this.options.eventsOf(logs, header)
    })
  }

  /** Stores waiting blocks: at once where they changed the land, else every few seconds. */
  private async storeIfDue(standing: Standing): Promise<void> {
    const { waiting } = standing
    if (waiting.length === 0) return
    const isDue =
      waiting.some(({ events }) => events.length > 0) ||
      this.options.steadyMs() - this.storedAtMs >= STORE_EVERY_MS
    if (isDue) await this.store(standing, standing.known[0]!)
  }

  /** Stores what is waiting. It must be called before the process ends in order, and before blocks become final. */
  private async store(standing: Standing, finalized: FollowedBlock): Promise<void> {
    await this.options.writer.commit({
      ...this.expected(standing),
      undoTo: undefined,
      blocks: standing.waiting,
      finalized,
    })
    standing.waiting = []
    standing.known = standing.known.filter(({ number }) => number >= finalized.number)
    this.noteStored(standing)
  }

  /** Stores blocks that changed nothing, so that a process that ends in order is not asked for them again. */
  async storeWaiting(): Promise<void> {
    if (this.standing && this.standing.waiting.length > 0)
      await this.store(this.standing, this.standing.known[0]!)
  }

  private noteStored(standing: Standing): void {
    standing.stored = standing.known.at(-1)!
    this.storedAtMs = this.options.steadyMs()
  }

  private expected({ position, stored }: Standing) {
    return { worldId: position.worldId, epoch: position.epoch, from: stored }
  }

  /** A second look without a right answer holds up finality, and not the head: it is repeated later. */
  private async tryToFinalize(standing: Standing, final: BlockHeader): Promise<void> {
    if (this.options.steadyMs() < this.nextLookAtMs) return
    try {
      await this.finalize(standing, final)
      this.doubt = undefined
    } catch (error) {
      const isContradiction = error instanceof ContradictionError
      if (!isContradiction && !(error instanceof NodeError) && !(error instanceof NoNodeError)) throw error
      this.doubt = error.message
      if (isContradiction) this.counts.failedLooks += 1
      this.nextLookAtMs = this.options.steadyMs() + LOOK_AGAIN_AFTER_MS
    }
  }

  /**
   * The second look: the logs of blocks that have become final are requested once more, by their range. Only if they are
   * those that were applied, the blocks can no longer be undone. Else they are undone and applied again.
   */
  private async finalize(standing: Standing, final: BlockHeader): Promise<void> {
    const { known } = standing
    const base = known[0]!
    const newest = known.at(-1)!
    const last = known.find(({ number }) => number === Math.min(final.number, newest.number))
    if (!last || last.number <= base.number) return
    const here = last.number === final.number ? final : await this.source.headerByNumber(last.number)
    if (here.hash !== last.hash) return // The next head leads to the right branch.
    const range = { first: base.number + 1, last: last.number }
    const logsOf = await logsByBlock(
      await this.source.logsOfRange(range),
      range,
      async (number) => known.find((block) => block.number === number)?.hash,
    )
    const blocks = known.filter(({ number }) => number > base.number && number <= last.number)
    for (const block of blocks) assertOfBlock(block, logsOf.get(block.number) ?? [])
    const wrong = blocks.find(
      ({ number, logsDigest: digest }) => digest !== logsDigest(logsOf.get(number) ?? []),
    )
    if (wrong) await this.repairFrom(standing, { wrong, last: last.number }, logsOf)
    else await this.store(standing, last)
  }

  /** Undoes all blocks from the wrong one on, and applies them again with the logs that are proven, or confirmed twice. */
  private async repairFrom(
    standing: Standing,
    { wrong, last }: { readonly wrong: FollowedBlock; readonly last: number },
    seen: ReadonlyMap<number, readonly RawLog[]>,
  ): Promise<void> {
    const { known } = standing
    const before = known.filter(({ number }) => number >= wrong.number)
    const blocks: NewBlock[] = []
    for (const block of before) {
      const logs = block.number > last ? [] : (seen.get(block.number) ?? [])
      const isRight = block.logsDigest === logsDigest(logs)
      blocks.push(isRight ? await this.newBlock(block, logs) : await this.confirmedBlock(block, logs, last))
    }
    if (blocks[0]!.logsDigest === wrong.logsDigest)
      throw new ContradictionError(`the logs of block ${wrong.number} were incomplete in a range`)
    await this.branchOff(standing, known.findLast(({ number }) => number < wrong.number)!, blocks)
    this.counts.repaired += blocks.filter((block, at) => block.logsDigest !== before[at]!.logsDigest).length
  }

  /** Blocks that are not final yet get their own second look later. */
  private async confirmedBlock(
    block: FollowedBlock,
    seen: readonly RawLog[],
    last: number,
  ): Promise<NewBlock> {
    if (block.number > last) return this.readBlock(block)
    const proven = await this.source.provenLogs(block)
    if (proven) return this.newBlock(block, proven)
    const again = await this.readBlock(block)
    if (again.logsDigest !== logsDigest(seen))
      throw new ContradictionError(`nodes have different logs of block ${block.number}`)
    return again
  }

  /**
   * Moves the world over final blocks, whose logs are requested by ranges, after those of the world have become final.
   *
   * @returns false where they cannot become final now
   */
  private async advanceByRange(standing: Standing, heads: ChainHeads, final: number): Promise<boolean> {
    const newest = standing.known.at(-1)!
    this.stopReason = undefined
    await this.tryToFinalize(standing, heads.finalized)
    if (standing.known.length > 1 || standing.waiting.length > 0) return this.doubt === undefined
    const range = {
      first: newest.number + 1,
      last: Math.min(final, newest.number + this.options.maxRangeBlocks),
    }
    const { source } = this
    const end =
      range.last === heads.finalized.number ? heads.finalized : await source.headerByNumber(range.last)
    const logsOf = await logsByBlock(await source.logsOfRange(range), range, async (number) =>
      number === end.number ? end.hash : (await source.headerByNumber(number)).hash,
    )
    for (const part of partsOf(logsOf)) {
      const blocks: NewBlock[] = []
      for (const [number, logs] of part) blocks.push(await this.newFinalBlock(number, logs, end))
      await this.storeFinal(standing, blocks)
    }
    if (standing.stored.number < end.number)
      await this.storeFinal(standing, [{ ...end, logsDigest: '', events: [] }])
    this.counts.blocks += range.last - newest.number
    return true
  }

  private async newFinalBlock(number: number, logs: readonly RawLog[], end: BlockHeader): Promise<NewBlock> {
    // By its number: that the logs are of the block with this hash is checked, and not assumed.
    const header = end.number === number ? end : await this.source.headerByNumber(number)
    return this.newBlock(header, logs)
  }

  private async storeFinal(standing: Standing, blocks: readonly NewBlock[]): Promise<void> {
    const last = blocks.at(-1)!
    await this.options.writer.commit({
      ...this.expected(standing),
      undoTo: undefined,
      blocks,
      finalized: last,
    })
    standing.known = [last]
    this.noteStored(standing)
  }
}
