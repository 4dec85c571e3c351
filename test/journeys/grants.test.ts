import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { attendance, createClient, LandpassError, signGrant } from '@landpass/client'
import { HOUR_MS, MINUTE_MS, SECOND_MS, SYSTEM_CLOCK } from '@landpass/server/clock'
import type { Environment, FixedLimits } from '@landpass/server/config/config'
import type { Engine } from '@landpass/server/db/engine'
import { EXAMPLES_PATH } from '@landpass/server/test/support/attendance/attendance-page'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
} from '@landpass/server/test/support/attendance/attendance-server'
import { bundleScene } from '@landpass/server/test/support/attendance/booth-bundles'
import { openSandbox } from '@landpass/server/test/support/attendance/quickjs'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type TestClock, testClock } from '@landpass/server/test/support/http/land-server'
import { eventually } from '@landpass/server/test/support/processes/landpass'
import { PREVIEW_REALM } from '@landpass/simulators/player/player'
import { Random } from '@landpass/simulators/random'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { prepareGrants, type SendGrant, sendGrantMutations } from '../../faults/attendance/grant-mutations.ts'
import { Verdict } from '../../faults/script.ts'

const EDIT_CODE = '123456'
/** The seed of the mutations. */
const SEED = 17
const [PLACE, ELSEWHERE] = [
  { x: 10, y: 20 },
  { x: 0, y: 0 },
]

interface Coded {
  readonly uuid: string
  readonly editCode: string
}

let outside: OutsideWorld
beforeAll(async () => {
  outside = await startOutsideWorld()
})

