import { Vault } from '@landpass/server/attendance/secrets/vault'
import { MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import type { Db } from '@landpass/server/db/engine'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
  TEST_KEY,
} from '@landpass/server/test/support/attendance/attendance-server'
import { prepareToGive } from '@landpass/server/test/support/attendance/game-backend'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { REFERENCE_TIME_MS, type TestClock, testClock } from '@landpass/server/test/support/http/land-server'
import { readPng } from '@landpass/server/test/support/images/png'
import { PREVIEW_REALM, type SimulatedPlayer } from '@landpass/simulators/player/player'
import { beforeAll, expect, test } from 'vitest'

/**
 * What the existing scene booth does: a signed request without a body for a captcha, its image as a texture, then an
 * unsigned claim with the address of the player and what they typed.
 */

const PLACE = { x: 52, y: -10 }
const vault = new Vault(Buffer.from(TEST_KEY, 'hex'))

let outside: OutsideWorld
beforeAll(async () => {
  outside = await startOutsideWorld()
})

describeOnOneEngine('the booth', (open) => {
  let server: AttendanceServer
  let db: Db
  let clock: TestClock
  let tick = 0
  const id = (n: number) => n + 73_000
  const player = (name: string) => playerAt(outside, `booth ${name}`, PLACE, clock.nowMs())

  beforeAll(async () => {
    clock = testClock()
    const engine = await open()
    db = engine.db
    server = await startAttendance(engine, clock, outside)
    return () => server.close()
  })

  /** `POST /captcha` as the desktop client sends it: JSON by its label, and empty. */
  async function askForCaptcha(who: SimulatedPlayer, metadata = {}): Promise<string> {
    tick += 1
    const request = { method: 'POST', path: '/captcha', atMs: clock.nowMs() + tick, metadata }
    const answer = await server.send('POST', '/captcha', undefined, {
      'content-type': 'application/json',
      ...who.sign(request),
    })
    expect(answer.status, answer.text).toBe(200)
    return (answer.body.data as { uuid: string }).uuid
  }

  /** What a person reads in the image. */
  async function readCaptcha(uuid: string): Promise<string> {
    const row = await db
      .selectFrom('captcha')
      .select('encrypted')
      .where('uuid', '=', uuid)
      .executeTakeFirstOrThrow()
    return vault.decrypt('captcha', row.encrypted, uuid).split(' ')[0]!
  }

  const claim = (event: string, body: object) => server.send('POST', `/claim/${event}`, body)

  test('the whole way: captcha, image, claim; the answer has what the booth draws', async () => {
    await outside.putEvent(id(1), {
      edit_code: '111111',
      codes: 2,
      name: 'Harbour Lights Opening',
      image_url: 'https://images.example.org/harbour.png',
    })
    const uuid = await server.register(id(1), '111111', '52,-10;53,-10')
    const ann = await player('ann')

    const captcha = await askForCaptcha(ann)
    const image = await server.ask('GET', `/captcha/${captcha}`)
    const again = await server.ask('GET', `/captcha/${captcha}`)
    const { status, body, text } = await claim(uuid, {
      address: ann.address.toUpperCase(),
      catalyst: 'https://peer.example.org',
      room: null,
      proof: null,
      rehearse: null,
      captcha: ` ${(await readCaptcha(captcha)).toLowerCase()} `,
    })

    expect(image.status).toBe(200)
    expect(image.headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
    })
    expect(readPng(image.bytes)).toMatchObject({ widthPx: 500, heightPx: 150 })
    expect(again.bytes.equals(image.bytes)).toBe(true)
    expect(status, text).toBe(200)
    expect(body).toMatchObject({
      ok: true,
      data: {
        event: { name: 'Harbour Lights Opening', image_url: 'https://images.example.org/harbour.png' },
        claim: { status: 'minting', address: ann.address },
      },
    })
    expect(await outside.mintsOf(id(1))).toMatchObject([{ address: ann.address }])
  })

  test('a second claim: the very sentence that the booth compares with', async () => {
    const event = id(1)
    const ann = await player('ann')
    const captcha = await askForCaptcha(ann)

    const { status, body } = await claim(String(event), {
      address: ann.address,
      room: '',
      captcha: await readCaptcha(captcha),
    })

    expect(status).toBe(409)
    expect(body).toMatchObject({
      ok: false,
      error: 'Address already claimed a code for this event',
      code: 'already_claimed',
    })
  })

  test('a field that is null counts as one that is not there', async () => {
    const lia = await player('lia')
    const captcha = await askForCaptcha(lia)

    const missing = await claim(String(id(1)), { address: lia.address, captcha: null })
    const { status } = await claim(String(id(1)), {
      address: lia.address,
      captcha: await readCaptcha(captcha),
    })
    const unnamed = await claim(String(id(1)), { address: null, captcha: 'abcde' })

    expect([missing.status, missing.body.code, status]).toEqual([403, 'captcha_required', 200])
    expect([unnamed.status, unnamed.body.data]).toMatchObject([400, { parameter: 'address', value: null }])
  })

  test('a booth older than the captcha gets a message that helps its player', async () => {
    const ben = await player('ben')

    const { status, headers, body } = await claim(String(id(1)), {
      address: ben.address,
      catalyst: 'https://peer.example.org',
      room: 'blue',
    })

    expect(status).toBe(403)
    expect(body.code).toBe('captcha_required')
    expect(headers.get('x-error-code')).toBe('captcha_required')
    expect(body.error).toMatch(/booth/)
  })

  test('three tries, then a new captcha; two minutes, then it is gone; used once', async () => {
    const cleo = await player('cleo')
    const first = await askForCaptcha(cleo)
    const guess = (captcha: string) => claim(String(id(1)), { address: cleo.address, captcha })
    const right = await readCaptcha(first)

    expect((await guess('nope1')).body).toMatchObject({ code: 'wrong_captcha', data: { tries_left: 2 } })
    expect((await guess('nope2')).body).toMatchObject({ code: 'wrong_captcha', data: { tries_left: 1 } })
    expect((await guess('nope3')).body).toMatchObject({ code: 'wrong_captcha', data: { tries_left: 0 } })
    expect((await guess(right)).body.code).toBe('captcha_required')
    // Tries of other network addresses are left: these answers were not signed, so they may be a stranger's
    expect((await server.get(`/captcha/${first}`)).status).toBe(200)

    const second = await askForCaptcha(cleo)
    const third = await askForCaptcha(cleo)
    expect((await server.get(`/captcha/${second}`)).status).toBe(404)
    const answer = await readCaptcha(third)
    clock.set(clock.nowMs() + 2 * MINUTE_MS)
    expect((await guess(answer)).body.code).toBe('captcha_required')
    expect((await server.get(`/captcha/${third}`)).status).toBe(404)
    clock.set(REFERENCE_TIME_MS)
  })

  test('the captcha of one player is no use to another; a wrong answer at one event does not spoil the next', async () => {
    await outside.putEvent(id(2), { edit_code: '222222', codes: 5 })
    await server.register(id(2), '222222', '52,-10')
    const dora = await player('dora')
    const eve = await player('eve')
    const answer = await readCaptcha(await askForCaptcha(dora))

    expect((await claim(String(id(2)), { address: eve.address, captcha: answer })).body.code).toBe(
      'captcha_required',
    )
    expect((await claim(String(id(1)), { address: dora.address, captcha: 'wrong' })).body.code).toBe(
      'wrong_captcha',
    )
    expect((await claim(String(id(2)), { address: dora.address, captcha: answer })).status).toBe(200)
    expect((await claim(String(id(1)), { address: dora.address, captcha: answer })).body.code).toBe(
      'captcha_required',
    )
    expect(await outside.mintsOf(id(2))).toMatchObject([{ address: dora.address }])
  })

  test('without a signature, with that of another player, or with an old one: no captcha', async () => {
    const fay = await player('fay')
    const at = (atMs: number) => fay.sign({ method: 'POST', path: '/captcha', atMs })
    const ask = (headers: Record<string, string>) => server.send('POST', '/captcha', undefined, headers)
    const good = at(clock.nowMs() + 500)

    expect((await ask({})).body.code).toBe('not_signed')
    expect((await ask(at(clock.nowMs() - 2 * MINUTE_MS))).body.code).toBe('signature_expired')
    expect((await ask({ ...good, 'x-identity-timestamp': '1' })).body.code).toMatch(
      /bad_signature|signature_expired/,
    )
    expect((await ask(good)).status).toBe(200)
    expect((await ask(good)).body.code).toBe('signature_used')
    const forged = at(clock.nowMs() + SECOND_MS)
    expect(
      (
        await ask({
          ...forged,
          'x-identity-auth-chain-0': good['x-identity-auth-chain-0']!.replace(/0x../, '0x00'),
        })
      ).body.code,
    ).toBe('bad_signature')
  })

  test('in a preview no captcha is offered, because no claim is accepted, and the message says why', async () => {
    const gil = await player('gil')
    const headers = gil.sign({
      method: 'POST',
      path: '/captcha',
      atMs: clock.nowMs(),
      metadata: { realm: PREVIEW_REALM },
    })

    const { status, body } = await server.send('POST', '/captcha', undefined, headers)

    expect([status, body.code]).toEqual([403, 'preview_realm'])
    expect(body.error).toContain('deploy the scene')
  })

  test('while the presence services do not answer, the captcha is not used up', async () => {
    const hal = await player('hal')
    const captcha = await askForCaptcha(hal)
    const body = { address: hal.address, captcha: await readCaptcha(captcha) }
    await outside.presenceSettings({ down: true })

    const down = await claim(String(id(2)), body)
    await outside.presenceSettings({ down: false })
    const up = await claim(String(id(2)), body)

    expect([down.status, down.body.code]).toEqual([503, 'presence_unavailable'])
    expect(Number(down.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(up.status, up.text).toBe(200)
  })

  test('without a grant that the event needs the captcha is not used up: the player claims with it after the game gave one', async () => {
    await outside.putEvent(id(3), { edit_code: '333333', codes: 1 })
    const event = await server.register(id(3), '333333', '52,-10')
    const options = [['requires_grant', true]]
    await server.send('PATCH', `/event/${id(3)}`, { editCode: '333333', options })
    const give = await prepareToGive({ server, event, editCode: '333333', clock })
    const ida = await player('ida')
    const body = { address: ida.address, captcha: await readCaptcha(await askForCaptcha(ida)) }

    const early = await claim(event, body)
    await give(ida.address)
    const earned = await claim(event, body)

    expect([early.status, early.body.code]).toEqual([403, 'grant_required'])
    expect(early.headers.get('x-error-code')).toBe('grant_required')
    expect(earned.status, earned.text).toBe(200)
    expect(await outside.mintsOf(id(3))).toMatchObject([{ address: ida.address }])
  })

  test('a page of another origin may ask for all of it', async () => {
    const asked = ['content-type', 'x-identity-timestamp', 'x-identity-metadata', 'x-identity-auth-chain-0']
    const { status, headers } = await server.ask('OPTIONS', '/captcha', {
      headers: {
        origin: 'https://play.example.org',
        'access-control-request-method': 'POST',
        'access-control-request-headers': asked.join(','),
      },
    })

    expect(status).toBeLessThan(300)
    expect(headers['access-control-allow-origin']).toBe('*')
    for (const name of asked) expect(headers['access-control-allow-headers']).toContain(name)
  })
})
