import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  LogDay,
  NO_LOG_ROOT,
  readIssuerList,
  readRevocationList,
  readTokenLog,
  verifyToken,
} from '@landpass/client/tokens'
import { CodeCountCache } from '@landpass/server/attendance/events/code-count-cache'
import { countCodes } from '@landpass/server/attendance/events/event-queries'
import { countPlaces } from '@landpass/server/attendance/events/place-queries'
import { TokenLog } from '@landpass/server/attendance/issuers/own/log/token-log'
import { Approvals } from '@landpass/server/attendance/issuers/own/made-events/approvals'
import { OwnIssuer } from '@landpass/server/attendance/issuers/own/own-issuer'
import { tokenPackage } from '@landpass/server/attendance/issuers/own/signing/token-message'
import { isSigned, newToken, tokens } from '@landpass/server/attendance/issuers/own/tokens/token-queries'
import { removeEvent, removePlayer } from '@landpass/server/attendance/removal-queries'
import { Vault } from '@landpass/server/attendance/secrets/vault'
import { HOUR_MS } from '@landpass/server/clock'
import {
  attendanceDump,
  insertMessage,
  readCaptcha,
} from '@landpass/server/test/support/attendance/attendance-rows'
import {
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
  TEST_KEY,
} from '@landpass/server/test/support/attendance/attendance-server'
import { attendanceStage, makesEvents } from '@landpass/server/test/support/attendance/attendance-stage'
import { describeOnBothEngines } from '@landpass/server/test/support/database/engines'
import { REFERENCE_TIME_MS } from '@landpass/server/test/support/http/land-server'
import { eventually } from '@landpass/server/test/support/processes/landpass'
import { PREVIEW_REALM } from '@landpass/simulators/player/player'
import { sql } from 'kysely'
import omggif from 'omggif'
import { PNG } from 'pngjs'
import { beforeAll, expect, test, vi } from 'vitest'

const PLACE = { x: 10, y: 20 }
const EVENT = {
  name: 'Größe · 港の灯り',
  description: 'Lanterns on the water.',
  coordinates: '10,20;11,20',
  start_date: new Date(REFERENCE_TIME_MS).toISOString().slice(0, 10),
  tokens: 3,
}
const PICTURE = new PNG({ width: 80, height: 64 })
PICTURE.data.fill(200)
const image = `data:image/png;base64,${PNG.sync.write(PICTURE).toString('base64')}`
const PAGE = { after: 0, limit: 10 }
const hasCurl = spawnSync('curl', ['--version']).status === 0
const OPERATOR_KEY = 'an operator key for tests alone, not a secret'.replaceAll(' ', '-')

interface Made {
  readonly id: number
  readonly uuid: string
  readonly edit_code: string
  readonly approval: string
}

let outside: OutsideWorld
beforeAll(async () => {
  outside = await startOutsideWorld()
})

