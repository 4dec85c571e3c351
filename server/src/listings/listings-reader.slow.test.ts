import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type MarketplaceSimulator,
  startMarketplaceSimulator,
} from '@landpass/simulators/listings/marketplace-simulator'
import { ethers } from 'ethers'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  describeOnBothEngines,
  describeOnOneEngine,
  emptyDir,
  type OpenEngine,
} from '../../test/support/database/engines.ts'
import {
  CONTRACTS,
  OfferStory,
  OWNED,
  RENTALS,
  SELLER,
  STRANGER,
  V1,
  V3,
} from '../../test/support/listings/offer-story.ts'
import { RateLimiter } from '../chain/rpc/rate-limiter.ts'
import type { Timing } from '../chain/rpc/timing.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../clock.ts'
import { readListingsStatus } from '../land/changes/listings-reading.ts'
import { readUnlistedOffers } from '../land/changes/unlisted-offers.ts'
import type { LandFact } from '../land/events/land-event.ts'
import { signedOffersOf } from '../land/queries/signed-offer-queries.ts'
import { exportSnapshot } from '../land/snapshot/export.ts'
import { hideAbandonedOffers, ListingsReader, type ListingsReaderOptions } from './listings-reader.ts'
import { MarketplaceServer } from './marketplace-server.ts'
import type { OfferFeed } from './offer-feed.ts'
import { RentalsServer } from './rentals-server.ts'
import { ServerClient } from './server-client.ts'
import { parseTrade } from './signed-trade.ts'
import { domainSeparator, tradeDigest } from './trade-digest.ts'

/** Time that passes when something waits, and not otherwise. */
class SteppedTiming implements Timing {
  private time = 1_000
  readonly nowMs = () => this.time
  readonly pause = async (ms: number) => {
    this.time += ms
  }
  /** Deadlines of calls pass at once, where a test says so. */
  isLate = false
  readonly startTimer = (_ms: number, callback: () => void) => {
    if (this.isLate) setImmediate(callback)
    return () => undefined
  }
}

type ReaderOptions = Partial<Pick<ListingsReaderOptions, 'isShown' | 'callContract'>>

class Story extends OfferStory {
  readonly timing = new SteppedTiming()
  readonly logged: string[] = []

  reader(options: ReaderOptions = {}): ListingsReader {
    return this.readerOf((client) => new MarketplaceServer(client, CONTRACTS), options)
  }

  rentalsReader(options: ReaderOptions = {}): ListingsReader {
    return this.readerOf((client) => new RentalsServer(client, RENTALS), options)
  }

  private readerOf(
    feedOf: (client: ServerClient) => OfferFeed,
    { isShown = true, callContract }: ReaderOptions,
  ): ListingsReader {
    const { db, clock, timing, logged } = this
    const { signal } = new AbortController()
    const url = `${this.marketplace.address}/?key=secret-key`
    const limiter = new RateLimiter({
      ...{ maxInFlight: 1, callsPerSecond: 1_000, timing, signal, random: Math.random },
    })
    const client = new ServerClient({ what: 'marketplace server', url, limiter, timing, signal })
    return new ListingsReader({
      ...{ db, clock, timing, signal, isShown, callContract, intervalMs: MINUTE_MS },
      feed: feedOf(client),
      log: { error: (facts, text) => logged.push(text, String((facts as { err: Error }).err)) },
    })
  }

  async states(): Promise<Readonly<Record<string, string | null>>> {
    const rows = await this.db.selectFrom('signed_trade').select(['id', 'state']).orderBy('id').execute()
    return Object.fromEntries(rows.map(({ id, state }) => [id, state]))
  }

  /** The trades that are publications of the world that is shown. */
  async shown(): Promise<readonly (string | null)[]> {
    const { world_id } = await this.db.selectFrom('land_state').select('world_id').executeTakeFirstOrThrow()
    const rows = await this.db
      .selectFrom('publication')
      .select('trade_id')
      .where('world_id', '=', world_id!)
      .where('trade_id', 'is not', null)
      .orderBy('trade_id')
      .execute()
    return rows.map(({ trade_id }) => trade_id)
  }

