import type { World } from '@landpass/client/grid'
import type { Network, RawLog } from '@landpass/server/chain/chain-types'
import { readEvents } from '@landpass/server/chain/follow/event-reader'
import { readLoanTerms } from '@landpass/server/chain/follow/loan-terms'
import { logsDigest } from '@landpass/server/chain/follow/logs-digest'
import { readSilentOperators } from '@landpass/server/chain/history/silent-operators'
import { filterAddresses } from '@landpass/server/chain/logs/log-filter'
import { LogTally } from '@landpass/server/chain/logs/log-tally'
import { ruleContextOf } from '@landpass/server/chain/meaning/rule-context-of'
import { readLogsOfBlock } from '@landpass/server/chain/rpc/node-answers'
import { EVENT_TABLES } from '@landpass/server/land/changes/event-tables'
import { applyEvent } from '@landpass/server/land/events/apply-event'
import type { LandEvent, LoanTerms } from '@landpass/server/land/events/land-event'
import type { EventRows, EventTable } from '@landpass/server/land/events/land-rows'
import { MemoryRows } from '@landpass/server/land/events/memory-rows'
import type { RuleContext } from '@landpass/server/land/events/rule-context'
import { bareGround } from '@landpass/server/land/snapshot/ground'
import type { Block } from '@landpass/simulators/chain/blocks/block'
import type { SimulatedChain } from '@landpass/simulators/chain/blocks/chain'
import { Revert } from '@landpass/simulators/chain/contracts/machine'
import type { ContractReads } from '@landpass/simulators/chain/node/contract-reads'
import { logsOf } from '@landpass/simulators/chain/node/log-filter'
import { type AppliedBlock, type LandText, rowName, rowText } from './stored-land.ts'

export interface CleanChainOptions {
  readonly chain: SimulatedChain
  readonly reads: ContractReads
  readonly network: Network
  readonly world: World
  /** The last block of the history: operators that no log names are read after it. */
  readonly firstBlock: number
}

interface CleanBlock {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  readonly timeMs: number
  readonly logs: readonly RawLog[]
  readonly digest: string
  readonly events: readonly LandEvent[]
  /** All rows after this block; undefined below the first block. */
  rows: LandText | undefined
}

/**
 * The rows that the rules make of the chain's own logs, after every block of every branch: each branch is replayed from the
 * first block of the chain, so nothing of another one can be in it.
 */
export class CleanChain {
  readonly blocks = new Map<string, CleanBlock>()
  private readonly options: CleanChainOptions
  private readonly addresses: ReadonlySet<string>
  private readonly context: RuleContext
  private readonly terms = new Map<string, LoanTerms | undefined>()
  private readonly incomplete = new Map<string, LandText>()
  /** The rows after the block with this hash. */
  private memory: { readonly rows: RecordingRows; readonly hash: string } | undefined

  constructor(options: CleanChainOptions) {
    this.options = options
    this.addresses = new Set(filterAddresses(options.network))
    this.context = ruleContextOf(options.network)
  }

  /** Adds the blocks that the chain has and this does not. Call it after each change of the chain. */
  async update(): Promise<void> {
    const { chain } = this.options
    const added: Block[] = []
    for (let block = chain.head; !this.blocks.has(block.hash); ) {
      added.unshift(block)
      const parent = chain.block(block.number - 1)
      if (!parent) break
      block = parent
    }
    for (const block of added) await this.add(block)
  }

  /** The rows after a block. @throws {Error} for a block that never was, or one of the first ones */
  rowsAt(hash: string): LandText {
    const rows = this.blocks.get(hash)?.rows
    if (!rows) throw new Error(`block ${hash} never was one of the chain`)
    return rows
  }

  /**
   * The rows of a world that stands at the last of these blocks. Where a node left out logs of some of them, the digests say
   * so, and the rows are those without these logs.
   *
   * @throws {Error} where a digest is that of no answer, or the last final block lacks logs
   */
  async rowsOf(applied: readonly AppliedBlock[]): Promise<LandText> {
    const odd = new Map(applied.filter((block) => !this.isWhole(block)).map((block) => [block.hash, block]))
    const last = applied.at(-1)!
    if (odd.size === 0) return this.rowsAt(last.hash)
    if (odd.has(applied[0]!.hash)) throw new Error(`the final block ${applied[0]!.number} lacks logs`)
    const name = JSON.stringify([last.hash, ...odd.values()])
    const known = this.incomplete.get(name)
    if (known) return known
    const rows = await this.replay(last.hash, async (block) => {
      const other = odd.get(block.hash)
      return other ? this.eventsWithDigest(block, other.digest!) : block.events
    })
    const text = textOf(rows)
    this.incomplete.set(name, text)
    return text
  }

  isWhole({ hash, digest }: AppliedBlock): boolean {
    return digest === null || this.blocks.get(hash)?.digest === digest
  }

