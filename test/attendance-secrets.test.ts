import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signGrant } from '@landpass/client'
import { Vault } from '@landpass/server/attendance/secrets/vault'
import { MINUTE_MS, SECOND_MS, SYSTEM_CLOCK } from '@landpass/server/clock'
import type { Engine } from '@landpass/server/db/engine'
import { openEngine } from '@landpass/server/db/open-engine'
import { ERRORS, type ErrorCode } from '@landpass/server/errors'
import {
  attendanceDump,
  encryptedToken,
  readCaptcha,
} from '@landpass/server/test/support/attendance/attendance-rows'
import {
  type OutsideWorld,
  startOutsideWorld,
} from '@landpass/server/test/support/attendance/attendance-server'
import { TEST_SETTINGS } from '@landpass/server/test/support/database/engines'
import { startPostgres, type TestPostgres } from '@landpass/server/test/support/database/postgres'
import { findSecrets, type Output, withBytesAsText } from '@landpass/server/test/support/http/find-secrets'
import {
  type Ended,
  type Env,
  eventually,
  outputOfCommands,
  type Serving,
  serve,
} from '@landpass/server/test/support/processes/landpass'
import { landpassHere } from '@landpass/server/test/support/processes/landpass-here'
import { makePlayer, PREVIEW_REALM, type SimulatedPlayer } from '@landpass/simulators/player/player'
import { beforeAll, expect, onTestFinished, test } from 'vitest'

/**
 * Calls everything of the attendance interface, causes every failure that can be caused from outside, and logs at the
 * lowest level. Then all answers, logs, metrics and rows are searched for secrets.
 */

const KEY = 'd15c0b1a5e7a3b96'.repeat(4)
const PASSWORD = 'lighthouse-keeper-31'
const WRONG_SECRET = 'a-client-secret-of-somebody-else:61'
const WRONG_API_KEY = 'key:of-nobody-in-particular-84'
/** As in an issuer's e-mail, and longer ones, which cannot occur anywhere by chance. */
const EDIT_CODE = '730519'
const LONG_EDIT_CODE = 'edit-code-of-the-orchard-feast-27'
const WRONG_EDIT_CODE = 'guess-of-a-stranger-52'
const OPERATOR_KEY = 'operator-key:of-the-keeper-of-this-server-58'
const NODE_KEY = 'key-of-the-node-in-the-harbour-94'

/** Errors of the other interface, and those that cannot be caused from outside. */
const OTHER_ERRORS: readonly ErrorCode[] = [
  ...(Object.keys(ERRORS).slice(0, Object.keys(ERRORS).indexOf('invalid_coordinates')) as ErrorCode[]),
  'event_making_disabled', // by a setting: journeys/own-tokens.test.ts
  'claim_refused', // an answer of the issuer that was never observed
  'too_many_pictures', // nine at the same time: issuers/own/pictures/picture-reader.test.ts
]

let outside: OutsideWorld
beforeAll(async () => {
  outside = await startOutsideWorld()
})

// What is written does not depend on the engine. On both engines a smaller test searches rows and logs after a kill:
// journeys/attendance-kill.test.ts.
test('no secret is answered, logged, counted, or stored in clear, whatever happens', async () => {
  const scenario = await Scenario.begin()

  await scenario.organise()
  await scenario.makeAnEvent()
  await scenario.giveGrants()
  await scenario.claimAndBeRefused()
  await scenario.misplaceSecrets()
  await scenario.goThroughTheIssuersFaults()
  await scenario.loseTheDatabase()
  await scenario.askWhatOperatorsAsk()
  await scenario.restartWithOtherCredentials()
  await scenario.restartWithAnotherKey()
  await scenario.startWithBadSettings()

  expect(scenario.logText()).toContain('"msg":"incoming request"')
  const ids = scenario
    .logText()
    .split('\n')
    .map((line) => line.split('"reqId"').length - 1)
  expect(Math.max(...ids), 'request ids in a line of the log').toBe(1)
  expect(findSecrets(await scenario.outputs(), await scenario.secrets())).toEqual([])
  const missing = Object.keys(ERRORS).filter(
    (code) => !scenario.codesSeen.has(code) && !OTHER_ERRORS.includes(code as ErrorCode),
  )
  expect(missing, 'errors that were not provoked').toEqual([])
})

