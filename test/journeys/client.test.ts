import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompressSync } from 'node:zlib'
import {
  attendance,
  type Call,
  type Client,
  createClient,
  fetchTransport,
  followChanges,
  LandpassError,
  land,
  memoryEtagStore,
  pages,
  rows,
  signGrant,
  system,
  type Transport,
} from '@landpass/client'
import { FeedGrid, readFeed } from '@landpass/client/feed'
import { encodeTokenId } from '@landpass/client/grid'
import { readIssuerList, verifyToken } from '@landpass/client/tokens'
import { HOUR_MS } from '@landpass/server/clock'
import {
  type OutsideWorld,
  startOutsideWorld,
} from '@landpass/server/test/support/attendance/attendance-server'
import { makesEvents } from '@landpass/server/test/support/attendance/attendance-stage'
import { openSandbox } from '@landpass/server/test/support/attendance/quickjs'
import { emptyDir, freshEngine } from '@landpass/server/test/support/database/engines'
import type { OpenApi } from '@landpass/server/test/support/http/openapi'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { LAND_REGISTRY } from '@landpass/server/test/support/land/registries'
import { eventually } from '@landpass/server/test/support/processes/landpass'
import { makePlayer } from '@landpass/simulators/player/player'
import { signingTransport } from '@landpass/simulators/player/signing-transport'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

const RADIUS = 10
const EVENT_ID = 78_001
/** The event of docs/client.md. */
const PAGE_EVENT_ID = 90_001
const PAGE_EDIT_CODE = '012345'
const EDIT_CODE = '123456'
const OPERATOR_KEY = 'an-operator-key-for-tests-alone-not-a-secret'
const WRITTEN_ORIGIN = 'http://localhost:3000'
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const CLIENT_PACKAGE = join(ROOT, 'scripts/client-package.mjs')
const TSC = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
/** What a scene's runtime has as `~system/SignedFetch`; the test calls it `#system`, as files of a package can be called. */
const SIGNED_FETCH = `
interface Init { method?: string; headers: { [name: string]: string }; body?: string | undefined }
export const signedFetch = async ({ url, init }: { url: string; init: Init }) => {
  const response = await fetch(url, init as RequestInit)
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
}
`
const PLACE = { x: 3, y: 4 }
const AREA = { nw: { x: 1, y: 3 }, se: { x: 3, y: 1 } }
/** What the client asks for below other addresses, in the form that it has there. */
const OTHER_ADDRESSES = [
  'GET /v2/districts',
  'GET /districts/{id}',
  'GET /addresses/{address}/contributions',
  'GET /v2/map.png',
  'GET /v2/parcels/{x}/{y}/map.png',
  'GET /v2/estates/{id}/map.png',
  'GET /v2/ping',
  'GET /v2/ready',
]

