import { type Coord, coordText, encodeTokenId } from '@landpass/client/grid'
import { HOUR_MS } from '@landpass/server/clock'
import type { LandFact } from '@landpass/server/land/events/land-event'
import { describeOnOneEngine, freshEngine } from '@landpass/server/test/support/database/engines'
import { EventReader } from '@landpass/server/test/support/http/event-reader'
import { type LandServer, startLandServer } from '@landpass/server/test/support/http/land-server'
import {
  CONTRACTS,
  OfferStory,
  OWNED,
  RENTALS,
  SELLER,
  STRANGER,
  V1,
  V3,
} from '@landpass/server/test/support/listings/offer-story'
import { startMarketplaceSimulator } from '@landpass/simulators/listings/marketplace-simulator'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** Two open offers of one parcel, and the one that stands for it: in each pair of sources and currencies. */
const PAIRS: readonly {
  readonly place: Coord
  readonly trades: readonly { readonly price: number; readonly inDollars: boolean }[]
  readonly orders: readonly number[]
  readonly shown: { readonly source: string; readonly currency: string; readonly price: string }
}[] = [
  { place: { x: 2, y: 0 }, trades: [mana(3)], orders: [4], shown: shown('trade', '3') },
  { place: { x: 2, y: -1 }, trades: [mana(4)], orders: [3], shown: shown('order', '3') },
  { place: { x: 2, y: -2 }, trades: [mana(7), mana(6)], orders: [], shown: shown('trade', '6') },
  { place: { x: 1, y: -1 }, trades: [dollars(1)], orders: [9], shown: shown('order', '9') },
  { place: { x: 1, y: -2 }, trades: [dollars(1), mana(9)], orders: [], shown: shown('trade', '9') },
  { place: { x: 0, y: -2 }, trades: [dollars(5), dollars(4)], orders: [], shown: shown('trade', null) },
  { place: { x: -1, y: -2 }, trades: [], orders: [8, 7], shown: shown('order', '7') },
]
const PAIR_TRADES = PAIRS.flatMap(({ trades }) => trades).length

function mana(price: number) {
  return { price, inDollars: false }
}

function dollars(price: number) {
  return { price, inDollars: true }
}

/** @param price in MANA; null: in dollars */
function shown(source: string, price: string | null) {
  return { source, currency: price === null ? 'usd' : 'mana', price: price ?? '0' }
}