  async revision(): Promise<number> {
    return (await this.db.selectFrom('land_state').select('revision').executeTakeFirstOrThrow()).revision
  }
}

let marketplace: MarketplaceSimulator
beforeAll(async () => {
  marketplace = await startMarketplaceSimulator({ host: '127.0.0.1', port: 0 })
})
afterAll(() => marketplace.close())

/** No offers yet, and the tiny world as a chain has it, with a parcel of the seller. */
async function beginStory(open: OpenEngine): Promise<Story> {
  const { db } = await open()
  await db.deleteFrom('signed_trade').execute()
  await db.deleteFrom('listings_reading').execute()
  marketplace.trades.clear()
  marketplace.rentals.clear()
  marketplace.requests.length = 0
  marketplace.faults = {}
  const story = new Story(db, marketplace)
  await story.newWorld()
  return story
}

describeOnBothEngines('offers of a marketplace server', (open) => {
  let story: Story
  beforeEach(async () => {
    story = await beginStory(open)
  })

  test('are publications while they can be accepted, and come back where a block is undone', async () => {
    story.offer('mana')
    story.offer('dollars', { inDollars: true })
    story.offer('digest', { marketplace: V3 })
    await story.reader().step()

    expect(await story.states()).toEqual({ digest: 'not_approved', dollars: 'open', mana: 'open' })
    expect(await story.shown()).toEqual(['mana'])

    await story.block([await story.cancelled('mana', STRANGER)])
    expect(await story.shown()).toEqual(['mana'])
    const before = await story.revision()
    await story.block([await story.cancelled('mana', SELLER)])
    expect([await story.shown(), (await story.states()).mana]).toEqual([[], 'cancelled'])
    expect(await story.revision()).toBe(before + 1)

    // Another block takes its place, and then that one's, too
    await story.block([], 1)
    expect([await story.shown(), (await story.states()).mana]).toEqual([['mana'], 'open'])
    await story.block([{ ...OWNED, to: STRANGER }])
    expect((await story.states()).mana).toBe('owner_changed')
    await story.block([{ kind: 'marketplace-paused', marketplace: V1, isPaused: true }], 1)
    expect(await story.states()).toMatchObject({ mana: 'paused', dollars: 'paused', digest: 'not_approved' })
    await story.block([{ kind: 'signature-index-raised', marketplace: V1, signer: null, index: 3n }], 1)
    expect(await story.states()).toMatchObject({ mana: 'cancelled', dollars: 'cancelled' })
    await story.block([], 1)
    expect(await story.shown()).toEqual(['mana'])
  })

  test('are stored while a cancellation is known that is undone later', async () => {
    story.offer('late')
    const { signature } = marketplace.trades.get('late') as unknown as { signature: string }
    const signatureKey = ethers.keccak256(signature)
    await story.block([{ kind: 'signature-cancelled', marketplace: V1, by: SELLER, signatureKey }])
    await story.reader().step()
    expect([await story.shown(), await story.states()]).toEqual([[], { late: 'cancelled' }])
    await story.block([], 1)
    expect([await story.shown(), await story.states()]).toEqual([['late'], { late: 'open' }])
  })

  test('are in no export, which is the same with them and without', async () => {
    const filesOf = async () => {
      const folder = join(emptyDir(), 'world')
      await exportSnapshot(story.db, folder)
      return readdirSync(folder)
        .filter((name) => name !== 'manifest.json')
        .map((name) => [name, readFileSync(join(folder, name), 'latin1')])
    }
    const before = await filesOf()
    story.offer('mana')
    await story.reader().step()
    expect(await story.shown()).toEqual(['mana'])
    expect(await filesOf()).toEqual(before)
  })

  test('are judged anew in another world, and are hidden where a setting says so', async () => {
    story.offer('mana')
    const reader = story.reader()
    await reader.step()
    await story.newWorld()
    expect(await story.shown()).toEqual([])
    await reader.step()
    expect(await story.shown()).toEqual(['mana'])
    await story.reader({ isShown: false }).step() // It waits: another one reads.
    expect(await story.shown()).toEqual(['mana'])
    story.clock.set(story.clock.nowMs() + MINUTE_MS)
    await story.reader({ isShown: false }).step()
    expect([await story.shown(), await story.states()]).toEqual([[], { mana: 'open' }])
  })
})