  private async add(block: Block): Promise<void> {
    const { hash, parentHash, number, timeS } = block
    if (this.memory?.hash !== parentHash && number > 0)
      this.memory = { rows: await this.replay(parentHash, async ({ events }) => events), hash: parentHash }
    const rows = this.memory?.rows ?? this.ground()
    const logs = landLogsOf(block, this.addresses)
    const place = { number, hash, parentHash, timeMs: timeS * 1_000 }
    const events = await this.eventsOf(place, logs)
    const added: CleanBlock = { ...place, logs, digest: logsDigest(logs), events, rows: undefined }
    this.blocks.set(hash, added)
    rows.changed.clear()
    await this.apply(rows, added, events)
    this.memory = { rows, hash }
    if (number >= this.options.firstBlock) added.rows = this.textAfter(rows, parentHash)
  }

  private textAfter(rows: RecordingRows, parentHash: string): LandText {
    const before = this.blocks.get(parentHash)?.rows
    if (!before) return textOf(rows)
    if (rows.changed.size === 0) return before
    const after = new Map(before)
    for (const [name, text] of rows.changed) {
      if (text === undefined) after.delete(name)
      else after.set(name, text)
    }
    return after
  }

  /** Applies the whole branch of a block to the ground. */
  private async replay(
    hash: string,
    eventsOf: (block: CleanBlock) => Promise<readonly LandEvent[]>,
  ): Promise<RecordingRows> {
    const branch: CleanBlock[] = []
    for (let block = this.blocks.get(hash); block; block = this.blocks.get(block.parentHash))
      branch.push(block)
    const rows = this.ground()
    for (const block of branch.reverse()) await this.apply(rows, block, await eventsOf(block))
    return rows
  }

  private ground(): RecordingRows {
    const rows = new RecordingRows()
    for (const parcel of bareGround(this.options.world, 0).parcels) rows.put('parcel', parcel)
    return rows
  }

  private async apply(rows: MemoryRows, block: CleanBlock, events: readonly LandEvent[]): Promise<void> {
    for (const event of events) await applyEvent(rows, event, this.context)
    if (block.number === this.options.firstBlock) await this.readSilentOperators(rows, block)
  }

  private async readSilentOperators(rows: MemoryRows, { number, timeMs }: CleanBlock): Promise<void> {
    const { network, reads } = this.options
    const at = { block: number, timeS: timeMs / 1_000 }
    await readSilentOperators(rows, {
      network,
      read: async ({ to, data }) => ({ returned: reads.call(to, data, at), unsettled: [] }),
      isLogged: () => false,
      onProgress: () => undefined,
      callsInFlight: 1,
      signal: new AbortController().signal,
    })
  }

  private eventsOf(
    block: Pick<CleanBlock, 'number' | 'hash' | 'timeMs'>,
    logs: readonly RawLog[],
  ): Promise<readonly LandEvent[]> {
    return readEvents(logs, () => block.timeMs, {
      network: this.options.network,
      tally: new LogTally(() => undefined),
      loanTerms: (loanId) => this.loanTerms(block, loanId),
    })
  }

  /** Terms are read while the block is one of the chain: afterwards its state cannot be read any more. */
  private async loanTerms(
    { number, hash, timeMs }: Pick<CleanBlock, 'number' | 'hash' | 'timeMs'>,
    loanId: bigint,
  ): Promise<LoanTerms | undefined> {
    const name = `${hash} ${loanId}`
    if (this.terms.has(name)) return this.terms.get(name)
    const { network, reads } = this.options
    const at = { block: number, timeS: timeMs / 1_000 }
    const contract = network.contracts.RCNEngine!.address
    const terms = await readLoanTerms(async (data) => reads.call(contract, data, at), loanId).catch(
      (error: unknown) => {
        if (error instanceof Revert || error instanceof RangeError) return undefined
        throw error
      },
    )
    this.terms.set(name, terms)
    return terms
  }

  private eventsWithDigest(block: CleanBlock, digest: string): Promise<readonly LandEvent[]> {
    const { logs } = block
    const middle = logs.length > 1 ? 1 : 0
    const answers = [[], logs.filter((_, at) => at !== middle)]
    const answer = answers.find((one) => logsDigest(one) === digest)
    if (!answer) throw new Error(`no node gave the logs that were applied of block ${block.number}`)
    return this.eventsOf(block, answer)
  }
}

/** The logs of these contracts in a block, as a node that hides none answers them. */
export function landLogsOf(block: Block, addresses: ReadonlySet<string>): readonly RawLog[] {
  return readLogsOfBlock(logsOf(block, { addresses, topics: [] }, true), block.hash, addresses)
}

function textOf(rows: MemoryRows): LandText {
  return new Map(
    EVENT_TABLES.flatMap((table) =>
      rows.rowsOf(table).map((row) => [rowName(table, row), rowText(table, row)] as const),
    ),
  )
}

/** Rows that note which of them were written or removed. */
class RecordingRows extends MemoryRows {
  /** By name: the text of each row that was written, undefined of each that was removed. */
  readonly changed = new Map<string, string | undefined>()

  override put<Table extends EventTable>(table: Table, row: EventRows[Table]): void {
    super.put(table, row)
    this.changed.set(rowName(table, row), rowText(table, row))
  }

  override remove<Table extends EventTable>(table: Table, row: EventRows[Table]): void {
    super.remove(table, row)
    this.changed.set(rowName(table, row), undefined)
  }
}
