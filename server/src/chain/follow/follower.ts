import { PositionMovedError } from '../../land/changes/chain-position.ts'
import type { LandEvent } from '../../land/events/land-event.ts'
import type { BlockHeader, BlockRef, RawLog } from '../chain-types.ts'
import { type BlockRange, type ChainHeads, type ChainSource, ContradictionError } from './chain-source.ts'
import { findPath } from './find-path.ts'
import type { ChainPosition, FollowedBlock, LandDoor, NewBlock } from './land-door.ts'
import { logsDigest } from './logs-digest.ts'

/** How many blocks one transaction moves the world forward where blocks are read one by one. */
const BLOCKS_OF_STEP = 64
/** How many blocks are requested at the same time after a reorganisation, or a break. */
const BLOCKS_AT_ONCE = 8
/** From this number of final blocks on that are missing, they are read by ranges and not one by one. */
const BLOCKS_WORTH_A_RANGE = 32
/** The most logs that one transaction applies, except where one block has more. */
const LOGS_OF_STEP = 500
/** How long a second look that failed is not repeated. */
const LOOK_AGAIN_AFTER_MS = 30_000
/** How often the stored position moves over blocks that changed nothing. */
const STORE_EVERY_MS = 3_000

export interface FollowerOptions {
  readonly source: ChainSource
  readonly door: LandDoor
  /** The events of a block's logs, with what has to be read from contracts for them. */
  readonly eventsOf: (logs: readonly RawLog[], block: BlockHeader) => Promise<readonly LandEvent[]>
  /** Milliseconds that pass evenly. */
  readonly steadyMs: () => number
  /** The most blocks of one request for logs. */
  readonly maxRangeBlocks: number
  readonly storeEveryMs?: number
}

/** What a step found: more to do at once; nothing until the next poll; no world to follow; another process follows. */
export type StepResult = 'again' | 'nothing new' | 'no position' | 'waits' | 'stopped'

