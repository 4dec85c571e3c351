import { createHash, createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { signGrant } from '@landpass/client'
import { isProof } from '@landpass/server/attendance/captcha/proof-of-work'
import { eventRefused } from '@landpass/server/attendance/events/openness'
import { combineResults } from '@landpass/server/attendance/presence/policy'
import type { PresenceResult } from '@landpass/server/attendance/presence/presence'
import { Vault } from '@landpass/server/attendance/secrets/vault'
import { walletCheckUnavailable } from '@landpass/server/attendance/signed-fetch/contract-wallets'
import { verifySignature } from '@landpass/server/attendance/signed-fetch/verify-signature'
import { MINUTE_MS, SYSTEM_CLOCK } from '@landpass/server/clock'
import { SETTING_NAMES } from '@landpass/server/config/settings'
import type { Engine } from '@landpass/server/db/engine'
import { ERRORS } from '@landpass/server/errors'
import {
  differenceOf,
  EXAMPLE,
  examplesOf,
  IMAGES_PATH,
  namesIn,
  type PageExample,
  picturesOf,
  readPages,
  tableBelow,
} from '@landpass/server/test/support/attendance/attendance-page'
import {
  CAPTCHA_PICTURE,
  captchaPicture,
  isPictureOf,
  picturePages,
} from '@landpass/server/test/support/attendance/attendance-pictures'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
  TEST_KEY,
} from '@landpass/server/test/support/attendance/attendance-server'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import {
  type LandServer,
  startLandServer,
  type TestClock,
  testClock,
} from '@landpass/server/test/support/http/land-server'
import { codesOf, openApiOf, type Response, resolved } from '@landpass/server/test/support/http/openapi'
import { startLandpass } from '@landpass/server/test/support/processes/landpass'
import { makePlayer, type SimulatedPlayer } from '@landpass/simulators/player/player'
import { PNG } from 'pngjs'
import { beforeAll, describe, expect, test } from 'vitest'

/** The pages' own day: the event is registered in the morning, and its players come four days later. */
const MORNING_MS = Date.parse('2027-03-01T09:00:00.000Z')
const EVENING_MS = Date.parse('2027-03-05T20:33:20.000Z')
const PLACE = { x: 52, y: -10 }
/** The pages' captcha: what is drawn is another text each time. */
const SHOWN_CAPTCHA = 'K3WXA'

const pages = readPages()
const vault = new Vault(Buffer.from(TEST_KEY, 'hex'))
let outside: OutsideWorld

beforeAll(async () => {
  outside = await startOutsideWorld()
})

/** The event of the pages, as the issuer has it. Without its last day it can be claimed on whatever day the test runs. */
async function putExampleEvent({ isExpiring }: { isExpiring: boolean }): Promise<void> {
  await outside.putEvent(EXAMPLE.eventId, {
    edit_code: EXAMPLE.editCode,
    codes: 100,
    name: 'Harbour Lights Opening',
    description: 'For everyone who came to the opening night.',
    event_url: 'https://events.example.org/harbour',
    image_url: 'https://images.example.org/harbour.png',
    start_date: '05-Mar-2027',
    end_date: '06-Mar-2027',
    ...(isExpiring ? { expiry_date: '2027-03-20' } : {}),
  })
}

async function giveExampleUuid({ db }: Engine): Promise<void> {
  const { eventId, uuid } = EXAMPLE
  await db.updateTable('attendance_event').set({ uuid }).where('event_id', '=', eventId).execute()
}

async function readCaptcha({ db }: Engine, address: string): Promise<string> {
  const query = db.selectFrom('captcha').select(['encrypted', 'uuid']).where('address', '=', address)
  const { encrypted, uuid } = await query.executeTakeFirstOrThrow()
  return vault.decrypt('captcha', encrypted, uuid).split(' ')[0]!
}

