import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import encode, { init } from '@jsquash/jpeg/encode.js'
import { jpegOfScans, type PngForm, pngOf } from '@landpass/server/test/support/images/costly-pictures'
import { memoryMb, resetPeak } from '@landpass/server/test/support/processes/measured-processes'
import pg from 'pg'
import { type Call, jsonCall, outcomeOf, type Reply } from './attendance/calls.ts'
import { makePlayers, type Player, signedClaim } from './attendance/players.ts'
import { type BenchEvent, PLACE, type Rig, withRig } from './attendance/rig.ts'
import { isSearched, MAX_CPU_MS, MAX_MEMORY_MB } from './cost-search.ts'
import { type ScriptOptions, sized, type Verdict } from './script.ts'

/** Tokens of the largest event, by default. */
const TOKENS = 10_000
/** Tokens of a collector, each of another event. */
const COLLECTED = 1_000
const OPERATOR_KEY = 'an-operator-key-of-the-bench-not-a-secret'
/** A square of the most pixels that a picture may have, and one of too many. */
const PICTURE_PX = 1_448
const TOO_LARGE_PX = 2_048
/** Its answer has no end; it opens no body. */
const STREAM = 'changeStream'
/** Each is measured so often, and the least CPU time counts: other work, such as a garbage collection, only adds to it. */
const TIMES = 3
const TICK_MS = 10
const SETTLE_MS = 300

/** A request by the name of what makes it dear, made anew for each measurement. */
interface Dear {
  readonly operation: string
  readonly name: string
  make(): Promise<Call> | Call
}

/** Measures the dearest requests that are known of each operation that {@link isSearched} leaves out, also refused ones. */
export async function measureAttendance(
  { seed, scale, engine }: ScriptOptions,
  verdict: Verdict,
): Promise<void> {
  if (engine !== 'postgres') throw new Error('this script needs PostgreSQL')
  const env = { OPERATOR_KEY, LIMIT_WAITING_EVENTS_PER_DAY: '0' }
  await withRig({ engine, processes: 1, issuer: 'own', env, demoSeed: seed }, async (rig) => {
    const stock = await makeStock(rig, seed, scale)
    const dear = await dearRequests(rig, stock)
    await expectAll(rig, dear, verdict)
    console.log('   CPU ms   first      MB       bytes  answer                  request')
    for (const one of dear) {
      const { cpuMs, firstMs, grownMb, reply } = await measure(rig, one)
      const name = `${one.operation}, ${one.name}`
      const columns = [
        cpuMs.toFixed(0).padStart(9),
        firstMs.toFixed(0).padStart(7),
        grownMb.toFixed(1).padStart(7),
        String(reply.text.length).padStart(11),
      ]
      console.log(`${columns.join(' ')}  ${outcomeOf(reply).padEnd(22)}  ${name}`)
      verdict.expect(cpuMs <= MAX_CPU_MS, `${name}: ${cpuMs.toFixed(0)} ms of CPU`)
      verdict.expect(grownMb <= MAX_MEMORY_MB, `${name}: ${grownMb.toFixed(0)} MB`)
      const isAnswered = reply.status !== 0 && reply.status < 500
      verdict.expect(isAnswered, `${name}: ${outcomeOf(reply)} ${reply.text.slice(0, 200)}`)
    }
  })
}

/** Every operation of the document has a request here, or is searched. */
async function expectAll(rig: Rig, dear: readonly Dear[], verdict: Verdict): Promise<void> {
  const { text } = await rig.caller.send(rig.originOf(0), get('/openapi.json'))
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId: string }>> }
  const measured = new Set(dear.map(({ operation }) => operation))
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { operationId }] of Object.entries(methods)) {
      const isMeasured = (method === 'get' && isSearched(path)) || operationId === STREAM
      verdict.expect(isMeasured || measured.has(operationId), `no request of ${operationId} was measured`)
    }
}

interface Found {
  /** The least of all times. */
  readonly cpuMs: number
  /** The first time: code may have to be compiled, and a thread started. */
  readonly firstMs: number
  readonly grownMb: number
  readonly reply: Reply
}