describeOnBothEngines('offers of a rentals server', (open) => {
  const asset = { type: 'parcel', id: '-2,-2' } as const

  test('are in the state while they can be accepted: not private, changed or cancelled ones', async () => {
    const story = await beginStory(open)
    await story.block([
      { ...OWNED, asset },
      {
        kind: 'approval-for-all-set',
        registry: 'parcel',
        owner: SELLER,
        operator: RENTALS.rentals,
        isApproved: true,
      },
    ])
    story.offerRent('open')
    story.offerRent('private', { target: STRANGER })
    story.offerRent('later', { indexes: [0, 0, 1] })
    story.offerRent('changed')
    marketplace.rentals.set('changed', {
      ...marketplace.rentals.get('open')!,
      id: 'changed',
      lessor: STRANGER,
    })
    marketplace.rentals.set('unfit', { ...marketplace.rentals.get('open')!, id: 'no\0id' })
    marketplace.faults = { most_rows: 2, total_is_off_by: 50 }
    await story.rentalsReader().step()
    const shown = async () => {
      const { world_id } = await story.db
        .selectFrom('land_state')
        .select('world_id')
        .executeTakeFirstOrThrow()
      return (await readUnlistedOffers(story.db, world_id!)).map(({ price, periods }) => [
        price,
        periods.length,
      ])
    }

    expect(await story.states()).toEqual({ changed: 'bad_signature', later: 'cancelled', open: 'open' })
    expect([await shown(), await story.shown()]).toEqual([[['15', 2]], []])
    const before = await story.revision()
    const raised = {
      kind: 'asset-index-raised',
      marketplace: RENTALS.rentals,
      signer: SELLER,
      asset,
    } as const
    await story.block([{ ...raised, index: 1n }])
    expect(await story.states()).toMatchObject({ later: 'open', open: 'cancelled' })
    expect(await story.revision()).toBe(before + 1)
    await story.block([{ ...raised, index: 2n }], 1)
    expect([await shown(), await story.states()]).toEqual([
      [],
      { changed: 'bad_signature', later: 'cancelled', open: 'cancelled' },
    ])
    await story.block([], 1)
    expect(await shown()).toEqual([['15', 2]])
    expect(await readListingsStatus(story.db, 'rentals', story.clock.nowMs())).toMatchObject({
      ...{ state: 'following', offers: 3, open: 1 },
    })
    await story.reader().step()
    expect(await story.states()).toMatchObject({ open: 'open' })
  })

  test('open when a rent is over, without another log', async () => {
    const story = await beginStory(open)
    const rented: LandFact = {
      ...{ kind: 'asset-rented', asset, lessor: SELLER, tenant: STRANGER, days: 1, isExtension: false },
    }
    await story.block([{ ...OWNED, asset, to: RENTALS.rentals }, rented])
    story.offerRent('next')
    const reader = story.rentalsReader()
    await reader.step()
    expect(await story.states()).toEqual({ next: 'owner_changed' })
    story.clock.set(story.clock.nowMs() + DAY_MS)
    await reader.step()
    expect(await story.states()).toEqual({ next: 'owner_changed' })
    story.clock.set(story.clock.nowMs() + 1)
    await reader.step()
    expect(await story.states()).toEqual({ next: 'open' })
  })
})