const { paths } = JSON.parse(
  readFileSync(new URL('../../../server/openapi.json', import.meta.url), 'utf8'),
) as OpenApi
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId }]) => ({
    name: `${method.toUpperCase()} ${path}`,
    id: operationId,
    method: method.toUpperCase(),
    pattern: new RegExp(`^(?:/v1)?${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
  })),
)

const openEngine = freshEngine('postgres')
/** What was asked for by any of the clients: the method and the path. */
const asked: { readonly method: string; readonly path: string; readonly status: number }[] = []
let outside: OutsideWorld
let server: DemoLand
let client: Client
/** The client of a player who stands at the event. */
let signed: Client

beforeAll(async () => {
  outside = await startOutsideWorld()
  server = await startDemoLand(await openEngine(), {
    radius: RADIUS,
    env: { ...outside.env, ...makesEvents('approved'), OPERATOR_KEY },
  })
  const baseUrl = server.server.origin
  const player = makePlayer('client')
  let tick = 0
  const clock = { nowMs: () => server.nowMs() + ++tick } // no two requests have the same signature
  client = createClient({ baseUrl, transport: noting(fetchTransport()) })
  signed = createClient({ baseUrl, transport: signingTransport(player, noting(fetchTransport()), clock) })
  await outside.putEvent(EVENT_ID, { edit_code: EDIT_CODE, codes: 2, name: 'Harbour Lights' })
  await outside.stand(player.address, PLACE.x, PLACE.y, server.nowMs())
})
afterAll(() => server.server.close())

function asOperator(transport: Transport): Transport {
  return (request) => transport({ ...request, headers: { ...request.headers, 'Operator-Key': OPERATOR_KEY } })
}

function noting(transport: Transport): Transport {
  return async (request) => {
    const response = await transport(request)
    asked.push({
      method: request.method,
      path: new URL(request.url).pathname,
      status: response.status,
    })
    return response
  }
}

describe('the land', () => {
  test('every call answers what the interface answers', async () => {
    const calls = await landCalls()

    for (const [name, call] of Object.entries(calls)) {
      const answer = await client.answer(call)
      const { status, text, body } =
        call.method === 'GET'
          ? await server.server.get(call.path)
          : await server.server.send(call.method, call.path, call.body)
      expect(status, name).toBe(200)
      // The client has a function of its own for the parcels of an area.
      expect(idsOf(call), name).toContain(name === 'parcelsInArea' ? 'parcels' : name)
      if (call.form === 'envelope') expect(answer.data, name).toEqual(body.data)
      else if (call.form === 'json') expect(answer.data, name).toEqual(body)
      // Metrics are other ones with each request.
      else if (name === 'metrics') expect(answer.data).toContain('landpass_')
      else if (call.form === 'text') expect(String(answer.data).replace('\ufeff', ''), name).toBe(text)
      else if (call.form === 'stream') expect(await textOf(answer.data), name).toBe(text)
      else expect((answer.data as Uint8Array).length, name).toBeGreaterThan(100)
    }
  })

  test('a parcel without an owner is chosen at random each time', async () => {
    const parcel = await client.send(land.availableParcel())

    expect(parcel).toEqual(await client.send(land.parcel(parcel)))
    expect([parcel.owner, parcel.district_id]).toEqual([null, null])
  })

  test('the pictures are PNG, and the feed is one', async () => {
    const picture = await client.send(land.mapImage({ center: PLACE, selected: [PLACE, { x: 0, y: 0 }] }))
    const part = readFeed(await client.send(land.feed()))

    expect(new TextDecoder('latin1').decode(picture.subarray(1, 4))).toBe('PNG')
    expect(part.bounds).toEqual({ minX: -RADIUS, minY: -RADIUS, maxX: RADIUS, maxY: RADIUS })
  })

  test('the pages of all sales are the sales, each once', async () => {
    const { total } = await client.send(land.sales({ limit: 1 }))
    const found: string[] = []
    for await (const { asset_id, time, price } of rows(client, (page) => land.sales(page), { limit: 20 }))
      found.push(`${asset_id} ${time} ${price}`)

    expect(total).toBeGreaterThan(20)
    expect(found).toHaveLength(total)
    expect(new Set(found).size).toBe(total)
  })

  test('the pages of orders are the orders, and those of listings are read', async () => {
    const whole = await client.send(land.orders())
    const found: string[] = []
    for await (const { id } of rows(client, (page) => land.orders({ sortBy: 'recently_listed', ...page }), {
      limit: 4,
    }))
      found.push(id)
    for await (const listing of rows(client, (page) => land.rentalListings(page), { limit: 100 }))
      expect(listing.status).toBe('open')

    expect(found).toEqual(whole.data.map(({ id }) => id))
    expect(found.length).toBeGreaterThan(4)
  })

  test('the pages of a list are the list', async () => {
    const whole = await client.send(land.marketplace({ limit: 1000 }))
    const found: string[] = []
    for await (const { id } of rows(client, (page) => land.marketplace(page), { limit: 7 })) found.push(id)
    let count = 0
    for await (const { data } of pages(client, (page) => land.parcels({ status: 'sold', ...page }), {
      limit: 3,
    }))
      count += data.parcels.length

    const all = await client.send(land.findLand({ asset_type: 'estate', sort_by: 'name', limit: 1000 }))
    const estates: string[] = []
    for await (const { asset_id } of rows(
      client,
      (page) => land.findLand({ asset_type: 'estate', sort_by: 'name', ...page }),
      { limit: 3 },
    ))
      estates.push(asset_id)

    expect(estates).toEqual(all.land.map(({ asset_id }) => asset_id))
    expect(estates.length).toBeGreaterThan(7)
    expect(found).toEqual(whole.assets.map(({ id }) => id))
    expect(found.length).toBeGreaterThan(7)
    expect(count).toBe((await client.send(land.parcels({ status: 'sold', limit: 0 }))).total)
  })

  test('prices come with every digit where they are asked for so', async () => {
    const [publication] = server.reference.publications
    const call = land.publication(publication!.shown.tx_hash)

    const { data } = await client.exactAnswer(call)

    const { text } = await server.server.get(call.path)
    expect(text).toContain(`"price":${data.price}`)
    expect(Number(data.price)).toBe((await client.send(call)).price)
  })

  test('a refusal is a LandpassError with the sentence of the server', async () => {
    const outcome = client.send(land.parcel({ x: 999, y: 0 }))

    await expect(outcome).rejects.toBeInstanceOf(LandpassError)
    await expect(client.send(land.trade('none'))).rejects.toMatchObject({ code: 'publication_not_found' })
    await expect(outcome).rejects.toMatchObject({
      code: 'invalid_parameter',
      status: 400,
      message: expect.stringContaining('999'),
      requestId: expect.stringMatching(/./),
    })
    await expect(client.send(land.estate('999999'))).rejects.toMatchObject({ code: 'estate_not_found' })
  })

  test('with a store of answers an unchanged one is confirmed and not sent again', async () => {
    const keeping = createClient({
      baseUrl: server.server.origin,
      transport: noting(fetchTransport()),
      etags: memoryEtagStore(),
    })
    const call = land.parcel({ x: 1, y: 1 })
    const statuses = () => asked.slice(-1).map(({ status }) => status)

    const first = await keeping.send(call)
    expect(await keeping.send(call)).toEqual(first)
    expect(statuses()).toEqual([304])

    await server.change({ kind: 'change-parcel', x: 1, y: 1, to: { name: 'another name' } })
    expect((await keeping.send(call)).data.name).toBe('another name')
    expect(statuses()).toEqual([200])
  })

  test('changes are received as they happen, those during a broken connection too', async () => {
    const end = new AbortController()
    const grid = new FeedGrid(readFeed(await client.send(land.feed())))
    const received: string[] = []
    let breaks = 0
    // A server that broke off is asked again at once.
    const hasty = createClient({
      baseUrl: server.server.origin,
      transport: noting(fetchTransport()),
      wait: async () => {
        await server.change(rename('second'))
      },
    })
    const options = { since: grid.state, signal: end.signal, onBreak: () => breaks++ }
    const following = (async () => {
      for await (const change of followChanges(hasty, options)) {
        grid.apply(readFeed(await client.send(land.feed(grid.state))))
        received.push(change.kind === 'change' ? change.parcels.join() : change.kind)
        expect(grid.state).toBe(change.state)
        if (received.length === 1) server.server.app.server.server.closeAllConnections()
        else end.abort()
      }
    })()
    await server.change(rename('first'))

    await expect(following).rejects.toMatchObject({ name: 'AbortError' })
    expect(received).toEqual(['5,5', '5,5'])
    expect(breaks).toBe(1)
  })

  test('without a state the first event has the current one', async () => {
    for await (const change of followChanges(client)) {
      expect(change).toMatchObject({ kind: 'hello', revision: expect.any(Number) })
      break
    }
  })
})

describe('attendance', () => {
  test('from the organiser to the token', async () => {
    await expect(client.send(attendance.event(EVENT_ID))).rejects.toMatchObject({ code: 'event_not_found' })

    const checked = await client.send(attendance.checkEditCode(EVENT_ID, EDIT_CODE))
    expect(checked).toMatchObject({ id: EVENT_ID, uuid: null, name: 'Harbour Lights', registered: false })
    const registration = { editCode: EDIT_CODE, coordinates: '3,4;5,6' }
    const { uuid } = await client.send(attendance.registerEvent(EVENT_ID, registration))
    const { body } = await client.send(attendance.loadCodes(uuid, EDIT_CODE))
    const changed = await client.send(attendance.changeEvent(uuid, EDIT_CODE, { coordinates: '3,4' }))
    expect(await client.send(system.readyAttendance())).toEqual({ status: 'ready' })
    const known = await client.send(attendance.event(EVENT_ID))
    const before = await client.send(attendance.availability(uuid))
    const captcha = await signed.send(attendance.captcha())
    const image = await client.send(attendance.captchaImage(captcha.uuid))
    const { claim } = await signed.send(attendance.claim(uuid))
    const report = await client.send(attendance.report(uuid, EDIT_CODE))
    const { blocked } = await client.send(
      attendance.changeBlocked(uuid, EDIT_CODE, { add: [`0x${'Bb'.repeat(20)}`] }),
    )
    const { claims, next } = await client.send(attendance.listClaims(uuid, EDIT_CODE, { limit: 5 }))
    const csv = await client.send(attendance.claimsCsv(uuid, EDIT_CODE))
    const whole = await client.send(attendance.exportEvent(uuid, EDIT_CODE))
    expect([claims.length, next, csv.split('\r\n').length]).toEqual([1, null, 3])
    expect(csv).toMatch(/^\ufeffmade_at,address,/)
    expect(whole).toMatchObject({ event: { uuid }, claims })
    expect(blocked).toMatchObject([{ address: `0x${'b'.repeat(40)}` }])

    expect([body.num, changed.coordinates, known.uuid]).toEqual([2, '3,4', uuid])
    expect(before).toMatchObject({ open: true, reason: null, available: 2 })
    expect(image.length).toBeGreaterThan(100)
    expect(['pending', 'minting']).toContain(claim.status)
    expect(report.availability.available).toBe(1)
    const unsigned = client.send(attendance.claim(uuid, { address: makePlayer('bob').address }))
    await expect(unsigned).rejects.toMatchObject({ code: 'captcha_required', status: 403 })
    await expect(signed.send(attendance.claim(uuid))).rejects.toMatchObject({ status: 409 })
    const { secret } = await client.send(attendance.makeGrantSecret(uuid, EDIT_CODE))
    const expires = new Date(server.nowMs() + HOUR_MS).toISOString()
    const grant = { address: makePlayer('bob').address, nonce: 'quest', expires }
    const signature = await signGrant(secret, uuid, grant)
    expect(await client.send(attendance.sendGrant(uuid, grant, signature))).toMatchObject({ nonce: 'quest' })
  })

  test('from an event that is made on the server to a token that is taken back', async () => {
    const described = {
      name: 'Lanterns',
      coordinates: '3,4',
      start_date: new Date(server.nowMs()).toISOString().slice(0, 10),
      tokens: 2,
    }
    const made = await client.send(attendance.makeEvent(described))
    const { uuid } = made.event
    const ofOperator = createClient({
      baseUrl: server.server.origin,
      transport: asOperator(noting(fetchTransport())),
    })
    expect(made.approval).toBe('waiting')
    const waiting = await ofOperator.send(attendance.waitingEvents({ limit: 1 }))
    expect(waiting).toMatchObject({ total: 1, next: null, events: [{ event: { uuid }, tokens: 2 }] })
    const { parts } = await ofOperator.send(system.operatedParts())
    expect(parts).toContainEqual({
      ...{ part: 'events', condition: 'look', problem: 'events_wait' },
      facts: { waiting: 1, held: 0 },
    })
    await ofOperator.send(attendance.approveEvent(uuid, { approval: 'approved', may_give: true }))
    expect(await client.send(attendance.sentences(uuid))).toMatchObject({ now: 'The token is yours.' })
    await signed.send(attendance.claim(uuid))

    const helper = await client.send(attendance.changeEditCodes(uuid, made.edit_code, { add: 'Ann' }))
    expect(await client.send(attendance.changeEditCodes(uuid, helper.edit_code!))).toMatchObject({
      codes: [{ name: 'Ann', ended_at: null }],
    })
    const ended = await client.send(attendance.changeEditCodes(uuid, made.edit_code, { revoke: 'Ann' }))
    expect(ended.codes[0]?.ended_at).not.toBeNull()
    const reissued = await ofOperator.send(attendance.replaceFirstCode(uuid))
    made.edit_code = reissued.edit_code!
    const unused = await ofOperator.send(attendance.makeEvent({ ...described, name: 'Twice' }))
    expect(await client.send(attendance.deleteEvent(unused.event.uuid, unused.edit_code))).toEqual({
      deleted: unused.event.uuid,
    })
    const change = { event_url: 'https://lanterns.example/', cancelled: false }
    const credentials = { editCode: made.edit_code, pass: 'an old one', proof: 'of:1' }
    expect(await ofOperator.send(attendance.changeMadeEvent(uuid, credentials, change))).toMatchObject({
      event: { uuid, event_url: 'https://lanterns.example/' },
    })

    const { tokens } = await client.send(attendance.holders(uuid))
    const { id, holder } = tokens[0]!
    expect(await client.send(attendance.giveTokens(uuid, made.edit_code, holder))).toMatchObject({
      ...{ accepted: 0, had: [holder] },
    })
    const issuers = readIssuerList(await client.send(attendance.tokenIssuers()), 'here')!
    const attestation = await client.send(attendance.attestation(id))
    expect(verifyToken(attestation, { issuers, nowMs: server.nowMs() })).toMatchObject({ verdict: 'genuine' })
    expect(await client.send(attendance.attendanceToken(id))).toMatchObject({ id, holder, number: 1 })
    expect(await client.send(attendance.attendanceMetadata(id))).toMatchObject({ name: 'Lanterns #1' })
    for (const picture of [
      attendance.attendanceTokenImage(id),
      attendance.attendanceShareImage(id),
      attendance.eventImage(uuid),
    ])
      expect((await client.send(picture)).length).toBeGreaterThan(100)
    expect(await client.send(attendance.tokensOf(holder))).toMatchObject({ total: 1, tokens: [{ id }] })
    const table = await client.send(attendance.holdersCsv(uuid))
    expect(table).toMatch(/^\ufeffnumber,address,/)
    expect(table).toContain(holder)
    expect(await client.send(attendance.attended(uuid, holder))).toMatchObject({ attended: true, count: 1 })
    expect(await client.send(attendance.tokenLog())).toMatchObject({ roots: [] })

    await client.send(attendance.revokeToken(id, made.edit_code, 'A test.'))
    const { revoked } = await client.send(attendance.revocations())
    expect(revoked).toMatchObject([{ reason: 'A test.' }])
  })
})

test('the examples of docs/client.md fit the types of the packed client, and print what the page shows', async () => {
  await outside.putEvent(PAGE_EVENT_ID, { edit_code: PAGE_EDIT_CODE, codes: 1 })
  const registration = { editCode: PAGE_EDIT_CODE, coordinates: '3,4' }
  await client.send(attendance.registerEvent(PAGE_EVENT_ID, registration))
  await client.send(attendance.loadCodes(PAGE_EVENT_ID, PAGE_EDIT_CODE))
  const page = readFileSync(join(ROOT, 'docs/client.md'), 'utf8')
  const code = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join('')
  const promised = [...code.matchAll(/console\.log\(.*\)(?: |\n)\/\/ (.*)$/gm)].map(([, text]) => text)
  expect(promised.length).toBe(code.match(/console\.log/g)?.length)
  const folder = await installPacked()
  writeFileSync(
    join(folder, 'page.ts'),
    code.replaceAll(WRITTEN_ORIGIN, server.server.origin).replace('~system', '#system'),
  )
  await run(TSC, ['-p', folder])

  const running = run('page.js', [], folder)
  await eventually(openStreams, (count) => count === 1, 20_000)
  await server.change({ kind: 'change-parcel', x: 1, y: 2, to: { name: 'for the page' } })
  const { stdout, stderr } = await running

  expect(stderr).toBe('')
  expect(stdout.replaceAll(server.server.origin, WRITTEN_ORIGIN).trimEnd().split('\n')).toEqual(promised)
})

test('the client reads a parcel and a refusal in QuickJS, which has nothing but the language', async () => {
  const sandbox = await openSandbox({
    transport: async ({ url, headers }: { url: string; headers: Record<string, string> }) => {
      const response = await fetch(url, { headers })
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      }
    },
  })
  onTestFinished(() => sandbox.close())
  const { code } = await bundle(`
    import { createClient, land } from '@landpass/client'
    const client = createClient({ baseUrl: '${server.server.origin}', transport: outside.transport, retries: 0 })
    globalThis.parcel = () => client.send(land.parcel({ x: 5, y: 5 }))
    globalThis.refusal = () => client.send(land.estate('999999')).catch(({ code, status }) => ({ code, status }))
  `)
  sandbox.run(`(() => { ${code} })()`)

  expect(await sandbox.runAsync('parcel()')).toMatchObject({ id: '5,5', x: 5, y: 5 })
  expect(await sandbox.runAsync('refusal()')).toEqual({ code: 'estate_not_found', status: 404 })
})

test('a bundle has what it uses: reading a parcel takes 3 kB, without another package', async () => {
  const { code, imports } = await bundle(
    `import { createClient, land } from '@landpass/client'; globalThis.used = [createClient, land.parcel]`,
  )

  expect(brotliCompressSync(code).length).toBeLessThan(3_000)
  expect(imports).toEqual([])
})

test('the types of the interface take 70 kB at most, which an editor reads', async () => {
  const folder = emptyDir()
  await run(CLIENT_PACKAGE, [folder])

  expect(statSync(join(folder, 'dist/types.d.ts')).size).toBeLessThan(70_000)
})

test('the examples of the doc comments compile under strict', async () => {
  const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const comments = ['land', 'changes', 'pages'].flatMap((name) =>
    [...read(`client/src/${name}.ts`).matchAll(/@example\n((?: \*.*\n)+?) \*\//g)].map(([, lines = '']) =>
      lines.replace(/^ \* ?/gm, ''),
    ),
  )
  const typed = `import { pages, type Client, rows, followChanges, followLand, land } from '@landpass/client'
import { FeedGrid, readFeed } from '@landpass/client/feed'
declare const client: Client
declare const grid: FeedGrid
${comments.map((code) => `{\n${code}}\n`).join('')}`
  expect(comments.length).toBeGreaterThan(4)

  expect(await compilerErrors({ comments: typed })).toBe('')
  expect(await compilerErrors({ wrong: `${typed}land.parcel({ x: 5 })` })).toContain(
    "Property 'y' is missing",
  )
})

test('the client has called every endpoint of the description', () => {
  const missing = operations.filter(
    ({ method, pattern }) => !asked.some((one) => one.method === method && pattern.test(one.path)),
  )

  expect(missing.map(({ name }) => name).sort()).toEqual([...OTHER_ADDRESSES].sort())
})

/** What the description calls the operations at this address, whatever their version. */
function idsOf({ method, path }: Call<unknown>): (string | undefined)[] {
  const bare = path.replace(/\?.*/, '')
  return operations
    .filter((operation) => operation.method === method && operation.pattern.test(bare))
    .map(({ id }) => id?.replace(/V\d$/, ''))
}

/** A folder with the packed client in it, as npm installs it, and the packages that it needs. */
async function installPacked(): Promise<string> {
  const folder = emptyDir()
  const modules = join(folder, 'node_modules')
  const installed = join(modules, '@landpass/client')
  const client = join(folder, 'client')
  await run(CLIENT_PACKAGE, [client])
  const pack = ['pack', client, '--silent', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await promisify(execFile)('npm', pack, { cwd: ROOT })
  mkdirSync(installed, { recursive: true })
  await promisify(execFile)('tar', [
    '-xzf',
    join(folder, stdout.trim()),
    '-C',
    installed,
    '--strip-components=1',
  ])
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  writeFileSync(join(folder, 'signed-fetch.ts'), SIGNED_FETCH)
  const imports = { '#system/SignedFetch': './signed-fetch.js' }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', imports }))
  const compilerOptions = { strict: true, module: 'nodenext', target: 'es2022', types: [] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  return folder
}

/** Runs a program of Node.js. @throws with what it printed */
async function run(program: string, args: readonly string[], cwd?: string) {
  try {
    return await promisify(execFile)(process.execPath, [program, ...args], { cwd })
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
    throw new Error(stdout + stderr)
  }
}

/** A minified bundle of code that imports the client. */
async function bundle(code: string) {
  const built = await rolldown({
    input: 'entry',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? id : undefined),
        load: (id) => (id === 'entry' ? code : undefined),
      },
      {
        name: 'client',
        resolveId: (id) => (id === '@landpass/client' ? join(ROOT, 'client/dist/index.js') : undefined),
      },
    ],
  })
  const { output } = await built.generate({ format: 'iife', minify: true })
  await built.close()
  return output[0]
}

/** What the compiler says of some modules that import the packages of this project. */
async function compilerErrors(modules: Readonly<Record<string, string>>): Promise<string> {
  const files = Object.entries(modules).map(([name, code]) => {
    const file = fileURLToPath(new URL(`../client-${name}.mts`, import.meta.url))
    writeFileSync(file, code)
    return file
  })
  const options =
    '--ignoreConfig --noEmit --strict --skipLibCheck --target es2023 --module nodenext --types node --lib es2023,dom'
  try {
    return (await promisify(execFile)(process.execPath, [TSC, ...options.split(' '), ...files])).stdout
  } catch (error) {
    return (error as { stdout: string }).stdout
  } finally {
    for (const file of files) rmSync(file)
  }
}

async function openStreams(): Promise<number> {
  const text = await client.send(system.metrics())
  return Number(/^landpass_change_streams (\d+)$/m.exec(text)?.[1])
}

function rename(name: string) {
  return { kind: 'change-parcel', x: 5, y: 5, to: { name } } as const
}

async function textOf(stream: unknown): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of stream as AsyncIterable<Uint8Array>)
    text += decoder.decode(piece, { stream: true })
  return text
}

type CallsOf<Interface> = {
  readonly [Name in keyof Interface as Interface[Name] extends (...args: never[]) => Call<unknown>
    ? Name
    : never]: Call<unknown>
}

/** One call of each function, of something that there is; the compiler wants every one. */
async function landCalls(): Promise<
  CallsOf<Omit<typeof land, 'changeStream' | 'landStream' | 'availableParcel' | 'trade'>> &
    CallsOf<Omit<typeof system, 'readyAttendance' | 'operatedParts'>>
> {
  const { reference, engine } = server
  const [publication] = reference.publications.map(({ shown }) => shown)
  const [bid] = reference.bids.map(({ shown }) => shown)
  const [mortgage] = reference.mortgages
  const { address } = await engine.db
    .selectFrom('contribution')
    .select('address')
    .limit(1)
    .executeTakeFirstOrThrow()
  const [district] = await client.send(land.districts())
  const [estate] = reference.estates.filter(({ data }) => data !== undefined)
  const owner = reference.parcels.find((parcel) => parcel.owner !== null)?.owner ?? ''
  const estateId = estate!.id
  const tokenId = encodeTokenId(PLACE)
  return {
    parcel: land.parcel(PLACE),
    parcelOfToken: land.parcelOfToken(tokenId),
    parcelTokenId: land.parcelTokenId(PLACE),
    parcels: land.parcels({ status: ['open', 'sold'], sort_by: 'price', sort_order: 'asc', limit: 5 }),
    parcelsInArea: land.parcelsInArea(AREA),
    parcelsOf: land.parcelsOf(owner, { status: 'open' }),
    estate: land.estate(estateId),
    estates: land.estates({ limit: 2, offset: 1 }),
    estatesOf: land.estatesOf(owner),
    marketplace: land.marketplace({ asset_type: 'estate' }),
    offers: land.offers(),
    parcelOffers: land.parcelOffers(PLACE),
    estateOffers: land.estateOffers(estateId),
    parcelRentalOffers: land.parcelRentalOffers(PLACE),
    estateRentalOffers: land.estateRentalOffers(estateId),
    findLand: land.findLand({
      status: ['open', 'sold'],
      center: PLACE,
      sold_since: new Date(0),
      min_price: 0,
      sort_by: 'distance',
      include: 'parcels',
    }),
    landCells: land.landCells({ status: 'open', center: PLACE, radius: 5 }),
    landCsv: land.landCsv({ asset_type: 'estate' }),
    landNdjson: land.landNdjson({ asset_type: 'estate', include: 'parcels' }),
    landGeoJson: land.landGeoJson({ owner }),
    landAtom: land.landAtom({ status: 'open' }),
    landCalendar: land.landCalendar({ status: 'open' }),
    orders: land.orders({ first: 2, sortBy: 'oldest' }),
    rentalListings: land.rentalListings(),
    publication: land.publication(publication!.tx_hash),
    parcelPublications: land.parcelPublications(PLACE),
    estatePublications: land.estatePublications(estateId),
    assetPublications: land.assetPublications('3,4', { asset_type: 'parcel' }),
    sales: land.sales({ asset_type: 'parcel', limit: 2 }),
    saleCells: land.saleCells({ asset_type: 'parcel' }),
    stats: land.stats({ by: 'month' }),
    parcelValue: land.parcelValue(PLACE),
    estateValue: land.estateValue(estateId),
    rightsOf: land.rightsOf(owner),
    parcelRights: land.parcelRights(PLACE, { address: owner }),
    estateRights: land.estateRights(estateId),
    rightsAt: land.rightsAt(owner, [PLACE]),
    bid: land.bid(bid!.id),
    bidsOf: land.bidsOf(bid!.bidder, { status: 'all' }),
    parcelBids: land.parcelBids(PLACE, { sanitize: false }),
    estateBids: land.estateBids(estateId),
    assetBids: land.assetBids(bid!.asset_id, { bidder: bid!.bidder }),
    assetsWithBidsOf: land.assetsWithBidsOf(bid!.bidder),
    mortgagesOf: land.mortgagesOf(mortgage!.borrower, { status: ['pending', 'ongoing', 'paid'] }),
    parcelMortgages: land.parcelMortgages(PLACE),
    mortgagedParcelsOf: land.mortgagedParcelsOf(mortgage!.borrower),
    districts: land.districts(),
    district: land.district(district!.id),
    contributionsOf: land.contributionsOf(address),
    mapArea: land.mapArea(AREA),
    tiles: land.tiles({ area: [AREA.nw, AREA.se], exclude: ['updatedAt'] }),
    legacyTiles: land.legacyTiles({ area: [AREA.nw, AREA.se] }),
    tilesOf: land.tilesOf(address),
    newTiles: land.newTiles(0),
    availableParcelCount: land.availableParcelCount(),
    tilesInfo: land.tilesInfo(),
    feed: land.feed(),
    parcelsGeoJson: land.parcelsGeoJson(),
    districtsGeoJson: land.districtsGeoJson(),
    parcelsNdjson: land.parcelsNdjson(),
    search: land.search('3,4', { limit: 3 }),
    mapImage: land.mapImage({ width: 200, height: 100, publications: true }),
    parcelImage: land.parcelImage(PLACE, { size: 20 }),
    estateImage: land.estateImage(estateId, { theme: 'light' }),
    tileImage: land.tileImage({ z: 0, x: 0, y: 0 }),
    minimapImage: land.minimapImage(),
    estateMapImage: land.estateMapImage(),
    tileJson: land.tileJson({ theme: 'light' }),
    parcelToken: land.parcelToken(PLACE),
    estateToken: land.estateToken(estateId),
    token: land.token(LAND_REGISTRY, tokenId),
    translations: system.translations('fr'),
    openApi: system.openApi(),
    live: system.live(),
    ready: system.ready(),
    readyLand: system.readyLand(),
    chain: system.chain(),
    metrics: system.metrics(),
  }
}
