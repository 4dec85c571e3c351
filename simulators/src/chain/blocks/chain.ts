import type { World } from '@landpass/client/grid'
import { Random } from '../../random.ts'
import type { Counts } from '../actors/balance.ts'
import { type Execute, Players } from '../actors/players.ts'
import { StateHistory } from '../contracts/cells.ts'
import { type ContractAddresses, Contracts } from '../contracts/contracts.ts'
import { erasOf } from '../contracts/eras.ts'
import { Machine } from '../contracts/machine.ts'
import { runCalls, type SentTransaction } from '../contracts/transactions.ts'
import { type Address, type Word, ZERO_WORD } from '../encoding/words.ts'
import { ADDED_FIELDS, type Block, makeBlock, TransactionList } from './block.ts'
import { SLOT_S, timeOfBlock } from './block-times.ts'

export interface ChainOptions {
  readonly chainId: number
  readonly seed: number
  readonly world: World
  /** Blocks that exist at the start, above block 0. */
  readonly historyBlocks: number
  /** Time of the newest of them, in seconds since 1970. */
  readonly headTimeS: number
  /** Transactions of a block, on average, beside the sales of new parcels. */
  readonly transactionsPerBlock: number
}

/** Where a chain begins that has no history: the contracts get their state after `block` from elsewhere. */
export interface ChainStart {
  readonly block: Block
  /** Where blocks were left out: the newest of them, which has the state, and the number of forks until then. */
  readonly from?: { readonly block: Block; readonly forks: number }
  readonly addresses: ContractAddresses
  /** They own land that is not for sale. They may be known later. */
  readonly districtOwners: ReadonlySet<Address>
  /** Where a chain goes on: how much there was of what when it began. */
  readonly countsAtStart?: Counts
  /** At least this many of the newest blocks are kept, and at most twice as many. */
  readonly keptBlocks: number
}

/** Is called for each change of a chain, before a node answers it. */
export interface ChainWatcher {
  blockMade(block: Block, requests: readonly SentTransaction[]): void
  /** All blocks above this one are gone. */
  wentBack(ancestor: number): void
  /** A call that changed the chain has ended. */
  settled(): void
}

/** How the chain is reorganised. */
export interface Reorganisation {
  /** How many of the newest blocks are replaced. */
  readonly depth: number
  /** How many blocks replace them. */
  readonly length: number
  /** Share of the removed transactions that are in the new blocks again, in another order. */
  readonly keep: number
}

/** Requests of this many blocks are kept: a reorganisation goes no deeper. */
const DEEPEST_REORGANISATION = 10_000
const MOST_ORPHANS = 2_048
/** In which part of the history headers got each of the added fields. */
const FIELD_SHARES = [0.6, 0.75, 0.85, 0.85, 0.85, 0.95]
const BLOCKS_PER_TURN = 500

/** The chain: blocks, and contracts with the state after each of them. */
export class SimulatedChain {
  readonly machine: Machine
  readonly contracts: Contracts
  readonly players: Players
  readonly options: ChainOptions
  /** False while the contracts of a chain that begins with a snapshot are being filled. */
  hasState = true
  watcher: ChainWatcher | undefined
  /** The blocks that are kept, without a gap. */
  private readonly blocks: Block[] = []
  /** The block with which the chain began: it is never forgotten. */
  private readonly firstBlock: Block
  private readonly byHash = new Map<Word, Block>()
  private readonly blockNumbers = new Map<Word, number>()
  private readonly orphans = new Map<Word, Block>()
  private readonly requests = new Map<number, readonly SentTransaction[]>()
  private readonly keptBlocks: number
  private forks: number

