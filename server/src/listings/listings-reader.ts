import { HolderWatch, newHolder } from '../chain/follow/holder.ts'
import type { Timing } from '../chain/rpc/timing.ts'
import { type Clock, DAY_MS, HOUR_MS, SECOND_MS, withTimeLimit } from '../clock.ts'
import type { Db } from '../db/engine.ts'
import { type CallContract, isSignedByWallet } from '../ethereum/wallet-call.ts'
import { readChainPosition } from '../land/changes/chain-position.ts'
import {
  dropOldTrades,
  noteListings,
  noteSeen,
  type ReadingName,
  readListings,
  releaseListingsLease,
  takeListingsLease,
} from '../land/changes/listings-reading.ts'
import {
  beginJudging,
  judgeDueOffers,
  type NewSignedTrade,
  storeSignedTrades,
} from '../land/changes/signed-offers.ts'
import { dueWalletQuestions, forgetWalletAnswers, noteWalletAnswers } from '../land/changes/wallet-answers.ts'
import type { NamedOffer, OfferFeed } from './offer-feed.ts'
import { ListingsError } from './server-client.ts'
import { UnfitTradeError } from './signed-trade.ts'

/** Longer than a request, whose end renews it. */
const LEASE_MS = 30 * SECOND_MS
/** How often a process looks whether it is to read, and which world is shown. */
const LOOK_MS = 5 * SECOND_MS
/** After failures the pause is as many times longer at most. */
const MOST_INTERVALS = 10
/** How many new trades are stored together. */
const STORED_AT_ONCE = 500
/** How many trades are kept. */
const MAX_TRADES = 100_000
/** How long a trade is not read again that was not stored, or whose signature was wrong. */
const TRY_AGAIN_MS = HOUR_MS
/** How many of these are remembered. */
const MAX_TRIED = 50_000
const KEPT_MS = 30 * DAY_MS
/** Wallets that are asked together, each time this process looks what is to be done, and how long that may take. */
const WALLETS_AT_ONCE = 10
const WALLETS_MS = 10 * SECOND_MS

export interface ListingsReaderOptions {
  readonly db: Db
  readonly clock: Clock
  readonly feed: OfferFeed
  /** The pause between two readings. */
  readonly intervalMs: number
  /** Whether open offers are shown among the publications. */
  readonly isShown: boolean
  /** Asks wallets that are contracts whether they signed an offer; undefined without a node. */
  readonly callContract?: CallContract | undefined
  readonly timing: Timing
  readonly signal: AbortSignal
  readonly log: { error(facts: object, text: string): void }
}

/** Another process reads: this one stops in the middle, and nothing is lost by it. */
class LeaseLostError extends Error {}

/** What this process has done. */
export interface ListingsCounts {
  readings: number
  failures: number
  trades: number
  badSignatures: number
}

/**
 * Reads offers from a server: the list of open ones at an interval, and each new one once. One process of
 * a deployment does so. An offer is stored whole, with whether its signer signed it. All else that it is worth is judged by
 * what the chain said (land/changes/signed-offers.ts).
 */
