import { encodeTokenId } from '@landpass/client/grid'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LAND_REGISTRY } from '../../src/land/records/contracts.ts'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
} from '../support/attendance-server.ts'
import { type DemoLand, startDemoLand } from '../support/demo-land.ts'
import { freshEngine } from '../support/engines.ts'
import { testClock } from '../support/land-server.ts'

/**
 * Every endpoint of openapi.json, asked on the embedded engine and on PostgreSQL over the same world: the answers are the
 * same. So other journeys need one engine only, where neither a statement nor a commit of their own is under test.
 */

const EVENT_ID = 80_001
const EDIT_CODE = '123456'
/** What is random or of one server: UUIDs, identifiers of a state, the server's own address. */
const RANDOM =
  /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?<="(?:state|since|lineage)":")[^"]+|127\.0\.0\.1:\d+/g
/** Answers of which only the status can be compared: figures of a process, and a random choice. */
const OWN_TO_A_SERVER = ['/metrics', '/health/ready', '/parcels/available']

const openEmbedded = freshEngine('embedded')
const openPostgres = freshEngine('postgres')
const asked = new Set<string>()
let lands: readonly [DemoLand, DemoLand]
let attendances: readonly [AttendanceServer, AttendanceServer]
let outside: OutsideWorld

beforeAll(async () => {
  const options = { radius: 12 }
  lands = [
    await startDemoLand(await openEmbedded(), options),
    await startDemoLand(await openPostgres(), options),
  ]
  outside = await startOutsideWorld()
  await outside.putEvent(EVENT_ID, { edit_code: EDIT_CODE, codes: 20 })
  const clock = testClock()
  attendances = [
    await startAttendance(await openEmbedded(), clock, outside),
    await startAttendance(await openPostgres(), clock, outside),
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
  const all = 'status=all&limit=1000'
  const paths: Record<string, readonly string[]> = {
    '/health/live': [''],
    '/health/ready': [''],
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
    '/addresses/{address}/parcels': [`/addresses/${owned.owner}/parcels`],
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
    '/tiles/{z}/{x}/{y}.png': ['/tiles/0/0/0.png'],
    '/tiles.json': [''],
    '/v2/tiles': [''],
    '/v1/tiles': [''],
    '/v2/tiles/info': [''],
    '/v2/export/parcels.geojson': [''],
    '/v2/export/parcels.ndjson': [''],
    '/v2/feed': [''],
    '/v2/offers': [''],
    '/v2/search': ['/v2/search?q=a'],
    '/v2/contracts/{address}/tokens/{id}': [`/v2/contracts/${LAND_REGISTRY}/tokens/${token}`],
    '/translations/{locale}': ['/translations/es'],
    '/openapi.json': [''],
  }
  for (const [template, requests] of Object.entries(paths)) {
    asked.add(`get ${template}`)
    for (const path of requests) await expectAlike(template, path === '' ? template : path)
  }
})

test('attendance is answered alike', async () => {
  const ann = await playerAt(outside, 'both engines ann', { x: 1, y: 2 }, testClock().nowMs())
  const event = `/event/${EVENT_ID}`
  const editCode = EDIT_CODE
  await expectSentAlike('post', '/event/{event}', event, { editCode, coordinates: '1,2;1,3' })
  await expectSentAlike('post', '/event/{event}', event, { editCode: '999999', coordinates: '1,2' })
  await expectSentAlike('patch', '/event/{event}', event, { editCode, coordinates: '1,2' })
  await expectSentAlike('post', '/addcodes/{event}', `/addcodes/${EVENT_ID}`, { editCode })
  await expectSentAlike('get', '/event/{event}', event)
  await expectSentAlike('get', '/event/{event}/availability', `${event}/availability`)
  await expectSentAlike('get', '/captcha/{uuid}', '/captcha/00000000-0000-4000-8000-000000000000')
  await expectSentAlike('post', '/event/{event}/report', `${event}/report`, { editCode })

  asked.add('post /captcha').add('post /claim/{event}')
  const claims = await Promise.all(attendances.map((server) => server.claim(String(EVENT_ID), ann)))
  expect(claims.map(({ status, body }) => [status, Object.keys(body.data as object).sort()])[0]).toEqual(
    claims.map(({ status, body }) => [status, Object.keys(body.data as object).sort()])[1],
  )
})

test('every endpoint was asked', () => {
  const { paths } = lands[0].server.app.server.swagger() as { paths: Record<string, object> }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  )
  // A stream has no end: journeys/change-stream.test.ts
  expect(operations.filter((one) => !asked.has(one))).toEqual(['get /v2/changes'])
})

async function expectAlike(template: string, path: string): Promise<void> {
  const [embedded, postgres] = await Promise.all(lands.map(({ server }) => server.ask('GET', path)))
  expect(embedded!.status, path).toBe(postgres!.status)
  if (OWN_TO_A_SERVER.includes(template)) return
  expect(embedded!.headers['content-type'], path).toBe(postgres!.headers['content-type'])
  const [one, two] = [embedded!, postgres!].map(({ bytes }) => comparable(bytes))
  if (one !== two) expect(one, path).toBe(two)
}

async function expectSentAlike(
  method: 'get' | 'post' | 'patch',
  template: string,
  path: string,
  body?: object,
): Promise<void> {
  asked.add(`${method} ${template}`)
  const [embedded, postgres] = await Promise.all(
    attendances.map((server) =>
      method === 'get' ? server.get(path) : server.send(method === 'post' ? 'POST' : 'PATCH', path, body),
    ),
  )
  expect([embedded!.status, embedded!.text.replace(RANDOM, '')], `${method} ${path}`).toEqual([
    postgres!.status,
    postgres!.text.replace(RANDOM, ''),
  ])
}

function comparable(bytes: Buffer): string {
  return bytes.toString('latin1').replace(RANDOM, '')
}