/** What was done since the start of this process. */
export interface FollowCounts {
  blocks: number
  logs: number
  /** Reorganisations by the number of blocks that were undone. */
  readonly undone: Map<number, number>
  /** Blocks whose logs were other ones at their finality than when they were new. */
  repaired: number
  /** Second looks whose answers contradicted what was proven. */
  failedLooks: number
}

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
  readonly counts: FollowCounts = { blocks: 0, logs: 0, undone: new Map(), repaired: 0, failedLooks: 0 }
  private readonly options: FollowerOptions
  private standing: Standing | undefined
  private storedAtMs: number
  private heads: ChainHeads | undefined
  private headsAtMs: number | undefined
  private stopReason: string | undefined
  private doubt: string | undefined
  private nextLookAtMs = Number.NEGATIVE_INFINITY

  constructor(options: FollowerOptions) {
    this.options = options
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

  /** The newest block of the node that answered last. */
  get nodeHead(): BlockHeader | undefined {
    return this.heads?.head
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
    const lead = await this.options.door.lead()
    if (lead !== 'leads') {
      this.standing = undefined
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

  private async readStanding(): Promise<Standing | undefined> {
    const position = await this.options.door.readPosition()
    if (!position) return undefined
    const known = position.blocks
    return { position, known, stored: known.at(-1)!, waiting: [] }
  }

  private async advance(standing: Standing, until: number): Promise<StepResult> {
    const { source } = this.options
    const heads = await source.heads()
    this.heads = heads
    this.headsAtMs = this.options.steadyMs()
    const newest = standing.known.at(-1)!
    const final = Math.min(heads.finalized.number, until)
    if (final - newest.number >= BLOCKS_WORTH_A_RANGE && (await this.isOnChain(newest))) {
      await this.advanceByRange(standing, heads, final)
      return 'again'
    }
    const isNear = heads.head.number <= Math.min(newest.number + BLOCKS_OF_STEP, until)
    const targetNumber = Math.min(newest.number + BLOCKS_OF_STEP, until)
    if (!isNear && targetNumber <= standing.known[0]!.number) return 'nothing new'
    const target = isNear ? heads.head : await source.headerByNumber(targetNumber)
    const path = await findPath(standing.known, target, source)
    if (path.kind === 'below finality') return this.stopAt(standing, path.found)
    this.stopReason = undefined
    if (path.kind === 'forward') await this.takePath(standing, path)
    await this.storeIfDue(standing)
    await this.tryToFinalize(standing, heads.finalized)
    return path.kind === 'forward' && !isNear ? 'again' : 'nothing new'
  }

  /** Whether the chain of the node has this block. */
  private async isOnChain(block: BlockRef): Promise<boolean> {
    return (await this.options.source.headerByNumber(block.number)).hash === block.hash
  }

  /** A branch that leaves below finality is believed only after a second question. */
  private async stopAt(standing: Standing, found: BlockRef): Promise<StepResult> {
    const base = standing.known[0]!
    if (await this.isOnChain(base))
      throw new ContradictionError(`a branch without the final block ${base.number} was announced`)
    this.stopReason = `The node has another block ${found.number} (${found.hash}) below block ${base.number}, which was final. The land stays as it was at block ${standing.stored.number}. If the nodes are right, read the history again: landpass follow --new-world.`
    this.standing = undefined // the position is read again: another process may show a new world
    return 'stopped'
  }

  /** Undoes to the ancestor and applies the headers. */
  private async takePath(
    standing: Standing,
    { ancestor, headers }: { readonly ancestor: FollowedBlock; readonly headers: readonly BlockHeader[] },
  ): Promise<void> {
    const blocks = await this.readBlocks(headers)
    const undone = standing.known.at(-1)!.number - ancestor.number
    await this.branchOff(standing, ancestor, blocks)
    if (undone > 0) this.counts.undone.set(undone, (this.counts.undone.get(undone) ?? 0) + 1)
    this.count(blocks)
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
    await this.options.door.commit({
      ...this.expected(standing),
      undoTo: ancestor,
      blocks,
      finalized: known[0]!,
    })
    standing.waiting = []
    standing.known = [...known.filter(isStaying), ...blocks]
    this.noteStored(standing)
  }

  private async readBlocks(headers: readonly BlockHeader[]): Promise<readonly NewBlock[]> {
    const blocks: NewBlock[] = []
    for (let at = 0; at < headers.length; at += BLOCKS_AT_ONCE) {
      const part = headers.slice(at, at + BLOCKS_AT_ONCE)
      blocks.push(...(await Promise.all(part.map((header) => this.readBlock(header)))))
    }
    return blocks
  }

  private async readBlock(header: BlockHeader): Promise<NewBlock> {
    return this.newBlock(header, await this.options.source.logsOfBlock(header))
  }

  private async newBlock(header: BlockHeader, logs: readonly RawLog[]): Promise<NewBlock> {
    assertOfBlock(header, logs)
    this.counts.logs += logs.length
    return { ...header, logsDigest: logsDigest(logs), events: await this.options.eventsOf(logs, header) }
  }

  /** Stores waiting blocks: at once where they changed the land, else every few seconds. */
  private async storeIfDue(standing: Standing): Promise<void> {
    const { waiting } = standing
    if (waiting.length === 0) return
    const isDue =
      waiting.some(({ events }) => events.length > 0) ||
      this.options.steadyMs() - this.storedAtMs >= (this.options.storeEveryMs ?? STORE_EVERY_MS)
    if (isDue) await this.store(standing, standing.known[0]!)
  }

  /** Stores what is waiting. It must be called before the process ends in order, and before blocks become final. */
  private async store(standing: Standing, finalized: FollowedBlock): Promise<void> {
    await this.options.door.commit({
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

  /** Answers that contradict each other hold up finality, and not the head: the second look is repeated later. */
  private async tryToFinalize(standing: Standing, final: BlockHeader): Promise<void> {
    if (this.options.steadyMs() < this.nextLookAtMs) return
    try {
      await this.finalize(standing, final)
      this.doubt = undefined
    } catch (error) {
      if (!(error instanceof ContradictionError)) throw error
      this.doubt = error.message
      this.counts.failedLooks += 1
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
    const here = last.number === final.number ? final : await this.options.source.headerByNumber(last.number)
    if (here.hash !== last.hash) return // The next head leads to the right branch.
    const range = { first: base.number + 1, last: last.number }
    const logsOf = await this.readRange(
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
    const { known, waiting } = standing
    const isRead = new Set(waiting.map(({ hash }) => hash))
    const blocks: NewBlock[] = []
    for (const block of known.filter(({ number }) => number >= wrong.number)) {
      const logs = block.number > last ? [] : (seen.get(block.number) ?? [])
      const isRight = block.logsDigest === logsDigest(logs)
      blocks.push(isRight ? await this.newBlock(block, logs) : await this.confirmedBlock(block, logs, last))
    }
    if (blocks[0]!.logsDigest === wrong.logsDigest)
      throw new ContradictionError(`the logs of block ${wrong.number} were incomplete in a range`)
    await this.branchOff(standing, known.findLast(({ number }) => number < wrong.number)!, blocks)
    this.counts.repaired += blocks.filter(({ hash }) => !isRead.has(hash)).length
  }

  /** Blocks that are not final yet get their own second look later. */
  private async confirmedBlock(
    block: FollowedBlock,
    seen: readonly RawLog[],
    last: number,
  ): Promise<NewBlock> {
    if (block.number > last) return this.readBlock(block)
    const proven = await this.options.source.provenLogs(block)
    if (proven) return this.newBlock(block, proven)
    const again = await this.readBlock(block)
    if (again.logsDigest !== logsDigest(seen))
      throw new ContradictionError(`nodes have different logs of block ${block.number}`)
    return again
  }

  /** Moves the world over final blocks, whose logs are requested by ranges. */
  private async advanceByRange(standing: Standing, heads: ChainHeads, final: number): Promise<void> {
    const newest = standing.known.at(-1)!
    await this.finalize(standing, heads.finalized)
    if (standing.known.length > 1 || standing.waiting.length > 0) return
    const range = {
      first: newest.number + 1,
      last: Math.min(final, newest.number + this.options.maxRangeBlocks),
    }
    const { source } = this.options
    const end =
      range.last === heads.finalized.number ? heads.finalized : await source.headerByNumber(range.last)
    const logsOf = await this.readRange(range, async (number) =>
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
  }

  private async newFinalBlock(number: number, logs: readonly RawLog[], end: BlockHeader): Promise<NewBlock> {
    // By its number: that the logs are of the block with this hash is checked, and not assumed.
    const header = end.number === number ? end : await this.options.source.headerByNumber(number)
    return this.newBlock(header, logs)
  }

  private async storeFinal(standing: Standing, blocks: readonly NewBlock[]): Promise<void> {
    const last = blocks.at(-1)!
    await this.options.door.commit({
      ...this.expected(standing),
      undoTo: undefined,
      blocks,
      finalized: last,
    })
    standing.known = [last]
    this.noteStored(standing)
  }

  /**
   * The logs of a range by block. The node that gives them may have another chain than the one that gave the headers.
   *
   * @param hashOf the hash that a block has on the chain that is followed
   * @throws {ContradictionError} where the last block of any part is another one
   */
  private async readRange(
    range: BlockRange,
    hashOf: (number: number) => Promise<string | undefined>,
  ): Promise<ReadonlyMap<number, readonly RawLog[]>> {
    const { logs: read, ends } = await this.options.source.logsOfRange(range)
    if (ends.at(-1)?.number !== range.last)
      throw new ContradictionError(
        `the blocks from ${range.first} to ${range.last} were not read to their end`,
      )
    for (const { number, hash } of ends)
      if ((await hashOf(number)) !== hash)
        throw new ContradictionError(`the range that ends with block ${number} (${hash}) is of another chain`)
    const logsOf = new Map<number, RawLog[]>()
    for (const log of read) {
      if (log.blockNumber < range.first || log.blockNumber > range.last)
        throw new ContradictionError(`a log of block ${log.blockNumber} is outside of its range`)
      const logs = logsOf.get(log.blockNumber)
      if (logs) logs.push(log)
      else logsOf.set(log.blockNumber, [log])
    }
    return logsOf
  }

  private count(blocks: readonly NewBlock[]): void {
    this.counts.blocks += blocks.length
  }
}

/** @throws {ContradictionError} where a log is of another block, or its place in the block is not after the one before */
export function assertOfBlock(block: BlockRef, logs: readonly RawLog[]): void {
  let last = -1
  for (const { blockHash, blockNumber, logIndex } of logs) {
    if (blockHash !== block.hash || blockNumber !== block.number)
      throw new ContradictionError(`block ${block.number} was answered with the logs of another block`)
    if (logIndex <= last)
      throw new ContradictionError(`the logs of block ${block.number} are not in their order`)
    last = logIndex
  }
}

/** Whole blocks, in parts of {@link LOGS_OF_STEP} logs. */
function partsOf(
  logsOf: ReadonlyMap<number, readonly RawLog[]>,
): readonly (readonly (readonly [number, readonly RawLog[]])[])[] {
  const parts: [number, readonly RawLog[]][][] = []
  let size = Number.POSITIVE_INFINITY
  for (const [number, logs] of [...logsOf].sort(([a], [b]) => a - b)) {
    if (size + logs.length > LOGS_OF_STEP) {
      parts.push([])
      size = 0
    }
    parts.at(-1)!.push([number, logs])
    size += logs.length
  }
  return parts
}