export class ListingsReader {
  readonly counts: ListingsCounts = { readings: 0, failures: 0, trades: 0, badSignatures: 0 }
  readonly name: ReadingName
  private readonly options: ListingsReaderOptions
  private readonly holder = newHolder()
  private readonly watch = new HolderWatch()
  /** When trades were read. Those that are stored are not read again. */
  private readonly tried = new Map<string, number>()
  private failuresInRow = 0
  private nextReadingMs = Number.NEGATIVE_INFINITY
  private leaseUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: ListingsReaderOptions) {
    this.options = options
    this.name = options.feed.name
  }

  /** Reads until the signal is aborted. Never throws: what fails is tried again. */
  async run(): Promise<void> {
    const { db, timing, signal } = this.options
    while (!signal.aborted) {
      await this.step()
      await timing.pause(LOOK_MS, signal).catch(() => undefined)
    }
    await releaseListingsLease(db, this.name, this.holder).catch(() => undefined)
  }

  /** Does what is due: judges offers, and reads the list. */
  async step(): Promise<void> {
    const { timing, signal, log, intervalMs } = this.options
    try {
      if (!(await this.lead())) return
      await this.judgeDue()
      await this.askWallets()
      if (timing.nowMs() < this.nextReadingMs) return
      await this.readAll()
      this.failuresInRow = 0
      this.nextReadingMs = timing.nowMs() + intervalMs
      this.counts.readings += 1
    } catch (error) {
      if (signal.aborted || error instanceof LeaseLostError) return
      if (this.failuresInRow === 0)
        log.error({ err: error }, 'the offers cannot be read; this is tried again')
      this.failuresInRow += 1
      this.counts.failures += 1
      const asked = error instanceof ListingsError ? (error.retryAfterMs ?? 0) : 0
      const times = Math.min(2 ** (this.failuresInRow - 1), MOST_INTERVALS)
      this.nextReadingMs = timing.nowMs() + Math.max(intervalMs * times, asked)
      await this.noteFailure(error)
    }
  }

  /**
   * Takes or renews the lease. Where another world is shown than the one that offers are judged in, they are judged there from
   * now on.
   *
   * @returns whether this process reads, and a world is shown
   */
  private async lead(): Promise<boolean> {
    const { db, clock, timing, isShown } = this.options
    const lease = await takeListingsLease(db, {
      name: this.name,
      holder: this.holder,
      nowMs: clock.nowMs(),
      leaseMs: LEASE_MS,
      hasEnded: (holder) => this.watch.hasEnded(holder),
    })
    if (!lease.isHeld || lease.shownWorldId === null) return false
    this.leaseUntilMs = timing.nowMs() + LEASE_MS
    if (lease.judgedWorldId !== lease.shownWorldId || lease.isShown !== isShown)
      await beginJudging(db, { name: this.name, worldId: lease.shownWorldId, isShown })
    return true
  }

  /** Judges what is due by the clock, by a reading, or in another world. */
  private async judgeDue(): Promise<void> {
    const { db, clock } = this.options
    while (await judgeDueOffers(db, this.name, clock.nowMs())) await this.renewLease()
  }

  /** During a long reading: renews the lease in time, and judges what is due. */
  private async keepLease(): Promise<void> {
    if (await this.renewLease()) await this.judgeDue()
  }

  /** Renews the lease when a third of it is over. @returns whether it was renewed */
  private async renewLease(): Promise<boolean> {
    const { timing, signal } = this.options
    signal.throwIfAborted()
    if (this.leaseUntilMs - timing.nowMs() > (LEASE_MS * 2) / 3) return false
    if (!(await this.lead())) throw new LeaseLostError()
    return true
  }

  private async readAll(): Promise<void> {
    const { db, clock, feed } = this.options
    const { name } = this
    if (!(await readChainPosition(db)))
      throw new ListingsError('the land does not come from the chain, so offers cannot be judged')
    const startedAtMs = clock.nowMs()
    let room = MAX_TRADES - (await dropOldTrades(db, name, startedAtMs - KEPT_MS))
    let isFull = false
    for await (const offers of feed.openOffers()) {
      await this.keepLease()
      const ids = offers.map(({ id }) => id)
      const known = await noteSeen(db, name, ids, startedAtMs)
      const unknown = offers.filter(({ id }) => !known.has(id) && !this.wasTried(id))
      for (let from = 0; from < unknown.length && !isFull; from += STORED_AT_ONCE) {
        const part = unknown.slice(from, from + STORED_AT_ONCE)
        isFull = part.length > room
        if (!isFull) room -= await this.readOffers(part, startedAtMs)
      }
    }
    const reason = isFull ? `There are more than ${MAX_TRADES} offers: new ones are left out.` : null
    await noteListings(db, name, { read_at_ms: startedAtMs, state: 'following', reason })
    await this.judgeDue()
    await this.askWallets()
  }

  /** Asks some wallets that are due. One that no node answers for stays due. */
  private async askWallets(): Promise<void> {
    const { db, clock, callContract } = this.options
    const nowMs = clock.nowMs()
    const due = callContract ? await dueWalletQuestions(db, this.name, { nowMs, most: WALLETS_AT_ONCE }) : []
    const answers = await Promise.all(
      due.map(async ({ id, signer, wallet_call }) => {
        const ask = callContract!(signer, wallet_call).then(isSignedByWallet)
        const isSigned = await withTimeLimit(ask, WALLETS_MS, () => undefined).catch(() => undefined)
        if (isSigned === false) this.counts.badSignatures += 1
        return isSigned === undefined ? [] : [{ id, isSigned }]
      }),
    )
    await noteWalletAnswers(db, this.name, { nowMs, answers: answers.flat() })
    await forgetWalletAnswers(db, this.name, nowMs)
  }

  /** @returns how many were stored */
  private async readOffers(offers: readonly NamedOffer[], seenAtMs: number): Promise<number> {
    const { db, clock, feed } = this.options
    const trades: NewSignedTrade[] = []
    const done: string[] = []
    let stored: number | undefined
    try {
      for (const offer of offers) {
        await this.keepLease()
        const trade = this.rowOf(offer.id, await feed.read(offer), seenAtMs)
        if (trade) trades.push(trade)
        done.push(offer.id)
      }
    } finally {
      // Also where the reading ends here: what was read is not read again for an hour.
      stored = await storeSignedTrades(db, trades, { name: this.name, nowMs: clock.nowMs(), seenAtMs })
      if (stored !== undefined) for (const id of done) this.noteTried(id)
      this.counts.trades += stored ?? 0
    }
    return stored ?? 0
  }

  /** Undefined also for what does not have the form of an offer, or another name. */
  private rowOf(id: string, json: unknown, nowMs: number): NewSignedTrade | undefined {
    try {
      const row = this.options.feed.rowOf(json, nowMs)
      if (row?.id !== id) return undefined
      if (!row.is_signed && !this.options.callContract) this.counts.badSignatures += 1
      return row
    } catch (error) {
      if (error instanceof UnfitTradeError) return undefined
      throw error
    }
  }

  private noteTried(id: string): void {
    if (this.tried.size >= MAX_TRIED) this.tried.clear()
    this.tried.set(id, this.options.timing.nowMs())
  }

  private wasTried(id: string): boolean {
    const atMs = this.tried.get(id)
    return atMs !== undefined && this.options.timing.nowMs() - atMs < TRY_AGAIN_MS
  }

  private async noteFailure(error: unknown): Promise<void> {
    const reason =
      error instanceof ListingsError
        ? `The offers are not read now, which is tried again: ${error.message}.`
        : 'The offers are not read now, which is tried again: the server has a failure of its own, which is in its log.'
    await noteListings(this.options.db, this.name, { state: 'failing', reason }).catch(() => undefined)
  }
}

/**
 * Takes the offers out of the publications where no process reads them any more: nobody would see that the server has ended one.
 * Looks again until they are out: another process may read until its lease ends, and a database may accept no changes for a while.
 */
export async function hideAbandonedOffers({
  name,
  db,
  clock,
  timing,
  signal,
}: Pick<ListingsReaderOptions, 'db' | 'clock' | 'timing' | 'signal'> & {
  readonly name: ReadingName
}): Promise<void> {
  while (!signal.aborted && !(await areHidden(db, name, clock.nowMs()).catch(() => false)))
    await timing.pause(LEASE_MS, signal).catch(() => undefined)
}

/** @returns whether no offer is among the publications now */
async function areHidden(db: Db, name: ReadingName, nowMs: number): Promise<boolean> {
  const last = await readListings(db, name)
  if (!last || last.world_id === null) return true
  if (last.lease_until_ms > nowMs) return false
  if (last.is_shown) await beginJudging(db, { name, worldId: last.world_id, isShown: false })
  while (await judgeDueOffers(db, name, nowMs));
  return true
}
