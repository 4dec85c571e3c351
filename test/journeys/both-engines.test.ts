import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signGrant } from '@landpass/client'
import { encodeTokenId } from '@landpass/client/grid'
import { HOUR_MS } from '@landpass/server/clock'
import type { Db } from '@landpass/server/db/engine'
import { storedText } from '@landpass/server/listings/offer-feed'
import { parseRentalListing } from '@landpass/server/listings/rental-listing'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
} from '@landpass/server/test/support/attendance/attendance-server'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { type Answer, type TestClock, testClock } from '@landpass/server/test/support/http/land-server'
import { openApiOf } from '@landpass/server/test/support/http/openapi'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { LAND_REGISTRY } from '@landpass/server/test/support/land/registries'
import { ANN, BOB } from '@landpass/server/test/support/land/tiny-world'
import { storeOffer } from '@landpass/server/test/support/listings/stored-offer'
import { signRental } from '@landpass/simulators/listings/signed-rental'
import { PREVIEW_REALM } from '@landpass/simulators/player/player'
import { afterAll, beforeAll, expect, test } from 'vitest'

/**
 * Every endpoint of openapi.json, asked on the embedded engine and on PostgreSQL over the same world: the answers are the
 * same. So other journeys need one engine only, where neither a statement nor a commit of their own is under test.
 */

const EVENT_ID = 80_001
const EDIT_CODE = '123456'
const OPERATOR_KEY = 'an-operator-key-for-tests-alone-123'
/** Identifiers of a state (with the lineage of its database and the shape of its world), and the server's own address. */
const OWN = /\d\.[0-9a-f]{12}(?:-[\w-]{5})?\.\d+\.\d+|127\.0\.0\.1:\d+/g
/** A server of attendance draws UUIDs at random. */
const UUIDS = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g
/** The passes of organisers: their first part is random, the second their time, the third depends on both. */
const PASSES = /(?<="pass":")[\w-]{22}\.(\w+)\.[\w-]{43}(?=")/g
/** Answers of which only the status can be compared: figures of a process, and a random choice. */
const ONLY_STATUS = ['/metrics', '/health/ready', '/parcels/available']

/** A parcel that is offered for dollars, and to rent: for 20 a day, or 15 for more than a week. */
const OFFERED = { x: 5, y: 5 }
/** Each has a statement of its own. */
const ORDERS = [
  ...['first=2', 'sortBy=recently_listed', 'sortBy=oldest', 'sortBy=cheapest'],
  ...[`owner=${BOB}`, `marketplaceAddress=${ANN}`, `marketplaceAddress=${ANN}&owner=${BOB}`],
]
const LISTINGS = [
  ...['', `lessor=${BOB}`, 'updatedAfter=1', 'rentalDays=31&rentalDays=30', 'minPricePerDay=15'],
  ...['minPricePerDay=16&maxPricePerDay=19', 'maxPricePerDay=20&rentalDays=1', 'sortBy=max_rental_price'],
  ...[
    'sortBy=min_rental_price&sortDirection=desc',
    `nftIds=parcel-${LAND_REGISTRY}-${encodeTokenId(OFFERED)}`,
  ],
]

const openEmbedded = freshEngine('embedded')
const openPostgres = freshEngine('postgres')
const asked = new Set<string>()
let lands: readonly [DemoLand, DemoLand]
let attendances: readonly [AttendanceServer, AttendanceServer]
let outside: OutsideWorld

beforeAll(async () => {
  const options = { radius: 12, store: storeOffers }
  lands = [
    await startDemoLand(await openEmbedded(), options),
    await startDemoLand(await openPostgres(), options),
  ]
  outside = await startOutsideWorld()
  await outside.putEvent(EVENT_ID, { edit_code: EDIT_CODE, codes: 20 })
  const clock = testClock()
  // The same keys, so that the same tokens are signed
  const ofTokens = {
    TOKEN_KEY_FILE: join(mkdtempSync(join(tmpdir(), 'landpass-tokens-')), 'token.key'),
    EVENT_MAKERS: 'anyone',
    OPERATOR_KEY,
  }
  attendances = [
    await startAttendance(await openEmbedded(), clock, outside, ofTokens),
    await startAttendance(await openPostgres(), clock, outside, ofTokens),
  ]
})
afterAll(async () => {
  for (const { server } of lands) await server.close()
  for (const server of attendances) await server.close()
})