interface Request {
  readonly body?: object | string
  readonly headers?: Readonly<Record<string, string>>
  /** The player who signs it. */
  readonly by?: SimulatedPlayer
  readonly atMs?: number
  readonly metadata?: object
}

class Scenario {
  readonly codesSeen = new Set<string>()
  private readonly env: Env
  private readonly postgres: TestPostgres
  private readonly answers: Output[] = []
  private readonly typed = new Map<string, string>()
  private readonly vault = new Vault(Buffer.from(KEY, 'hex'))
  private readonly id = 82_000
  private server!: Serving
  private tick = 0

  private constructor(env: Env, postgres: TestPostgres) {
    this.env = env
    this.postgres = postgres
  }

  static async begin(): Promise<Scenario> {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const url = new URL(postgres.url)
    url.password = PASSWORD // PostgreSQL trusts local connections here, so the password is never used
    const scenario = new Scenario(
      {
        ...(outside.env as Env),
        DATABASE_URL: url.href,
        ATTENDANCE_KEY: KEY,
        OPERATOR_KEY,
        EVENT_MAKERS: 'operator',
        TOKEN_KEY_FILE: join(mkdtempSync(join(tmpdir(), 'landpass-secrets-')), 'token.key'),
        LOG_LEVEL: 'trace',
        CLAIM_WAIT_MS: '10000',
        GRANTS_MAX: '1',
      },
      postgres,
    )
    scenario.server = await serve(scenario.env)
    return scenario
  }