async function measure(rig: Rig, { make }: Dear): Promise<Found> {
  const pid = rig.pidOf(0)!
  const found: Found[] = []
  for (let time = 0; time < TIMES; time++) {
    const call = await make()
    await setTimeout(SETTLE_MS)
    resetPeak(pid)
    const [memoryBefore, cpuBefore] = [memoryMb(pid, 'VmRSS'), processCpuMs(pid)]
    const reply = await rig.caller.send(rig.originOf(0), call)
    await setTimeout(SETTLE_MS) // work that goes on after the answer counts too
    const cpuMs = processCpuMs(pid) - cpuBefore
    const grownMb = Math.max(0, memoryMb(pid, 'VmHWM') - memoryBefore)
    found.push({ cpuMs, firstMs: cpuMs, grownMb, reply })
  }
  return {
    cpuMs: Math.min(...found.map(({ cpuMs }) => cpuMs)),
    firstMs: found[0]!.cpuMs,
    grownMb: Math.max(...found.map(({ grownMb }) => grownMb)),
    reply: found.at(-1)!.reply,
  }
}

/** CPU time of a process, with threads that have ended, in steps of 10 ms. Linux only. */
function processCpuMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

interface Stock {
  /** All its tokens were claimed. */
  readonly full: BenchEvent
  /** None was claimed. */
  readonly empty: BenchEvent
  /** Its issuer is the other one. */
  readonly foreign: BenchEvent
  readonly collector: string
  readonly holder: string
  /** UUIDs of tokens whose pictures nobody has requested, of `full` and of an event with the largest picture. */
  readonly tokens: readonly string[]
  readonly players: readonly Player[]
}

async function makeStock(rig: Rig, seed: number, scale: number): Promise<Stock> {
  const tokens = sized(TOKENS, scale)
  const full = await rig.newEvent(tokens)
  const empty = await rig.newEvent(tokens)
  const { id, editCode } = await rig.newIssuerEvent(tokens)
  const foreign = { id, editCode, codes: tokens, uuid: await rig.register(id, editCode) }
  const collector = `0x${'c'.repeat(40)}`
  const sql = `
    with event as (select uuid from attendance_event where event_id = $1), mine as (
      insert into token (id, event_id, address, signer, time_s, event_name, event_location, salt, number, uid, signature, is_logged)
      select gen_random_uuid(), $1, '0x' || lpad(to_hex(n), 40, '0'), '0x' || repeat('5', 40), 1790000000 + n,
        'Bench event', '10,20', sha256(n::text::bytea), n, sha256(n::text::bytea), decode(repeat('11', 64) || '1b', 'hex'), true
      from generate_series(1, $2::integer) as n returning id, uid, signer, number
    ), noted as (
      insert into token_log (position, token_id, uid, signer, noted_at_ms)
      select number - 1, id, uid, signer, 1790000000000 + number from mine
    ), used as (
      update event_place set taken = places where event_id = $1
    ), counted as (
      insert into event_count (event_id, hour_ms, stripe, minted) select $1, -1, 0, count(*) from mine
    )
    insert into claim (event_id, address, state, attempts, created_at_ms, updated_at_ms)
    select $1, '0x' || lpad(to_hex(number), 40, '0'), 'minted', 0, $3::bigint - number * 60000, 0 from mine`
  const collected = `
    with events as (
      insert into attendance_event
      select (jsonb_populate_record(attendance_event, jsonb_build_object('event_id', 1500000000 + n, 'uuid', gen_random_uuid()))).*
      from attendance_event, generate_series(1, $2::integer) as n where event_id = $1 returning event_id
    )
    insert into token (id, event_id, address, signer, time_s, event_name, event_location, salt, number, uid, signature, is_logged)
    select gen_random_uuid(), event_id, $3, '0x' || repeat('5', 40), 1790000000, repeat('n', 100), '10,20', sha256(event_id::text::bytea), 1,
      sha256(event_id::text::bytea), decode(repeat('11', 64) || '1b', 'hex'), true from events`
  const client = new pg.Client({ connectionString: rig.postgres!.url })
  await client.connect()
  await client.query(sql, [full.id, tokens, Date.now()])
  await client.query(collected, [full.id, sized(COLLECTED, scale), collector])
  await client.query('analyze')
  const { rows } = await client.query<{ id: string }>('select id from token where event_id = $1 limit 100', [
    full.id,
  ])
  await client.end()
  const players = makePlayers(seed, 'costs', 2_000)
  await rig.presence.putCrowd(
    players.map(({ address }) => address),
    PLACE,
  )
  return {
    full,
    empty,
    foreign,
    collector,
    holder: `0x${'1'.padStart(40, '0')}`,
    tokens: rows.map((row) => row.id),
    players,
  }
}

