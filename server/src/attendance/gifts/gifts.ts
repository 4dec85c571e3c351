import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../clock.ts'
import { FailedEvents } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError } from '../../errors.ts'
import { hasFreeCode } from '../claims/claim-queries.ts'
import { insertClaims, type NewClaim } from '../claims/reserve-queries.ts'
import type { CodeCountCache } from '../events/code-count-cache.ts'
import { countCodes, type Event, findEvent } from '../events/event-queries.ts'
import { assertOwnEvent, notMadeHere } from '../issuers/own/own-event-ids.ts'
import type { PreparedToken } from '../issuers/own/tokens/token-queries.ts'
import { badLine, readAddressList } from './address-list.ts'
import {
  addGifts,
  blockedOf,
  countGifts,
  endGifts,
  type GivingEvent,
  lockGivingEvent,
  nextGifts,
  waitingGiftEvents,
  withToken,
} from './gift-queries.ts'

/** Tokens that are signed and stored in one piece: it takes some 10 ms. */
const BATCH = 20

export interface GiftsOptions {
  readonly db: Db
  readonly clock: Clock
  /** Who makes events here: where that is not anyone, the operator decides who may give tokens. */
  readonly who: 'anyone' | 'approved' | 'operator' | 'nobody'
  /** The signed token of an address, to which the organiser gives it. */
  readonly prepareToken: (event: Event, address: string) => Promise<PreparedToken | undefined>
  readonly codeCounts: Pick<CodeCountCache, 'forget'>
  /** Called for each token that is stored. */
  readonly onMinted: () => void
  /** The report of the event counts again. */
  readonly forgetReport: (eventId: number) => void
  readonly log: { warn(facts: object, sentence: string): void }
}

/** What became of a list. */
export interface GivenList {
  /** Different addresses of the list. */
  readonly addresses: number
  /** How many of them get a token now; those of an earlier list that wait still are not among them. */
  readonly accepted: number
  /** Those that have a token of the event already and keep it, in lower case. */
  readonly had: readonly string[]
}

/**
 * Gives tokens to lists of addresses, as an organiser wants. A list is stored as a whole, or not at all. Its tokens are made in
 * the background, some at a time, like those of claims: each takes a place and is the only one of its address. The list of what
 * waits is in the database, so any process goes on with it after a kill.
 */
export class Gifts {
  private readonly options: GiftsOptions
  private isWanted = false
  private isClosed = false
  private running: Promise<void> | undefined
  constructor(options: GiftsOptions) {
    this.options = options
  }

  /**
   * Takes a list: the addresses without a token of the event get one soon.
   *
   * @param list see {@link readAddressList}
   * @throws {AppError} `event_not_found` for an event that was not made here, `invalid_parameter` with the number of a bad line,
   * `gifts_not_allowed`, `event_refused`, `event_cancelled`, `no_codes_loaded`; `no_codes_left` where the tokens do not suffice. Then nothing is given
   */
  async give(
    event: Event,
    list: string,
    { isOperator }: { readonly isOperator: boolean },
  ): Promise<GivenList> {
    const { db, forgetReport } = this.options
    const { event_id: eventId } = event
    assertOwnEvent(eventId)
    const lines = readAddressList(list)
    const addresses = lines.map(({ address }) => address)
    const taken = await inTransaction(db, async (tx) => {
      const made = await lockGivingEvent(tx, eventId)
      if (!made) throw notMadeHere()
      this.assertMayGive(made, isOperator)
      const blocked = await blockedOf(tx, eventId, addresses)
      const bad = lines.find(({ address }) => blocked.has(address))
      if (bad) throw badLine(bad.line, 'blocked')
      const known = await withToken(tx, eventId, addresses)
      const accepted = await addGifts(
        tx,
        eventId,
        addresses.filter((address) => !known.has(address)),
      )
      const { waiting = 0 } = (await countGifts(tx, eventId)) ?? {}
      const { free } = await countCodes(tx, eventId)
      if (accepted > 0 && waiting > free) throw tooFewTokens(waiting, free)
      return { addresses: lines.length, accepted, had: addresses.filter((address) => known.has(address)) }
    })
    forgetReport(eventId)
    this.wake()
    return taken
  }