test('the land is answered alike', async () => {
  const { parcels, estates, publications, bids, mortgages } = lands[0].reference
  const estate = parcels.find(({ estate_id }) => estate_id)!.estate_id
  const owned = parcels.find(({ owner, estate_id }) => owner && !estate_id)!
  const sold = publications.find(({ shown }) => shown.status === 'sold')!.shown
  const onParcel = bids.find(({ shown }) => shown.asset_type === 'parcel')!.shown
  const [x, y] = onParcel.asset_id.split(',')
  const mortgage = mortgages[0]!
  const district = parcels.find(({ district_id }) => district_id)!.district_id
  const token = encodeTokenId({ x: owned.x, y: owned.y })
  const all = 'status=open,sold,cancelled&limit=1000'
  const paths: Record<string, readonly string[]> = {
    '/health/live': [''],
    '/health/ready': [''],
    '/health/ready/land': [''],
    '/v2/ping': [''],
    '/v2/ready': [''],
    '/metrics': [''],
    '/bids/{id}': [`/bids/${onParcel.id}`, '/bids/none'],
    '/addresses/{address}/bids': [
      `/addresses/${onParcel.bidder}/bids`,
      `/addresses/${onParcel.seller}/bids?status=open`,
    ],
    '/parcels/{x}/{y}/bids': [`/parcels/${x}/${y}/bids?sanitize=false`],
    '/estates/{id}/bids': [`/estates/${estate}/bids`],
    '/assets/{id}/bids': [`/assets/${onParcel.asset_id}/bids`],
    '/bids/{address}/assets': [`/bids/${onParcel.bidder}/assets`],
    '/addresses/{address}/contributions': [`/addresses/${owned.owner}/contributions`],
    '/v2/addresses/{address}/contributions': [`/v2/addresses/${owned.owner}/contributions`],
    '/districts': [''],
    '/districts/{id}': [`/districts/${district}`],
    '/v2/districts': [''],
    '/v2/districts/{id}': [`/v2/districts/${district}`],
    '/estates': ['', `/estates?${all}&sort_by=price`],
    '/addresses/{address}/estates': [`/addresses/${estates[0]!.owner}/estates`],
    '/estates/{id}': [`/estates/${estate}`, '/estates/999999'],
    '/v2/estates/{id}': [`/v2/estates/${estate}`],
    '/map': ['/map?nw=-12,12&se=12,-12', '/map?nw=1,1'],
    '/marketplace': ['', `/marketplace?${all}`],
    '/addresses/{address}/mortgages': [`/addresses/${mortgage.borrower}/mortgages?status=all`],
    '/parcels/{x}/{y}/mortgages': [`/parcels/${mortgage.asset_id.replace(',', '/')}/mortgages?status=all`],
    '/mortgages/{address}/parcels': [`/mortgages/${mortgage.borrower}/parcels`],
    '/parcels': ['', `/parcels?${all}&sort_by=expires_at`],
    '/addresses/{address}/parcels': ['open', 'sold,cancelled'].map(
      (status) => `/addresses/${owned.owner}/parcels?status=${status}`,
    ),
    '/parcels/{x}/{y}': [`/parcels/${owned.x}/${owned.y}`, '/parcels/99/0'],
    '/v2/parcels/{x}/{y}': [`/v2/parcels/${owned.x}/${owned.y}`],
    '/parcels/{tokenId}': [`/parcels/${token}`],
    '/parcels/{x}/{y}/encodedId': [`/parcels/${owned.x}/${owned.y}/encodedId`],
    '/publications/{txHash}': [`/publications/${sold.tx_hash}`],
    '/parcels/{x}/{y}/publications': [`/parcels/${x}/${y}/publications`],
    '/estates/{id}/publications': [`/estates/${estate}/publications`],
    '/assets/{id}/publications': [`/assets/${sold.asset_id}/publications`],
    '/parcels/available': [''],
    '/parcels/availableCount': [''],
    '/tiles/{address}': [`/tiles/${owned.owner}`],
    '/tiles/new': ['/tiles/new?from=0'],
    '/map.png': ['/map.png?size=10&publications=true'],
    '/parcels/{x}/{y}/map.png': [`/parcels/${owned.x}/${owned.y}/map.png`],
    '/estates/{id}/map.png': [`/estates/${estate}/map.png`],
    '/v2/map.png': ['/v2/map.png?on-sale=true'],
    '/v2/parcels/{x}/{y}/map.png': [`/v2/parcels/${owned.x}/${owned.y}/map.png`],
    '/v2/estates/{id}/map.png': [`/v2/estates/${estate}/map.png`],
    '/minimap.png': [''],
    '/estatemap.png': [''],
    '/tiles/{z}/{x}/{y}.png': ['/tiles/0/0/0.png'],
    '/tiles.json': [''],
    '/v2/tiles': [''],
    '/tiles': [''],
    '/v2/tiles/info': [''],
    '/v2/export/parcels.geojson': [''],
    '/v2/export/parcels.ndjson': [''],
    '/v2/districts.geojson': [''],
    '/v2/chain': [''],
    '/v2/feed': [''],
    '/v2/offers': [''],
    '/v2/parcels/{x}/{y}/offers': [owned, OFFERED].map(({ x, y }) => `/v2/parcels/${x}/${y}/offers`),
    '/v2/estates/{id}/offers': [`/v2/estates/${estate}/offers`],
    '/v2/parcels/{x}/{y}/rental-offers': [`/v2/parcels/${OFFERED.x}/${OFFERED.y}/rental-offers`],
    '/v2/estates/{id}/rental-offers': [`/v2/estates/${estate}/rental-offers`],
    '/orders': ORDERS.map((query) => `/orders?${query}`),
    '/trades/{id}': ['/trades/none'],
    '/rentals-listings': LISTINGS.map((query) => `/rentals-listings?${query}`),
    '/v2/land': ['/v2/land?sort_by=price&facets=price,district', '/v2/land?q=a', '/v2/land?price=1'],
    '/v2/land/cells': ['/v2/land/cells?asset_type=estate'],
    '/v2/land.csv': ['/v2/land.csv?asset_type=estate'],
    '/v2/land.ndjson': ['/v2/land.ndjson?asset_type=estate'],
    '/v2/land.geojson': ['/v2/land.geojson?asset_type=estate'],
    '/v2/land.atom': ['/v2/land.atom?status=open'],
    '/v2/land.ics': ['/v2/land.ics?status=open'],
    '/v2/sales': ['/v2/sales?limit=200'],
    '/v2/sales/cells': ['/v2/sales/cells?asset_type=parcel'],
    '/v2/stats': ['/v2/stats?by=month'],
    '/v2/parcels/{x}/{y}/value': [`/v2/parcels/${owned.x}/${owned.y}/value`],
    '/v2/estates/{id}/value': [`/v2/estates/${estate}/value`],
    '/v2/addresses/{address}/rights': [`/v2/addresses/${owned.owner}/rights`],
    '/v2/parcels/{x}/{y}/rights': [`/v2/parcels/${owned.x}/${owned.y}/rights`],
    '/v2/estates/{id}/rights': [`/v2/estates/${estate}/rights?address=${owned.owner}`],
    '/v2/search': ['/v2/search?q=a'],
    '/v2/contracts/{address}/tokens/{id}': [`/v2/contracts/${LAND_REGISTRY}/tokens/${token}`],
    '/translations/{locale}': ['/translations/es'],
    '/openapi.json': [''],
  }
  const refused: Record<string, number> = {
    '/bids/none': 404,
    '/trades/none': 404,
    '/estates/999999': 404,
    '/map?nw=1,1': 400,
    '/v2/land?price=1': 400,
    '/parcels/99/0': 400,
  }
  for (const [template, requests] of Object.entries(paths)) {
    for (const path of requests) {
      const asking = path === '' ? template : path
      await expectAlike(template, asking, refused[asking] ?? 200)
    }
  }

  expect(await lands[0].server.data('/rentals-listings')).toMatchObject({ total: 1 })
  expect((await lands[0].server.get('/orders?sortBy=cheapest')).text).toContain('99')
  for (const sort of ['recently_listed', 'oldest', 'cheapest']) {
    const page = `/orders?sortBy=${sort}&first=1`
    const { text } = await lands[0].server.get(page)
    await expectAlike('/orders', `${page}&cursor=${(JSON.parse(text) as { cursor: string }).cursor}`, 200)
  }

  const rights = { address: owned.owner, places: ['1,1', `${owned.x},${owned.y}`] }
  const [one, other] = await Promise.all(lands.map(({ server }) => server.send('POST', '/v2/rights', rights)))
  expect([one!.status, one!.body]).toEqual([200, other!.body])
  asked.add('post /v2/rights')

  for (const land of lands) await land.change({ kind: 'change-parcel', x: 1, y: 1, to: { name: 'changed' } })
  await expectAlike('/tiles/new', `/tiles/new?from=${lands[0].nowMs()}`, 200)
  await expectAlike('/parcels/{x}/{y}', '/parcels/1/1', 200)
})