  /** @param start of a chain without a history */
  constructor(options: ChainOptions, start?: ChainStart) {
    this.options = options
    this.keptBlocks = start?.keptBlocks ?? Number.POSITIVE_INFINITY
    const begin = start?.from?.block ?? start?.block ?? this.genesis()
    const history = start ? new StateHistory(begin.number, 2 * start.keptBlocks) : new StateHistory()
    this.machine = new Machine(erasOf(options.historyBlocks), history)
    this.machine.timeS = begin.timeS
    this.contracts = new Contracts(this.machine, start?.addresses)
    this.players = new Players({
      ...{ seed: options.seed, chainId: options.chainId, machine: this.machine, contracts: this.contracts },
      average: options.transactionsPerBlock,
      world: start ? undefined : options.world,
      districtOwners: start?.districtOwners ?? new Set(),
      atStart: start?.countsAtStart,
    })
    this.firstBlock = start?.block ?? begin
    this.forks = start?.from?.forks ?? 0
    this.byHash.set(this.firstBlock.hash, this.firstBlock)
    this.append(begin)
  }

  get head(): Block {
    return this.blocks.at(-1)!
  }

  /** The block with which the chain began. */
  get first(): Block {
    return this.firstBlock
  }

  /** The oldest block from which on none is missing. */
  get oldest(): Block {
    return this.blocks[0]!
  }

  /** How often the chain went back. */
  get forkCount(): number {
    return this.forks
  }

  /** Makes the history. Yields to the event loop. @throws the reason of the signal when it is aborted */
  async makeHistory(signal?: AbortSignal): Promise<void> {
    const { historyBlocks, headTimeS } = this.options
    while (this.head.number < historyBlocks) {
      signal?.throwIfAborted()
      for (let i = 0; i < BLOCKS_PER_TURN && this.head.number < historyBlocks; i++) {
        this.mine(timeOfBlock(this.head.number + 1, historyBlocks, headTimeS))
      }
      await new Promise(setImmediate)
    }
  }

  /** Makes the next block. @param timeS a time that is not after the last block is moved */
  mine(timeS = this.head.timeS + SLOT_S): Block {
    return this.settle(() =>
      this.makeNext(timeS, (execute) => this.players.sendTransactions(this.forks, execute)),
    )
  }

  /** Makes the next block of what `fill` executes and of nothing else. Where it throws, there is no block. */
  mineWith(fill: (execute: Execute) => void, timeS = this.head.timeS + SLOT_S): Block {
    return this.settle(() => this.makeNext(timeS, fill))
  }

  /** Makes a block again as it was made before. */
  mineAgain(requests: readonly SentTransaction[], { timeS, fork }: { timeS: number; fork: number }): Block {
    this.forks = fork
    return this.mineWith((execute) => {
      for (const request of requests) execute(request)
    }, timeS)
  }

  /** Forgets the blocks above this one. @throws RangeError if it is not kept */
  goBackTo(ancestor: number): void {
    this.assertKept(ancestor)
    this.removeAbove(ancestor)
    this.machine.history.undoToBlock(ancestor)
  }

  /** What was sent in a block; it can be sent again. */
  requestsOf(number: number): readonly SentTransaction[] {
    return this.requests.get(number) ?? []
  }

  /**
   * Replaces the newest blocks by others: some of their transactions are in other blocks, with other log indexes, or fail
   * now; some are gone, some are new.
   *
   * @throws RangeError if the blocks are not kept any more
   */
  reorganise({ depth, length, keep }: Reorganisation): void {
    const ancestor = this.head.number - depth
    if (depth > DEEPEST_REORGANISATION || !this.isKept(ancestor))
      throw new RangeError(`depth ${depth} is too much`)
    this.settle(() => {
      const removed = this.removeAbove(ancestor)
      this.machine.history.undoToBlock(ancestor)
      this.forks += 1
      const random = new Random(this.options.seed).fork(`reorganisation ${this.forks}`)
      const plan = replan(removed, { length, keep, random })
      for (let i = 0; i < length; i++) {
        const before = removed[i]?.block.timeS
        const timeS = (before ?? this.head.timeS + SLOT_S) + 1
        this.makeNext(timeS, (execute) => {
          for (const request of plan[i]!) execute(request)
          this.players.sendTransactions(this.forks, execute)
        })
      }
    })
  }

  block(number: number): Block | undefined {
    return number === this.first.number ? this.first : this.blocks[number - this.oldest.number]
  }

  /** A block of the chain, or one that was replaced not long ago. */
  blockByHash(hash: Word): { readonly block: Block; readonly isOrphan: boolean } | undefined {
    const block = this.byHash.get(hash)
    if (block) return { block, isOrphan: false }
    const orphan = this.orphans.get(hash)
    return orphan && { block: orphan, isOrphan: true }
  }