describe('the pages of docs/attendance', () => {
  const open = freshEngine('postgres')
  let engine: Engine
  let clock: TestClock
  let server: AttendanceServer

  beforeAll(async () => {
    clock = testClock(MORNING_MS)
    engine = await open()
    server = await startAttendance(engine, clock, outside)
    await putExampleEvent({ isExpiring: true })
    return () => server.close()
  })

  test('every example is answered as the page says', async () => {
    const examples = examplesOf(pages)
    expect(examples.map(({ request }) => request.split('\n', 1)[0])).toHaveLength(
      pages.match(/^\$ curl |^POST \S+ HTTP/gm)?.length ?? 0,
    )
    expect(examples.length).toBeGreaterThan(12)
    const seen: string[] = []

    for (const example of examples) {
      const name = `${example.method} ${example.path}`
      seen.push(name)
      await playScene(name, seen.filter((one) => one === name).length, example)
      const body = await withRealCaptcha(example)
      const { bytes } = await server.ask(example.method, example.path, {
        headers: example.headers,
        ...(body === undefined ? {} : { body }),
      })
      const real = JSON.parse(bytes.toString())
      expect(differenceOf(real, example.answer), `${example.request}\nanswers ${bytes}`).toBeUndefined()
      // From here on the event has the uuid of the page
      if (name === `POST /event/${EXAMPLE.eventId}` && !seen.slice(0, -1).includes(name))
        await giveExampleUuid(engine)
    }
  })

  /** What happens in the world before an example, by its request and how often it came. */
  async function playScene(name: string, time: number, { headers }: PageExample): Promise<void> {
    if (name === `POST /event/${EXAMPLE.eventId}/report`) await runTheEvent()
    if (name === `POST /addcodes/${EXAMPLE.eventId}` && time === 2) await giveMoreCodes(25)
    const timestamp = headers['x-identity-timestamp']
    if (timestamp !== undefined) clock.set(Number(timestamp))
    if (name.startsWith('POST /grants/')) await knowTheSecret()
    if (name.startsWith('POST /claim/')) {
      const signer = timestamp === undefined ? makePlayer('p3') : makePlayer('player 1')
      await outside.stand(signer.address, PLACE.x, PLACE.y, clock.nowMs())
      if (timestamp === undefined) await askForCaptcha(signer)
    }
  }

  /** Secrets are random: the one of the page becomes a valid one too. */
  async function knowTheSecret(): Promise<void> {
    await engine.db
      .insertInto('grant_secret')
      .values({
        event_id: EXAMPLE.eventId,
        encrypted: vault.encrypt('grant-secret', exampleSecret(), String(EXAMPLE.eventId)),
        created_at_ms: clock.nowMs(),
        valid_until_ms: clock.nowMs() + MINUTE_MS,
      })
      .execute()
  }

  async function runTheEvent(): Promise<void> {
    clock.set(EVENING_MS)
    await putExampleEvent({ isExpiring: false })
    const ann = await playerAt(outside, 'ann', PLACE, clock.nowMs())
    const ben = await playerAt(outside, 'ben', PLACE, clock.nowMs())
    const cleo = await playerAt(outside, 'cleo', { x: 0, y: 0 }, clock.nowMs())
    for (const player of [ann, ben, ann, cleo]) await server.claim(EXAMPLE.uuid, player)
  }

  async function giveMoreCodes(count: number): Promise<void> {
    const url = `${outside.issuer}/simulator/events/${EXAMPLE.eventId}/codes`
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ count }) })
    expect(answer.status).toBe(200)
  }

  async function withRealCaptcha({ body }: PageExample): Promise<string | undefined> {
    if (!body?.includes(SHOWN_CAPTCHA)) return body
    const { address } = JSON.parse(body) as { address: string }
    return body.replace(SHOWN_CAPTCHA, await readCaptcha(engine, address))
  }

  let tick = 0
  async function askForCaptcha(player: SimulatedPlayer): Promise<void> {
    tick += 1
    const headers = player.sign({ method: 'POST', path: '/captcha', atMs: clock.nowMs() + tick })
    expect((await server.send('POST', '/captcha', undefined, headers)).status).toBe(200)
  }

  test('the tables of messages have the messages that organisers and players get', async () => {
    const codeOf = new Map<string, string>()
    const add = ({ body }: { body: { error?: string; code?: string } }) =>
      codeOf.set(withFixedSeconds(body.error ?? ''), body.code ?? '')
    for (const body of [...(await organiserRefusals()), ...(await playerRefusals())]) add(body)
    const { error, code } = claimRefused()
    codeOf.set(error, code)
    // These are provoked with other servers: journeys/made-events.test.ts, journeys/contract-wallet.test.ts
    for (const { message, code } of [eventRefused(), walletCheckUnavailable()]) codeOf.set(message, code)
    const tables = ['### Messages for organisers', '### Messages for players'].map((title) =>
      tableBelow(pages, title),
    )
    const onPage = tables.flat().map(([sentence = '']) => withFixedSeconds(sentence))
    const news = [pages.match(/"message": "(The issuer has no codes[^"]+)"/)?.[1], ...(await successes())]

    expect(onPage.toSorted()).toEqual([...codeOf.keys(), ...news].toSorted())
    for (const row of tables.flat()) expect(row.map((cell) => cell.length > 0)).toEqual([true, true])
    // The other codes of these calls are not specific to attendance.
    const elsewhere = [
      'bad_request',
      'body_too_large',
      'database_unavailable',
      'expectation_failed',
      'header_too_large',
      'server_busy',
    ]
    const described = codesOfPaths(['/event/{event}', '/addcodes/{event}', '/event/{event}/report'])
    expect([...codeOf.values(), ...elsewhere, 'internal_error', 'request_timeout']).toEqual(
      expect.arrayContaining(described),
    )
  })

  /** The message with fixed seconds where the wait depends on the real time: until the next minute of a limit. */
  function withFixedSeconds(sentence: string): string {
    return sentence.replace(
      /(?<before>(?:Wait|many requests now\..* try again in) )\d+ seconds/,
      '$<before>60 seconds',
    )
  }

  /** The simulated issuer never answers so: the message is compared with the source only. */
  function claimRefused() {
    return {
      code: 'claim_refused',
      error:
        'The token issuer refused to make this token. Nothing was used up: please try again later, or ask the organiser.',
    }
  }

  async function organiserRefusals() {
    await outside.putEvent(80_001, { edit_code: '111111', codes: 1 })
    const register = (body: object | string) => server.send('POST', '/event/80001', body)
    const change = (...options: unknown[][]) =>
      server.send('PATCH', `/event/${EXAMPLE.eventId}`, { editCode: EXAMPLE.editCode, options })
    const crowded = [
      ...Array.from({ length: 500 }, (_, i) => `${i % 50},${Math.floor(i / 50)}`),
      '50,10',
    ].join(';')
    const answers = [
      await register({ editCode: '111111', coordinates: '' }),
      await register({ editCode: '111111', coordinates: '52,-10;1.5,2' }),
      await register({ editCode: '111111', coordinates: '52,-10;200,0' }),
      await register({ editCode: '111111', coordinates: crowded }),
      await register({ coordinates: '52,-10' }),
      await register('{"editCode":111111,"coordinates":"52,-10"}'),
      await register("{'editCode':'111111'}"),
      await server.get('/event/harbour'),
      await change(['end_date', 'red']),
      await change(['enabled', 'no']),
      await change(['distribution_start_date', '2027-03-05T18:00:00']),
      await change(['distribution_end_date', '2027-03-05T17:00:00Z']),
      await change(['rehearsal_until', '2027-03-05T17:00:00Z']),
    ]
    await outside.issuerSettings({ error_rate: 1 })
    answers.push(await register({ editCode: '111111', coordinates: '52,-10' }))
    await outside.issuerSettings({ error_rate: 0 })
    for (let guess = 1; guess <= 6; guess++) {
      answers.push(await register({ editCode: String(guess), coordinates: '52,-10' }))
    }
    return [...answers, ...(await refusalsOfTheUnregistered()), ...(await refusalsOfOtherServers())]
  }

  async function refusalsOfTheUnregistered() {
    const { db } = engine
    await db.deleteFrom('attendance_event').where('event_id', '=', 80_001).execute()
    const { body } = await server.get('/event/80001')
    return [{ body: { ...body, error: body.error?.replace('80001', String(EXAMPLE.eventId)) ?? '' } }]
  }

  /** Servers whose operator has made a mistake, or none: those limits are off in the others. */
  async function refusalsOfOtherServers() {
    const request = { editCode: '111111', coordinates: '52,-10' }
    const { LIMIT_ORGANISER_PER_MINUTE: _, LIMIT_PLAYER_PER_MINUTE: __, ...env } = outside.env
    const misled = await startLandServer(engine, clock, { ...env, ISSUER_API_KEY: 'another-key' })
    const bare = await startLandServer(engine, clock, { ATTENDANCE_KEY: TEST_KEY })
    const eager = await startLandServer(engine, clock, { ...env, ISSUER_CALLS_PER_SECOND: '1' })
    const answers = [
      await misled.send('POST', '/event/80002', request),
      await bare.send('POST', '/event/80002', request),
    ]
    await outside.issuerSettings({ rate_limit_per_minute: 1 })
    await fetch(`${outside.env.ISSUER_URL}/events/id/80002`) // the one call of this minute, if no claim made it
    answers.push(await eager.send('POST', '/event/80002', request))
    await outside.issuerSettings({ rate_limit_per_minute: 0 })
    for (let i = 0; i < 30; i++) await bare.ask('POST', '/event/80002', { body: '{}' })
    answers.push(await bare.send('POST', '/event/80002', request), await tooManyOfAPlayer(eager))
    for (const one of [misled, bare, eager]) await one.close()
    return answers
  }

  async function tooManyOfAPlayer(limited: LandServer) {
    const eager = makePlayer('eager')
    for (let i = 0; i < 20; i++) {
      const headers = eager.sign({ method: 'POST', path: '/captcha', atMs: clock.nowMs() + i })
      expect((await limited.send('POST', '/captcha', undefined, headers)).status).toBe(200)
    }
    const headers = eager.sign({ method: 'POST', path: '/captcha', atMs: clock.nowMs() + 20 })
    return limited.send('POST', '/captcha', undefined, headers)
  }

  async function playerRefusals() {
    const dora = await playerAt(outside, 'dora', PLACE, clock.nowMs())
    const ann = makePlayer('ann')
    const path = `/claim/${EXAMPLE.uuid}`
    const signed = (atMs: number) => dora.sign({ method: 'POST', path, atMs })
    const send = (headers: Record<string, string>) => server.send('POST', path, undefined, headers)
    const nowMs = clock.nowMs()
    const oldSignIn = signed(nowMs - 90 * 24 * 60 * MINUTE_MS)['x-identity-auth-chain-1']!
    const contract = signed(nowMs - 2)['x-identity-auth-chain-1']!.replace('ECDSA_', 'ECDSA_EIP_1654_')
    const answers = [
      await server.claim(EXAMPLE.uuid, ann),
      await server.claim(EXAMPLE.uuid, makePlayer('cleo')),
      await server.claim(EXAMPLE.uuid, dora, {
        sign: { metadata: { realm: { serverName: 'LocalPreview' } } },
      }),
      await send(signed(nowMs - 2 * MINUTE_MS)),
      await send({ ...signed(nowMs - 1), 'x-identity-auth-chain-1': oldSignIn }),
      await send({ ...signed(nowMs - 2), 'x-identity-auth-chain-1': contract }),
      await server.send('POST', path, { address: dora.address }),
      await server.send('POST', path, { address: dora.address, captcha: 'AAAAA' }),
    ]
    await askForCaptcha(dora)
    for (const captcha of ['wrong', 'wrong', 'wrong']) {
      answers.push(await server.send('POST', path, { address: dora.address, captcha }))
    }
    answers.splice(-2, 1) // "one more try": the same sentence with another number
    await outside.presenceSettings({ down: true })
    answers.push(await server.claim(EXAMPLE.uuid, dora))
    await outside.presenceSettings({ down: false })
    answers.push(await refusalOfBlocked(dora))
    answers.push(...(await refusalsWithoutCodes(dora)), ...(await refusalsByTime(dora)))
    return answers
  }

  async function refusalOfBlocked(player: SimulatedPlayer) {
    const change = (list: object) =>
      server.send('POST', `/event/${EXAMPLE.uuid}/blocked`, { editCode: EXAMPLE.editCode, ...list })
    expect((await change({ add: [player.address] })).status).toBe(200)
    const refused = await server.claim(EXAMPLE.uuid, player)
    expect((await change({ remove: [player.address] })).status).toBe(200)
    return refused
  }

  async function refusalsWithoutCodes(player: SimulatedPlayer) {
    await outside.putEvent(80_003, { edit_code: '333333', codes: 1 })
    const uuid = await server.register(80_003, '333333', '52,-10')
    await outside.useElsewhere(80_003, 1)
    const lost = await server.claim(uuid, player)
    return [lost, await server.claim(uuid, await playerAt(outside, 'eve', PLACE, clock.nowMs()))]
  }

  async function refusalsByTime(player: SimulatedPlayer) {
    const at = async (time: string) => {
      clock.set(Date.parse(time))
      return server.claim(EXAMPLE.uuid, player)
    }
    const change = (name: string, value: boolean) =>
      server.send('PATCH', `/event/${EXAMPLE.eventId}`, {
        editCode: EXAMPLE.editCode,
        options: [[name, value]],
      })
    const answers = [
      await at('2027-03-02T00:00:00Z'),
      await at('2027-03-06T03:00:00Z'),
      await at('2027-03-22T00:00:00Z'),
    ]
    await change('enabled', false)
    answers.push(await at('2027-03-05T20:00:00Z'))
    await change('enabled', true)
    await change('requires_grant', true)
    await outside.stand(player.address, PLACE.x, PLACE.y, Date.parse('2027-03-05T20:01:00Z'))
    answers.push(await at('2027-03-05T20:01:00Z'))
    await change('requires_grant', false)
    await change('allows_guests', false)
    answers.push(await server.claim(EXAMPLE.uuid, player, { sign: { metadata: { isGuest: true } } }))
    await change('allows_guests', true)
    clock.set(EVENING_MS)
    return answers
  }

  /** The messages of an accepted claim, and of one whose outcome is not known yet. */
  async function successes(): Promise<readonly string[]> {
    const fay = await playerAt(outside, 'fay', PLACE, clock.nowMs())
    const gil = await playerAt(outside, 'gil', PLACE, clock.nowMs())
    const accepted = await server.claim(EXAMPLE.uuid, fay)
    await outside.issuerSettings({ error_rate: 1 })
    const pending = await server.claim(EXAMPLE.uuid, gil)
    await outside.issuerSettings({ error_rate: 0 })
    const answers = [accepted, pending, await rehearsed(fay)]
    expect(answers.map(({ body }) => body)).toEqual([
      { ok: true, data: expect.anything() },
      { ok: true, data: expect.anything() },
      { ok: true, data: expect.anything() },
    ])
    return answers.map(({ body }) => (body.data as { claim: { message: string } }).claim.message)
  }

  async function rehearsed(player: SimulatedPlayer) {
    const until = new Date(clock.nowMs() + MINUTE_MS).toISOString()
    const change = (value: string | null) => {
      const options = [['rehearsal_until', value]]
      return server.send('PATCH', `/event/${EXAMPLE.eventId}`, { editCode: EXAMPLE.editCode, options })
    }
    await change(until)
    const answer = await server.claim(EXAMPLE.uuid, player, {
      sign: { metadata: { realm: { serverName: 'LocalPreview' } } },
    })
    await change(null)
    return answer
  }

  test('the table of errors has every code that /captcha and /claim can answer, with its status', () => {
    const rows = tableBelow(pages, '## Errors of /captcha and /claim')
    const described = codesOfPaths(['/captcha', '/captcha/{uuid}', '/claim/{event}'])

    expect(rows.map(([code = '']) => namesIn(code)[0]).toSorted()).toEqual(described.toSorted())
    for (const [code = '', status] of rows) {
      expect(status, code).toBe(String(ERRORS[namesIn(code)[0] as keyof typeof ERRORS].status))
    }
  })

  /** All error codes that openapi.json names for these paths. */
  function codesOfPaths(paths: readonly string[]): string[] {
    const document = openApiOf(server.app.server)
    const operations = paths.flatMap((path) => Object.values(document.paths[path] ?? {}))
    expect(operations.length).toBeGreaterThanOrEqual(paths.length)
    const answers = operations.flatMap(({ responses }) => Object.values(responses))
    return [...new Set(answers.flatMap((answer) => codesOf(resolved<Response>(document, answer))))]
  }

  test('the table of metrics has every metric of attendance, and none that is not there', async () => {
    const { bytes } = await server.ask('GET', '/metrics')
    const served = [...bytes.toString().matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name)
    const named = tableBelow(pages, '## What to watch').map(([name = '']) => namesIn(name)[0])

    expect(named).toEqual(
      served.filter((name) =>
        /^landpass_(claim|grants|issuer|captcha|signed|presence|held_events|database_worker)/.test(
          name ?? '',
        ),
      ),
    )
  })

  test('the example of a signed request and that of a proof of work hold', async () => {
    const [first, second] = examplesOf(pages).filter((example) => 'x-identity-metadata' in example.headers)
    for (const example of [first!, second!]) {
      const { method, path, headers, body = '' } = example
      const request = { method, path, headers, body: Buffer.from(body) }
      const nowMs = Number(headers['x-identity-timestamp'])
      const { address, isBodySigned } = await verifySignature(request, { nowMs, windowMs: MINUTE_MS })
      expect({ address, isBodySigned }).toEqual({
        address: makePlayer('player 1').address,
        isBodySigned: true,
      })
    }

    const rows = tableBelow(pages, '## Proof of work').map(([, value = '']) => namesIn(value)[0]!)
    const [uuid = '', eventUuid = '', address = '', nonce = '', hash] = rows
    expect(isProof({ uuid, eventUuid, address }, nonce, 16)).toBe(true)
    expect(createHash('sha256').update([uuid, eventUuid, address, nonce].join(':')).digest('hex')).toBe(hash)
    const isFirst = !Array.from({ length: Number(nonce) }, (_, i) => String(i)).some((one) =>
      isProof({ uuid, eventUuid, address }, one, 16),
    )
    expect(isFirst).toBe(true)
  })
})