test('attendance is answered alike', async () => {
  const clock = testClock()
  const ann = await playerAt(outside, 'both engines ann', { x: 1, y: 2 }, clock.nowMs())
  const event = `/event/${EVENT_ID}`
  const editCode = EDIT_CODE
  await expectSentAlike('post', '/event/{event}', event, { editCode, coordinates: '1,2;1,3' }, 200)
  await expectSentAlike('post', '/event/{event}', event, { editCode: '999999', coordinates: '1,2' }, 401)
  await expectSentAlike('post', '/event/{event}/check', `${event}/check`, { editCode }, 200)
  const strangers = { add: [`0x${'b'.repeat(40)}`, `0x${'a'.repeat(40)}`] }
  const blocked = `${event}/blocked`
  await expectSentAlike('post', '/event/{event}/blocked', blocked, { editCode, ...strangers }, 200)
  for (const enabled of [false, true])
    await expectSentAlike(
      'patch',
      '/event/{event}',
      event,
      { editCode, options: [['enabled', enabled]] },
      200,
    )
  await expectSentAlike('post', '/addcodes/{event}', `/addcodes/${EVENT_ID}`, { editCode }, 200)
  const until = new Date(clock.nowMs() + HOUR_MS).toISOString()
  const rehearsing = { editCode, options: [['rehearsal_until', until]] }
  await expectSentAlike('patch', '/event/{event}', event, rehearsing, 200)
  for (const status of [200, 409]) {
    const sign = { metadata: { realm: PREVIEW_REALM } }
    const rehearsed = await Promise.all(
      attendances.map((server) => server.claim(String(EVENT_ID), ann, { sign })),
    )
    expect(rehearsed.map((answer) => answer.status)).toEqual([status, status])
    expect(withoutRandom(rehearsed[0]!)).toBe(withoutRandom(rehearsed[1]!))
  }
  const ready = '/health/ready/attendance'
  await expectSentAlike('get', ready, ready, undefined, 200)
  await expectSentAlike('get', '/event/{event}', event, undefined, 200)
  for (const part of ['availability', 'sentences'])
    await expectSentAlike('get', `/event/{event}/${part}`, `${event}/${part}`, undefined, 200)

  const captchas = await Promise.all(
    attendances.map((server, n) => {
      const path = '/captcha'
      const headers = ann.sign({ method: 'POST', path, atMs: clock.nowMs() + n })
      return server.send('POST', path, undefined, headers)
    }),
  )
  asked.add('post /captcha').add('get /captcha/{uuid}')
  expect(captchas.map(({ status }) => status)).toEqual([200, 200])
  expect(withoutRandom(captchas[0]!)).toBe(withoutRandom(captchas[1]!))
  for (const [n, { text }] of captchas.entries()) {
    const image = await attendances[n]!.ask('GET', `/captcha/${text.match(UUIDS)![0]}`)
    expect([image.status, image.headers['content-type']]).toEqual([200, 'image/png'])
  }

  const claims = await Promise.all(attendances.map((server) => server.claim(String(EVENT_ID), ann)))
  asked.add('post /claim/{event}')
  expect(claims.map(({ status }) => status)).toEqual([200, 200])
  expect(fieldsOf(claims[0]!)).toEqual(fieldsOf(claims[1]!))
  await expectSentAlike('post', '/event/{event}/report', `${event}/report`, { editCode: '999999' }, 401)
  for (const of of [EVENT_ID, 'any']) {
    const gate = `/events/${of}/holders/${ann.address}`
    await expectSentAlike('get', '/events/{event}/holders/{address}', gate, undefined, 200)
  }
  const options = [
    ['requires_presence', false],
    ['distribution_start_date', new Date(clock.nowMs()).toISOString()],
    ['distribution_end_date', until],
  ]
  await expectSentAlike('patch', '/event/{event}', event, { editCode, options }, 200)
  const reports = await Promise.all(
    attendances.map((server) => server.send('POST', `${event}/report`, { editCode })),
  )
  expect(reports.map(({ status }) => status)).toEqual([200, 200])
  expect(fieldsOf(reports[0]!)).toEqual(fieldsOf(reports[1]!))
  for (const call of ['claims', 'export']) {
    const lists = await Promise.all(
      attendances.map((server) => server.send('POST', `${event}/${call}`, { editCode })),
    )
    asked.add(`post /event/{event}/${call}`)
    expect(lists.map(({ status }) => status)).toEqual([200, 200])
    expect(fieldsOf(lists[0]!)).toEqual(fieldsOf(lists[1]!))
  }
})