  /** The number of the block that has the transaction. */
  blockOfTransaction(hash: Word): number | undefined {
    return this.blockNumbers.get(hash)
  }

  private genesis(): Block {
    const { historyBlocks, headTimeS } = this.options
    const timeS = timeOfBlock(0, historyBlocks, headTimeS)
    const place = { number: 0, parentHash: ZERO_WORD, timeS, fork: 0, addedFields: this.fieldsAt(0) }
    return makeBlock({ ...place, transactions: [] })
  }

  private settle<T>(change: () => T): T {
    const result = change()
    if (this.blocks.length > 2 * this.keptBlocks) this.forgetOldBlocks()
    this.watcher?.settled()
    return result
  }

  private makeNext(timeS: number, fill: (execute: Execute) => void): Block {
    const parent = this.head
    const number = parent.number + 1
    const time = Math.max(timeS, parent.timeS + 1)
    this.machine.beginBlock(time)
    const list = new TransactionList()
    const requests: SentTransaction[] = []
    try {
      fill((request) => {
        const outcome = this.machine.run(() => runCalls(request))
        list.add(request, outcome)
        requests.push(request)
        return outcome
      })
    } catch (error) {
      this.machine.history.undoToBlock(parent.number)
      throw error
    }
    const place = { number, parentHash: parent.hash, timeS: time, fork: this.forks }
    const { transactions } = list
    const block = makeBlock({ ...place, addedFields: this.fieldsAt(number), transactions })
    if (requests.length > 0) this.requests.set(number, requests)
    this.requests.delete(number - DEEPEST_REORGANISATION)
    this.append(block)
    this.watcher?.blockMade(block, requests)
    return block
  }

  private isKept(number: number): boolean {
    return number >= this.oldest.number && number <= this.head.number
  }

  private assertKept(number: number): void {
    if (!this.isKept(number)) throw new RangeError(`block ${number} is not kept`)
  }

  private forgetOldBlocks(): void {
    for (const { number, hash, transactions } of this.blocks.splice(
      0,
      this.blocks.length - this.keptBlocks,
    )) {
      this.requests.delete(number)
      if (number !== this.first.number) this.byHash.delete(hash)
      for (const transaction of transactions) this.blockNumbers.delete(transaction.hash)
    }
  }

  private append(block: Block): void {
    this.blocks.push(block)
    this.byHash.set(block.hash, block)
    for (const { hash } of block.transactions) this.blockNumbers.set(hash, block.number)
  }

  private removeAbove(ancestor: number): readonly RemovedBlock[] {
    this.watcher?.wentBack(ancestor)
    return this.blocks.splice(ancestor + 1 - this.oldest.number).map((block) => {
      const requests = this.requests.get(block.number) ?? []
      this.requests.delete(block.number)
      this.byHash.delete(block.hash)
      for (const { hash } of block.transactions) this.blockNumbers.delete(hash)
      this.orphans.set(block.hash, block)
      if (this.orphans.size > MOST_ORPHANS) this.orphans.delete(this.orphans.keys().next().value!)
      return { block, requests }
    })
  }

  private fieldsAt(number: number): number {
    const { historyBlocks } = this.options
    const added = FIELD_SHARES.filter((share) => number >= Math.floor(historyBlocks * share)).length
    return Math.min(added, ADDED_FIELDS.length)
  }
}

interface RemovedBlock {
  readonly block: Block
  readonly requests: readonly SentTransaction[]
}

/** Gives each transaction that stays a block near its old one, in an order that is shuffled there. */
function replan(
  removed: readonly RemovedBlock[],
  { length, keep, random }: { length: number; keep: number; random: Random },
): readonly (readonly SentTransaction[])[] {
  const plan: SentTransaction[][] = Array.from({ length }, () => [])
  removed.forEach(({ requests }, index) => {
    for (const request of requests) {
      const next = Math.min(length - 1, Math.max(0, index + random.between(-1, 1)))
      if (random.fraction() < keep) plan[next]?.push(request)
    }
  })
  return plan.map((requests) => random.shuffle(requests))
}
