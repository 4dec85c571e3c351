import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction } from '../../db/transaction.ts'
import {
  canFollow,
  type KnownChain,
  PositionMovedError,
  readChainPosition,
  readPositionRow,
  releaseLease,
  takeLease,
} from '../../land/changes/chain-position.ts'
import { followChain } from '../../land/changes/chain-step.ts'
import type { ApplyEvent } from '../../land/changes/changes.ts'
import { applyEvent } from '../../land/events/apply-event.ts'
import type { RuleContext } from '../../land/events/rule-context.ts'
import { hasEnded } from './holder.ts'
import type { ChainStep, LandWriter, Lead } from './land-writer.ts'

/** How long other processes wait after the last sign of the one that leads. */
export const LEASE_MS = 90_000
/**
 * How often the lease is renewed where nothing is new, so that a poll costs no statement. Longer than the time between two blocks of
 * mainnet, as each step renews it, too.
 */
const RENEW_AFTER_MS = 30_000

export interface DatabaseWriterOptions {
  readonly db: Db
  readonly clock: Clock
  /** Names this process. */
  readonly holder: string
  readonly context: RuleContext
  /** Chain, contracts and rules of this process: no other world is followed. */
  readonly known: KnownChain
  /** What other processes are shown of this one: see status-reader.ts. */
  readonly status: () => string
  /** Milliseconds that pass evenly. */
  readonly steadyMs: () => number
}

/** The tables of the land, as the follower changes them: each step is one transaction. */
export class DatabaseWriter implements LandWriter {
  private readonly options: DatabaseWriterOptions
  private last: { readonly status: string; readonly atMs: number } | undefined

  constructor(options: DatabaseWriterOptions) {
    this.options = options
  }

  readonly lead = async (): Promise<Lead> => {
    const { db, clock, holder, known, steadyMs } = this.options
    const status = this.options.status()
    if (this.last?.status === status && this.isRecent()) return 'leads'
    this.last = undefined
    const request = { holder, nowMs: clock.nowMs(), leaseMs: LEASE_MS, status, known }
    let { kind } = await takeLease(db, request)
    if (kind === 'waits' && (await this.releaseDeadHolder())) kind = (await takeLease(db, request)).kind
    if (kind === 'leads') this.last = { status, atMs: steadyMs() }
    return kind
  }

  /** A new status waits for the next step: the head that it names is shown when the blocks of this step are stored. */
  readonly renew = async (): Promise<Lead> => (this.isRecent() ? 'leads' : this.lead())

  private isRecent(): boolean {
    return this.last !== undefined && this.options.steadyMs() - this.last.atMs < RENEW_AFTER_MS
  }

  readonly readPosition: LandWriter['readPosition'] = async () => {
    const position = await readChainPosition(this.options.db)
    if (position && !canFollow(position, this.options.known)) {
      this.last = undefined
      return undefined
    }
    if (position && position.holder !== this.options.holder) {
      this.last = undefined
      throw new PositionMovedError('another leader', `${position.holder} leads`)
    }
    return position
  }

  readonly readNewest: LandWriter['readNewest'] = async () => {
    const position = await readPositionRow(this.options.db)
    return position && canFollow(position, this.options.known) ? position.newest : undefined
  }

  readonly commit = async (step: ChainStep): Promise<void> => {
    const { db, clock, context, steadyMs, holder } = this.options
    const apply: ApplyEvent = (rows, event) => applyEvent(rows, event, context)
    const [nowMs, atMs] = [clock.nowMs(), steadyMs()]
    // The lease is in the row that each step writes: the next poll need not renew it for the head that the status names.
    const status = this.options.status()
    const lease = { holder, untilMs: nowMs + LEASE_MS, status }
    this.last = undefined // not known until the transaction has ended
    await inTransaction(db, (tx) => followChain(tx, { ...step, lease }, { nowMs, apply }))
    this.last = { status, atMs }
  }

  /** A process of this machine that was killed cannot release its lease. */
  private async releaseDeadHolder(): Promise<boolean> {
    const { db } = this.options
    const holder = (await readPositionRow(db))?.holder
    if (holder === undefined || !hasEnded(holder)) return false
    await releaseLease(db, holder)
    return true
  }

  /** Lets another process take over at once. The status is stored once more: it may say why this process ends. */
  async release(): Promise<void> {
    const { db, holder, status } = this.options
    this.last = undefined
    await releaseLease(db, holder, status())
  }
}