test('grants are answered alike', async () => {
  const path = `/event/${EVENT_ID}/grant-secret`
  await expectSentAlike('post', '/event/{event}/grant-secret', path, { editCode: '999999' }, 401)
  const made = await Promise.all(
    attendances.map((server) => server.send('POST', path, { editCode: EDIT_CODE, keepPreviousS: 60 })),
  )
  expect(made.map(({ status }) => status)).toEqual([200, 200])
  expect(fieldsOf(made[0]!)).toEqual(fieldsOf(made[1]!))

  const expires = new Date(testClock().nowMs() + HOUR_MS).toISOString()
  const grant = { address: `0x${'1'.repeat(40)}`, nonce: 'quest', expires }
  const answers = await Promise.all(
    attendances.map(async (server, n) => {
      const { uuid, secret } = made[n]!.body.data as { uuid: string; secret: string }
      const headers = { 'landpass-signature': await signGrant(secret, uuid, grant) }
      return server.send('POST', `/grants/${uuid}`, JSON.stringify(grant), headers)
    }),
  )
  asked.add('post /grants/{uuid}')
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect(withoutRandom(answers[0]!)).toBe(withoutRandom(answers[1]!))
})

test('events that are made here are answered alike', async () => {
  const clock = testClock()
  const event = { name: 'Lanterns', coordinates: '1,2', start_date: '2026-11-20', tokens: 5 }
  await expectSentAlike('post', '/events', '/events', { ...event, tokens: 0 }, 400)
  const made = await Promise.all(attendances.map((server) => server.send('POST', '/events', event)))
  expect(made.map(({ status }) => status)).toEqual([200, 200])
  expect(fieldsOf(made[0]!)).toEqual(fieldsOf(made[1]!))
  const ids = made.map(({ body }) => (body.data as { event: { id: number } }).event.id)
  expect(ids[0]).toBe(ids[1])
  const approval = `/events/${ids[0]}/approval`
  const headers = { 'operator-key': OPERATOR_KEY }
  const waiting = await Promise.all(attendances.map((server) => server.get('/events/waiting', headers)))
  asked.add('get /events/waiting')
  const operated = await Promise.all(attendances.map((server) => server.get('/operate/parts', headers)))
  asked.add('get /operate/parts')
  expect(operated.map(({ body }) => (body.data as { parts: unknown[] }).parts.length)).toEqual([9, 9])
  expect(waiting.map(({ status, text }) => [status, text])).toEqual(
    Array(2).fill([200, '{"ok":true,"data":{"total":0,"next":null,"events":[]}}']),
  )
  const approved = await Promise.all(
    attendances.map((server) => server.send('POST', approval, { approval: 'approved' }, headers)),
  )
  asked.add('post /events/{event}/approval')
  expect(approved.map(({ status, text }) => [status, text])).toEqual(
    Array(2).fill([200, '{"ok":true,"data":{"approval":"approved","change":null}}']),
  )
  const keys = '/.well-known/attendance-issuers.json'
  await expectSentAlike('get', keys, keys, undefined, 200)

  const ann = await playerAt(outside, 'both engines tokens ann', { x: 1, y: 2 }, clock.nowMs())
  const claims = await Promise.all(attendances.map((server) => server.claim(String(ids[0]), ann)))
  expect(claims.map(({ body }) => body.data)).toMatchObject(Array(2).fill({ claim: { status: 'minted' } }))
  const paths = {
    '/addresses/{address}/tokens': `/addresses/${ann.address}/tokens`,
    '/events/{event}/holders': `/events/${ids[0]}/holders`,
    '/events/{event}/holders/{address}': `/events/${ids[0]}/holders/${ann.address}`,
    '/events/{event}/image.png': `/events/${ids[0]}/image.png`,
  }
  const lists = await Promise.all(attendances.map((server) => server.get(paths['/events/{event}/holders'])))
  const tokens = lists.map(({ body }) => (body.data as { tokens: { id: string }[] }).tokens[0]!.id)
  for (const [template, path] of Object.entries(paths)) await expectTokensAlike(template, [path, path])
  await expectTokensAlike('/tokens/log', ['/tokens/log', '/tokens/log'])
  const list = '/.well-known/attendance-revocations.json'
  await expectTokensAlike(list, [list, list])
  await expectTokensAlike('/events/{event}/holders.csv', Array(2).fill(`/events/${ids[0]}/holders.csv`))
  // The public log has it within some seconds.
  for (const [n, server] of attendances.entries())
    await expect
      .poll(async () => (await server.get(`/tokens/${tokens[n]}`)).body.data)
      .toMatchObject({ log: { position: 0 } })
  for (const part of ['', '/metadata', '/attestation', '/image.png', '/share.png'])
    await expectTokensAlike(
      `/tokens/{id}${part}`,
      tokens.map((id) => `/tokens/${id}${part}`),
    )
  const codes = made.map(({ body }) => (body.data as { edit_code: string }).edit_code)
  for (const [method, template, body, status] of [
    ['PATCH', '/events/{event}', { description: 'Bring a lamp.' }, 200],
    ['POST', '/event/{event}/gifts', { list: `0x${'3'.repeat(40)}` }, 200],
    ['POST', '/events/{event}/codes', { add: 'Bea' }, 200],
    ['POST', '/events/{event}/deletion', {}, 409],
    ['POST', '/events/{event}/first-code', {}, 200],
  ] as const) {
    const path = template.replace('{event}', String(ids[0]))
    const answers = await Promise.all(
      attendances.map((server, n) => {
        const isOfOperator = template.endsWith('/first-code')
        const sent = isOfOperator ? body : { ...body, editCode: codes[n] }
        return server.send(method, path, sent, isOfOperator ? headers : undefined)
      }),
    )
    asked.add(`${method.toLowerCase()} ${template}`)
    expect(
      answers.map((answer) => answer.status),
      template,
    ).toEqual([status, status])
    expect(fieldsOf(answers[0]!), template).toEqual(fieldsOf(answers[1]!))
  }
  const wrong = { editCode: '0'.repeat(32), reason: 'A test.' }
  const refused = await Promise.all(
    attendances.map((server, n) => server.send('POST', `/tokens/${tokens[n]}/revocation`, wrong)),
  )
  asked.add('post /tokens/{id}/revocation')
  expect(refused.map(({ status }) => status)).toEqual([401, 401])
})