/** Offers that are signed off the chain, as clients of a server see them. */
describeOnOneEngine('a server that reads signed offers', (open) => {
  const openOther = freshEngine('postgres')
  let story: OfferStory
  let server: LandServer
  let stop: () => Promise<void>
  beforeAll(async () => {
    const marketplace = await startMarketplaceSimulator({ host: '127.0.0.1', port: 0 })
    const engine = await open()
    story = new OfferStory(engine.db, marketplace)
    await story.newWorld()
    story.offer('mana')
    story.offer('dollars', { inDollars: true, amount: `99${'0'.repeat(18)}` })
    const tokenId = String(encodeTokenId({ x: -2, y: -2 }))
    story.offer('alone', { inDollars: true, amount: `99${'0'.repeat(18)}`, tokenId })
    story.offerRent('rent', { createdAt: story.clock.nowMs() - HOUR_MS / 2 })
    for (const { place, trades } of PAIRS)
      for (const [at, { price, inDollars }] of trades.entries())
        story.offer(`${coordText(place)}-${at}`.replace(',', '_'), {
          ...{ tokenId: String(encodeTokenId(place)), amount: `${price}${'0'.repeat(18)}`, inDollars },
        })
    const url = `${marketplace.address}?key=secret-key`
    const env = { LISTINGS_URL: url, RENTALS_URL: url, WORLD: '-2,-2,2,2' }
    const contracts = { tradeContracts: CONTRACTS, rentalContracts: RENTALS }
    server = await startLandServer(engine, story.clock, env, contracts)
    stop = async () => {
      await server.close()
      await marketplace.close()
    }
  })
  afterAll(() => stop())

  const openOfParcel = async () =>
    (await server.data<{ publication: Record<string, unknown> | null }>('/v1/parcels/1/1')).publication

  test('shows them in lists, columns, tiles, images and files, and says how far the readings are', async () => {
    await expect
      .poll(() => server.data('/v2/chain'), { interval: 100 })
      .toMatchObject({ listings: { state: 'following' }, rentals: { state: 'following' } })
    await server.app.keeper.refresh()
    const nowMs = story.clock.nowMs()
    const publication = await openOfParcel()
    expect(publication).toMatchObject({
      ...{ owner: SELLER, price: 5, status: 'open', block_number: 0, marketplace_address: V1 },
      ...{ source: 'trade', trade_id: 'mana', currency: 'mana', price_usd: null },
      ...{ state: 'open', state_reason: null, contract_id: publication?.tx_hash },
    })
    expect(await server.data(`/v1/publications/${publication?.tx_hash}`)).toEqual(publication)
    const list = await server.data<{ parcels: { publication: unknown }[] }>(
      '/v1/parcels?status=open&sort_by=price',
    )
    expect(list.parcels.map((parcel) => parcel.publication)).toContainEqual(publication)
    const tiles = await server.data<Record<string, unknown>>('/v2/tiles?x1=1&y1=1&x2=1&y2=1')
    expect(tiles['1,1']).toMatchObject({ price: 5 })
    expect((await server.ask('GET', '/v2/export/parcels.ndjson')).bytes.toString()).toMatch(
      /"1,1".*"price":5[,}]/,
    )

    expect(await server.data('/v2/chain')).toMatchObject({
      listings: {
        ...{ state: 'following', read_at: new Date(nowMs).toISOString(), offers: 3 + PAIR_TRADES, open: 2 },
        ...{ shown: true, reason: null },
      },
    })
    expect(await server.data('/health/ready')).toMatchObject({
      listings: { state: 'following', ageSeconds: 0 },
    })
    const metrics = (await server.ask('GET', '/metrics')).bytes.toString()
    expect(metrics).toContain('landpass_listings_open_offers 2')
    expect(metrics).toContain(`landpass_listings_trades_total ${3 + PAIR_TRADES}`)
    expect(metrics).not.toContain('secret-key')
  })

  test('answers offers on the chain as before, and says of all of one asset why they cannot be accepted', async () => {
    const offers = await server.data<Record<string, unknown>[]>('/v2/parcels/1/1/offers')
    expect(
      offers.map(({ trade_id, price, price_usd, state }) => ({ trade_id, price, price_usd, state })),
    ).toEqual([
      { trade_id: 'dollars', price: 0, price_usd: '99', state: 'open' },
      { trade_id: 'mana', price: 5, price_usd: null, state: 'open' },
    ])
    const asset = { type: 'parcel', id: '0,1' } as const
    const contractId = `0x${'0a'.repeat(32)}`
    const [priceWei, expiresAt] = [10n ** 18n, BigInt(story.clock.nowMs() + 1_000)]
    await story.block([
      {
        kind: 'listing-opened',
        asset,
        marketplace: STRANGER,
        contractId,
        seller: SELLER,
        priceWei,
        expiresAt,
      },
    ])
    await server.app.keeper.refresh()
    const onChain = await server.data<{ publication: object }>('/v1/parcels/0/1')
    expect(onChain.publication).not.toHaveProperty('state')
    expect(onChain.publication).not.toHaveProperty('source')
    const confirmed = await server.get('/v2/parcels/0/1/offers')
    const [first] = confirmed.body.data as object[]
    expect(first).toEqual({
      ...onChain.publication,
      ...{
        source: 'order',
        trade_id: null,
        currency: 'mana',
        price_usd: null,
        state: 'open',
        state_reason: null,
      },
    })
    for (const path of [
      'parcels/0/1/offers',
      'parcels/1/1/rental-offers',
      'orders',
      'trades/mana',
      'rentals-listings',
    ]) {
      const address = /offers$/.test(path) ? `/v2/${path}` : `/v1/${path}`
      const { headers } = await server.get(address)
      expect(headers.get('last-modified'), address).toBe(new Date(story.clock.nowMs()).toUTCString())
      expect((await server.get(address, { 'if-none-match': headers.get('etag')! })).status, address).toBe(304)
    }
    await story.block([{ kind: 'listing-cancelled', ...{ asset, marketplace: STRANGER, contractId } }])
    const etag = confirmed.headers.get('etag')!
    expect((await server.get('/v2/parcels/0/1/offers', { 'if-none-match': etag })).body.data).toEqual([])
    await story.block([], 1)
    await server.app.keeper.refresh()
  })

  test('finds land that is offered for dollars alone, without a price in MANA', async () => {
    const found = async (query: string) => {
      await server.app.keeper.refresh()
      return (await server.data<{ land: { asset_id: string; offer: object }[] }>(`/v2/land?${query}`)).land
    }
    const ids = async (query: string) => (await found(query)).map(({ asset_id }) => asset_id)
    expect(await ids('currency=usd')).toEqual([])
    await story.block([{ ...OWNED, asset: { type: 'parcel', id: '-2,-2' } }])

    const [row] = await found('status=open&currency=usd&source=trade')
    expect(row).toMatchObject({
      asset_id: '-2,-2',
      offer: { price: '0', currency: 'usd', price_usd: '99', expires_at: expect.any(Number) },
      price_per_parcel: null,
    })
    const feed = (await server.ask('GET', '/v2/land.atom?currency=usd')).bytes.toString()
    expect(feed).toMatch(/<id>[^<]*parcel=-2,-2#\d{13}<\/id>/)
    expect(await ids('status=open&sort_by=price')).toEqual(['0,1', '-2,-2'])
    expect(await ids('status=open&sort_by=listed_at')).toEqual(['0,1', '-2,-2'])
    expect(await ids('status=none')).not.toContain('-2,-2')
    expect(await ids('max_price=1000000000')).not.toContain('-2,-2')
    // Its price is not one of the prices of land that is for sale.
    const openAt = (place: string) => server.data(`/v2/stats?center=${place}&radius=0`)
    expect(await openAt('-2,-2')).toMatchObject({ groups: [{ open: { count: 0, floor: null } }] })
    expect(await openAt('0,1')).toMatchObject({ groups: [{ open: { count: 1 } }] })
    await story.block([], 1)
    expect(await ids('currency=usd')).toEqual([])
  })

  test('one offer stands for a parcel with two, in every answer that shows one', async () => {
    const expiresAt = BigInt(story.clock.nowMs() + 1_000)
    const facts = PAIRS.flatMap(({ place, orders }): LandFact[] => {
      const asset = { type: 'parcel', id: coordText(place) } as const
      const opened = orders.map(
        (price, at): LandFact => ({
          ...{ kind: 'listing-opened', asset, marketplace: `0x${`e${at}`.repeat(20)}`, seller: SELLER },
          ...{ contractId: `0x${`f${at}`.repeat(32)}`, priceWei: BigInt(price) * 10n ** 18n, expiresAt },
        }),
      )
      return [{ ...OWNED, asset }, ...opened]
    })
    await story.block(facts)
    await server.app.keeper.refresh()
    const { parcels } = await server.data<{ parcels: { x: number[]; y: number[]; price: number[] } }>(
      '/v2/offers',
    )
    for (const { place, shown, trades, orders } of PAIRS) {
      const { x, y } = place
      expect(await server.data(`/v2/parcels/${x}/${y}/offers`)).toHaveLength(trades.length + orders.length)
      const query = `center=${x},${y}&radius=0&status=open&asset_type=parcel`
      expect(await server.data(`/v2/land?${query}`)).toMatchObject({ land: [{ offer: shown }], total: 1 })
      const prices = parcels.price.filter((_, at) => parcels.x[at] === x && parcels.y[at] === y)
      expect(prices).toEqual(shown.currency === 'mana' ? [Number(shown.price)] : [])
    }
    await story.block([], 1)
    await server.app.keeper.refresh()
  })

  test('finds land to rent, and shows the offer in tiles', async () => {
    const asset = { type: 'parcel', id: '-2,-2' } as const
    const rentals = RENTALS.rentals
    const mayRent = { kind: 'operator-set', asset, operator: rentals } as const
    await story.block([{ ...OWNED, asset }, mayRent])
    const found = async (query: string) => {
      await server.app.keeper.refresh()
      const { land } = await server.data<{ land: { asset_id: string; rental_offer: object }[] }>(
        `/v2/land?${query}`,
      )
      return land.map(({ asset_id, rental_offer }) => [asset_id, rental_offer] as const)
    }
    const days = { min_days: 8, max_days: 30, price_per_day: '15' }
    const rented = await found('status=for_rent&min_rent=15&max_rent=15')
    expect(rented).toEqual([
      ['-2,-2', expect.objectContaining({ price_per_day: '15', periods: expect.arrayContaining([days]) })],
    ])
    expect(await found('max_rent=14.9')).toEqual([])
    // Its offer to sell is older.
    const listedAt = story.clock.nowMs() - HOUR_MS / 2
    expect((await found(`listed_since=${listedAt}`)).map(([id]) => id)).toContain('-2,-2')
    const feed = (await server.ask('GET', `/v2/land.atom?listed_since=${listedAt}`)).bytes.toString()
    expect(feed).toContain(`parcel=-2,-2#${listedAt}</id>`)
    expect(await found(`listed_since=${listedAt + 1}&status=for_rent`)).toEqual([])
    const calendar = (await server.ask('GET', '/v2/land.ics?status=for_rent')).bytes.toString()
    const endsAt = new Date((rented[0]![1] as { expires_at: number }).expires_at)
    expect(
      calendar.match(/DTSTART:\d{8}T.*(?=\r\nSUMMARY:Parcel -2\\,-2: the offer to rent from 15 MANA a day)/g),
    ).toEqual([`DTSTART:${endsAt.toISOString().replace(/[-:]|\.\d+/g, '')}`])
    expect((await found('sort_by=rent&limit=1'))[0]![0]).toBe('-2,-2')
    expect((await found('sort_order=asc&limit=2')).map(([id]) => id)).toEqual(['-2,-2', '0,1'])
    const { cursor } = await server.data<{ cursor: string }>('/v2/land?sort_by=rent&limit=1')
    expect((await found(`cursor=${cursor}&limit=1000`)).map(([id]) => id)).not.toContain('-2,-2')
    expect((await found('status=none&limit=1000')).map(([id]) => id)).not.toContain('-2,-2')
    const tile = async () =>
      (await server.data<Record<string, Record<string, unknown>>>('/v2/tiles?x1=-2&y1=-2&x2=-2&y2=-2'))[
        '-2,-2'
      ]
    expect(await tile()).toMatchObject({
      rentalListing: {
        periods: expect.arrayContaining([{ minDays: 1, maxDays: 7, pricePerDay: `20${'0'.repeat(18)}` }]),
      },
    })
    const image = async (query: string) =>
      (await server.ask('GET', `/v2/map.png?center=-2,-2&width=100&height=100${query}`)).bytes
    const [plain, highlighted] = [await image(''), await image('&listed-for-rent=true')]
    expect(plain.equals(highlighted)).toBe(false)
    const older = await server.data<Record<string, object>>('/v1/tiles?x1=-2&y1=-2&x2=-2&y2=-2')
    expect(older['-2,-2']).toMatchObject({ rentalPricePerDay: `20${'0'.repeat(18)}` })

    const [offer, ...others] = await server.data<object[]>('/v2/parcels/-2/-2/rental-offers')
    expect([offer, others]).toMatchObject([
      { id: 'rent', lessor: SELLER, price_per_day: '15', state: 'open', state_reason: null },
      [],
    ])
    expect(offer).toHaveProperty('periods', expect.arrayContaining([days]))

    const ends = async (fact: LandFact, state: string) => {
      await story.block([fact])
      expect(await found('status=for_rent')).toEqual([])
      expect(await tile()).not.toHaveProperty('rentalListing')
      expect(plain.equals(await image('&listed-for-rent=true'))).toBe(true)
      expect(await server.data('/v2/parcels/-2/-2/rental-offers')).toMatchObject([
        { state, state_reason: expect.any(String) },
      ])
    }
    const pause = (isPaused: boolean): LandFact => ({
      kind: 'marketplace-paused',
      marketplace: rentals,
      isPaused,
    })
    await ends(pause(true), 'paused')
    await story.block([pause(false)])
    expect(await found('status=for_rent')).toHaveLength(1)
    await ends(
      { kind: 'asset-index-raised', marketplace: rentals, signer: SELLER, asset, index: 1n },
      'cancelled',
    )
    await story.block([], 4)
    await server.app.keeper.refresh()
  })

  test('a sale is newer than an offer that was signed before it, also where that opens again later', async () => {
    const asset = { type: 'parcel', id: '1,1' } as const
    const listing = { asset, marketplace: STRANGER, contractId: `0x${'0b'.repeat(32)}`, seller: SELLER }
    const priceWei = 10n ** 18n
    const expiresAt = BigInt(story.clock.nowMs() + 1_000)
    await story.block([
      { kind: 'listing-opened', ...listing, priceWei, expiresAt },
      { kind: 'listing-sold', ...listing, priceWei, buyer: STRANGER },
    ])
    await story.block([await story.cancelled('mana', SELLER)])
    await story.block([], 1)
    await server.app.keeper.refresh()
    const newest = async (status: string) => {
      const parcels = await server.data<{ publication: { status: string } }[]>(
        `/v1/addresses/${SELLER}/parcels?status=${status}`,
      )
      return parcels.map(({ publication }) => publication.status)
    }
    expect([await newest('open'), await newest('open,sold')]).toEqual([['open'], ['sold']])
    await story.block([], 2)
    await server.app.keeper.refresh()
  })

  test('a sale of one in dollars has both prices, and the offer has its buyer and time', async () => {
    const asset = { type: 'parcel', id: '1,1' } as const
    const inDollars = async () => {
      const offers = await server.data<Record<string, unknown>[]>('/v2/parcels/1/1/offers')
      return offers.find(({ trade_id }) => trade_id === 'dollars')!
    }
    const signatureHash = String((await inDollars()).contract_id)
    const [marketplace, priceWei] = [V1, 330n * 10n ** 18n]
    const traded = { contractId: signatureHash, seller: SELLER, buyer: STRANGER, priceWei, assets: 1 }
    await story.block([
      { kind: 'asset-traded', asset, marketplace, ...traded, offer: 'sale' },
      { kind: 'signature-used', marketplace, signer: SELLER, signatureKey: signatureHash },
    ])
    await server.app.keeper.refresh()

    const { sales } = await server.data<{ sales: { time: number }[] }>('/v2/sales?asset=1,1')
    expect(sales).toMatchObject([
      { price: '330', currency: 'mana', price_usd: '99', source: 'trade', buyer: STRANGER },
    ])
    expect(await inDollars()).toMatchObject({
      ...{ status: 'sold', state: 'used', buyer: STRANGER, price_usd: '99' },
      block_time_updated_at: sales[0]!.time,
    })
    await story.block([], 1)
    await server.app.keeper.refresh()
  })

  test('their lists take the parameters of the servers whose shapes they have', async () => {
    await story.block([
      { ...OWNED, asset: { type: 'parcel', id: '-2,-2' } },
      { kind: 'operator-set', asset: { type: 'parcel', id: '-2,-2' }, operator: RENTALS.rentals },
    ])
    await server.app.keeper.refresh()
    const order = async (query: string) => {
      const response = await fetch(`${server.origin}/v1/orders?${query}`)
      return (await response.json()) as { data: { id: string; price: string }[]; total: number }
    }
    const all = await order('')
    const onChain = `0x${'0a'.repeat(32)}`
    const ids = async (query: string) => (await order(query)).data.map(({ id }) => id)
    for (const query of [
      ...['sortBy=recently_updated', 'sortBy=issued_id_asc', 'sortBy=issued_id_desc', 'nftName=x'],
      ...['network=ETHEREUM&status=open'],
    ])
      expect(await order(query), query).toEqual(all)
    for (const query of [
      ...['status=sold', 'status=cancelled', 'network=MATIC', 'itemId=1', `buyer=${STRANGER}`],
      ...[`contractAddress=${STRANGER}`, `marketplaceAddress=${V3}`],
    ])
      expect(await order(query), query).toEqual({ data: [], total: 0, cursor: null })
    expect(await ids(`marketplaceAddress=${V1}&owner=${SELLER}`)).toEqual(
      expect.arrayContaining(['mana', 'dollars']),
    )
    expect(await ids(`marketplaceAddress=${STRANGER}`)).toEqual([onChain])
    // What costs 99 dollars comes behind what costs 1 and 5 MANA.
    expect(await ids('sortBy=cheapest')).toEqual([onChain, 'mana', 'alone', 'dollars'])

    const { land, estate } = RENTALS.registries
    const tokenId = String(encodeTokenId({ x: -2, y: -2 }))
    const nft = `parcel-${land}-${tokenId}`
    const rented = async (query: string) => {
      const { results } = await server.data<{ results: { id: string }[] }>(`/v1/rentals-listings?${query}`)
      return results.map(({ id }) => id)
    }
    const days = (count: number) => `${count}${'0'.repeat(18)}`
    const listedAt = story.clock.nowMs() - HOUR_MS / 2
    for (const query of [
      ...['', 'rentalStatus=open', 'rentalStatus=open&rentalStatus=claimed', 'history=true'],
      ...[
        'status=cancelled&status=open',
        'category=parcel',
        `lessor=${SELLER}`,
        `target=0x${'0'.repeat(40)}`,
      ],
      ...[`nftIds=estate-${land}-1&nftIds=${nft}`, `contractAddresses=${STRANGER}&contractAddresses=${land}`],
      ...[`tokenId=${tokenId}`, `tokenId=${tokenId}&contractAddresses=${land},${estate}`],
      ...[`updatedAfter=${listedAt - 1}`, 'rentalDays=31&rentalDays=30'],
      ...[`minPricePerDay=${days(15)}&maxPricePerDay=${days(15)}`, `maxPricePerDay=${days(20)}&rentalDays=1`],
      ...['sortBy=min_rental_price&sortDirection=desc', 'sortBy=max_rental_price', 'sortBy=name'],
      ...['sortBy=land_creation_date', 'sortBy=rented_date', 'adjacentToRoad=false', 'limit=1'],
    ])
      expect(await rented(query), query).toEqual(['rent'])
    for (const query of [
      ...['status=cancelled', 'status=executed,claimed', 'category=estate', `lessor=${STRANGER}`],
      ...[`tenant=${STRANGER}`, `target=${STRANGER}`, 'network=MATIC', `contractAddresses=${STRANGER}`],
      ...[`nftIds=estate-${land}-${tokenId}`, `tokenId=${tokenId}&nftIds=parcel-${land}-1`],
      ...[`updatedAfter=${listedAt}`, 'rentalDays=31', `minPricePerDay=${days(21)}`],
      ...[`maxPricePerDay=${days(19)}&rentalDays=1`, 'minDistanceToPlaza=0', 'adjacentToRoad=true'],
      ...['minEstateSize=1', 'text=nowhere'],
    ])
      expect(await rented(query), query).toEqual([])
    expect((await server.get('/v1/rentals-listings?limit=1')).body.data).toMatchObject({ cursor: null })
    await story.block([], 1)
    await server.app.keeper.refresh()
  })

  test('is read by another Landpass, which judges for itself', async () => {
    const asset = { type: 'parcel', id: '-2,-2' } as const
    const facts = [
      { ...OWNED, asset },
      { kind: 'operator-set', asset, operator: RENTALS.rentals },
    ] as const
    await story.block(facts)
    const list = async (path: string) =>
      (await (await fetch(`${server.origin}${path}`)).json()) as {
        total: number
        cursor: string | null
        data: { id: string; tradeId: string }[]
      }
    const all = await list('/v1/orders')
    expect(all.data.map(({ tradeId }) => tradeId)).toEqual(expect.arrayContaining(['mana', 'dollars', '']))
    expect(all.total).toBe(all.data.length)
    for (const sortBy of ['recently_listed', 'oldest', 'cheapest']) {
      const whole = await list(`/v1/orders?sortBy=${sortBy}`)
      const paged: string[] = []
      for (let next: string | null = ''; next !== null; ) {
        const page = await list(`/v1/orders?sortBy=${sortBy}&first=1${next && `&cursor=${next}`}`)
        expect(page).toMatchObject({ total: all.total, data: [{}] })
        paged.push(...page.data.map(({ id }) => id))
        next = page.cursor
      }
      expect(paged, sortBy).toEqual(whole.data.map(({ id }) => id))
    }
    const first = await list('/v1/orders?first=1')
    for (const [path, name] of [
      ['/v1/orders?rentalStatus=open', 'rentalStatus'],
      ['/v1/rentals-listings?itemId=1', 'itemId'],
      [`/v1/rentals-listings?rentalDays=1${',2'.repeat(100)}`, 'rentalDays'],
      ['/v1/rentals-listings?minPricePerDay=2&maxPricePerDay=1', 'minPricePerDay'],
      [`/v1/orders?first=1&skip=1&cursor=${first.cursor}`, 'skip'],
      [`/v1/rentals-listings?offset=1&cursor=${first.cursor}`, 'offset'],
      [`/v1/rentals-listings?page=1&cursor=${first.cursor}`, 'page'],
      [`/v1/orders?sortBy=cheapest&cursor=${first.cursor}`, 'cursor'],
      ['/v1/trades/mana?first=1', 'first'],
      ['/v2/parcels/1/1/offers?limit=1', 'limit'],
      ['/v2/estates/1/rental-offers?limit=1', 'limit'],
    ])
      expect((await server.get(path!)).body, path).toMatchObject({ data: { parameter: name } })
    for (const [path, allowed] of [
      ['/v1/orders?cursor=x', /^the cursor of/],
      ['/v1/rentals-listings?cursor=WzEsIlx1MDAwMCJd', /^the cursor of/],
      ['/v1/orders?first=1001', / 0 to 1000$/],
      ['/v1/rentals-listings?limit=101', / 1 to 100$/],
      ['/v1/orders?status=pending', /^one of open, sold, cancelled$/],
      ['/v1/orders?marketplaceAddress=0x1', /^an address/],
      ['/v1/orders?tokenId=x', /decimal digits$/],
      ['/v1/rentals-listings?lessor=0x12', /^an address/],
    ] as const)
      expect((await server.get(path)).body, path).toMatchObject({
        data: { allowed: expect.stringMatching(allowed) },
      })
    expect((await fetch(`${server.origin}/v1/trades/none`)).status).toBe(404)

    const engine = await openOther()
    const other = new OfferStory(engine.db, story.marketplace)
    await other.newWorld()
    await other.block(facts.slice(1))
    const env = { LISTINGS_URL: server.origin, RENTALS_URL: `${server.origin}/`, WORLD: '-2,-2,2,2' }
    const contracts = { tradeContracts: CONTRACTS, rentalContracts: RENTALS }
    const reader = await startLandServer(engine, story.clock, env, contracts)
    await expect
      .poll(() => reader.data('/v2/chain'), { interval: 100 })
      .toMatchObject({ listings: { state: 'following' }, rentals: { state: 'following' } })
    const { rows } = await sql`select id, state, is_signed from signed_trade order by id`.execute(engine.db)
    expect(rows).toEqual([
      { id: 'alone', state: 'owner_changed', is_signed: true },
      { id: 'dollars', state: 'open', is_signed: true },
      { id: 'mana', state: 'open', is_signed: true },
      { id: 'rent', state: 'owner_changed', is_signed: true },
    ])
    await reader.close()
    await story.block([], 1)
    await server.app.keeper.refresh()
  })

  test('a cancellation ends one with its block, and undoing the block brings it back', async () => {
    const image = async () => (await server.ask('GET', '/v1/map.png?publications=true')).bytes
    const before = await image()
    const stream = await EventReader.open(`${server.origin}/v2/changes`)
    const next = async () => {
      for (;;) {
        const event = await stream.next()
        if (event.kind === 'change') return event.data
      }
    }
    await story.block([await story.cancelled('mana', SELLER)])
    expect(await next()).toMatchObject({ parcels: ['1,1'] })
    expect(await openOfParcel()).toBeNull()
    expect(before.equals(await image())).toBe(false)
    const states = async () =>
      (
        await server.data<{ state: string; state_reason: string; status: string }[]>('/v2/parcels/1/1/offers')
      ).map(({ state, status, state_reason }) => `${state}, ${status}: ${state_reason}`)
    expect(await states()).toEqual([
      'open, open: null',
      'cancelled, cancelled: The signer has cancelled the offer.',
    ])
    await story.block([], 1)
    expect(await next()).toMatchObject({ parcels: ['1,1'] })
    expect(await openOfParcel()).toMatchObject({ trade_id: 'mana' })
    expect(before.equals(await image())).toBe(true)
    stream.close()
  })
})