  /** Events come and change; wrong codes, an event that waits for its approval, the report. */
  async organise(): Promise<void> {
    const now = SYSTEM_CLOCK.nowMs()
    const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)
    await outside.putEvent(this.id + 1, { edit_code: EDIT_CODE, codes: 20 })
    await outside.putEvent(this.id + 2, { edit_code: LONG_EDIT_CODE, codes: 3, approved_after_ms: null })
    await outside.putEvent(this.id + 3, { edit_code: EDIT_CODE, codes: 1 })
    await outside.putEvent(this.id + 4, {
      edit_code: EDIT_CODE,
      codes: 1,
      expiry_date: day(now - 5 * 24 * 60 * MINUTE_MS),
    })
    await outside.putEvent(this.id + 5, { edit_code: LONG_EDIT_CODE, codes: 1 })
    await this.expect('event_not_found', 'GET', this.path('event', 1))
    await this.expect('event_not_found', 'POST', this.path('addcodes', 1), { body: { editCode: EDIT_CODE } })
    for (const n of [1, 2, 3, 4]) {
      const editCode = n === 2 ? LONG_EDIT_CODE : EDIT_CODE
      await this.expect('ok', 'POST', `${this.path('event', n)}/check`, { body: { editCode } })
      await this.expect('ok', 'POST', this.path('event', n), { body: { editCode, coordinates: '10,20' } })
      const body = { editCode, load_when_approved: true } // the second one waits for its approval
      await this.expect('ok', 'POST', this.path('addcodes', n), { body })
      await this.expect('ok', 'GET', this.path('event', n))
    }
    await this.expect('wrong_edit_code', 'POST', this.path('event', 9), {
      body: { editCode: LONG_EDIT_CODE, coordinates: '0,0' },
    })
    for (let guess = 0; guess < 5; guess++) {
      await this.expect('wrong_edit_code', 'POST', this.path('event', 5), {
        body: { editCode: WRONG_EDIT_CODE, coordinates: '0,0' },
      })
    }
    await this.expect('too_many_guesses', 'POST', this.path('event', 5), {
      body: { editCode: LONG_EDIT_CODE, coordinates: '0,0' },
    })
    await this.expect('invalid_coordinates', 'POST', this.path('event', 1), {
      body: { editCode: EDIT_CODE, coordinates: 'here' },
    })
  }

  /** An event whose tokens the server signs. Its edit code is answered once, and the keys never are. */
  async makeAnEvent(): Promise<void> {
    const start_date = new Date(SYSTEM_CLOCK.nowMs()).toISOString().slice(0, 10)
    const body = { name: 'Lanterns', coordinates: '10,20', start_date, tokens: 2, hide_holders: true }
    await this.expect('operator_only', 'POST', '/events', { body })
    const headers = { 'operator-key': OPERATOR_KEY }
    const made = await fetch(`${this.server.origin}/events`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    const { data } = (await made.json()) as { data: { edit_code: string; event: { uuid: string } } }
    const { edit_code: editCode, event } = data
    this.typed.set(editCode, 'the edit code of an event that was made here')
    this.typed.set(readFileSync(this.env.TOKEN_KEY_FILE!, 'utf8').trim(), 'the key that signs tokens')
    const ann = await this.player('lantern ann')
    await this.expect('ok', 'POST', `/claim/${event.uuid}`, { by: ann, body: {} })
    await this.expect('ok', 'POST', `/addcodes/${event.uuid}`, { body: { editCode } })
    await this.expect('ok', 'POST', `/event/${event.uuid}/report`, { body: { editCode } })
    await this.expect('holders_hidden', 'GET', `/events/${event.uuid}/holders`)
    const tokens = await this.ask('GET', `/addresses/${ann.address}/tokens`)
    const [{ id } = { id: '' }] = (tokens.body as { data: { tokens: { id: string }[] } }).data.tokens
    for (const part of ['', '/metadata', '/attestation']) await this.ask('GET', `/tokens/${id}${part}`)
    await this.expect('ok', 'POST', `/tokens/${id}/revocation`, { body: { editCode, reason: 'A test.' } })
    await this.expect('token_not_found', 'GET', `/tokens/${event.uuid}`)
    for (const path of [
      '/.well-known/attendance-issuers.json',
      '/.well-known/attendance-revocations.json',
      '/tokens/log',
    ])
      expect((await this.ask('GET', path)).status).toBe(200)
    const change = (fields: object) =>
      this.expect('ok', 'PATCH', `/events/${event.uuid}`, { body: { editCode, ...fields } })
    await change({ hide_holders: true, cancelled: true })
    const late = await this.player('lantern cleo')
    await this.expect('event_cancelled', 'POST', `/claim/${event.uuid}`, { by: late, body: {} })
    await change({ cancelled: false })
    const deletion = `/events/${event.uuid}/deletion`
    await this.expect('event_has_tokens', 'POST', deletion, { body: { editCode } })
    const misplaced = { body: { editCode, [editCode]: 'x' } }
    await this.expect('invalid_parameter', 'PATCH', `/events/${event.uuid}`, misplaced)
    const codes = `/events/${event.uuid}/codes`
    const named = async (name: string) => {
      const made = await fetch(`${this.server.origin}${codes}`, {
        ...{ method: 'POST', body: JSON.stringify({ editCode, add: name }) },
      })
      const { data: answered } = (await made.json()) as { data: { edit_code: string } }
      this.typed.set(answered.edit_code, `the edit code of ${name}`)
      return answered.edit_code
    }
    const helper = await named('a helper')
    for (let at = 1; at < 5; at++) await named(`helper ${at}`)
    await this.expect('first_code_only', 'POST', codes, { body: { editCode: helper, add: 'another' } })
    await this.expect('too_many_codes', 'POST', codes, { body: { editCode, add: 'the sixth' } })
    await this.expect('invalid_parameter', 'POST', codes, { body: { editCode, add: `${helper}\n` } })
    await this.expect('ok', 'POST', codes, { body: { editCode, revoke: 'a helper' } })
    await this.expect('invalid_parameter', 'POST', codes, { body: { editCode, revoke: helper } })
    await this.expect('ok', 'POST', codes, { body: { editCode } })
    const approval = `/events/${event.uuid}/approval`
    const answer = (chosen: string) =>
      this.expect('ok', 'POST', approval, { headers, body: { approval: chosen } })
    await this.expect('content_changed', 'POST', approval, {
      headers,
      body: { approval: 'approved', content: 1_000 },
    })
    await answer('refused')
    const ben = await this.player('lantern ben')
    await this.expect('event_refused', 'POST', `/claim/${event.uuid}`, { by: ben, body: {} })
    await answer('approved')
    const gifts = { body: { editCode, list: ben.address } }
    await this.expect('gifts_not_allowed', 'POST', `/event/${event.uuid}/gifts`, gifts)
    const asGuest = { by: ben, body: {}, metadata: { isGuest: true } }
    await this.expect('guest_refused', 'POST', `/claim/${event.uuid}`, asGuest)
  }

  /** A game's server gives a grant, and makes each mistake. The secret is answered once, and never again. */
  async giveGrants(): Promise<void> {
    const n = 13
    await outside.putEvent(this.id + n, { edit_code: EDIT_CODE, codes: 1 })
    const registration = { editCode: EDIT_CODE, coordinates: '10,20' }
    await this.expect('ok', 'POST', this.path('event', n), { body: registration })
    await this.expect('ok', 'POST', this.path('addcodes', n), { body: { editCode: EDIT_CODE } })
    const options = [['requires_grant', true]]
    await this.expect('ok', 'PATCH', this.path('event', n), { body: { editCode: EDIT_CODE, options } })
    const made = await fetch(`${this.server.origin}${this.path('event', n)}/grant-secret`, {
      method: 'POST',
      body: JSON.stringify({ editCode: EDIT_CODE }),
    })
    const { uuid, secret } = ((await made.json()) as { data: { uuid: string; secret: string } }).data
    this.typed.set(secret, 'the secret of grants')
    const [ann, ben] = [await this.player('grant ann'), await this.player('grant ben')]
    const expires = new Date(SYSTEM_CLOCK.nowMs() + 60 * MINUTE_MS).toISOString()
    const send = async (code: ErrorCode | 'ok', address: string, nonce: string, key = secret) => {
      const body = JSON.stringify({ address, nonce, expires })
      const headers = { 'landpass-signature': await signGrant(key, uuid, body) }
      await this.expect(code, 'POST', `/grants/${uuid}`, { body, headers })
    }
    await send('bad_grant', ann.address, 'one', `${secret}x`)
    await this.expect('grant_required', 'POST', this.path('claim', n), { by: ann, body: {} })
    await send('ok', ann.address, 'one')
    await send('ok', ann.address, 'one')
    await send('nonce_used', ben.address, 'one')
    await send('too_many_grants', ben.address, 'two')
    // In wrong places
    const body = { address: secret, nonce: secret, expires: secret }
    await this.expect('bad_grant', 'POST', `/grants/${uuid}`, {
      body: { address: ann.address, nonce: 'x', expires },
      headers: { 'landpass-signature': secret },
    })
    await this.ask('POST', `/grants/${secret}`, { body })
    await this.ask('POST', `/grants/${uuid}?secret=${secret}`, { body: { ...body, nonce: { secret } } })
    await this.expect('ok', 'POST', this.path('claim', n), { by: ann, body: {} })
    await this.expect('ok', 'POST', `${this.path('event', n)}/report`, { body: { editCode: EDIT_CODE } })
  }

  /** A token for each way to claim, and every refusal that a player can meet. */
  async claimAndBeRefused(): Promise<void> {
    const claim = this.path('claim', 1)
    const [ann, ben, cleo, dora, eve, fay] = [
      await this.player('ann'),
      await this.player('ben'),
      await this.player('cleo'),
      await this.player('dora'),
      await this.player('eve'),
      await this.player('fay'),
    ]
    await this.expect('ok', 'POST', claim, { by: ann, body: { address: ann.address } })
    await this.expect('already_claimed', 'POST', claim, { by: ann, body: {} })

    const answer = await this.captchaOf(ben)
    await this.expect('wrong_captcha', 'POST', claim, { body: { address: ben.address, captcha: 'WRONG' } })
    const ofFay = await this.captchaOf(fay)
    await outside.presenceSettings({ down: true })
    await this.expect('presence_unavailable', 'POST', claim, {
      body: { address: fay.address, captcha: ofFay },
    })
    await outside.presenceSettings({ down: false })
    await this.expect('ok', 'POST', claim, {
      body: { address: ben.address, captcha: answer.toLowerCase(), catalyst: null, room: '' },
    })
    await this.expect('captcha_required', 'POST', claim, { body: { address: ben.address, captcha: answer } })

    await this.expect('not_signed', 'POST', '/captcha')
    await this.expect('bad_signature', 'POST', claim, { by: cleo, body: { address: ann.address } })
    const early = SYSTEM_CLOCK.nowMs() - 10 * MINUTE_MS
    await this.expect('signature_expired', 'POST', '/captcha', { by: cleo, atMs: early })
    await this.expect('wrong_signer', 'POST', '/captcha', { by: cleo, metadata: { signer: 'dcl:explorer' } })
    await this.expect('preview_realm', 'POST', claim, { by: cleo, metadata: { realm: PREVIEW_REALM } })
    const headers = cleo.sign({ method: 'POST', path: '/captcha', atMs: SYSTEM_CLOCK.nowMs() })
    await this.expect('ok', 'POST', '/captcha', { headers })
    await this.expect('signature_used', 'POST', '/captcha', { headers })
    const contract = JSON.stringify({ type: 'ECDSA_EIP_1654_EPHEMERAL', payload: '', signature: '' })
    await this.expect('contract_wallet_unsupported', 'POST', '/captcha', {
      headers: { ...headers, 'x-identity-auth-chain-1': contract },
    })
    await this.expect('captcha_not_found', 'GET', '/captcha/00000000-0000-4000-8000-000000000000')

    const fred = await this.player('fred')
    const blocked = { editCode: EDIT_CODE, add: [fred.address] }
    await this.expect('ok', 'POST', `${this.path('event', 1)}/blocked`, { body: blocked })
    await this.expect('player_blocked', 'POST', claim, { by: fred, body: {} })
    await outside.stand(dora.address, 90, 90, SYSTEM_CLOCK.nowMs())
    await this.expect('not_at_event', 'POST', claim, { by: dora, body: {} })
    await this.expect('event_expired', 'POST', this.path('claim', 4), { by: eve, body: {} })
    await this.expect('ok', 'POST', this.path('claim', 3), { by: eve, body: {} })
    await this.expect('no_codes_left', 'POST', this.path('claim', 3), { by: ann, body: {} })
    await this.expect('no_codes_loaded', 'POST', this.path('claim', 2), { by: ann, body: {} })
    await outside.putEvent(this.id + 12, { edit_code: EDIT_CODE, codes: 3 })
    const registration = { editCode: EDIT_CODE, coordinates: '10,20' }
    await this.expect('ok', 'POST', this.path('event', 12), { body: registration })
    await this.expect('ok', 'POST', this.path('addcodes', 12), { body: { editCode: EDIT_CODE } })
    await outside.issuerSettings({ mint_not_found_rate: 1 })
    await this.expect('ok', 'POST', this.path('claim', 12), { by: eve, body: {} })
    await this.expect('event_held', 'POST', this.path('claim', 12), { by: ann, body: {} })
    await this.expect('ok', 'POST', `${this.path('event', 12)}/report`, { body: { editCode: EDIT_CODE } })
    await outside.issuerSettings({ mint_not_found_rate: 0 })
    const inAnHour = new Date(SYSTEM_CLOCK.nowMs() + 60 * MINUTE_MS).toISOString()
    const rehearse = (until: string | null) =>
      this.expect('ok', 'PATCH', this.path('event', 1), {
        body: { editCode: EDIT_CODE, options: [['rehearsal_until', until]] },
      })
    const metadata = { realm: PREVIEW_REALM }
    await rehearse(inAnHour)
    await this.expect('ok', 'POST', '/captcha', { by: cleo, metadata })
    await this.expect('ok', 'POST', claim, { by: cleo, metadata, body: {} })
    await this.expect('invalid_parameter', 'POST', claim, {
      by: cleo,
      metadata,
      body: { rehearse: EDIT_CODE },
    })
    await rehearse(null)
    const closings = [
      ['event_disabled', ['enabled', false]],
      ['event_not_open', ['distribution_start_date', inAnHour]],
      ['event_closed', ['distribution_end_date', '2020-01-01T00:00:00Z']],
      ['captcha_required', ['requires_captcha', true]],
    ] as const
    for (const [code, option] of closings) {
      await this.expect('ok', 'PATCH', this.path('event', 1), {
        body: { editCode: EDIT_CODE, options: [option] },
      })
      await this.expect(code, 'POST', claim, { by: eve, body: {} })
      const back = [
        ['enabled', true],
        ['distribution_start_date', null],
        ['distribution_end_date', null],
        ['requires_captcha', false],
      ]
      await this.expect('ok', 'PATCH', this.path('event', 1), {
        body: { editCode: EDIT_CODE, options: back },
      })
    }
    await this.expect('ok', 'GET', `${this.path('event', 1)}/availability`)
    await this.expect('ok', 'POST', `${this.path('event', 1)}/claims`, { body: { editCode: EDIT_CODE } })
    const csv = { editCode: EDIT_CODE, format: 'csv' }
    for (const [call, body] of [
      ['claims', csv],
      ['export', { editCode: EDIT_CODE }],
    ] as const)
      expect((await this.ask('POST', `${this.path('event', 1)}/${call}`, { body })).status).toBe(200)
    await this.expect('ok', 'POST', `${this.path('event', 1)}/report`, { body: { editCode: EDIT_CODE } })
  }

  /** Secrets in wrong places of requests: no answer and no log repeats them. */
  async misplaceSecrets(): Promise<void> {
    const [code = ''] = await outside.codesOf(this.id + 1, EDIT_CODE)
    const fay = await this.player('fay')
    const answer = await this.captchaOf(fay)
    for (const secret of [EDIT_CODE, LONG_EDIT_CODE, code, answer, 'simulated-secret', KEY]) {
      const number = Number(secret)
      for (const call of ['event', 'addcodes', 'claim']) {
        await this.ask('POST', `${this.path(call, 1)}?editCode=${secret}`, { body: { note: 'no code here' } })
        await this.ask('POST', `${this.path(call, 1)}/${secret}`, { body: { editCode: secret } })
        await this.ask('POST', `/${call}/x${secret}`, { body: { editCode: secret } })
        const reading = `/${call}/${secret}-?editCode=${secret}`
        // A call that only reads an event shows the name that was asked for. Its log shows nothing of it.
        if (call === 'event') await fetch(this.server.origin + reading)
        else await this.ask('GET', reading)
        await this.ask('PUT', `/${call}/${secret}-`)
        await this.ask('POST', `/${call}/%zz${secret}`)
        await this.ask('POST', this.path(call, 1), { body: `{"editCode":"${secret}` })
        await this.ask('POST', this.path(call, 1), { body: JSON.stringify([secret]) })
        await this.ask('POST', this.path(call, 1), {
          body: { editCode: { code: secret }, coordinates: [secret] },
        })
        await this.ask('POST', this.path(call, 1), {
          body: { editCode: number, coordinates: number, address: number },
        })
        await this.ask('POST', this.path(call, 1), { body: { [secret]: secret, editCode: null } })
      }
      await this.ask('GET', `/captcha/${secret}`)
      await this.ask('GET', `/captcha/${secret}/${secret}?${secret}`)
      await this.ask('OPTIONS', `/claim/${secret}`)
      for (const options of [
        secret,
        number,
        { editCode: secret },
        [['editCode', secret]],
        [[secret, secret]],
        [['enabled', secret]],
        [['enabled', [secret]]],
        [['distribution_start_date', secret]],
        [['coordinates', { secret }]],
      ]) {
        await this.ask('PATCH', this.path('event', 1), { body: { editCode: EDIT_CODE, options } })
      }
      for (const body of [
        { address: secret, captcha: 'WRONG' },
        { address: [secret], captcha: 'WRONG' },
        { address: fay.address, captcha: { secret } },
        { address: fay.address, captcha: secret.repeat(20) },
        { address: fay.address, rehearse: secret },
        { address: fay.address, rehearse: [secret] },
        { address: fay.address, proof: [secret], room: secret, catalyst: secret },
      ]) {
        await this.ask('POST', this.path('claim', 1), { body })
      }
      await this.ask('POST', this.path('claim', 1), { by: fay, body: { address: secret, captcha: number } })
    }
    await this.expect('invalid_parameter', 'POST', this.path('claim', 1), { body: { address: code } })
    await this.expect('invalid_body', 'POST', this.path('addcodes', 1), { body: EDIT_CODE.repeat(100) })
    await this.expect('body_too_large', 'POST', this.path('addcodes', 1), {
      body: LONG_EDIT_CODE.repeat(9_999),
    })
  }

  /** 5xx, pages for people, lost answers, revoked tokens, and at last "too fast". */
  async goThroughTheIssuersFaults(): Promise<void> {
    const faults = [
      { error_rate: 1 },
      { error_rate: 1, html_errors: true },
      { error_rate: 0, html_errors: false, drop_rate: 1 },
      { drop_rate: 0, error_after_rate: 1 },
      { error_after_rate: 0, rate_limit_per_minute: 1 },
    ]
    for (const [n, fault] of faults.entries()) {
      await outside.issuerSettings(fault)
      await this.ask('POST', this.path('event', 1), { body: { editCode: EDIT_CODE, coordinates: '10,20' } })
      await this.expect('issuer_unavailable', 'POST', this.path('addcodes', 1), {
        body: { editCode: EDIT_CODE },
      })
      const player = await this.player(`of fault ${n}`)
      await this.expect('ok', 'POST', this.path('claim', 1), { by: player, body: {} })
      await this.expect('ok', 'POST', this.path('claim', 1), { by: player, body: {} })
    }
    await outside.issuerSettings({ rate_limit_per_minute: 0 })
  }

  async loseTheDatabase(): Promise<void> {
    const gil = await this.player('gil')
    await this.postgres.pause()
    await this.expect('database_unavailable', 'POST', this.path('claim', 1), { by: gil, body: {} })
    await this.expect('database_unavailable', 'POST', '/captcha', { by: gil })
    await this.expect('database_unavailable', 'POST', this.path('event', 1), {
      body: { editCode: EDIT_CODE, coordinates: '1,1' },
    })
    await this.ask('GET', '/metrics')
    const refused = await this.command(['migrate'], this.env)
    expect(refused.code).toBe(1)
    await this.postgres.resume()
    await eventually(
      () => this.ask('GET', this.path('event', 1)),
      ({ status }) => status === 200,
      15 * SECOND_MS,
    )
  }

  async askWhatOperatorsAsk(): Promise<void> {
    for (const path of ['/metrics', '/openapi.json', '/docs/', '/health/ready', '/translations/en']) {
      await this.ask('GET', path)
    }
    // An organiser who shares the address of the page may have put the code there
    for (const page of ['/organise', '/organise/', '/', '/docs', '/nowhere'])
      await this.ask('GET', `${page}?event=7&editCode=${EDIT_CODE}`)
    expect((await this.command(['config'], this.env)).stdout).toContain('ISSUER_API_KEY=***')
    await this.noteDatabase('while it runs')
    expect((await this.server.stop()).code).toBe(0)
  }

  /** The issuer knows neither this key nor this client; and limits are small here, and claims cost work. */
  async restartWithOtherCredentials(): Promise<void> {
    const changes: readonly Env[] = [
      { ISSUER_CLIENT_SECRET: WRONG_SECRET, LIMIT_CLIENT_PER_MINUTE: '2', CLAIM_PROOF_OF_WORK_BITS: '4' },
      { ISSUER_API_KEY: WRONG_API_KEY, CHAIN_RPC_URLS: `http://127.0.0.1:9/${NODE_KEY}` },
    ]
    const hal = await this.player('hal')
    for (const [n, change] of changes.entries()) {
      this.server = await serve({ ...this.env, ...change }, ['--only', 'attendance'])
      await this.expect('issuer_refused', 'POST', this.path('addcodes', 1), { body: { editCode: EDIT_CODE } })
      const code = n === 0 ? 'proof_of_work_required' : 'ok'
      await this.expect(code, 'POST', this.path('claim', 1), { by: hal, body: {} })
      if (n === 0) {
        await this.ask('POST', '/captcha', { by: hal })
        await this.expect('too_many_requests', 'POST', '/captcha', { by: hal })
      } else {
        const headers = hal.sign({ method: 'POST', path: '/captcha', atMs: SYSTEM_CLOCK.nowMs() })
        const delegation = headers['x-identity-auth-chain-1']!
        const contract = delegation.replace('ECDSA_EPHEMERAL', 'ECDSA_EIP_1654_EPHEMERAL')
        await this.expect('wallet_check_unavailable', 'POST', '/captcha', {
          headers: { ...headers, 'x-identity-auth-chain-1': contract },
        })
      }
      expect((await this.command(['config'], { ...this.env, ...change })).code).toBe(0)
      expect((await this.server.stop()).code).toBe(0)
    }
  }

  async restartWithAnotherKey(): Promise<void> {
    const ida = await this.player('ida')
    this.server = await serve({ ...this.env, ATTENDANCE_KEY: KEY.replaceAll('d15c', 'd15d') })
    await this.expect('attendance_not_configured', 'POST', this.path('claim', 1), { by: ida, body: {} })
    expect((await this.server.stop()).code).toBe(0)
  }

  async startWithBadSettings(): Promise<void> {
    const bad: Env = {
      ATTENDANCE_KEY: `${KEY}0`,
      ISSUER_API_KEY: `${WRONG_API_KEY} `,
      ISSUER_CLIENT_SECRET: ` ${WRONG_SECRET}`,
    }
    for (const command of ['serve', 'config']) {
      const { code, stderr } = await this.command([command], { ...this.env, ...bad, PORT: 'ten' })
      expect(code).toBe(1)
      expect(stderr).toContain('ATTENDANCE_KEY is ***')
    }
  }

  logText(): string {
    return this.server.stdout()
  }

  async outputs(): Promise<readonly Output[]> {
    await this.noteDatabase('at the end')
    return [...this.answers, ...outputOfCommands()]
  }

  async secrets(): Promise<ReadonlyMap<string, string>> {
    return new Map([
      ...(await outside.secrets()),
      ...this.typed,
      [KEY, 'the ATTENDANCE_KEY'],
      [OPERATOR_KEY, 'the OPERATOR_KEY'],
      [KEY.toUpperCase(), 'the ATTENDANCE_KEY'],
      [PASSWORD, 'the password of the database'],
      [WRONG_SECRET, 'the wrong client secret'],
      [WRONG_API_KEY, 'the wrong API key'],
      [NODE_KEY, 'the key in the address of a node'],
      [WRONG_EDIT_CODE, 'a wrong edit code'],
    ])
  }

  /** Everything that is stored; on the way, captchas and access token become known as the secrets that they are. */
  private async noteDatabase(when: string): Promise<void> {
    await this.withDatabase(async ({ db }) => {
      const token = await encryptedToken(db)
      if (token) {
        const { text } = JSON.parse(this.vault.decrypt('issuer-token', token, 'issuer')) as { text: string }
        this.typed.set(text, 'the access token')
      }
      const dump = await attendanceDump(db)
      expect(dump).toContain('Event 8')
      this.answers.push({ where: `the database, ${when}`, text: withBytesAsText(dump) })
    })
  }

  private async withDatabase<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
    const engine = await openEngine({ ...TEST_SETTINGS, databaseUrl: this.postgres.url, mode: 'join' })
    try {
      return await work(engine)
    } finally {
      await engine.close()
    }
  }

  /** A command, whose output is noted. */
  private async command(args: readonly string[], env: Env): Promise<Ended> {
    const ended = await landpassHere(args, env)
    this.answers.push({ where: `the output of ${args.join(' ')}`, text: ended.stdout + ended.stderr })
    return ended
  }

  /** Asks for a captcha, looks at it, and reads it as only this test can. */
  private async captchaOf(player: SimulatedPlayer): Promise<string> {
    const { body } = await this.ask('POST', '/captcha', { by: player })
    const { uuid } = (body as { data: { uuid: string } }).data
    expect((await this.ask('GET', `/captcha/${uuid}`)).status).toBe(200)
    const { answer, seed } = await this.withDatabase(({ db }) => readCaptcha(db, this.vault, uuid))
    this.typed.set(answer, 'the answer to a captcha')
    this.typed.set(seed, 'the seed of a captcha')
    return answer
  }

  /** A player who stands where the events are. */
  private async player(name: string): Promise<SimulatedPlayer> {
    const player = makePlayer(`secrets ${name}`)
    await outside.stand(player.address, 10, 20, SYSTEM_CLOCK.nowMs())
    return player
  }

  private path(call: string, n: number): string {
    return `/${call}/${this.id + n}`
  }

  /** @param code of the error, or `ok` */
  private async expect(
    code: ErrorCode | 'ok',
    method: string,
    path: string,
    request: Request = {},
  ): Promise<void> {
    const answer = await this.ask(method, path, request)
    const { ok, code: actual } = answer.body as { ok: boolean; code?: string }
    expect(ok ? 'ok' : actual, `${method} ${path}: ${answer.text}`).toBe(code)
  }

  private async ask(method: string, path: string, { body, headers = {}, by, atMs, metadata }: Request = {}) {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    this.tick += 1 // no request is signed like another
    const signature = by?.sign({
      method,
      path: path.split('?', 1)[0]!,
      body: text,
      atMs: atMs ?? SYSTEM_CLOCK.nowMs() + this.tick,
      metadata: { ...metadata },
    })
    const response = await fetch(this.server.origin + path, {
      method,
      headers: { ...headers, ...signature },
      ...(text === undefined ? {} : { body: text }),
    })
    const isImage = response.headers.get('content-type') === 'image/png'
    const answer = isImage ? String((await response.arrayBuffer()).byteLength) : await response.text()
    this.answers.push({
      where: `the answer to ${method} ${path.split('/')[1]}`,
      text: `${JSON.stringify([...response.headers])} ${answer}`,
    })
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
    const parsed: unknown = isJson ? JSON.parse(answer) : undefined
    const { code } = (parsed ?? {}) as { code?: string }
    if (code !== undefined) this.codesSeen.add(code)
    return { status: response.status, text: answer, body: parsed }
  }
}