test('every endpoint was asked', () => {
  const { paths } = openApiOf(lands[0].server.app.server)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  )
  // A stream has no end: journeys/change-stream.test.ts
  expect(operations.filter((one) => !asked.has(one))).toEqual(['get /v2/changes'])
})

/** Offers that are signed off the chain, as a process has stored them that reads them. */
async function storeOffers(db: Db, clock: TestClock): Promise<void> {
  const asset_id = `${OFFERED.x},${OFFERED.y}`
  const periods = [
    { minDays: 1, maxDays: 7, pricePerDay: '20' },
    { minDays: 8, maxDays: 30, pricePerDay: '15' },
  ]
  const listing = signRental({
    ...{ id: 'rent', key: Buffer.alloc(32, 0x51), chainId: 1, rentals: ANN, isEstate: false, periods },
    ...{ registry: LAND_REGISTRY, tokenId: String(encodeTokenId(OFFERED)) },
    ...{ createdAt: clock.nowMs(), expiration: clock.nowMs() + HOUR_MS },
  })
  const rent = {
    reading: 'rentals',
    price: '15',
    trade: storedText(parseRentalListing(listing)),
    state: 'open',
  } as const
  await storeOffer(db, clock, { asset_id, ...rent, periods: JSON.stringify(periods) })
  for (const state of ['open', 'not_approved'] as const)
    await storeOffer(db, clock, { asset_id, price: '99', currency: 'usd', state })
}