  /** Whether the organiser of an event may give tokens, and how many were given; null for an event that was not made here. */
  async count(eventId: number) {
    const counts = await countGifts(this.options.db, eventId)
    if (!counts) return null
    const { approval, is_cancelled, waiting, given } = counts
    return { allowed: approval === 'approved' && !is_cancelled && this.isAllowed(counts), waiting, given }
  }

  /** Begins to make the tokens that wait, unless this process makes them already. */
  wake(): void {
    this.isWanted = true
    this.running ??= this.makeWanted().finally(() => {
      this.running = undefined
    })
  }

  /** Ends after the tokens that are being made; other processes make the rest. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.running
  }

  private isAllowed({ may_give }: Pick<GivingEvent, 'may_give'>): boolean {
    return this.options.who === 'anyone' || may_give
  }

  /** @throws {AppError} `event_refused`, `no_codes_loaded`, `event_cancelled`, `gifts_not_allowed` */
  private assertMayGive(made: GivingEvent, isOperator: boolean): void {
    if (made.approval === 'refused')
      throw new AppError(
        'event_refused',
        'The operator of this server has refused this event, so it gives out no tokens. Ask the operator, then send the list again.',
      )
    if (made.approval === 'waiting')
      throw new AppError(
        'no_codes_loaded',
        'The operator of this server has not approved this event yet. Wait for the approval, then send the list again.',
      )
    if (made.is_cancelled)
      throw new AppError(
        'event_cancelled',
        'This event is cancelled, so it gives out no tokens. Let it take place again, then send the list again.',
      )
    if (isOperator || this.isAllowed(made)) return
    throw new AppError(
      'gifts_not_allowed',
      'The operator of this server has not allowed tokens for a list at this event. Ask the operator, then send the list again.',
    )
  }

  private async makeWanted(): Promise<void> {
    const { db, forgetReport, log } = this.options
    try {
      while (this.isWanted && !this.isClosed) {
        this.isWanted = false
        const failed = new FailedEvents()
        for (const eventId of await waitingGiftEvents(db))
          await failed.try(eventId, async () => {
            // Players of a list may have claimed meanwhile, perhaps the last token
            if ((await endGifts(db, eventId)) > 0) forgetReport(eventId)
            if (await hasFreeCode(db, eventId)) await this.makeAllOf(eventId)
          })
        failed.throwFirst()
      }
    } catch (err) {
      log.warn({ err }, 'tokens for a list of addresses could not be made; that will be tried again')
    }
  }

  private async makeAllOf(eventId: number): Promise<void> {
    const { db, codeCounts, forgetReport } = this.options
    const event = await findEvent(db, { eventId })
    while (event && !this.isClosed) {
      const addresses = await nextGifts(db, eventId, BATCH)
      await this.makeSome(event, addresses)
      const ended = await endGifts(db, eventId, addresses)
      if (ended === 0) return // none waits, or no place is free: a later call goes on
      codeCounts.forget(eventId)
      forgetReport(eventId)
      await setImmediate()
    }
  }

  /** Makes claims for the addresses. */
  private async makeSome(event: Event, addresses: readonly string[]): Promise<void> {
    const { db, clock, prepareToken, onMinted } = this.options
    if (addresses.length === 0) return
    const { event_id: eventId } = event
    const nowMs = clock.nowMs()
    const claims: NewClaim[] = []
    for (const address of addresses) {
      const token = await prepareToken(event, address)
      claims.push({ eventId, address, nowMs, nextStepAtMs: nowMs, token })
    }
    const insertions = await insertClaims(
      db,
      eventId,
      claims.map((claim) => ({ claim, request: undefined })),
      { wait: false },
    )
    for (const { made } of insertions) if (made?.state === 'minted') onMinted()
  }
}

function tooFewTokens(waiting: number, free: number): AppError {
  return new AppError(
    'no_codes_left',
    `The list needs ${waiting} tokens with those that wait, and ${free} are left. Raise the number of tokens, then send it again.`,
    { needed: waiting, free },
  )
}