const get = (path: string, headers = {}): Call => ({ method: 'GET', path, headers })

async function dearRequests(rig: Rig, stock: Stock): Promise<readonly Dear[]> {
  const { full, empty, foreign, collector, holder, tokens, players } = stock
  const dear: Dear[] = []
  const add = (operation: string, name: string, make: Dear['make']) => dear.push({ operation, name, make })
  const edit = ({ editCode }: BenchEvent, more = {}) => ({ editCode, ...more })
  const ofEvent = ({ uuid }: BenchEvent, path = '') => `/event/${uuid}${path}`
  const send = async (call: Call) => (await rig.caller.send(rig.originOf(0), call)).data
  const operator = { 'operator-key': OPERATOR_KEY }
  let next = 0
  const nextPlayer = () => players[next++]!
  let nextToken = 0
  const event = (more: object = {}) =>
    jsonCall('POST', '/events', {
      name: 'Dear event',
      coordinates: `${PLACE.x},${PLACE.y}`,
      start_date: new Date().toISOString().slice(0, 10),
      tokens: 1,
      ...more,
    })
  const places = Array.from({ length: 500 }, (_, n) => `${n % 100},${Math.floor(n / 100)}`).join(';')

  add('makeEvent', 'the shortest', () => event())
  add('makeEvent', '500 places', () => event({ coordinates: places, description: 'd'.repeat(1_000) }))
  add('makeEvent', '10,000 tokens', () => event({ tokens: empty.codes }))
  for (const [name, file] of await pictures())
    add('makeEvent', name, () => event({ image: file.toString('base64') }))
  add('changeEvent', 'from 1 to 10,000 tokens', async () => {
    const { event: made, edit_code } = (await send(event())) as { event: { uuid: string }; edit_code: string }
    const options = [
      ['tokens', empty.codes],
      ['coordinates', places],
    ]
    return jsonCall('PATCH', `/event/${made.uuid}`, { editCode: edit_code, options })
  })
  add('changeEvent', '10,000 tokens again', () =>
    jsonCall('PATCH', ofEvent(empty), edit(empty, { options: [['tokens', empty.codes]] })),
  )
  add('loadCodes', '10,000 codes of the other issuer again', () =>
    jsonCall('POST', `/addcodes/${foreign.id}`, edit(foreign)),
  )
  add('loadCodes', '10,000 codes of the other issuer', async () => {
    const { id, editCode } = await rig.newIssuerEvent(foreign.codes)
    await rig.register(id, editCode)
    return jsonCall('POST', `/addcodes/${id}`, { editCode })
  })
  for (const approval of ['refused', 'approved'] as const)
    add('approveEvent', `${approval}, 10,000 tokens`, () => ({
      ...jsonCall('POST', `/events/${empty.uuid}/approval`, { approval }),
      headers: { 'content-type': 'application/json', ...operator },
    }))
  add('waitingEvents', '100', () => get('/events/waiting?limit=100', operator))
  add('registerEvent', '500 places', () =>
    jsonCall('POST', ofEvent(foreign), edit(foreign, { coordinates: places })),
  )
  add('event', '10,000 tokens', () => get(ofEvent(full)))
  add('availability', '10,000 tokens', () => get(ofEvent(full, '/availability')))
  add('checkEditCode', 'right', () => jsonCall('POST', ofEvent(full, '/check'), edit(full)))
  let round = 0
  add('changeBlocked', '1,000 players', () => {
    round++
    return jsonCall(
      'POST',
      ofEvent(full, '/blocked'),
      edit(full, {
        add: Array.from({ length: 1_000 }, (_, n) => `0x${String(n + round * 1_000).padStart(40, '0')}`),
        remove: Array.from(
          { length: 1_000 },
          (_, n) => `0x${String(n + (round - 1) * 1_000).padStart(40, '0')}`,
        ),
      }),
    )
  })
  add('giveTokens', '5,000 that have one', () => {
    const list = Array.from({ length: 5_000 }, (_, n) => `0x${(n + 1).toString(16).padStart(40, '0')}`)
    return jsonCall('POST', ofEvent(full, '/gifts'), edit(full, { list: list.join('\n') }))
  })
  add('report', '10,000 claims', () => jsonCall('POST', ofEvent(full, '/report'), edit(full)))
  add('listClaims', '1,000', () => jsonCall('POST', ofEvent(full, '/claims'), edit(full, { limit: 1_000 })))
  add('listClaims', 'all as CSV', () =>
    jsonCall('POST', ofEvent(full, '/claims'), edit(full, { format: 'csv' })),
  )
  add('exportEvent', '10,000 claims', () => jsonCall('POST', ofEvent(full, '/export'), edit(full)))
  add('makeGrantSecret', 'withdrawing', () =>
    jsonCall('POST', ofEvent(full, '/grant-secret'), edit(full, { withdrawOpen: true })),
  )
  add('sendGrant', 'wrongly signed', () => ({
    ...jsonCall('POST', `/grants/${full.uuid}`, {
      address: holder,
      nonce: 'n',
      expires: '2027-01-01T00:00:00Z',
    }),
    headers: { 'landpass-signature': '0'.repeat(64) },
  }))
  add('captcha', 'signed', () => {
    const headers = nextPlayer().sign({ method: 'POST', path: '/captcha', atMs: Date.now() })
    return { method: 'POST', path: '/captcha', headers }
  })
  add('captchaImage', 'new', async () => {
    const headers = nextPlayer().sign({ method: 'POST', path: '/captcha', atMs: Date.now() })
    const { uuid } = (await send({ method: 'POST', path: '/captcha', headers })) as { uuid: string }
    return get(`/captcha/${uuid}`)
  })
  add('claim', 'signed', () => signedClaim(nextPlayer(), empty.uuid))
  add('claim', 'a body of 64 KiB', () =>
    signedClaim(nextPlayer(), empty.uuid, Date.now(), JSON.stringify({ room: 'r'.repeat(65_000) })),
  )
  add('claim', 'unsigned, deep JSON', () =>
    jsonCall('POST', `/claim/${empty.uuid}`, {
      address: holder,
      room: Array.from({ length: 30_000 }, () => 1),
    }),
  )
  add('revokeToken', 'one', () =>
    jsonCall('POST', `/tokens/${tokens[nextToken++]}/revocation`, edit(full, { reason: 'r'.repeat(200) })),
  )
  add('revocations', 'some', () => get('/.well-known/attendance-revocations.json'))
  add('tokenIssuers', 'one', () => get('/.well-known/attendance-issuers.json'))
  add('tokenLog', '1,000', () => get('/tokens/log?limit=1000', { 'accept-encoding': 'gzip' }))
  add('attendanceToken', 'one', () => get(`/tokens/${tokens[0]}`))
  add('attendanceMetadata', 'one', () => get(`/tokens/${tokens[0]}/metadata`))
  add('attestation', 'one', () => get(`/tokens/${tokens[0]}/attestation`))
  add('attendanceTokenImage', 'drawn', () => get(`/tokens/${tokens[nextToken++]}/image.png`))
  add('attendanceShareImage', 'drawn', () => get(`/tokens/${tokens[nextToken++]}/share.png`))
  add('eventImage', 'of the map', () => get(`/events/${full.uuid}/image.png`))
  add('tokensOf', '1,000', async () => {
    await setTimeout(1_100) // its answer is kept for a second
    return get(`/addresses/${collector}/tokens?limit=1000`, { 'accept-encoding': 'gzip' })
  })
  add('holders', '1,000', () => get(`/events/${full.uuid}/holders?limit=1000`, { 'accept-encoding': 'gzip' }))
  add('holdersCsv', '10,000', () => get(`/events/${full.uuid}/holders.csv`, { 'accept-encoding': 'gzip' }))
  add('attended', 'one', () => get(`/events/${full.uuid}/holders/${holder}`))
  for (const [operation, path] of Object.entries(OF_OPERATION)) add(operation, 'as it is', () => get(path))
  for (const path of PAGES)
    add('page', path, () => get(path, { accept: 'text/html', 'accept-encoding': 'br' }))
  add('page', 'of a token', () =>
    get(`/tokens/${tokens[0]}`, { accept: 'text/html', 'accept-encoding': 'br' }),
  )
  add('attended', 'any of 1,000', () => get(`/events/any/holders/${collector}`))
  return dear
}