async function expectAlike(template: string, path: string, status: number): Promise<void> {
  asked.add(`get ${template}`)
  const answers = await Promise.all(lands.map(({ server }) => server.ask('GET', path)))
  expect(
    answers.map((answer) => answer.status),
    path,
  ).toEqual([status, status])
  if (ONLY_STATUS.includes(template)) return
  const [embedded, postgres] = answers.map(
    ({ headers, bytes }) => `${headers['content-type']} ${bytes.toString('latin1').replace(OWN, '')}`,
  )
  if (embedded !== postgres) expect(embedded, path).toBe(postgres)
}

/** Tokens have ids of their own: the answers have the same fields and the same length. */
async function expectTokensAlike(template: string, paths: readonly string[]): Promise<void> {
  asked.add(`get ${template}`)
  const answers = await Promise.all(attendances.map((server, n) => server.ask('GET', paths[n]!)))
  const [one, other] = answers.map(({ status, headers, bytes }) => ({
    status,
    type: headers['content-type'],
    fields: headers['content-type']?.includes('json')
      ? fieldsOf({ body: JSON.parse(bytes.toString()) } as Answer)
      : template,
  }))
  expect(one, template).toEqual(other)
  expect(one?.status, template).toBe(200)
}

async function expectSentAlike(
  method: 'get' | 'post' | 'patch',
  template: string,
  path: string,
  body: object | undefined,
  status: number,
): Promise<void> {
  asked.add(`${method} ${template}`)
  const answers = await Promise.all(
    attendances.map((server) =>
      method === 'get' ? server.get(path) : server.send(method === 'post' ? 'POST' : 'PATCH', path, body),
    ),
  )
  expect(
    answers.map((answer) => answer.status),
    `${method} ${path}`,
  ).toEqual([status, status])
  expect(withoutRandom(answers[0]!), path).toBe(withoutRandom(answers[1]!))
}

function withoutRandom({ text }: Answer): string {
  return text.replace(UUIDS, '').replace(PASSES, '$1')
}

/** The names of all fields, which codes and times do not change. */
function fieldsOf({ body }: Answer): unknown {
  const names = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, names(inner)]))
      : typeof value
  return names(body)
}