describeOnBothEngines('an event that is made here', (open, kind) => {
  const OF_TOKENS = { ...makesEvents(), OPERATOR_KEY }
  const keyFile = OF_TOKENS.TOKEN_KEY_FILE
  const stage = attendanceStage(open, { outside: () => outside, env: OF_TOKENS })
  const player = (name: string) => playerAt(outside, `${kind} tokens ${name}`, PLACE, stage.clock.nowMs())

  async function make(fields: object = {}, on = stage.server): Promise<Made> {
    const made = await on.send('POST', '/events', { ...EVENT, ...fields })
    expect(made.status, made.text).toBe(200)
    const { event, ...others } = made.body.data as unknown as Omit<Made, 'id' | 'uuid'> & { event: Made }
    return { ...others, id: event.id, uuid: event.uuid }
  }
  const read = async (path: string) => {
    const { bytes, headers } = await stage.server.ask('GET', path)
    return { side: PNG.sync.read(bytes).width, tag: headers.etag }
  }
  const giftsOf = async ({ uuid, edit_code: editCode }: Made) => {
    const { body } = await stage.server.send('POST', `/event/${uuid}/report`, { editCode })
    return (body.data as unknown as { gifts: { waiting: number; given: number } }).gifts
  }
  const untilGiven = (made: Made, count: number) =>
    eventually(
      () => giftsOf(made),
      ({ waiting, given }) => waiting === 0 && given === count,
      60_000,
    )
  const signedOf = async ({ id }: Made) =>
    (await tokens(stage.engine.db).where('token.event_id', '=', id).execute()).filter(isSigned)
  /** As the commands of the operator have them. */
  const approvalsOf = () => {
    const { engine, clock } = stage
    return new Approvals({ db: engine.db, clock, codeCounts: new CodeCountCache(engine.db) })
  }
  /** As a claim has stored it that was never finished. */
  const newOwnMessage = async ({ id, uuid }: Made, signer: string) => {
    const address = `0x${'7'.repeat(40)}`
    const token = newToken(
      { uuid, name: EVENT.name, coordinates: '10,20' },
      { signer, nowMs: stage.clock.nowMs() },
    )
    await insertMessage(stage.engine.db, { eventId: id, address, token, number: 0 })
    return address
  }
  const issuers = async () => {
    const { body } = await stage.server.get('/.well-known/attendance-issuers.json')
    const status = '/.well-known/attendance-revocations.json'
    expect(body).toMatchObject({ updated: new Date(stage.clock.nowMs()).toISOString(), status })
    return body as unknown as {
      issuers: { address: string; state: 'active' | 'retired' | 'compromised'; until: string | null }[]
    }
  }

  test('gives a token that the verifier calls genuine, once', async () => {
    const made = await make()
    const ann = await player('ann')

    const first = await stage.server.claim(made.uuid, ann)
    const second = await stage.server.claim(String(made.id), ann)

    expect(first.status, first.text).toBe(200)
    expect(first.body.data).toMatchObject({ claim: { status: 'minted', message: 'The token is yours.' } })
    expect([second.status, second.body.code]).toEqual([409, 'already_claimed'])
    const [token, ...others] = await signedOf(made)
    expect(others).toEqual([])
    const pack = (await stage.server.get(`/tokens/${token!.id}/attestation`)).body
    const trust = { issuers: (await issuers()).issuers.map(({ address, state }) => ({ address, state })) }
    const { verdict, attendance, signed } = verifyToken(pack, { ...trust, nowMs: stage.clock.nowMs() })
    expect(verdict).toBe('genuine')
    expect(attendance).toMatchObject({ eventName: EVENT.name, eventLocation: '10,20' })
    expect(signed?.attestation.recipient.toLowerCase()).toBe(ann.address.toLowerCase())
    expect(statSync(keyFile).mode & 0o777).toBe(0o600)
  })

  test('the organiser gives tokens to a list: each address gets one, which says so, and none twice', async () => {
    const made = await make({ tokens: 5 })
    const [ann, bo] = [await player('given ann'), await player('given bo')]
    await stage.server.claim(made.uuid, ann)
    const give = (list: string) =>
      stage.server.send('POST', `/event/${made.uuid}/gifts`, { editCode: made.edit_code, list })
    const [cleo, dan, eve] = ['c', 'd', 'e'].map((digit) => `0x${digit.repeat(40)}`) as [
      string,
      string,
      string,
    ]

    const bad = await give(`${cleo}\n\nbob.eth\n${dan}`)
    expect([bad.status, bad.body.data]).toMatchObject([
      400,
      { parameter: 'list', line: 3, fault: 'no_address' },
    ])
    expect(bad.text).not.toContain('bob')
    const many = [...'23456'].map((digit) => `0x${digit.repeat(40)}`).join('\n')
    expect((await give(many)).body).toMatchObject({ code: 'no_codes_left', data: { needed: 5, free: 4 } })
    const blocking = { editCode: made.edit_code, add: [eve] }
    await stage.server.send('POST', `/event/${made.uuid}/blocked`, blocking)
    expect((await give(`${cleo}\n${eve}`)).body.data).toMatchObject({ line: 2, fault: 'blocked' })
    expect(await giftsOf(made)).toEqual({ allowed: true, waiting: 0, given: 0 })

    const table = `\ufeffname;Address\r\nAnn;${ann.address}\r\n"Cleo";"${cleo}"\r\nCleo again;${cleo}\r\n;${dan}\r\n`
    const taken = await give(table)
    expect(taken.status, taken.text).toBe(200)
    expect(taken.body.data).toMatchObject({ addresses: 3, accepted: 2, had: [ann.address.toLowerCase()] })
    await untilGiven(made, 2)
    expect((await give(table)).body.data).toMatchObject({ accepted: 0 })

    // A process was killed after it made the token of one address, and before that of another
    const { db } = stage.engine
    const rest = [cleo, bo.address.toLowerCase()].map((address) => ({ event_id: made.id, address }))
    const uncounted = sql`insert into event_count (event_id, hour_ms, stripe, gifts_given) values (${made.id}, -1, 99, -1)`
    await uncounted.execute(db)
    await db.insertInto('attendance_gift').values(rest).execute()
    await untilGiven(made, 3)
    expect((await stage.server.claim(made.uuid, bo)).body.code).toBe('already_claimed')
    const given = (await signedOf(made)).toSorted((one, other) => one.number - other.number)
    expect(given.map(({ address }) => address)).toEqual([
      ann.address.toLowerCase(),
      cleo,
      dan,
      bo.address.toLowerCase(),
    ])
    expect((await countCodes(db, made.id)).free).toBe(1)

    const { id } = given[1]!
    const pack = (await stage.server.get(`/tokens/${id}/attestation`)).body
    const trust = { issuers: (await issuers()).issuers.map(({ address, state }) => ({ address, state })) }
    const { verdict, attendance } = verifyToken(pack, { ...trust, nowMs: stage.clock.nowMs() })
    expect([verdict, attendance?.eventLocation]).toEqual(['genuine', 'given by the organiser'])
    expect((await stage.server.get(`/tokens/${id}`)).body.data).toMatchObject({
      given: true,
      event: { place: 'given by the organiser' },
    })
    expect((await stage.server.get(`/tokens/${given[0]!.id}`)).body.data).toMatchObject({ given: false })
    const metadata = await stage.server.get(`/tokens/${id}/metadata`)
    expect(metadata.text).toContain('given by the organiser')
    expect(metadata.text).not.toMatch(/Place|10,20|claim/)
    const holders = (await stage.server.get(`/events/${made.uuid}/holders.csv`)).text.split('\r\n')
    expect(holders[2]).toMatch(/,given by the organiser$/)
    const listed = await stage.server.send('POST', `/event/${made.uuid}/claims`, { editCode: made.edit_code })
    const { claims } = listed.body.data as unknown as { claims: { given?: true }[] }
    expect(claims.map(({ given = false }) => given)).toEqual([false, true, true, true])
    await new TokenLog({ db, clock: stage.clock }).update()
    expect((await stage.server.get(`/tokens/${id}`)).body.data).toMatchObject({
      log: { position: expect.any(Number) },
    })
  })

  test('takes a token back with a reason, which everybody can read and check', async () => {
    const made = await make()
    const leo = await player('leo')
    await stage.server.claim(made.uuid, leo)
    const [token] = await signedOf(made)
    const path = `/tokens/${token!.id}/revocation`
    const reason = '=1+"elsewhere"'
    const list = async () => (await stage.server.get('/.well-known/attendance-revocations.json')).body
    const before = await list()
    const gateOf = () => stage.server.get(`/events/${made.uuid}/holders/${leo.address}`)
    expect((await gateOf()).body).toMatchObject({ attended: true })
    const counted = async () =>
      /^landpass_http_requests_total\{group="claims",status="200"\} (\d+)$/m.exec(
        (await stage.server.get('/metrics')).text,
      )
    const countBefore = Number((await counted())![1])
    expect((await gateOf()).body).toMatchObject({ attended: true }) // from memory
    expect(Number((await counted())![1])).toBe(countBefore + 1)
    expect((await stage.server.send('POST', path, { editCode: 'f'.repeat(32), reason })).status).toBe(401)
    for (const unreadable of ['a\u0000', 'taken \u202eback', 'a\nb', ' ']) {
      const refused = await stage.server.send('POST', path, { editCode: made.edit_code, reason: unreadable })
      expect([refused.status, refused.body.data]).toMatchObject([400, { parameter: 'reason' }])
    }
    const revoked = await stage.server.send('POST', path, { editCode: made.edit_code, reason })
    expect([revoked.status, revoked.body.data], revoked.text).toMatchObject([200, { revoked: { reason } }])
    await stage.server.send('POST', path, { editCode: made.edit_code, reason: 'another one' })

    expect((await stage.server.get(`/tokens/${token!.id}`)).body.data).toMatchObject({ revoked: { reason } })
    const metadata = (await stage.server.get(`/tokens/${token!.id}/metadata`)).body
    expect(metadata).toMatchObject({
      attributes: expect.arrayContaining([{ trait_type: 'Reason', value: reason }]),
    })
    expect((await stage.server.get(`/events/${made.uuid}/holders.csv`)).text).toMatch(
      /Z,"'=1\+""elsewhere""",\r\n$/,
    )
    const gate = await gateOf()
    expect(gate.body).toMatchObject({ attended: false, count: 0, revoked: true })
    expect((await stage.server.get(`/events/any/holders/${leo.address}`)).body).toEqual(gate.body)
    const keys = readIssuerList(await issuers(), 'this server')!
    const trust = { issuers: keys, nowMs: stage.clock.nowMs() }
    const checked = readRevocationList(await list(), trust)
    const pack = (await stage.server.get(`/tokens/${token!.id}/attestation`)).body
    expect(verifyToken(pack, { ...trust, isRevoked: checked!.isRevoked }).verdict).toBe('revoked')
    expect(
      verifyToken(pack, { ...trust, isRevoked: readRevocationList(before, trust)!.isRevoked }).verdict,
    ).toBe('genuine')
    const { revoked: entries, proof } = (await list()) as unknown as { revoked: object[]; proof: object }
    expect(readRevocationList({ revoked: entries.slice(1), proof }, trust)).toBeUndefined()
    expect(readRevocationList({ revoked: entries, proof: pack }, trust)).toBeUndefined()
    expect(readRevocationList({ revoked: entries, proof }, { ...trust, issuers: [] })).toBeUndefined()
  })

  test.skipIf(kind === 'embedded' || !hasCurl)(
    'the commands of docs/attendance/organisers.md work as they are written',
    async () => {
      const page = readFileSync('docs/attendance/organisers.md', 'utf8')
      const commands = [...page.matchAll(/^```\n(curl [^`]*(?:\/events |\$UUID)[^`]*)^```$/gm)].map(
        ([, text = '']) => text,
      )
      const env: Record<string, string> = { PATH: process.env.PATH ?? '' }
      for (const command of commands) {
        const here = command.replaceAll('http://localhost:3000', stage.server.origin)
        const { stdout, stderr } = await promisify(execFile)('sh', ['-c', here], { env })
        const { ok, data } = JSON.parse(stdout)
        expect(ok, `${command}${stdout}${stderr}`).toBe(true)
        if (data.edit_code) Object.assign(env, { UUID: data.event.uuid, EDIT_CODE: data.edit_code })
      }
      expect(commands).toHaveLength(3)
    },
  )

  test('is cancelled, which can be taken back; without tokens it is deleted', async () => {
    const made = await make()
    const send = (method: 'PATCH' | 'POST', path: string, fields: object = {}) =>
      stage.server.send(method, `/events/${made.uuid}${path}`, { editCode: made.edit_code, ...fields })
    const ann = await player('cancelled ann')
    expect((await stage.server.claim(made.uuid, ann)).status).toBe(200)
    expect((await send('PATCH', '', { cancelled: true })).body.data).toMatchObject({
      event: { cancelled: true },
    })
    const ben = await player('cancelled ben')
    expect((await stage.server.claim(made.uuid, ben)).body).toMatchObject({
      code: 'event_cancelled',
      error: 'The organiser has cancelled this event, so it gives out no tokens. Please ask the organiser.',
    })
    expect((await stage.server.get(`/event/${made.uuid}/availability`)).body.data).toMatchObject({
      ...{ open: false, reason: 'event_cancelled', claimed: 1 },
    })
    const [token] = await signedOf(made)
    expect((await stage.server.get(`/tokens/${token!.id}`)).body.data).toMatchObject({ revoked: null })
    expect((await send('POST', '/deletion')).body.code).toBe('event_has_tokens')
    const list = { editCode: made.edit_code, list: ben.address }
    const gift = await stage.server.send('POST', `/event/${made.uuid}/gifts`, list)
    expect([gift.status, gift.body.code]).toEqual([403, 'event_cancelled'])
    expect((await send('PATCH', '', { cancelled: false })).body.data).toMatchObject({
      event: { cancelled: false },
    })
    expect((await stage.server.claim(made.uuid, ben)).status).toBe(200)

    const unused = await make()
    const deletion = `/events/${unused.uuid}/deletion`
    const wrong = await stage.server.send('POST', deletion, { editCode: made.edit_code })
    expect(wrong.body).toMatchObject({
      code: 'wrong_edit_code',
      error: expect.stringContaining('shown once, when it was made'),
    })
    const deleted = await stage.server.send('POST', deletion, { editCode: unused.edit_code })
    expect(deleted.body.data).toEqual({ deleted: unused.uuid })
    for (const [name, said] of [
      [unused.uuid, 'No event on this server has this UUID: it was deleted, or is of another server.'],
      [unused.id, `There is no event ${unused.id} on this server: it was deleted, or never made.`],
    ])
      expect((await stage.server.get(`/event/${name}`)).body).toMatchObject({
        code: 'event_not_found',
        error: said,
      })
    const { db } = stage.engine
    for (const table of ['event_place', 'made_event', 'attendance_event'] as const)
      expect(
        await db.selectFrom(table).select('event_id').where('event_id', '=', unused.id).execute(),
      ).toEqual([])
  })

  test('many claims at once: a token for each player, none twice', async () => {
    const made = await make({ tokens: 8 })
    const players = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map(player))
    const answers = await Promise.all(
      [...players, ...players].map((one) => stage.server.claim(made.uuid, one)),
    )

    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(8)
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
    const signed = await signedOf(made)
    expect(signed.map(({ number }) => number).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(new Set(signed.map(({ address }) => address)).size).toBe(8)
  })

  test('the log has every token once, and a root for each day that is over', async () => {
    const log = new TokenLog({ db: stage.engine.db, clock: stage.clock })
    const read = async () =>
      (await stage.server.get('/tokens/log')).body.data as unknown as {
        entries: { position: number; uid: string; signer: string; noted_at: string }[]
        roots: { day: string; leaves: number; root: string }[]
        next: number
      }
    await Promise.all([log.update(), log.update()])
    const first = await read()
    const signed = (await tokens(stage.engine.db).execute()).filter(isSigned)
    expect(first.entries.map(({ position }) => position)).toEqual(signed.map((_, at) => at))
    expect(new Set(first.entries.map(({ uid }) => uid))).toEqual(
      new Set(signed.map(({ uid }) => `0x${uid.toString('hex')}`)),
    )
    expect([first.roots, first.next, await log.root()]).toEqual([[], signed.length, undefined])

    stage.clock.set(stage.clock.nowMs() + 24 * HOUR_MS)
    const day = new LogDay(NO_LOG_ROOT)
    for (const entry of first.entries) day.add(entry)
    const root = { day: EVENT.start_date, leaves: signed.length, root: day.root() }
    expect(await log.root()).toEqual(root)
    const made = await make()
    stage.clock.set(REFERENCE_TIME_MS) // a process whose clock is behind: the day with the root stays closed
    await stage.server.claim(made.uuid, await player('max'))
    await log.update()
    const second = await read()
    expect(second.roots).toEqual([root])
    expect(second.entries.slice(0, -1)).toEqual(first.entries)
    expect(second.entries.at(-1)!.noted_at.slice(0, 10) > root.day).toBe(true)
    expect(readTokenLog([second], { root: root.root })?.entries).toBe(signed.length)
    const { position, noted_at } = second.entries[0]!
    const { id } = signed.find((token) => `0x${token.uid.toString('hex')}` === second.entries[0]!.uid)!
    expect((await stage.server.get(`/tokens/${id}`)).body.data).toMatchObject({ log: { position, noted_at } })
  })

  test('an operator removes an event, and a player: what holders have stays genuine or revoked, and the log as it was', async () => {
    const { engine, clock, server } = stage
    const [made, other] = [await make(), await make({ name: 'Next Door' })]
    const [ann, ben] = [await player('removed ann'), await player('removed ben')]
    const address = ann.address.toLowerCase()
    for (const one of [ann, ben])
      for (const { uuid } of [made, other]) expect((await server.claim(uuid, one)).status).toBe(200)
    const held = (await signedOf(made)).map((token) => ({ ...token, pack: tokenPackage(token, token) }))
    const revoked = held.find((token) => token.address !== address)!
    const reason = { editCode: made.edit_code, reason: 'lent to another player' }
    await server.send('POST', `/tokens/${revoked.id}/revocation`, reason)
    await server.send('POST', `/events/${other.uuid}/gifts`, { editCode: other.edit_code, list: address })
    const log = async () => {
      const { data } = (await server.get('/tokens/log')).body
      return (data as { entries: { uid: string }[] }).entries
    }
    const before = await log()

    const removal = { nowMs: clock.nowMs(), isDryRun: false }
    const counted = await removeEvent(engine.db, made.id, { ...removal, isDryRun: true })
    expect(counted).toMatchObject({ claim: 2, token: 2, event_place: 1, made_event: 1, attendance_event: 1 })
    expect(await removeEvent(engine.db, made.id, removal)).toEqual(counted)
    expect(await removeEvent(engine.db, made.id, removal)).toEqual({})
    const still = await removePlayer(engine.db, address, removal)
    const until = expect.stringMatching(/Z$/)
    expect(still.kept).toContainEqual({ event: other.id, because: 'open', until })

    const afterwards = await stage.startAnother() // with nothing in memory
    for (const path of [`/event/${made.uuid}`, `/tokens/${held[0]!.id}`])
      expect((await afterwards.get(path)).status, path).toBe(404)
    expect((await afterwards.claim(made.uuid, ben)).status).toBe(404)
    const list = (await afterwards.get('/.well-known/attendance-revocations.json')).body
    await afterwards.close()
    const trust = { issuers: readIssuerList(await issuers(), 'this server')!, nowMs: clock.nowMs() }
    const { isRevoked } = readRevocationList(list, trust)!
    const verdictOf = ({ pack }: (typeof held)[0]) => verifyToken(pack, { ...trust, isRevoked }).verdict
    expect(held.map(verdictOf)).toEqual(held.map((token) => (token === revoked ? 'revoked' : 'genuine')))
    expect(JSON.stringify(list)).not.toContain('lent')
    const now = await log()
    expect(now.slice(0, before.length)).toEqual(before)
    const uids = now.map(({ uid }) => uid)
    expect(uids).toEqual(expect.arrayContaining(held.map(({ uid }) => `0x${uid.toString('hex')}`)))

    const later = { nowMs: clock.nowMs() + 72 * HOUR_MS, isDryRun: false }
    const ofAnn = await removePlayer(engine.db, address, { ...later, isDryRun: true })
    expect(ofAnn).toMatchObject({ kept: [], rows: { claim: expect.any(Number), token: expect.any(Number) } })
    expect(await removePlayer(engine.db, address, later)).toEqual(ofAnn)
    expect(await removePlayer(engine.db, address, later)).toEqual({ rows: {}, kept: [] })
    expect(await attendanceDump(engine.db)).not.toContain(address)
    expect((await signedOf(other)).map((token) => token.address)).toEqual([ben.address.toLowerCase()])
    expect(await countPlaces(engine.db, other.id)).toMatchObject({ taken: 2 })
  })

  // The others have no statement of their own
  if (kind === 'embedded') return

  test('has the calls of every event: info, availability, report, more tokens, changes', async () => {
    const made = await make({ tokens: 1 })
    const editCode = made.edit_code
    expect(editCode).toMatch(/^[0-9a-f]{32}$/)
    expect(made.id).toBeGreaterThanOrEqual(2_000_000_000)
    const wrong = { editCode: '0'.repeat(32) }
    for (let tried = 0; tried < 7; tried++)
      expect((await stage.server.send('POST', `/addcodes/${made.id}`, wrong)).status).toBe(401)

    expect((await stage.server.claim(made.uuid, await player('ben'))).status).toBe(200)
    expect((await stage.server.claim(made.uuid, await player('cleo'))).body.code).toBe('no_codes_left')
    const raised = await stage.server.send('PATCH', `/event/${made.id}`, {
      editCode,
      options: [['tokens', 3]],
    })
    expect(raised.status, raised.text).toBe(200)
    expect((await stage.server.claim(made.uuid, await player('cleo'))).status).toBe(200)
    const again = await stage.server.send('POST', `/event/${made.id}`, { editCode, coordinates: '10,20' })
    expect(again.body.data).toMatchObject({
      uuid: made.uuid,
      coordinates: '10,20',
      event: { name: EVENT.name },
    })
    const loaded = await stage.server.send('POST', `/addcodes/${made.id}`, { editCode })
    expect(loaded.body.data).toMatchObject({ body: { num: 0, total: 3, available: 1, claimed: 2 } })
    expect((await stage.server.get(`/event/${made.uuid}/availability`)).body.data).toMatchObject({
      open: true,
      total: 3,
    })
    expect((await stage.server.send('POST', `/event/${made.uuid}/report`, { editCode })).status).toBe(200)
    expect((await signedOf(made)).map(({ number }) => number).sort()).toEqual([1, 2])
    for (const { text } of [await stage.server.get(`/event/${made.uuid}`), loaded])
      expect(text).not.toContain(editCode)
  })

  test('shows its tokens to holders, galleries and gates', async () => {
    const made = await make({ tokens: 2 })
    const ida = await player('ida')
    await stage.server.claim(made.uuid, ida)
    const [token] = await signedOf(made)
    const uid = `0x${token!.uid.toString('hex')}`
    const path = `/tokens/${token!.id}`

    const shown = await stage.server.get(path)
    const listed = {
      ...{ id: token!.id, uid, number: token!.number, revoked: null },
      ...{ holder: ida.address.toLowerCase(), issuer: token!.signer },
    }
    expect(shown.body.data).toMatchObject({
      ...listed,
      event: { uuid: made.uuid, name: EVENT.name, place: '10,20' },
    })
    expect((shown.body.data as { explorer_url: string }).explorer_url).toMatch(
      /^https:\/\/easscan\.org\/offchain\/url\/#/,
    )
    expect((await stage.server.get(`${path}/metadata`)).body).toMatchObject({
      name: `${EVENT.name} #${token!.number}`,
      description: EVENT.description,
      image: expect.stringMatching(/\/tokens\/[0-9a-f-]{36}\/image\.png$/),
      attributes: expect.arrayContaining([{ trait_type: 'Date', value: token!.timeS, display_type: 'date' }]),
    })
    const headers = { 'if-none-match': (await read(`${path}/image.png`)).tag! }
    expect((await stage.server.ask('GET', `${path}/image.png`, { headers })).status).toBe(304)
    const collection = await stage.server.get(
      `/addresses/${ida.address.toUpperCase().replace('0X', '0x')}/tokens`,
    )
    expect(collection.body.data).toMatchObject({ total: 1, limit: 100, offset: 0, tokens: [listed] })
    expect((await stage.server.get(`/events/${made.uuid}/holders?limit=1`)).body.data).toMatchObject({
      tokens: [listed],
    })
    expect((await stage.server.get(`/events/${made.uuid}/holders.csv`)).text).toBe(
      `number,address,time,uid,revoked,reason,given\r\n${token!.number},${listed.holder},${new Date(token!.timeS * 1000).toISOString()},${uid},,,\r\n`,
    )
    const gate = (address: string) => stage.server.get(`/events/${made.uuid}/holders/${address}`)
    expect((await gate(ida.address)).body).toEqual({
      attended: true,
      count: 1,
      since: token!.timeS,
      uid,
      revoked: false,
    })
    const [fresh, kept] = [await gate(ida.address.toUpperCase().replace('X', 'x')), await gate(ida.address)]
    expect(
      Object.keys(kept.headers)
        .filter((name) => !name.startsWith('ratelimit'))
        .sort(),
    ).toEqual(
      Object.keys(fresh.headers)
        .filter((name) => !name.startsWith('ratelimit'))
        .sort(),
    )
    expect((await gate(`0x${'1'.repeat(40)}`)).text).toBe('{"attended":false,"count":0}')
    expect((await gate('0x12')).status).toBe(400)
    await stage.server.claim((await make()).uuid, ida)
    const ofAny = (await stage.server.get(`/events/any/holders/${ida.address}`)).body
    expect(ofAny).toMatchObject({ attended: true, count: 2, since: token!.timeS })
    expect((await stage.server.get(`/tokens/${made.uuid}`)).body.code).toBe('token_not_found')
    const hidden = await make({ hide_holders: true })
    const listOf = (path: string, of: Record<string, string> = {}) =>
      stage.server.ask('GET', `/events/${hidden.uuid}${path}`, { headers: of })
    for (const path of ['/holders', '/holders.csv']) {
      expect((await listOf(path)).bytes.toString()).toContain('holders_hidden')
      expect((await listOf(path, { 'edit-code': 'f'.repeat(32) })).status).toBe(401)
      const mine = await listOf(path, { 'edit-code': hidden.edit_code })
      expect([mine.status, mine.headers['cache-control']]).toEqual([200, 'no-store'])
    }
  })

  test('shows the picture of the organiser, or one of the place', async () => {
    const made = await make({ image })
    await stage.server.claim(made.uuid, await player('pia'))
    const [token] = await signedOf(made)
    const info = (await stage.server.get(`/event/${made.uuid}`)).body.data as { image_url: string }
    expect(info.image_url).toMatch(new RegExp(`^http://[^/]+/events/${made.uuid}/image\\.png$`))
    const own = await read(new URL(info.image_url).pathname)
    expect(own.side).toBe(64)
    expect(await read(`/tokens/${token!.id}/image.png`)).toEqual(own)
    for (const wrong of ['AAAA', 'no base64!', image.slice(0, 60)])
      expect(
        (await stage.server.send('POST', '/events', { ...EVENT, image: wrong })).body.data,
      ).toMatchObject({
        parameter: 'image',
      })

    const named = image.replace('image/png', 'image/jpg')
    expect((await make({ image: named })).approval).toBe('approved')
    const twoFrames = Buffer.alloc(4_000)
    const gif = new omggif.GifWriter(twoFrames, 64, 64, { palette: [0, 0xff0000] })
    for (const colour of [0, 1]) gif.addFrame(0, 0, 64, 64, new Array(64 * 64).fill(colour))
    const animation = twoFrames.subarray(0, gif.end()).toString('base64')
    const moving = await stage.server.send('POST', '/events', { ...EVENT, image: animation })
    expect(moving.body.data).toMatchObject({ warnings: [expect.stringContaining('first frame')] })
    const animated = moving.body.data as {
      readonly event: { readonly uuid: string }
      readonly edit_code: string
    }
    const changed = await stage.server.send('PATCH', `/events/${animated.event.uuid}`, {
      editCode: animated.edit_code,
      image: animation,
    })
    expect(changed.body.data).toMatchObject({ warnings: [expect.stringContaining('first frame')] })
    for (const [method, path] of [
      ['POST', '/events'],
      ['PATCH', `/events/${animated.event.uuid}`],
    ] as const) {
      const huge = await stage.server.send(method, path, { ...EVENT, image: 'A'.repeat(2_000_000) })
      expect([huge.status, huge.body.error]).toEqual([
        413,
        'The body is larger than 1483 KiB. A picture has at most 1024 KiB.',
      ])
    }

    const inLines = await make({ image: image.replaceAll(/.{64}/g, '$&\r\n') })
    expect((await read(`/events/${inLines.uuid}/image.png`)).side).toBe(64)
    const drawn = await make()
    expect((await read(`/events/${drawn.uuid}/image.png`)).side).toBe(512)

    // The picture of a link has that of the event on its left side: a grey that lets some of the white through
    const link = `/tokens/${token!.id}/share.png`
    const [wide, same] = await Promise.all([stage.server.ask('GET', link), stage.server.ask('GET', link)])
    const { width, height, data } = PNG.sync.read(wide.bytes)
    const pixel = 4 * (300 * width + 300)
    expect([width, height, ...data.subarray(pixel, pixel + 3)]).toEqual([1_200, 630, 212, 212, 212])
    expect(same.bytes.equals(wide.bytes)).toBe(true)
    const headers = { 'if-none-match': wide.headers.etag! }
    expect((await stage.server.ask('GET', link, { headers })).status).toBe(304)
    expect((await stage.server.get(`/tokens/${made.uuid}/share.png`)).body.code).toBe('token_not_found')
  })

  test('a link has the picture of its token where one client has had too many drawn, or too many wait', async () => {
    const made = await make({ image, tokens: 12 })
    for (let n = 0; n < 12; n++) await stage.server.claim(made.uuid, await player(`link ${n}`))
    const links = (await signedOf(made)).map(({ id }) => `/tokens/${id}/share.png`)
    const read = async (link: string, of = stage.server) => {
      const { bytes, headers } = await of.ask('GET', link)
      return [PNG.sync.read(bytes).width, headers['content-type'], headers['cache-control']]
    }
    const large = [1_200, 'image/png', 'public, max-age=300']
    const small = [64, 'image/png', 'no-store']

    const bounded = await stage.startAnother({}, { sharePicturesPerMinute: 1 })
    expect(await read(links[0]!, bounded)).toEqual(large)
    expect(await read(links[1]!, bounded)).toEqual(small)
    expect(await read(links[0]!, bounded), 'from memory').toEqual(large)
    await bounded.close()

    const answers = await Promise.all(links.map((link) => read(link)))
    expect(answers).toContainEqual(large)
    expect(answers).toContainEqual(small)
  })

  test('shows beforehand what players read: the sentences that they get', async () => {
    const made = await make({ tokens: 1 })
    const read = async () => (await stage.server.get(`/event/${made.uuid}/sentences`)).body.data
    const error = async (name: string, sign: object = {}, place = PLACE) => {
      const who = await playerAt(outside, `${kind} ${name}`, place, stage.clock.nowMs())
      return (await stage.server.claim(made.uuid, who, { sign })).body.error
    }
    const change = (name: string, value: unknown) =>
      stage.server.send('PATCH', `/event/${made.uuid}`, {
        editCode: made.edit_code,
        options: [[name, value]],
      })
    const open = {
      now: 'The token is yours.',
      elsewhere: await error('said ann', {}, { x: 90, y: 90 }),
      guest: await error('said gus', { metadata: { isGuest: true } }),
      preview: await error('said pia', { metadata: { realm: PREVIEW_REALM } }),
    }
    expect(await read()).toMatchObject(open)
    await change('enabled', false)
    expect(await read()).toMatchObject({ ...open, now: await error('said ben') })
    await change('enabled', true)
    await change('distribution_start_date', '2026-11-20T06:00:00Z')
    expect(await read()).toMatchObject({ now: await error('said ben') })
    await change('distribution_start_date', null)
    const cleo = await playerAt(outside, `${kind} said cleo`, PLACE, stage.clock.nowMs())
    const [first, again] = [
      await stage.server.claim(made.uuid, cleo),
      await stage.server.claim(made.uuid, cleo),
    ]
    expect(first.status, first.text).toBe(200)
    await change('requires_presence', false)
    await change('allows_guests', true)
    expect(await read()).toMatchObject({
      ...{ now: await error('said ben'), elsewhere: null, guest: null, again: again.body.error },
    })
  })

  test('gives no token to a guest, signed or with a captcha, until its organiser allows guests', async () => {
    const made = await make()
    const guest = await player('guest gus')
    const metadata = { isGuest: true }
    const claim = () => stage.server.claim(made.uuid, guest, { sign: { metadata } })
    const refused = await claim()
    expect([refused.status, refused.body.code]).toEqual([403, 'guest_refused'])
    expect(refused.body.error).toContain('guests lose their token when they leave')

    const path = '/captcha'
    const headers = guest.sign({ method: 'POST', path, atMs: stage.clock.nowMs() + 1, metadata })
    const asked = await stage.server.send('POST', path, undefined, headers)
    const { uuid } = asked.body.data as { uuid: string }
    const vault = new Vault(Buffer.from(TEST_KEY, 'hex'))
    const { answer } = await readCaptcha(stage.engine.db, vault, uuid)
    const body = { address: guest.address, captcha: answer }
    const unsigned = () => stage.server.send('POST', `/claim/${made.uuid}`, body)
    expect((await unsigned()).body.code).toBe('guest_refused')

    const { body: reported } = await stage.server.send('POST', `/event/${made.uuid}/report`, {
      editCode: made.edit_code,
    })
    expect(reported.data).toMatchObject({
      event: { allows_guests: false },
      refusals: [{ code: 'guest_refused', count: 2 }],
    })
    const options = [['allows_guests', true]]
    const changed = await stage.server.send('PATCH', `/event/${made.uuid}`, {
      editCode: made.edit_code,
      options,
    })
    expect(changed.body.data).toMatchObject({ allows_guests: true })
    const given = await unsigned()
    expect(given.status, `the captcha was given back: ${given.text}`).toBe(200)
  })

  test('what its organiser may change: who sees the holders, the description, more tokens at any time', async () => {
    const made = await make({ tokens: 2 })
    const change = (options: readonly (readonly [string, unknown])[], name: string | number = made.uuid) =>
      stage.server.send('PATCH', `/event/${name}`, { editCode: made.edit_code, options })
    const holders = async () => (await stage.server.get(`/events/${made.uuid}/holders`)).status
    expect(await holders()).toBe(200)
    const changed = await change([
      ['hide_holders', true],
      ['description', 'Inside,\nif it rains.'],
    ])
    expect([changed.status, changed.body.data], changed.text).toMatchObject([
      200,
      { name: EVENT.name, description: 'Inside,\nif it rains.' },
    ])
    expect(await holders()).toBe(403)
    await change([['hide_holders', false]])
    expect(await holders()).toBe(200)
    for (const [name, value] of [
      ['hide_holders', 'yes'],
      ['description', 'a\u0007'],
      ['description', 'a\u202eb'],
      ['description', 'a'.repeat(2_001)],
    ] as const) {
      const refused = await change([[name, value]])
      expect([refused.status, refused.body.data], name).toMatchObject([400, { parameter: name }])
    }

    const fewer = await change([
      ['tokens', 1],
      ['hide_holders', true],
    ])
    expect([fewer.status, fewer.body.error]).toEqual([
      400,
      'tokens is 1, but must be 2 or more, because the event has so many.',
    ])
    expect(await holders()).toBe(200)
    const late = await change([['distribution_start_date', '2030-01-01T00:00:00Z']])
    expect([late.status, late.body.data]).toMatchObject([400, { parameter: 'distribution_start_date' }])
    // An event whose first day was moved behind its last one can still be changed
    await stage.engine.db
      .updateTable('attendance_event')
      .set({ distribution_start_at_ms: Date.parse('2030-01-01T00:00:00Z') })
      .where('uuid', '=', made.uuid)
      .execute()
    expect((await change([['enabled', true]])).status).toBe(200)
    expect((await change([['distribution_start_date', null]])).status).toBe(200)
    // Upper case and blanks do no harm to an edit code
    const typed = { editCode: ` ${made.edit_code.toUpperCase()} `, options: [['hide_holders', false]] }
    expect((await stage.server.send('PATCH', `/event/${made.uuid}`, typed)).status).toBe(200)

    // Players claim while the number is raised, by two browsers at once
    const players = await Promise.all(['ra', 'rb', 'rc', 'rd', 're', 'rf'].map(player))
    const [five, four, ...claims] = await Promise.all([
      change([['tokens', 5]]),
      change([['tokens', 4]]),
      ...players.map((one) => stage.server.claim(made.uuid, one)),
    ])
    expect([five!.status, ...claims.filter(({ status }) => status >= 500)]).toEqual([200])
    if (four!.status !== 200) expect(four!.body.error).toMatch(/^tokens is 4, but must be 5 or more/)
    for (const one of players) await stage.server.claim(made.uuid, one)
    expect((await signedOf(made)).map(({ number }) => number).sort()).toEqual([1, 2, 3, 4, 5])
  })

  test('is corrected and moved, also after its first token, which keeps what it said', async () => {
    const day = (days: number) => new Date(REFERENCE_TIME_MS + days * 24 * HOUR_MS).toISOString().slice(0, 10)
    const made = await make({ distribution_start_date: new Date(REFERENCE_TIME_MS - HOUR_MS).toISOString() })
    const patch = (fields: object, to = made) =>
      stage.server.send('PATCH', `/events/${to.uuid}`, { editCode: to.edit_code, ...fields })
    expect((await stage.server.claim(made.uuid, await player('moved ann'))).status).toBe(200)
    const [token] = await signedOf(made)
    const before = await read(`/events/${made.uuid}/image.png`)

    const days = { start_date: day(7), end_date: day(8) }
    const moved = await patch(days)
    expect(moved.status, moved.text).toBe(200)
    expect(moved.body.data).toMatchObject({
      event: {
        event_start_date: `${day(7)}T00:00:00.000Z`,
        event_end_date: `${day(8)}T00:00:00.000Z`,
        expiry_date: `${day(9)}T12:00:00.000Z`,
      },
      warnings: [expect.stringMatching(/^The days moved, but .* Send distribution_start_date/)],
    })
    expect((await patch({ distribution_end_date: `${day(3)}T20:00:00Z` })).body.data).toMatchObject({
      warnings: [expect.stringMatching(/^Tokens can only be claimed until .* before the first day/)],
    })
    const times = {
      distribution_start_date: `${day(7)}T18:00:00Z`,
      distribution_end_date: `${day(8)}T02:00:00+02:00`,
    }
    expect((await patch(times)).body.data).not.toHaveProperty('warnings')
    const early = await stage.server.claim(made.uuid, await player('moved ben'))
    expect(early.body.code).toBe('event_not_open')
    const zone = async (name: string) => {
      const { body } = await patch({ time_zone: name })
      return (body.data as unknown as { event: { time_zone: string | null } }).event.time_zone
    }
    for (const name of ['Asia/Kolkata', 'Etc/GMT-14', 'UTC', 'CET']) expect(await zone(name)).toBe(name)
    expect(await zone('')).toBeNull()
    const corrected = await patch({
      ...{ name: 'Harbour of Lights', description: '', event_url: 'https://harbour.example/' },
      ...{ coordinates: '11,20;10,20', image, distribution_start_date: '', distribution_end_date: '' },
    })
    expect(corrected.body.data).toMatchObject({
      event: {
        ...{ name: 'Harbour of Lights', description: '', event_url: 'https://harbour.example/' },
        coordinates: '11,20;10,20',
        ...{ distribution_start_date: `${day(6)}T10:00:00.000Z`, distribution_end_date: null },
      },
      approval: { change: null },
    })
    expect((await read(`/events/${made.uuid}/image.png`)).tag).not.toBe(before.tag)

    const shown = await stage.server.get(`/tokens/${token!.id}`)
    expect(shown.body.data).toMatchObject({
      event: { name: EVENT.name, place: '10,20' },
      event_now: { name: 'Harbour of Lights', place: '11,20' },
    })
    const metadata = (await stage.server.get(`/tokens/${token!.id}/metadata`)).body as unknown as {
      attributes: { trait_type: string; value: unknown }[]
    }
    expect(metadata.attributes.map(({ trait_type, value }) => [trait_type, value])).toEqual(
      expect.arrayContaining([
        ...[
          ['Event', EVENT.name],
          ['Event now', 'Harbour of Lights'],
        ],
        ...[
          ['Place', '10,20'],
          ['Place now', '11,20'],
        ],
      ]),
    )

    // An event of one day stays one, and an opening with the first day follows it
    const oneDay = await make()
    expect((await patch({ start_date: day(3) }, oneDay)).body.data).toMatchObject({
      event: {
        event_end_date: `${day(3)}T00:00:00.000Z`,
        distribution_start_date: `${day(2)}T10:00:00.000Z`,
      },
    })
    for (const [fields, parameter] of [
      [{ start_date: day(-3) }, 'end_date'],
      [{ start_date: '2026-02-30' }, 'start_date'],
      [{ end_date: day(2) }, 'end_date'],
      [{ distribution_start_date: `${day(5)}T00:00:00Z` }, 'distribution_start_date'],
      [{ distribution_end_date: `${day(1)}T00:00:00Z` }, 'distribution_end_date'],
      [{ name: ' ' }, 'name'],
      [{ event_url: 'http://harbour.example/' }, 'event_url'],
      [{ image: 'bm90IGFuIGltYWdl' }, 'image'],
      [{ tokens: 1 }, 'tokens'],
      [{ time_zone: 'Mars/Olympus' }, 'time_zone'],
      ...['+01:00', 'PST', 'SystemV/AST4'].map((time_zone) => [{ time_zone }, 'time_zone'] as const),
      [{ enddate: day(9) }, 'enddate'],
    ] as const)
      expect((await patch(fields, oneDay)).body.data, JSON.stringify(fields)).toMatchObject({ parameter })
    const misplaced = await patch({ [oneDay.edit_code]: true }, oneDay)
    expect([misplaced.status, misplaced.text.includes(oneDay.edit_code)]).toEqual([400, false])
    const mistyped = await stage.server.send('POST', '/events', { ...EVENT, enddate: day(9) })
    expect(mistyped.body.error).toMatch(/^There is no field "enddate"\. The fields are name, description/)
    const stranger = { ...oneDay, edit_code: '0'.repeat(32) }
    expect((await patch({ name: 'Mine' }, stranger)).body.code).toBe('wrong_edit_code')
  })

  test('has codes for co-organisers, which can be revoked, and a new first one from the operator', async () => {
    const made = await make()
    const send = (path: string, fields?: object, headers: Record<string, string> = {}) =>
      stage.server.send('POST', path, fields, headers)
    const codes = (editCode: string, name: string, action = 'add') =>
      send(`/events/${made.uuid}/codes`, { editCode, [action]: name })
    const report = async (editCode: string) => (await send(`/event/${made.id}/report`, { editCode })).status

    const answers = [await codes(made.edit_code, ' Ann '), await codes(made.edit_code, 'Ben')]
    const [ann, ben] = answers.map(
      ({ body }) => (body.data as unknown as { edit_code: string }).edit_code,
    ) as [string, string]
    expect(new Set([ann, ben, made.edit_code]).size).toBe(3)
    expect(answers[0]!.headers.get('cache-control')).toBe('no-store')
    expect([await report(ann), await report(ben.toUpperCase())]).toEqual([200, 200])
    const change = { editCode: ann, name: 'Lanterns of Ann' }
    expect((await stage.server.send('PATCH', `/events/${made.uuid}`, change)).status).toBe(200)
    for (const refused of [
      await codes(ann, 'Cleo'),
      await codes(ann, 'Ben', 'revoke'),
      await send(`/events/${made.uuid}/deletion`, { editCode: ann }),
    ])
      expect([refused.status, refused.body.code]).toEqual([403, 'first_code_only'])
    expect((await codes(made.edit_code, 'Ben')).body.data).toMatchObject({ parameter: 'add' })
    expect((await codes(made.edit_code, made.edit_code, 'revoke')).text).not.toContain(made.edit_code)

    const burst = await Promise.all(['C', 'D', 'E', 'F', 'G'].map((name) => codes(made.edit_code, name)))
    expect(burst.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409])
    expect(burst.find(({ status }) => status === 409)?.body.code).toBe('too_many_codes')
    expect((await codes(made.edit_code, 'Ben', 'revoke')).status).toBe(200)
    expect([await report(ben), await report(ann)]).toEqual([401, 200])
    expect((await codes(made.edit_code, 'Ben')).status, 'a name is free again').toBe(200)

    const reissue = (headers = {}) => send(`/events/${made.uuid}/first-code`, undefined, headers)
    expect((await reissue()).body.code).toBe('operator_only')
    const reissued = await reissue({ 'operator-key': OPERATOR_KEY })
    const { edit_code: first } = reissued.body.data as unknown as { edit_code: string }
    expect([await report(made.edit_code), await report(first), await report(ann)]).toEqual([401, 200, 200])
    const listed = await send(`/events/${made.uuid}/codes`, { editCode: ann })
    const at = new Date(stage.clock.nowMs()).toISOString()
    expect(listed.body.data).toMatchObject({
      codes: expect.arrayContaining([
        { name: null, made_at: at, ended_at: null },
        { name: 'Ben', made_at: at, ended_at: at },
        { name: 'Ann', made_at: at, ended_at: null },
      ]),
    })
    const stored = await attendanceDump(stage.engine.db)
    for (const code of [ann, ben, first, made.edit_code]) expect(stored).not.toContain(code)
    expect((await send(`/events/${made.uuid}/deletion`, { editCode: first })).status).toBe(200)
  })

  test('a wrong description is refused with the name of its field', async () => {
    for (const [fields, parameter] of [
      [{ name: 'a\u0000' }, 'name'],
      [{ name: '\ud800' }, 'name'],
      [{ name: '\u200b\u2800\u3164' }, 'name'],
      [{ name: 'Free \u202egnp.token' }, 'name'],
      ...['\u061c', '\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069'].map(
        (turning) => [{ description: `By the water\n${turning}Bring a lantern` }, 'description'] as const,
      ),
      [{ event_url: 'https://example.org/\u202egnp' }, 'event_url'],
      [{ start_date: '2026-11-01', end_date: '2026-11-18' }, 'end_date'],
      [{ distribution_start_date: '2026-11-20T18:00' }, 'distribution_start_date'],
      [{ distribution_end_date: '2026-11-19T18:00:00Z' }, 'distribution_end_date'],
      // Tokens could never be claimed
      [{ distribution_start_date: '2027-05-05T00:00:00Z' }, 'distribution_start_date'],
      [{ start_date: '2027-03-05', distribution_end_date: '2027-03-01T00:00:00Z' }, 'distribution_end_date'],
      [{ tokens: 1_000_001 }, 'tokens'],
      [{ start_date: '2027-02-30' }, 'start_date'],
      [
        { start_date: '2027-03-01', distribution_start_date: '2027-02-30T18:00:00Z' },
        'distribution_start_date',
      ],
      [{ end_date: '2020-01-01' }, 'end_date'],
      [{ event_url: 'javascript:alert(1)' }, 'event_url'],
      [{ event_url: 'https:foo' }, 'event_url'],
      [{ event_url: 'https:\\\\example.org' }, 'event_url'],
      [{ event_url: 'https:///example.org' }, 'event_url'],
      [{ event_url: 'https://example.org\\\\@other.example' }, 'event_url'],
    ] as const) {
      const refused = await stage.server.send('POST', '/events', { ...EVENT, ...fields })
      expect([refused.status, refused.body.data], parameter).toMatchObject([400, { parameter }])
    }
  })

  test('tokens begin with the first day anywhere on Earth, or at the hour of the organiser', async () => {
    const march = await make({ start_date: '2027-03-05', end_date: '2027-03-06' })
    const early = await stage.server.claim(march.uuid, await player('gus'))
    expect([early.status, early.body.code, early.body.data]).toMatchObject([
      ...[403, 'event_not_open'],
      { opens_at: '2027-03-04T10:00:00.000Z' },
    ])
    const distribution_start_date = '2027-03-05T19:00:00+01:00'
    const inEvening = await make({
      ...{ start_date: '2027-03-05', distribution_start_date },
      distribution_end_date: '2027-03-05T23:00:00+01:00',
    })
    expect((await stage.server.get(`/event/${inEvening.uuid}`)).body.data).toMatchObject({
      distribution_start_date: '2027-03-05T18:00:00.000Z',
      distribution_end_date: '2027-03-05T22:00:00.000Z',
      expiry_date: '2027-03-06T12:00:00.000Z',
    })
    expect((await make({ start_date: '2026-11-18', end_date: EVENT.start_date })).approval).toBe('approved')
  })

  test('an opening time of another year is stored, and the answer warns of it', async () => {
    const fields = { start_date: '2027-03-05', distribution_start_date: '2026-03-05T19:00:00.123456+01:00' }
    const made = await make(fields)
    const change = async (...options: unknown[][]) =>
      (await stage.server.send('PATCH', `/event/${made.uuid}`, { editCode: made.edit_code, options })).body
        .data

    expect(made).toMatchObject({
      warnings: [expect.stringContaining('364 days before the first day of the event')],
    })
    expect((await stage.server.get(`/event/${made.uuid}`)).body.data).toMatchObject({
      distribution_start_date: '2026-03-05T18:00:00.123Z',
    })
    expect(await change(['distribution_start_date', '2026-03-05T18:00:00Z'])).toHaveProperty('warnings')
    expect(await change(['enabled', true])).not.toHaveProperty('warnings')
    expect(await change(['distribution_start_date', '2027-03-05T18:00:00Z'])).not.toHaveProperty('warnings')
  })

  test('a server without access to the other issuer serves them too', async () => {
    const { ISSUER_API_KEY: _, ISSUER_CLIENT_ID: __, ISSUER_CLIENT_SECRET: ___, ...env } = outside.env
    const alone = await startAttendance(stage.engine, stage.clock, { ...outside, env }, OF_TOKENS)
    const made = await make({}, alone)
    expect((await alone.claim(made.uuid, await player('fay'))).status).toBe(200)
    const other = await alone.send('POST', '/event/7', { editCode: '123456', coordinates: '10,20' })
    expect([other.status, other.body.code]).toEqual([503, 'attendance_not_configured'])
    expect(other.body.data).toMatchObject({ missing: expect.arrayContaining(['ISSUER_API_KEY']) })
    await alone.close()
  })

  test('a key file that cannot be used stops tokens of events made here, and no others', async () => {
    const made = await make()
    await outside.putEvent(77_002, { edit_code: '123456', codes: 1 })
    await stage.server.register(77_002, '123456', '10,20')
    await stage.server.send('POST', '/addcodes/77002', { editCode: '123456' })
    const damaged = join(mkdtempSync(join(tmpdir(), 'landpass-tokens-')), 'token.key')
    writeFileSync(damaged, 'no key')
    const keyless = await stage.startAnother({ TOKEN_KEY_FILE: damaged })
    const gil = await player('gil')
    const refused = [await keyless.claim(made.uuid, gil), await keyless.send('POST', '/events', EVENT)]
    for (const { status, body, text } of refused) {
      expect([status, body.code], text).toEqual([503, 'attendance_not_configured'])
      expect(text).not.toContain(damaged)
    }
    const other = await keyless.claim('77002', gil)
    expect(other.status, other.text).toBe(200)
    expect((await keyless.get(`/events/${made.uuid}/holders`)).status).toBe(200)

    // Restored: the same server makes events with their codes, and signs
    writeFileSync(damaged, readFileSync(keyFile))
    const second = await make({}, keyless)
    expect((await keyless.claim(second.uuid, gil)).status).toBe(200)
    expect((await keyless.claim(made.uuid, gil)).status).toBe(200)
    await keyless.close()
  })

  test('where the operator approves events, tokens wait for that', async () => {
    const approving = await stage.startAnother({ EVENT_MAKERS: 'approved' })
    const made = await make({}, approving)
    const dora = await player('dora')
    expect(made.approval).toBe('waiting')
    expect((await approving.claim(made.uuid, dora)).body.code).toBe('no_codes_loaded')
    const approve = (headers: Record<string, string>) =>
      approving.send('POST', `/events/${made.uuid}/approval`, { approval: 'approved' }, headers)
    expect((await approve({ 'operator-key': 'another' })).body.code).toBe('operator_only')
    expect((await approve({ 'operator-key': OPERATOR_KEY })).status).toBe(200)
    expect((await approving.claim(made.uuid, dora)).status).toBe(200)

    // `landpass approve-event`, on the database
    const second = await make({ image }, approving)
    const picture = `/events/${second.uuid}/image.png`
    expect((await read(picture)).side, 'not that of the organiser yet').toBe(512)
    const approvals = approvalsOf()
    const { events } = await approvals.waiting(PAGE)
    expect(events).toMatchObject([{ event: { event_id: second.id, issuer_record: { name: EVENT.name } } }])
    await approvals.answer(await approvals.find({ uuid: second.uuid }), { approval: 'approved' })
    expect(await approvals.waiting(PAGE)).toEqual({ total: 0, events: [] })
    expect((await read(picture)).side).toBe(64)
    const found = await approvals.find({ uuid: second.uuid })
    expect(PNG.sync.read((await approvals.picture(found))!).width).toBe(64)
    expect((await approving.claim(second.uuid, dora)).status).toBe(200)

    // Refused later: no further tokens, also not by more of them, until it is approved again
    const event = await approvals.find({ eventId: second.id })
    await approvals.answer(event, { approval: 'refused' })
    const emil = await player('emil')
    expect((await approving.claim(second.uuid, emil)).body.code).toBe('event_refused')
    const more = { editCode: second.edit_code, options: [['tokens', 5]] }
    await approving.send('PATCH', `/event/${second.id}`, more)
    await approving.send('POST', `/addcodes/${second.id}`, { editCode: second.edit_code })
    expect((await approving.claim(second.uuid, emil)).body.code).toBe('event_refused')
    expect(await signedOf(second)).toHaveLength(1)
    await approvals.answer(event, { approval: 'approved' })
    expect((await approving.claim(second.uuid, emil)).status).toBe(200)
    await approving.close()
  })

  test('what strangers may cost has bounds', async () => {
    const bounded = await stage.startAnother(
      { EVENT_MAKERS: 'approved' },
      { tokenListsPerMinute: 3, maxWaitingEvents: 2 },
    )
    const attempt = (fields: object = {}, headers = {}, of = bounded) =>
      of.send('POST', '/events', { ...EVENT, ...fields }, headers)
    const [kept, refused] = [await make({ image }, bounded), await make({ image }, bounded)]
    const full = await attempt()
    expect([full.status, full.body.code, full.body.error]).toMatchObject([
      ...[429, 'too_many_requests'],
      expect.stringContaining('2 events wait for the operator'),
    ])
    expect(full.headers.get('retry-after')).toBe('3600')
    const raised = { editCode: kept.edit_code, options: [['tokens', 7]] }
    expect((await bounded.send('PATCH', `/event/${kept.id}`, raised)).status).toBe(200)

    const approvals = approvalsOf()
    await approvals.answer(await approvals.find({ uuid: refused.uuid }), { approval: 'refused' })
    // It may still be approved, with the picture that its organiser sent
    const sidesOf = () =>
      Promise.all(
        [kept, refused].map(async ({ uuid }) => {
          const png = await approvals.picture(await approvals.find({ uuid }))
          return png && PNG.sync.read(png).width
        }),
      )
    expect(await sidesOf()).toEqual([64, 64])
    const old = await make({}, bounded)
    const daily = await stage.startAnother({ EVENT_MAKERS: 'anyone', LIMIT_EVENTS_PER_DAY: '2' })
    expect((await attempt({ name: '' }, {}, daily)).status, 'what is refused does not count').toBe(400)
    expect((await attempt({ image: 'AAAA' }, {}, daily)).status, 'nor a picture that is none').toBe(400)
    const damaged = PNG.sync.write(PICTURE).subarray(0, -30).toString('base64')
    expect((await attempt({ image: damaged }, {}, daily)).status, 'one that was decoded does').toBe(400)
    const answers = [await attempt({}, {}, daily), await attempt({}, {}, daily)]
    expect(answers.map(({ status }) => status)).toEqual([200, 429])
    expect(answers[1]!.body.error).toContain('2 a day are')
    const another = await attempt({ image: damaged }, {}, daily)
    expect(another.status, 'the limit is asked before a picture is decoded').toBe(429)
    expect((await attempt({}, { 'operator-key': OPERATOR_KEY }, daily)).status, 'nor the operator').toBe(200)
    await daily.close()
    const slow = await stage.startAnother({ EVENT_MAKERS: 'anyone', LIMIT_EVENTS_PER_MINUTE: '1' })
    const tried = []
    for (const fields of [{ name: ' ' }, { tokens: 1_000_001 }, { image: '!' }, {}])
      tried.push((await attempt(fields, {}, slow)).status)
    expect(tried, 'mistakes in texts do not count, pictures do').toEqual([400, 400, 400, 429])
    await slow.close()
    const closed = await stage.startAnother({ EVENT_MAKERS: 'nobody' })
    const { status, body } = await attempt({}, { 'operator-key': OPERATOR_KEY }, closed)
    expect([status, body.code]).toEqual([403, 'event_making_disabled'])
    await closed.close()

    // Pictures that are drawn count, once; the operator sees the organiser's
    const pictureOf = ({ uuid }: Made, headers: Record<string, string> = {}) =>
      bounded.ask('GET', `/events/${uuid}/image.png`, { headers })
    const seen = await pictureOf(kept, { 'operator-key': OPERATOR_KEY })
    expect([PNG.sync.read(seen.bytes).width, seen.headers['cache-control']]).toEqual([64, 'no-store'])
    for (const one of [kept, kept, kept, kept, old]) {
      const { bytes } = await pictureOf(one, { 'operator-key': 'another' })
      expect(PNG.sync.read(bytes).width).toBe(512)
    }
    expect((await bounded.get(`/events/${kept.uuid}/holders`)).status).toBe(200)
    for (const path of [`/events/${kept.uuid}/holders.csv`, `/addresses/0x${'1'.repeat(40)}/tokens`])
      expect((await bounded.get(path)).status).toBe(429)
    expect((await pictureOf(refused)).status).toBe(429)

    await approvals.answer(await approvals.find({ uuid: kept.uuid }), { approval: 'approved' })
    expect(await countCodes(stage.engine.db, kept.id)).toMatchObject({ free: 7 })
    stage.clock.set(stage.clock.nowMs() + 31 * 24 * HOUR_MS)
    await approvals.deleteOld()
    stage.clock.set(REFERENCE_TIME_MS)
    expect(await approvals.waiting(PAGE)).toEqual({ total: 0, events: [] })
    const found = async ({ uuid }: Made) => (await bounded.get(`/event/${uuid}`)).status
    expect([await found(old), await found(refused), await found(kept)]).toEqual([404, 200, 200])
    expect(await sidesOf(), 'a picture that nobody approved for a month').toEqual([64, undefined])
    await bounded.close()
  })

  test('an event of the other issuer has no list of tokens here, and a gate that answers', async () => {
    await outside.putEvent(77_001, { edit_code: '123456', codes: 1 })
    await stage.server.register(77_001, '123456', '10,20')
    const gate = await stage.server.get(`/events/77001/holders/0x${'1'.repeat(40)}`)
    expect(gate.body).toEqual({ attended: false, count: 0 })
    for (const path of ['image.png', 'holders', 'holders.csv'])
      expect((await stage.server.get(`/events/77001/${path}`)).body.code, path).toBe('event_not_found')
    const options = [['hide_holders', true]]
    const change = await stage.server.send('PATCH', '/event/77001', { editCode: '123456', options })
    expect([change.status, change.body.data]).toMatchObject([400, { parameter: 'hide_holders' }])
    const codes = await stage.server.send('POST', '/events/77001/codes', { editCode: '000000' })
    expect(codes.body.code, 'the other issuer is not asked').toBe('event_not_found')
  })

  test('a rotated key signs later; a withdrawn one never again', async () => {
    const { TokenKeys } = await import('@landpass/server/attendance/issuers/own/keys/token-keys')
    const keys = new TokenKeys({ db: stage.engine.db, clock: stage.clock, path: keyFile })
    await keys.open()
    const [first] = await keys.list()
    const second = await keys.rotate(600)
    expect(readFileSync(keyFile, 'utf8').trim().split('\n')).toHaveLength(2)
    expect((await issuers()).issuers).toHaveLength(2)
    expect(await keys.current()).toBe(first!.address)

    stage.clock.set(stage.clock.nowMs() + HOUR_MS)
    const made = await make()
    const later = await stage.startAnother() // a server caches the times of keys for a second
    expect((await later.claim(made.uuid, await player('eve'))).status).toBe(200)
    await later.close()
    expect((await signedOf(made)).map(({ signer }) => signer)).toEqual([second])
    expect((await keys.list()).map(({ state }) => state)).toEqual(['retired', 'active'])
    const third = await keys.withdraw(second, Math.floor(stage.clock.nowMs() / 1000))
    expect(await keys.current()).toBe(third)
    expect((await issuers()).issuers.map(({ state }) => state)).toEqual(['retired', 'compromised', 'active'])

    // A message that no key has signed before it was withdrawn is signed by the new key
    const waiting = await newOwnMessage(made, second)
    const own = new OwnIssuer({ db: stage.engine.db, clock: stage.clock, keys })
    const sign = () => own.sign({ eventId: made.id, address: waiting }, async () => {})
    await expect(sign()).rejects.toMatchObject({ kind: 'busy' })
    await sign()
    await sign()
    expect((await signedOf(made)).map(({ signer }) => signer).sort()).toEqual([second, third].sort())
    await expect(keys.withdraw(second, 0)).rejects.toThrow('withdrawn before')
    stage.clock.set(REFERENCE_TIME_MS)
  })

  test('keys rotated under load: each token verifies with the published lists', async () => {
    // Later than all tokens before, as a key ends after its last one
    stage.clock.set(REFERENCE_TIME_MS + 2 * HOUR_MS)
    const { TokenKeys } = await import('@landpass/server/attendance/issuers/own/keys/token-keys')
    const keys = new TokenKeys({ db: stage.engine.db, clock: stage.clock, path: keyFile }) // a command, beside the server
    const made = await make({ tokens: 30 })
    const fresh = await stage.startAnother() // knows the times of keys as they are now
    const changes = [
      () => keys.rotate(0),
      async () => keys.withdraw(await keys.current()),
      () => keys.rotate(1),
      async () => keys.withdraw(await keys.current()),
    ]
    await keys.open({ mayMake: false })
    const players = await Promise.all(Array.from({ length: 25 }, (_, at) => player(`load ${at}`)))
    // Signed by the first key in any case: of the claims below the last key may sign all
    const first = await fresh.claim(made.uuid, players[24]!)
    expect(first.body.data).toMatchObject({ claim: { status: 'minted' } })
    for (const [wave, change] of changes.entries()) {
      stage.clock.set(stage.clock.nowMs() + 1_250)
      const claims = players.slice(6 * wave, 6 * wave + 6).map((one) => fresh.claim(made.uuid, one))
      await Promise.all([...claims.slice(0, 3), change(), ...claims.slice(3)])
    }
    // Claims whose key has ended meanwhile go on with the next one
    await vi.waitFor(
      async () => {
        stage.clock.set(stage.clock.nowMs() + 10_000)
        expect(await signedOf(made)).toHaveLength(players.length)
      },
      { timeout: 30_000, interval: 50 },
    )

    await new TokenLog({ db: stage.engine.db, clock: stage.clock }).update()
    const pages = []
    for (let next = 0; next === 0 || pages.at(-1)!.entries.length > 0; ) {
      const page = (await stage.server.get(`/tokens/log?from=${next}`)).body.data as unknown as {
        entries: object[]
        next: number
      }
      pages.push(page)
      next = page.next
    }
    const { isLogged } = readTokenLog(pages)!
    const trust = {
      issuers: readIssuerList(await issuers(), 'this server')!,
      nowMs: stage.clock.nowMs(),
      isLogged,
    }
    const tokens = await signedOf(made)
    const verdicts = tokens.map((token) => verifyToken(tokenPackage(token, token), trust))
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(tokens.map(() => 'genuine'))
    expect(new Set(tokens.map(({ signer }) => signer)).size).toBeGreaterThan(1)
    await fresh.close()
    stage.clock.set(REFERENCE_TIME_MS)
  })
})