/** The addresses of operation, and texts. */
const OF_OPERATION = {
  live: '/health/live',
  liveV2: '/v2/ping',
  readyV2: '/v2/ready',
  ready: '/health/ready',
  readyLand: '/health/ready/land',
  readyAttendance: '/health/ready/attendance',
  openApi: '/openapi.json',
  translations: '/translations/ko',
}
const PAGES = ['/', '/organise', '/docs/static/swagger-ui-bundle.js', '/nowhere']

/** Pictures that cost a decoder most, by name. */
async function pictures(): Promise<readonly (readonly [string, Buffer])[]> {
  const wasm = fileURLToPath(import.meta.resolve('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm'))
  // The library types neither the option, nor an image without the class of browsers
  await (init as unknown as (options: object) => Promise<void>)({ wasmBinary: readFileSync(wasm) })
  const image = { data: noise(PICTURE_PX), width: PICTURE_PX, height: PICTURE_PX }
  const jpeg = async (progressive: boolean) =>
    Buffer.from(
      await encode(image as unknown as Parameters<typeof encode>[0], {
        ...{ quality: 92, progressive, auto_subsample: false, chroma_subsample: 1 },
      }),
    )
  const png = (sidePx: number, form: PngForm, filter: number) =>
    pngOf(sidePx, sidePx, form, (row, at) => (at === 0 ? filter : (row * at) & 3))
  const [rgb, rgba] = [2, 6] as const
  return [
    ['JPEG of one scan', await jpeg(false)],
    ['JPEG of the usual scans', await jpeg(true)],
    ['JPEG of 20 empty scans', jpegOfScans(PICTURE_PX, 20, 3)],
    ['PNG of 8 bits', png(PICTURE_PX, { depth: 8, colour: rgb, isInterlaced: false }, 4)],
    [
      'PNG of 8 bits, opacity, interlaced',
      png(PICTURE_PX, { depth: 8, colour: rgba, isInterlaced: true }, 4),
    ],
    ['PNG of 16 bits, opacity, interlaced', png(1_024, { depth: 16, colour: rgba, isInterlaced: true }, 4)],
    ['PNG of 1 bit, interlaced', png(PICTURE_PX, { depth: 1, colour: 0, isInterlaced: true }, 0)],
    ['JPEG of 64,979 empty scans', jpegOfScans(64, 64_979)],
    ['JPEG of 1,000 empty scans, large', jpegOfScans(TOO_LARGE_PX, 1_000, 3)],
    ['PNG of 16 bits, large', png(TOO_LARGE_PX, { depth: 16, colour: rgba, isInterlaced: true }, 0)],
  ]
}

/** Pixels that compress badly: at a middling quality a JPEG of 1 MiB, the largest that is read. */
function noise(sidePx: number): Uint8ClampedArray {
  const data = new Uint8ClampedArray(4 * sidePx * sidePx)
  for (let at = 0; at < sidePx * sidePx; at++) {
    const [x, y] = [at % sidePx, Math.floor(at / sidePx)]
    const grain = ((x * 7_919 + y * 104_729) % 251) / 8
    data.set([(x / 8 + grain) & 255, (y / 8 + grain) & 255, ((x + y) / 16 + grain) & 255, 255], 4 * at)
  }
  return data
}