describeOnOneEngine('a game whose server gives grants', (open) => {
  let engine: Engine
  let clock: TestClock
  let server: AttendanceServer
  const id = (n: number) => n + 92_000
  const player = (name: string, place = ELSEWHERE) =>
    playerAt(outside, `grants ${name}`, place, clock.nowMs())
  const inAnHour = () => new Date(clock.nowMs() + HOUR_MS).toISOString()

  beforeAll(async () => {
    engine = await open()
    clock = testClock()
    server = await startAttendance(engine, clock, outside)
    return () => server.close()
  })

  const clientOf = ({ origin }: AttendanceServer) => createClient({ baseUrl: origin })
  const codeOf = (error: unknown) => (error instanceof LandpassError ? error.code : 'no refusal')

  /** An event that requires a grant, and its secret. */
  async function event(n: number, codes: number, changes = {}) {
    await outside.putEvent(id(n), { edit_code: EDIT_CODE, codes })
    const uuid = await server.register(id(n), EDIT_CODE, '10,20')
    const client = clientOf(server)
    const options = { requires_grant: true, requires_presence: false, ...changes }
    const changed = await client.send(attendance.changeEvent(uuid, EDIT_CODE, options))
    expect(changed).toMatchObject({ requires_grant: true })
    const { secret } = await client.send(attendance.makeGrantSecret(uuid, EDIT_CODE))
    return { uuid, secret }
  }

  /** What the game's server does for a player who has done a quest. */
  async function give(
    { uuid, secret }: { readonly uuid: string; readonly secret: string },
    address: string,
    { nonce = `quest-${address.toLowerCase()}`, expires = inAnHour() } = {},
    client = clientOf(server),
  ) {
    const grant = { address, nonce, expires }
    const call = attendance.sendGrant(uuid, grant, await signGrant(secret, uuid, grant))
    return client.send(call).catch(codeOf)
  }
  const reportedGrants = async (uuid: string) =>
    (await clientOf(server).send(attendance.report(uuid, EDIT_CODE))).grants

  test('lets its players claim wherever they are, once each', async () => {
    const quest = await event(1, 3)
    const [ann, ben] = [await player('ann'), await player('ben')]

    const early = await server.claim(quest.uuid, ann)
    const given = await give(
      quest,
      `${ann.address.slice(0, 21).toLowerCase()}${ann.address.slice(21).toUpperCase()}`,
    )
    const again = await give(quest, ann.address)
    const claimed = await server.claim(quest.uuid, ann)
    const repeated = await server.claim(quest.uuid, ann)
    const others = await server.claim(quest.uuid, ben)

    expect([early.status, early.body.code]).toEqual([403, 'grant_required'])
    expect(given).toEqual({
      event: quest.uuid,
      address: ann.address,
      nonce: `quest-${ann.address}`,
      expires: inAnHour(),
    })
    expect(again).toEqual(given)
    expect(claimed.status, claimed.text).toBe(200)
    expect(repeated.body.code).toBe('already_claimed')
    expect(others.body.code).toBe('grant_required')
    expect(await outside.mintsOf(id(1))).toHaveLength(1)
    expect(await reportedGrants(quest.uuid)).toEqual({ open: 0, used: 1, expired: 0 })
    expect((await server.get(`/event/${quest.uuid}`)).body.data).toMatchObject({
      requires_grant: true,
      requires_presence: false,
    })
  })

  test('in addition to the place, where the organiser wants both', async () => {
    const quest = await event(2, 3, { requires_presence: true })
    const [far, near] = [await player('cleo'), await player('dora', PLACE)]
    const notYet = await server.claim(quest.uuid, near)
    for (const { address } of [far, near]) await give(quest, address)

    expect(notYet.body.code).toBe('grant_required')
    expect((await server.claim(quest.uuid, far)).body.code).toBe('not_at_event')
    expect((await server.claim(quest.uuid, near)).status).toBe(200)
    expect(await reportedGrants(quest.uuid)).toEqual({ open: 1, used: 1, expired: 0 })
  })

  test('may repeat each grant as often as it needs, and its players still get one token', async () => {
    const quest = await event(3, 5)
    const eva = await player('eva')

    const answers = await Promise.all(Array.from({ length: 10 }, () => give(quest, eva.address)))
    const claims = await Promise.all(Array.from({ length: 10 }, () => server.claim(quest.uuid, eva)))

    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(answers[0]).toMatchObject({ address: eva.address })
    for (const { body } of claims) expect(['already_claimed', undefined]).toContain(body.code)
    expect(await give(quest, eva.address)).toEqual(answers[0])
    expect(await give(quest, ELSEWHERE_ADDRESS, { nonce: `quest-${eva.address}` })).toBe('nonce_used')
    expect(await outside.mintsOf(id(3))).toHaveLength(1)
    expect(await reportedGrants(quest.uuid)).toEqual({ open: 0, used: 1, expired: 0 })
  })

  test('loses no grant when the issuer refuses the token: the player claims again with it', async () => {
    const quest = await event(4, 2)
    const fay = await player('fay')
    await give(quest, fay.address)
    await outside.putEvent(id(4), { edit_code: EDIT_CODE, codes: 2, expiry_date: '2020-01-01' })
    const refused = await server.claim(quest.uuid, fay)
    const used = await reportedGrants(quest.uuid)
    await outside.putEvent(id(4), { edit_code: EDIT_CODE, codes: 2 })
    await server.send('POST', `/addcodes/${id(4)}`, { editCode: EDIT_CODE })
    clock.set(clock.nowMs() + 2 * HOUR_MS)

    expect(refused.body.code).toBe('event_expired')
    expect(used, 'the claim keeps it').toEqual({ open: 0, used: 1, expired: 0 })
    const later = await server.claim(quest.uuid, fay)
    expect(later.status, later.text).toBe(200)
    expect(await outside.mintsOf(id(4))).toHaveLength(1)
    expect(await reportedGrants(quest.uuid)).toEqual({ open: 0, used: 1, expired: 0 })
  })

  test('sends a wrong grant in vain: none of the refusals says whether the event is there', async () => {
    const quest = await event(5, 1)
    const other = await event(6, 1)
    const none = { uuid: '00000000-0000-4000-8000-000000000000', secret: quest.secret }
    const { address } = await player('gil')
    const refusals = [
      await give({ ...quest, secret: other.secret }, address),
      await give({ ...quest, uuid: other.uuid }, address),
      await give(none, address),
    ]
    const unsigned = await server.send('POST', `/grants/${quest.uuid}`, {
      address,
      nonce: 'n',
      expires: inAnHour(),
    })

    expect(refusals).toEqual(['bad_grant', 'bad_grant', 'bad_grant'])
    expect([unsigned.status, unsigned.body.code]).toEqual([401, 'bad_grant'])
    const { body: missing } = await server.send('POST', `/grants/${none.uuid}`, {
      address,
      nonce: 'n',
      expires: inAnHour(),
    })
    expect(missing).toEqual(unsigned.body)
    expect(await reportedGrants(quest.uuid)).toEqual({ open: 0, used: 0, expired: 0 })
  })

  test('hears what is wrong with the fields of a grant', async () => {
    const quest = await event(7, 1)
    const { address } = await player('hal')
    const right = { address, nonce: 'n', expires: inAnHour() }
    const send = async (grant: object) => {
      const call = attendance.sendGrant(
        quest.uuid,
        grant as typeof right,
        await signGrant(quest.secret, quest.uuid, grant),
      )
      return clientOf(server).send(call).catch(codeOf)
    }
    const wrong = [
      { ...right, address: `${address}0` },
      { ...right, address: 7 },
      { ...right, nonce: '' },
      { ...right, nonce: 'n'.repeat(129) },
      { ...right, nonce: '🗝'.repeat(33) },
      { ...right, nonce: 'a\0b' },
      { ...right, nonce: '\ud83d' },
      { ...right, nonce: '\ufffd' },
      { ...right, expires: '2027-03-05' },
      { ...right, expires: '2026-11-31T18:00:00Z' },
      { ...right, expires: clock.nowMs() },
      { ...right, expires: null },
      { ...right, expires: new Date(clock.nowMs()).toISOString() },
      { ...right, expires: new Date(clock.nowMs() + 8 * 24 * HOUR_MS).toISOString() },
      { address, nonce: 'n' },
    ]

    for (const grant of wrong) expect(await send(grant), JSON.stringify(grant)).toBe('invalid_parameter')
    expect(await send({ ...right, more: 'x'.repeat(1000) })).toBe('body_too_large')
    expect(await send({ ...right, more: 'is ignored' })).toMatchObject({ nonce: 'n' })
    const malformed = await server.send('POST', `/grants/${quest.uuid}`, '{"address":')
    expect(malformed.body.code).toBe('invalid_body')
    expect((await server.send('POST', `/grants/${id(7)}`, right)).body.code).toBe('invalid_parameter')
  })

  test('may be written in any language: its times, its hex digits and its names of quests', async () => {
    const quest = await event(15, 1)
    const { address } = await player('ivo')
    const secondsOf = (text: string) => inAnHour().replace('.000Z', text)
    const written = [
      ['Python', secondsOf('.123456+00:00')],
      ['Go', secondsOf('.123456789Z')],
      ['.NET', secondsOf('.1234567Z')],
      ['Java', secondsOf('.12z').replace('T', 't')],
    ] as const
    for (const [nonce, expires] of written) {
      const answer = await give(quest, address, { nonce, expires })
      expect(answer, expires).toMatchObject({
        nonce,
        expires: secondsOf(nonce === 'Java' ? '.120Z' : '.123Z'),
      })
    }
    for (const nonce of ['El tesoro del río, 2ª parte', '🗝'.repeat(32), '灯台', 'a\nb', 'n'.repeat(128)]) {
      expect(await give(quest, address, { nonce }), nonce).toMatchObject({ nonce })
      expect(await give(quest, ELSEWHERE_ADDRESS, { nonce }), nonce).toBe('nonce_used')
    }

    const body = JSON.stringify({ address, nonce: 'upper case', expires: inAnHour() })
    const right = await signGrant(quest.secret, quest.uuid, body)
    const send = (signature: string) =>
      server.send('POST', `/grants/${quest.uuid}`, body, { 'landpass-signature': signature })
    expect((await send(right.toUpperCase())).status).toBe(200)
    const refusals = [await send(`sha256=${right}`), await send(Buffer.from(right, 'hex').toString('base64'))]
    expect(refusals.map(({ status, body: { code, error } }) => [status, code, error])).toEqual([
      [401, 'bad_grant', expect.stringContaining('begins with "sha256="')],
      [401, 'bad_grant', expect.stringContaining('looks like base64')],
    ])
  })

  test('hears what is wrong with a time, as it was sent', async () => {
    const quest = await event(16, 1)
    const { address } = await player('jil')
    for (const [expires, wrong] of [
      ['2027-02-30t18:00:00z', 'whose day does not exist in that month'],
      ['2026-11-20T18:00:00', 'which has no time zone'],
      ['2020-01-01T00:00:00.123456+01:00', 'but must be a time after that of the server'],
    ]) {
      const body = JSON.stringify({ address, nonce: 'n', expires })
      const headers = { 'landpass-signature': await signGrant(quest.secret, quest.uuid, body) }
      const answer = await server.send('POST', `/grants/${quest.uuid}`, body, headers)
      expect(answer.body).toMatchObject({ code: 'invalid_parameter', data: { value: expires } })
      expect(answer.body.error).toContain(`expires is "${expires}", ${wrong}`)
    }
  })

  test('changes its secret without a refused grant', async () => {
    const quest = await event(8, 1)
    const { address } = await player('ida')
    const client = clientOf(server)
    const credentials = { editCode: EDIT_CODE }
    const made = await client.send(attendance.makeGrantSecret(quest.uuid, credentials, { keepPreviousS: 60 }))
    const until = clock.nowMs() + MINUTE_MS

    expect(made).toMatchObject({ uuid: quest.uuid, previous_ends_at: new Date(until).toISOString() })
    expect(made.secret).toMatch(/^lps_[\w-]{43}$/)
    expect(await give(quest, address, { nonce: 'old' })).toMatchObject({ nonce: 'old' })
    expect(await give({ ...quest, secret: made.secret }, address, { nonce: 'new' })).toMatchObject({
      nonce: 'new',
    })
    clock.set(until)
    expect(await give(quest, address, { nonce: 'late' })).toBe('bad_grant')
    await expect(client.send(attendance.makeGrantSecret(quest.uuid, '999999'))).rejects.toMatchObject({
      code: 'wrong_edit_code',
    })
    const week = { keepPreviousS: 7 * 24 * 3600 + 1 }
    await expect(
      client.send(attendance.makeGrantSecret(quest.uuid, credentials, week)),
    ).rejects.toMatchObject({ code: 'invalid_parameter' })
  })

  test('starts again with a new secret when others know the one before: their grants are withdrawn', async () => {
    const quest = await event(14, 2)
    const [nia, thief] = [await player('nia'), await player('thief')]
    for (const { address } of [nia, thief]) await give(quest, address)
    expect(await reportedGrants(quest.uuid)).toEqual({ open: 2, used: 0, expired: 0 })

    const made = await clientOf(server).send(
      attendance.makeGrantSecret(quest.uuid, EDIT_CODE, { withdrawOpen: true }),
    )
    const again = { ...quest, secret: made.secret }

    expect(await reportedGrants(quest.uuid), 'at once').toEqual({ open: 0, used: 0, expired: 2 })
    expect(made).toMatchObject({ withdrawn: 2, previous_ends_at: new Date(clock.nowMs()).toISOString() })
    expect(await give(quest, thief.address)).toBe('bad_grant')
    expect((await server.claim(quest.uuid, thief)).body.code).toBe('grant_required')
    expect(await give(again, nia.address), 'with the same nonce').toMatchObject({ address: nia.address })
    expect((await server.claim(quest.uuid, nia)).status).toBe(200)
    // Counted once a second
    const counted = await eventually(
      () => reportedGrants(quest.uuid),
      ({ used }) => used === 1,
      SECOND_MS,
    )
    expect(counted).toEqual({ open: 0, used: 1, expired: 2 })
  })

  test('its players cannot claim from a preview, and their grant stays', async () => {
    const quest = await event(9, 1)
    const jo = await player('jo')
    await give(quest, jo.address)
    const inPreview = { sign: { metadata: { realm: PREVIEW_REALM } } }

    expect((await server.claim(quest.uuid, jo, inPreview)).body.code).toBe('preview_realm')
    expect(await reportedGrants(quest.uuid)).toEqual({ open: 1, used: 0, expired: 0 })
    expect((await server.claim(quest.uuid, jo)).status).toBe(200)
  })

  // Small version of `npm run faults -- grant-mutations`
  test('no mutation of a valid grant is accepted', async () => {
    const events = [await event(11, 1), await event(12, 1)] as const
    const withCode = events.map(({ uuid }) => ({ uuid, editCode: EDIT_CODE })) as [Coded, Coded]
    const send: SendGrant = async ({ method, path, headers, body }) => {
      const { status, bytes } = await server.ask(method, path, {
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
        ...(body === undefined ? {} : { body }),
      })
      const text = bytes.toString()
      return { status, text, code: (JSON.parse(text) as { code?: string }).code }
    }
    const verdict = new Verdict()
    const stage = await prepareGrants(send, withCode, new Random(SEED), () => clock.nowMs())

    const { outcomes, honest } = await sendGrantMutations(stage, 200, verdict)

    expect(verdict.broken).toEqual([])
    expect(outcomes).toContain('401 bad_grant')
    expect(await reportedGrants(events[0].uuid)).toEqual({ open: honest + 1, used: 0, expired: 0 })
    expect(await reportedGrants(events[1].uuid)).toEqual({ open: 0, used: 0, expired: 0 })
  })

  test('has a server like docs/examples/grants/game-server.mjs', async () => {
    const today = await startAttendance(engine, SYSTEM_CLOCK, outside)
    const quest = await event(13, 2)
    const [lea, mo] = [await player('lea'), await player('mo')]
    const { allowToken } = await gameOfThePage({
      LANDPASS: today.origin,
      EVENT: quest.uuid,
      GRANT_SECRET: quest.secret,
    })

    await allowToken(lea.address, 'Le phare – deuxième partie 灯台')
    await allowToken(lea.address, 'Le phare – deuxième partie 灯台')
    await expect(allowToken('me', 'lighthouse')).rejects.toThrow('address')
    const answers = [await server.claim(quest.uuid, lea), await server.claim(quest.uuid, mo)]
    await today.close()

    expect(answers.map(({ status }) => status)).toEqual([200, 403])
    expect(await reportedGrants(quest.uuid)).toEqual({ open: 0, used: 1, expired: 0 })
  })

  test('has a scene with a server of its own, which gives tokens with the package of the booth', async () => {
    const today = await startAttendance(engine, SYSTEM_CLOCK, outside)
    const quest = await event(14, 2)
    const lea = await player('scene lea')
    const stored = new Map<string, unknown>()
    const sent: string[] = []
    let fails = 1
    const sandbox = await openSandbox({
      get: async () => quest.secret,
      getStored: async (address: string, key: string) => stored.get(`${address} ${key}`),
      setStored: async (address: string, key: string, value: unknown) =>
        void stored.set(`${address} ${key}`, value),
      fetch: async (url: string, init: RequestInit) => {
        sent.push(String(init.body))
        const answer = await fetch(url, init)
        if (fails-- > 0) throw new TypeError('the answer is lost')
        return { ok: answer.ok, status: answer.status, text: await answer.text() }
      },
    })
    onTestFinished(() => sandbox.close())
    const options = { server: today.origin, event: quest.uuid }
    sandbox.run(`globalThis.module = globalThis.exports = {}
      globalThis.fetch = async (...request) => {
        const answer = await outside.fetch(...request)
        return { ...answer, json: async () => JSON.parse(answer.text) }
      }
      globalThis.options = { ...${JSON.stringify(options)}, sdk: {
        EnvVar: { get: outside.get }, Storage: { player: { get: outside.getStored, set: outside.setStored } }
      } }; undefined`)
    sandbox.run(`(() => { ${await bundleScene(`export { allowToken } from '@landpass/booth/server'`)} })()`)
    const allowToken = (...words: string[]) =>
      sandbox.runAsync(`exports.allowToken(options, ...${JSON.stringify(words)})`)

    expect(await allowToken(lea.address.toUpperCase().replace('X', 'x'), 'Le phare 灯台')).toBe(true)
    expect(await allowToken(lea.address, 'Le phare 灯台')).toBe(true)
    expect([sent.length, new Set(sent).size], 'the same bytes').toEqual([3, 1])
    fails = 3
    expect(await allowToken(lea.address, 'another quest'), 'no answer').toBe(false)
    await expect(allowToken('me', 'lighthouse')).rejects.toThrow('address')
    expect((await server.claim(quest.uuid, lea)).status).toBe(200)
    await today.close()
    expect(JSON.stringify([...stored])).not.toContain(quest.secret)
  })

  test('is limited: by its network address, by the event, and in unused grants', async () => {
    const quest = await event(10, 1)
    const kim = (n: number) => `0x${String(n).padStart(40, '0')}`
    const refusals: readonly [Environment, Partial<FixedLimits>, string][] = [
      [{ LIMIT_GRANTS_PER_MINUTE: '2' }, {}, 'too_many_requests'],
      [{}, { eventGrantsPerMinute: 2 }, 'too_many_requests'],
      [{}, { maxOpenGrants: 6 }, 'too_many_grants'],
    ]
    for (const [n, [env, limits, refusal]] of refusals.entries()) {
      const limited = await startAttendance(engine, clock, outside, env, limits)
      const client = clientOf(limited)
      const answers = [
        await give(quest, kim(3 * n), {}, client),
        await give(quest, kim(3 * n + 1), {}, client),
        await give(quest, kim(3 * n + 2), {}, client),
      ]
      await limited.close()

      expect(answers.map((answer) => (typeof answer === 'string' ? answer : 'ok'))).toEqual([
        'ok',
        'ok',
        refusal,
      ])
    }
    const full = await startAttendance(engine, clock, outside, { GRANTS_MAX: '1' })
    expect(await give(quest, kim(20), {}, clientOf(full))).toBe('too_many_grants')
    const ofFull = await full.get('/metrics')
    await full.close()
    expect(ofFull.text).toMatch(/landpass_grants_total\{result="too_many_grants_of_server"\} 1/)
    const metrics = await server.get('/metrics')
    expect(metrics.text).toMatch(/landpass_grants_total\{result="accepted"\} \d/)
    expect(metrics.text).toMatch(/landpass_grants_total\{result="bad_grant"\} \d/)
  })
})

const ELSEWHERE_ADDRESS = `0x${'9'.repeat(40)}`

interface Game {
  allowToken(address: string, quest: string): Promise<unknown>
}

function exampleCode(name: string): string {
  return readFileSync(join(EXAMPLES_PATH, 'grants', name), 'utf8')
}

/** The example of a game's server, with its settings in place of the environment. */
async function gameOfThePage(env: object) {
  const code = exampleCode('game-server.mjs')
  const file = join(mkdtempSync(join(tmpdir(), 'landpass-game-')), 'game.mjs')
  writeFileSync(file, code.replace('process.env', JSON.stringify(env)))
  return (await import(pathToFileURL(file).href)) as Game
}