/** The secret of the example of a grant. */
function exampleSecret(): string {
  return /`(lps_[\w-]+)`/.exec(pages)![1]!
}

test('the example of a grant is signed as its table says', async () => {
  const {
    path,
    headers,
    body = '',
  } = examplesOf(pages).find((example) => example.path.startsWith('/grants/'))!
  const uuid = path.split('/')[2]!
  const signature = createHmac('sha256', exampleSecret()).update(`${uuid}\n${body}`).digest('hex')

  expect(headers['landpass-signature']).toBe(signature)
  expect(await signGrant(exampleSecret(), uuid, body)).toBe(signature)
  expect(await signGrant(exampleSecret(), uuid.toUpperCase(), JSON.parse(body))).toBe(signature)
})

test('the simulated player of the page claims as it says', async () => {
  const engine = await openForPlayer()
  const server = await startAttendance(engine, SYSTEM_CLOCK, outside)
  await putExampleEvent({ isExpiring: false })
  await server.register(EXAMPLE.eventId, EXAMPLE.editCode, '52,-10;53,-10')
  await giveExampleUuid(engine)
  const [, command = '', shown] = /^\$ npm run landpass -- (.+)\n([\s\S]*?)^```$/m.exec(pages) ?? []
  const addresses: Record<string, string> = {
    'http://localhost:3000': server.origin,
    'http://localhost:4001': outside.issuer,
    'http://localhost:4002': outside.presence,
  }

  const { stdout, code } = await startLandpass(command.split(' ').map((word) => addresses[word] ?? word))
    .ended

  expect([stdout, code]).toEqual([shown, 0])
  await server.close()
})
const openForPlayer = freshEngine('postgres')

test('the pictures are of the answers on the page: otherwise run `npm run attendance-pictures`', () => {
  const shown = picturesOf(pages)
  const files = readdirSync(IMAGES_PATH).filter((name) => name.startsWith('attendance-'))
  const read = (name: string) => readFileSync(join(IMAGES_PATH, `${name}.png`))

  expect(files.toSorted()).toEqual(shown.map((name) => `${name}.png`).toSorted())
  for (const { name, html } of picturePages()) expect(isPictureOf(read(name), html), name).toBe(true)
  expect(read(CAPTCHA_PICTURE).equals(captchaPicture())).toBe(true)
  for (const name of shown) {
    expect(PNG.sync.read(read(name), { checkCRC: true }).width, name).toBeGreaterThanOrEqual(500)
    expect(read(name).length, name).toBeLessThan(60_000)
  }
})

test('the settings that belong to attendance are on the page, and no others', () => {
  const named = tableBelow(pages, '## Settings').flatMap(([names = '']) => namesIn(names))
  const ours = SETTING_NAMES.filter((name) =>
    /^(ISSUER|ATTENDANCE|PRESENCE|SIGNATURE|CLAIM|ORGANISER|LIMIT|EVENTS?|GRANTS|OPERATOR|TOKEN)_/.test(name),
  )

  expect(named.toSorted()).toEqual([...ours, 'TRUSTED_PROXIES', 'PUBLIC_URL', 'NODE_ENV'].toSorted())
})

test('the table of presence is what the policies decide', () => {
  const rows = tableBelow(pages, '## Presence') as readonly PresenceResult[][]

  expect(rows).toHaveLength(6)
  for (const [first, second, any, all] of rows) {
    const results = [first!, second!]
    expect([combineResults('any', results), combineResults('all', results)]).toEqual([any, all])
  }
})

test('the simulators have the events, settings and calls of the page', async () => {
  const events = tableBelow(pages, 'knows these events').map(([event = '', code]) => [
    Number.parseInt(event, 10),
    code,
  ])
  for (const [id, editCode] of events) await expectEditCode(id as number, editCode as string)
  const settings = tableBelow(pages, '**`landpass simulate issuer`**', 3)
  const { settings: served } = {
    settings: await (await fetch(`${outside.issuer}/simulator/settings`)).json(),
  }

  expect(settings.flatMap(([names = '']) => namesIn(names)).toSorted()).toEqual(
    Object.keys(served as object).toSorted(),
  )
  for (const [names = '', value = ''] of settings) {
    const expected = namesIn(value)[0] ?? value
    for (const name of namesIn(names))
      expect(String((served as Record<string, unknown>)[name])).toBe(expected)
  }
  await expectCalls(outside.issuer, tableBelow(pages, '**`landpass simulate issuer`**', 2))
  await expectCalls(outside.presence, tableBelow(pages, '**`landpass simulate presence`**'))
})

async function expectEditCode(eventId: number, editCode: string): Promise<void> {
  const json = (body: object, headers = {}) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'simulated-key', ...headers },
    body: JSON.stringify(body),
  })
  const asked = { grant_type: 'client_credentials', audience: 'any' }
  const credentials = { client_id: 'simulated-client', client_secret: 'simulated-secret' }
  const token = await fetch(`${outside.issuer}/oauth/token`, json({ ...asked, ...credentials }))
  const { access_token } = (await token.json()) as { access_token: string }
  const request = json(
    { event_id: eventId, secret_code: editCode },
    { authorization: `Bearer ${access_token}` },
  )
  expect(await (await fetch(`${outside.issuer}/event/validate`, request)).json()).toEqual({ valid: true })
}

/** The simulator knows all calls; its own tests check what they do. Reset is the last call of the tables. */
async function expectCalls(origin: string, rows: readonly (readonly string[])[]): Promise<void> {
  const calls = rows.flatMap(([call = '']) => namesIn(call))
  expect(calls.length).toBeGreaterThan(4)
  for (const call of calls) {
    const [method = '', path = ''] = call.split(' ')
    const url = origin + path.replace('{id}', '90005').replace('{address}', `0x${'0'.repeat(40)}`)
    const answer = await fetch(url, { method })
    const text = await answer.text()
    expect(text, call).not.toMatch(/Route \S+ not found/)
  }
}