describeOnOneEngine('a reader of offers', (open) => {
  let story: Story
  beforeEach(async () => {
    story = await beginStory(open)
  })

  const status = () => readListingsStatus(story.db, 'listings', story.clock.nowMs())
  const asked = (path: string) => marketplace.requests.filter((url) => url.startsWith(path)).length

  /** Reads again, an interval later. */
  async function readAgain(reader: ListingsReader, afterMs = MINUTE_MS): Promise<void> {
    await story.timing.pause(afterMs)
    story.clock.set(story.clock.nowMs() + afterMs)
    await reader.step()
  }

  test('reads pages of any size to their end, whatever total they name, and each trade once', async () => {
    for (let number = 0; number < 12; number++) story.offer(`offer-${number}`)
    marketplace.faults = { most_rows: 5, total_is_off_by: -11 }
    const reader = story.reader()
    await reader.step()
    expect(Object.keys(await story.states())).toHaveLength(12)
    expect([asked('/v1/trades/'), reader.counts.trades]).toEqual([12, 12])

    marketplace.faults = { most_rows: 5, total_is_off_by: 1_000, in_milliseconds: true }
    story.offer('new')
    await reader.step() // The interval is not over.
    await readAgain(reader)
    expect([asked('/v1/trades/'), reader.counts.trades]).toEqual([13, 13])
    expect(await status()).toEqual({
      ...{
        state: 'following',
        readAtMs: story.clock.nowMs(),
        offers: 13,
        open: 13,
        isShown: true,
        reason: null,
      },
    })
  })

  test('takes nothing that was not signed, and what is right later', async () => {
    story.offer('true')
    story.offer('changed')
    story.offer('private', { allowedRoot: `0x${'01'.repeat(32)}` })
    story.offer('elsewhere', { marketplace: STRANGER })
    story.offer('endless', { uses: 0 })
    const changed = marketplace.trades.get('changed')!
    marketplace.faults = {
      price: '1',
      lies: {
        changed: { ...changed, received: [{ ...changed.received[0], amount: '1' }] },
      },
    }
    const reader = story.reader()
    await reader.step()
    expect(await story.states()).toEqual({ changed: 'bad_signature', endless: 'open', true: 'open' })
    const { price } = await story.db
      .selectFrom('publication')
      .select('price')
      .where('trade_id', '=', 'true')
      .executeTakeFirstOrThrow()
    expect(price).toBe('5')

    marketplace.faults = {}
    await readAgain(reader)
    expect(asked('/v1/trades/')).toBe(5)
    await readAgain(reader, HOUR_MS)
    expect(await story.states()).toEqual({ changed: 'open', endless: 'open', true: 'open' })
  })

  test('keeps an offer that a list leaves out for a day', async () => {
    story.offer('named')
    story.offer('left-out')
    const reader = story.reader()
    await reader.step()
    marketplace.faults = { left_out: ['left-out'] }
    await readAgain(reader, DAY_MS)
    expect(await story.shown()).toEqual(['left-out', 'named'])
    marketplace.faults = { refusal: { status: 500 } }
    await readAgain(reader, DAY_MS)
    expect(await story.shown()).toEqual(['left-out', 'named'])
    marketplace.faults = { left_out: ['left-out'] }
    await readAgain(reader, DAY_MS)
    expect(await story.states()).toEqual({ 'left-out': 'unseen', named: 'open' })
    marketplace.faults = {}
    await readAgain(reader)
    expect(await story.shown()).toEqual(['left-out', 'named'])
  })

  test('opens and ends offers at their times', async () => {
    const nowMs = story.clock.nowMs()
    story.offer('short', { expiration: nowMs + HOUR_MS })
    story.offer('later', { effective: nowMs + HOUR_MS })
    const reader = story.reader()
    await reader.step()
    expect([await story.shown(), (await story.states()).later]).toEqual([['short'], 'not_yet'])
    await readAgain(reader, HOUR_MS)
    expect([await story.shown(), (await story.states()).short]).toEqual([['later'], 'expired'])
    await readAgain(reader, 30 * DAY_MS - HOUR_MS)
    expect(await story.states()).toEqual({ later: 'expired', short: 'expired' })
    await readAgain(reader, 31 * DAY_MS)
    expect(await story.states()).toEqual({})
  })

  test('opens and ends offers between two readings, and follows another world during one', async () => {
    const nowMs = story.clock.nowMs()
    story.offer('short', { expiration: nowMs + SECOND_MS })
    story.offer('later', { effective: nowMs + SECOND_MS })
    const reader = story.reader()
    await reader.step()
    story.clock.set(nowMs + SECOND_MS)
    await reader.step()
    expect([await story.shown(), asked('/v1/trades/')]).toEqual([['later'], 2])

    for (const id of ['one', 'two']) story.offer(id)
    marketplace.onTrade = async (id) => {
      if (id !== 'one') return
      await story.newWorld()
      await story.timing.pause(20 * SECOND_MS)
    }
    await readAgain(reader)
    marketplace.onTrade = async () => undefined
    expect(await story.shown()).toEqual(['later', 'one', 'two'])
  })

  test('are hidden when no process reads them any more', async () => {
    story.offer('mana')
    await story.reader().step()
    const pauses: (readonly (string | null)[])[] = []
    const pause = async (ms: number) => {
      pauses.push(await story.shown())
      story.clock.set(story.clock.nowMs() + ms)
    }
    const { signal } = new AbortController()
    await hideAbandonedOffers({
      name: 'listings',
      db: story.db,
      clock: story.clock,
      timing: { ...story.timing, pause },
      signal,
    })
    expect([pauses, await story.shown()]).toEqual([[['mana']], []])
  })

  test('stores a hundred offers of one asset at most', async () => {
    for (let number = 0; number < 105; number++) story.offer(`offer-${number}`)
    const reader = story.reader()
    await reader.step()
    expect(await status()).toMatchObject({ offers: 100, open: 100 })
    await readAgain(reader)
    expect(await status()).toMatchObject({ state: 'following', offers: 100 })
    expect(asked('/v1/trades/')).toBe(105)
  })

  test('waits longer with each failure, and as long as the server asks', async () => {
    marketplace.faults = { refusal: { status: 429, retry_after_s: 300 } }
    const reader = story.reader()
    await reader.step()
    expect(await status()).toMatchObject({
      state: 'failing',
      reason:
        'The offers are not read now, which is tried again: the marketplace server refuses requests for a while (429).',
    })
    await readAgain(reader, 290 * SECOND_MS)
    expect(marketplace.requests).toHaveLength(1)
    marketplace.faults = { html: true }
    await readAgain(reader, 10 * SECOND_MS)
    expect((await status()).reason).toContain('answered something else than JSON')
    // Twice the interval now
    await readAgain(reader, MINUTE_MS)
    expect(marketplace.requests).toHaveLength(2)
    marketplace.faults = {}
    await readAgain(reader, MINUTE_MS)
    expect((await status()).state).toBe('following')
  })

  test('takes one of several trades with the same signature, which counts as named by any of their ids', async () => {
    story.offer('first')
    const reader = story.reader()
    await reader.step()
    const again = ['second', 'third']
    for (const id of again) marketplace.trades.set(id, { ...marketplace.trades.get('first')!, id })
    marketplace.trades.delete('first')
    await readAgain(reader, 2 * DAY_MS)
    await readAgain(reader)
    expect([await story.shown(), await story.states()]).toEqual([['first'], { first: 'open' }])
  })

  test('counts only offers of an asset that may still be open, and answers open ones first', async () => {
    const asset = { type: 'parcel', id: '1,1' } as const
    const reader = story.reader()
    for (let number = 0; number < 105; number++)
      story.offer(`short-${number}`, { expiration: story.clock.nowMs() + 2 * HOUR_MS })
    await reader.step()
    marketplace.trades.clear()
    story.offer('good', { createdAt: 1_000 })
    await readAgain(reader, 3 * HOUR_MS)
    const world = await story.db.selectFrom('land_state').select('world_id').executeTakeFirstOrThrow()
    const offers = await signedOffersOf(story.db, world.world_id!, asset, 'listings')
    expect([offers.length, offers[0]?.id]).toEqual([100, 'good'])
    expect(await signedOffersOf(story.db, world.world_id! + 1, asset, 'listings')).toEqual([])
  })

  test('asks wallets that are contracts whether they signed, again and again, and says where no node was asked', async () => {
    const wallet = `0x${'cc'.repeat(20)}`
    const signature = `0x${'5a'.repeat(100)}`
    const parcel = { type: 'parcel', id: '-2,-2' } as const
    await story.block([
      { ...OWNED, to: wallet },
      { kind: 'operator-set', asset: OWNED.asset, operator: V1 },
      { ...OWNED, asset: parcel, to: wallet },
      { kind: 'operator-set', asset: parcel, operator: RENTALS.rentals },
    ])
    story.offer('sale')
    story.offerRent('rent')
    const sale = { ...marketplace.trades.get('sale')!, signer: wallet, signature }
    const rent = { ...marketplace.rentals.get('rent')!, lessor: wallet, signature }
    marketplace.trades.set('sale', sale)
    marketplace.rentals.set('rent', rent)
    const reasonOf = async (id: string) =>
      (await story.db.selectFrom('signed_trade').selectAll().where('id', '=', id).executeTakeFirst())
        ?.state_reason
    await story.reader().step()
    expect([await story.states(), await reasonOf('sale')]).toEqual([
      { sale: 'bad_signature' },
      expect.stringContaining('a node must be asked'),
    ])

    let answer: string | undefined = `0x1626ba7e${'00'.repeat(28)}`
    const asked: string[] = []
    const callContract = async (to: string, data: string) => {
      asked.push(`${to} ${data}`)
      if (answer === undefined) throw new Error('no node answers')
      return answer
    }
    const readers = [story.reader({ callContract }), story.rentalsReader({ callContract })]
    const steps = async (afterMs: number) => {
      await story.timing.pause(afterMs)
      story.clock.set(story.clock.nowMs() + afterMs)
      for (const reader of readers) await reader.step()
    }
    await steps(MINUTE_MS)
    expect(await story.states()).toEqual({ rent: 'open', sale: 'open' })
    expect(await story.shown()).toEqual(['sale'])
    const verifier = new ethers.Interface(['function isValidSignature(bytes32, bytes)'])
    const digest = tradeDigest(parseTrade(sale), domainSeparator({ chainId: 1, contract: V1 }))
    const call = verifier.encodeFunctionData('isValidSignature', [digest, signature])
    expect([asked[0], asked.length]).toEqual([`${wallet} ${call}`, 2])

    await steps(9 * MINUTE_MS)
    expect(asked).toHaveLength(2)
    answer = '0x'
    await steps(MINUTE_MS)
    expect(await story.states()).toEqual({ rent: 'bad_signature', sale: 'bad_signature' })
    expect([await story.shown(), await reasonOf('rent')]).toEqual([[], 'The signer did not sign this offer.'])
    expect(readers.every(({ counts }) => counts.badSignatures > 0)).toBe(true)

    answer = `0x1626ba7e${'00'.repeat(28)}`
    await steps(HOUR_MS)
    expect(await story.states()).toEqual({ rent: 'open', sale: 'open' })
    answer = undefined
    await steps(59 * MINUTE_MS)
    expect(await story.states()).toEqual({ rent: 'open', sale: 'open' })
    await steps(MINUTE_MS)
    expect([await story.states(), await reasonOf('rent')]).toEqual([
      { rent: 'bad_signature', sale: 'bad_signature' },
      expect.stringContaining('a node must be asked'),
    ])
  })

  test('leaves out new offers while it stores too many, and forgets those that are not named for a month', async () => {
    story.offer('known')
    const reader = story.reader()
    await reader.step()
    await sql`insert into signed_trade
      select 'filler-' || number, 'listings', '', '', '', '', '', false, 'parcel', '2,2', 'mana', 1, '', '1', '0', '0', null, null, 0,
        ${story.clock.nowMs() + 99 * DAY_MS}::bigint, 0, ${story.clock.nowMs()}::bigint, 'bad_signature', ''
      from generate_series(2, 100000) as number`.execute(story.db)
    story.offer('new')
    await readAgain(reader)
    expect(await status()).toMatchObject({
      ...{ state: 'following', offers: 100_000, open: 1 },
      reason: 'There are more than 100000 offers: new ones are left out.',
    })
    story.offer('newer', { expiration: story.clock.nowMs() + 99 * DAY_MS })
    await readAgain(reader, 31 * DAY_MS)
    expect(await status()).toMatchObject({ offers: 1, open: 1, reason: null })
    expect(await story.shown()).toEqual(['newer'])
  })

  test('judges many offers of one signer in one block', async () => {
    story.offer('sample')
    await story.reader().step()
    await sql`insert into signed_trade
      select 'copy-' || number, reading, '', marketplace, signer, 'hash ' || number, 'key ' || number, is_signed, asset_type,
        asset_id, currency, price, fingerprint, uses, contract_index, signer_index, asset_index, periods,
        effective_at_ms, expires_at_ms, created_at_ms, seen_at_ms, state, state_reason
      from signed_trade, generate_series(1, 600) as number`.execute(story.db)
    await story.block([{ ...OWNED, to: STRANGER }])
    expect(new Set(Object.values(await story.states()))).toEqual(new Set(['owner_changed']))
    expect((await status()).offers).toBe(601)
  })

  test('stores what it has read before the server refuses requests', async () => {
    for (const id of ['first', 'second', 'third']) story.offer(id)
    marketplace.faults = { trade_refusals: { third: { status: 429 } } }
    const reader = story.reader()
    await reader.step()
    expect([await story.shown(), (await status()).state]).toEqual([['first', 'second'], 'failing'])
    marketplace.faults = {}
    await readAgain(reader)
    expect(await story.shown()).toEqual(['first', 'second', 'third'])
    expect(asked('/v1/trades/')).toBe(4)
  })

  test('leaves out trades without a usable answer, and gives up after three in a row', async () => {
    for (const id of ['moved', 'large', 'good']) story.offer(id)
    const moved = { status: 302 }
    marketplace.faults = {
      trade_refusals: { moved },
      lies: { large: { ...marketplace.trades.get('large'), more: 'x'.repeat(128 * 1024) } },
    }
    const reader = story.reader()
    await reader.step()
    expect([await story.shown(), (await status()).state]).toEqual([['good'], 'following'])

    const ids = ['one', 'two', 'three', 'four']
    for (const id of ids) story.offer(id)
    marketplace.faults = { trade_refusals: Object.fromEntries(ids.map((id) => [id, moved])) }
    await readAgain(reader)
    expect((await status()).reason).toContain('redirect')
    expect(asked('/v1/trades/')).toBe(6)
  })

  test.each([
    [{ endless: true }, /names offers without end: 200 pages/],
    [{ refusal: { status: 302 } }, /redirect/],
    [{ refusal: { status: 500 } }, /status 500/],
  ])('is not held up by %o', async (faults, reason) => {
    marketplace.faults = faults
    await story.reader().step()
    const { state, reason: shown } = await status()
    expect([state, shown]).toEqual(['failing', expect.stringMatching(reason)])
    expect(`${shown} ${story.logged}`).not.toContain('secret-key')
  })

  test('ends with pages that repeat themselves, and at the deadline of an answer that never comes', async () => {
    for (let number = 0; number < 3; number++) story.offer(`offer-${number}`)
    marketplace.faults = { repeats_pages: true }
    const reader = story.reader()
    await reader.step()
    expect(await status()).toMatchObject({ state: 'following', offers: 3 })
    marketplace.faults = { hangs: true }
    story.timing.isLate = true
    await readAgain(reader)
    expect((await status()).reason).toContain('did not answer within 10 seconds')
  })

  test('reads nothing while another process reads, or the land does not come from a chain', async () => {
    story.offer('mana')
    const [one, other] = [story.reader(), story.reader()]
    await one.step()
    await other.step()
    expect(other.counts).toMatchObject({ readings: 0, failures: 0 })
    await story.db.deleteFrom('chain_position').execute()
    story.offer('second')
    await readAgain(one)
    expect((await status()).reason).toContain('the land does not come from the chain')
  })
})
