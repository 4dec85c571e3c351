import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  failureOf,
  type HeardRequest,
  issuerConfig,
  type Respond,
  sendJson,
  sendToken,
  startOddIssuer,
} from '../../../../test/support/attendance/issuers.ts'
import { describeOnBothEngines } from '../../../../test/support/database/engines.ts'
import { type TestClock, testClock } from '../../../../test/support/http/land-server.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../clock.ts'
import type { IssuerConfig } from '../../../config/config.ts'
import type { Db } from '../../../db/engine.ts'
import { ask } from '../../../outbound.ts'
import { Vault } from '../../secrets/vault.ts'
import { AccessTokens, readTokenAnswer } from './access-token.ts'

const CREDENTIALS = { apiKey: 'key', clientId: 'client', clientSecret: 'secret' }
const DAY_S = 86_400

describeOnBothEngines('the access token', (open) => {
  test('is requested once, as documented, and used until ten minutes before its end', async () => {
    const { tokens, host, clock } = await given(await open())

    const first = await tokens.get()
    clock.set(clock.nowMs() + 24 * HOUR_MS - 10 * MINUTE_MS - 1)
    const second = await tokens.get()

    expect([first.text, second.text]).toEqual(['token-1', 'token-1'])
    expect(host.heard).toMatchObject([
      {
        method: 'POST',
        path: '/oauth/token',
        json: {
          audience: 'https://issuer.example',
          grant_type: 'client_credentials',
          client_id: 'client',
          client_secret: 'secret',
        },
      },
    ])
    expect(host.heard[0]?.headers['x-api-key'], 'the token host does not get the API key').toBeUndefined()
  })

  test('is replaced in its last ten minutes; the old one is used while no new one can be had', async () => {
    const { tokens, host, clock } = await given(await open())
    await tokens.get()

    clock.set(clock.nowMs() + 24 * HOUR_MS - 10 * MINUTE_MS)
    host.respond = (_request, response) => sendJson(response, 503, {})
    const fallback = await tokens.get()
    const again = await tokens.get()
    expect([fallback.text, again.text, host.heard.length]).toEqual(['token-1', 'token-1', 2])

    host.respond = undefined
    clock.set(clock.nowMs() + 6 * SECOND_MS)
    expect((await tokens.get()).text).toBe('token-3')
  })

  test('is requested again after a pause that a clock that is set back does not make longer', async () => {
    const { db } = await open()
    let steadyMs = 0
    const set: TestClock = testClock()
    const { tokens, host } = await given({ db }, { ...set, steadyMs: () => steadyMs })
    host.respond = (_request, response) => sendJson(response, 503, {})
    await expect(tokens.get()).rejects.toMatchObject({ kind: 'unavailable' })
    host.respond = undefined

    set.set(set.nowMs() - HOUR_MS)
    await expect(tokens.get()).rejects.toMatchObject({ retryAfterMs: 5 * SECOND_MS })
    steadyMs += 5 * SECOND_MS

    expect((await tokens.get()).text).toBe('token-2')
  })

  test('survives a restart, encrypted in the database', async () => {
    const { db } = await open()
    const { tokens, host, restarted } = await given({ db })
    await tokens.get()

    const after = await restarted().get()

    expect(after.text).toBe('token-1')
    expect(host.heard).toHaveLength(1)
    const row = await db.selectFrom('issuer_token').selectAll().executeTakeFirstOrThrow()
    expect(row.encrypted?.toString('latin1')).not.toContain('token-1')
    expect(JSON.stringify(row)).not.toContain('token-1')
  })

  test('is requested once by twenty calls at once, in two processes', async () => {
    const here = await open()
    const there = await open()
    const { tokens, host, restarted } = await given(here)
    const neighbour = restarted({ db: there.db })
    const asked = host.holdAnswers()

    const calls = Array.from({ length: 10 }, () => tokens.get())
    await asked
    const others = Array.from({ length: 10 }, () => neighbour.get())
    await leaseWasSeen(there.db)
    host.letAnswersGo()

    const texts = (await Promise.all([...calls, ...others])).map(({ text }) => text)
    expect(new Set(texts)).toEqual(new Set(['token-1']))
    expect(host.heard).toHaveLength(1)
  })

  test('is requested by another process when the lease of a dead process has ended', async () => {
    const { db } = await open()
    const { tokens, clock, host } = await given({ db })
    const diedAtMs = clock.nowMs() - 16 * SECOND_MS
    await db
      .updateTable('issuer_token')
      .set({ asking_until_ms: diedAtMs + 10 * SECOND_MS, asked_at_ms: [diedAtMs] })
      .execute()

    expect((await tokens.get()).text).toBe('token-1')
    expect(host.heard).toHaveLength(1)
  })

  test('is requested at once in spite of a lease from a clock that was years ahead', async () => {
    const { db } = await open()
    const { tokens, clock } = await given({ db })
    const aheadMs = clock.nowMs() + 10_000 * HOUR_MS
    const asked_at_ms = [aheadMs, aheadMs, aheadMs, aheadMs]
    await db.updateTable('issuer_token').set({ asking_until_ms: aheadMs, asked_at_ms }).execute()

    expect((await tokens.get()).text).toBe('token-1')
  })

  test('is renewed when it is not accepted, once for all calls and processes', async () => {
    const here = await open()
    const there = await open()
    const { tokens, host, restarted } = await given(here)
    const neighbour = restarted({ db: there.db })
    const old = await tokens.get()
    await neighbour.get()

    const renewed = await Promise.all(Array.from({ length: 20 }, () => tokens.renew(old)))
    const there2 = await neighbour.renew(old)

    expect(new Set(renewed.map((token) => token?.text))).toEqual(new Set(['token-2']))
    expect(there2?.text).toBe('token-2')
    expect(host.heard).toHaveLength(2)
    expect((await restarted().get()).text).toBe('token-2')
  })

  test('is not renewed again for a while when the renewed one was refused too', async () => {
    const { tokens, host, clock } = await given(await open())
    const renewed = (await tokens.renew(await tokens.get()))!
    tokens.renewalDidNotHelp()

    expect(await tokens.renew(renewed)).toBeUndefined()
    expect(host.heard).toHaveLength(2)
    clock.set(clock.nowMs() + 21 * MINUTE_MS)
    expect((await tokens.renew(renewed))?.text).toBe('token-3')
  })

  test('is used again when the issuer gives out the same one again', async () => {
    const { tokens, host } = await given(await open())
    host.respond = (_request, response) => sendToken(response, 'the-same')

    const renewed = await tokens.renew(await tokens.get())

    expect([renewed?.text, (await tokens.get()).text]).toEqual(['the-same', 'the-same'])
    expect(host.heard).toHaveLength(2)
  })

  test('is requested four times an hour at most, by all processes together', async () => {
    const { db } = await open()
    const { host, clock, restarted } = await given({ db })
    host.respond = (_request, response) => sendToken(response, `short-${host.heard.length}`, 60)
    for (let round = 0; round < 4; round++) {
      await restarted().get()
      clock.set(clock.nowMs() + 2 * MINUTE_MS)
    }

    const fifth = await failureOf(restarted().get())

    expect(fifth).toMatchObject({ kind: 'busy', call: 'token', retryAfterMs: 52 * MINUTE_MS })
    expect(host.heard).toHaveLength(4)
    clock.set(clock.nowMs() + 52 * MINUTE_MS)
    expect((await restarted().get()).text).toBe('short-5')
  })

  test('is not requested again for a while with credentials that are refused', async () => {
    const { tokens, host, clock } = await given(await open())
    host.respond = (_request, response) => sendJson(response, 401, { error: 'access_denied' })

    const failures = [await failureOf(tokens.get()), await failureOf(tokens.get())]

    expect(failures).toMatchObject([
      { kind: 'refused', call: 'token', status: 401 },
      { kind: 'refused', call: 'token', status: 401, retryAfterMs: 20 * MINUTE_MS },
    ])
    expect(host.heard).toHaveLength(1)
    host.respond = undefined
    clock.set(clock.nowMs() + 20 * MINUTE_MS)
    expect((await tokens.get()).text).toBe('token-2')
  })

  test('that cannot be had is requested once by twenty calls at once', async () => {
    const { tokens, host } = await given(await open())
    host.respond = (_request, response) => sendJson(response, 503, {})

    const failures = await Promise.all(Array.from({ length: 20 }, () => failureOf(tokens.get())))

    expect(new Set(failures.map(({ kind }) => kind))).toEqual(new Set(['unavailable']))
    expect(host.heard).toHaveLength(1)
  })

  test('is requested again after a failure, with longer pauses after further failures', async () => {
    const { tokens, host, clock } = await given(await open())
    host.respond = (_request, response) => response.destroy()

    expect(await failureOf(tokens.get())).toMatchObject({ kind: 'unavailable', retryAfterMs: undefined })
    expect(await failureOf(tokens.get())).toMatchObject({ kind: 'unavailable', retryAfterMs: 5 * SECOND_MS })
    clock.set(clock.nowMs() + 5 * SECOND_MS)
    await failureOf(tokens.get())
    expect(await failureOf(tokens.get())).toMatchObject({ retryAfterMs: MINUTE_MS })

    expect(host.heard).toHaveLength(2)
  })

  test('is not sent to another issuer than the one it was requested for', async () => {
    const { tokens, host, restarted } = await given(await open())
    await tokens.get()

    const elsewhere = restarted({ config: { url: 'https://another-issuer.example' } })

    expect((await elsewhere.get()).text).toBe('token-2')
    expect(host.heard).toHaveLength(2)
  })

  test('that was encrypted with another key counts as none', async () => {
    const { tokens, restarted } = await given(await open())
    await tokens.get()

    const rekeyed = restarted({ vault: new Vault(randomBytes(32)) })

    expect((await rekeyed.get()).text).toBe('token-2')
  })
})

const NOW_MS = 1_000_000
const day = DAY_S * SECOND_MS

test.each([
  [{ access_token: 'abc', expires_in: DAY_S }, day - 10 * MINUTE_MS, day],
  [{ access_token: 'abc', expires_in: 600 }, 5 * MINUTE_MS, 10 * MINUTE_MS],
  [{ access_token: 'abc' }, 12 * HOUR_MS - 10 * MINUTE_MS, 12 * HOUR_MS],
  [{ access_token: 'abc', expires_in: '86400' }, 12 * HOUR_MS - 10 * MINUTE_MS, 12 * HOUR_MS],
  [{ access_token: 'abc', expires_in: 1e300 }, 30 * day - 10 * MINUTE_MS, 30 * day],
])('a token %j is fresh for %i ms and ends after %i ms', (json, freshMs, lifeMs) => {
  const token = readTokenAnswer({ status: 200, json, retryAfterMs: undefined }, NOW_MS)

  expect(token).toEqual({ text: 'abc', freshUntilMs: NOW_MS + freshMs, expiresAtMs: NOW_MS + lifeMs })
})

test.each([
  [401, undefined, 'refused'],
  [403, { error: 'unauthorized_client' }, 'refused'],
  [400, { error: 'unauthorized_client' }, 'refused'],
  [200, { error: 'unauthorized_client' }, 'refused'],
  [429, undefined, 'busy'],
  [500, { error: 'unauthorized_client' }, 'unavailable'],
  [400, undefined, 'unavailable'],
  [200, undefined, 'unavailable'],
  [200, {}, 'unavailable'],
  [200, { access_token: '' }, 'unavailable'],
  [200, { access_token: 'a\r\nx-evil: 1' }, 'unavailable'],
  [200, { access_token: 'a'.repeat(10_000) }, 'unavailable'],
])('a token answer %i %j is %s', (status, json, kind) => {
  expect(() => readTokenAnswer({ status, json, retryAfterMs: undefined }, NOW_MS)).toThrow(
    expect.objectContaining({ kind, call: 'token', status }),
  )
})

interface Overrides {
  readonly db?: Db
  readonly vault?: Vault
  readonly config?: Partial<IssuerConfig>
}

/** A token host that records requests, a database without a token, and processes that can start again. */
async function given({ db }: { db: Db }, clock: TestClock = testClock()) {
  await db
    .updateTable('issuer_token')
    .set({ encrypted: null, expires_at_ms: 0, asked_at_ms: [], asking_until_ms: 0 })
    .execute()
  const host = await TokenHost.start()
  const vault = new Vault(randomBytes(32))
  const restarted = (overrides: Overrides = {}) => {
    const config = issuerConfig(host.address, overrides.config)
    return new AccessTokens({
      config,
      credentials: CREDENTIALS,
      db: overrides.db ?? db,
      vault: overrides.vault ?? vault,
      clock,
      send: (request) =>
        ask({ baseUrl: config.tokenUrl, timeoutMs: config.timeoutMs, maxBytes: 100_000 }, request),
    })
  }
  return { tokens: restarted(), host, clock, restarted }
}

/** Gives out `token-1`, `token-2` and so on. */
class TokenHost {
  readonly address: string
  readonly heard: readonly HeardRequest[]
  /** Instead of a token. */
  respond: Respond | undefined
  private held: Promise<void> = Promise.resolve()
  private onHeard: () => void = () => {}
  letAnswersGo: () => void = () => {}

  private constructor(address: string, heard: readonly HeardRequest[]) {
    this.address = address
    this.heard = heard
  }

  static async start(): Promise<TokenHost> {
    const { address, heard } = await startOddIssuer((request, response) => host.answer(request, response))
    const host: TokenHost = new TokenHost(address, heard)
    return host
  }

  /** Delays all answers. @returns a promise of the first request */
  holdAnswers(): Promise<void> {
    this.held = new Promise((resolve) => {
      this.letAnswersGo = resolve
    })
    return new Promise((resolve) => {
      this.onHeard = resolve
    })
  }

  private async answer(request: HeardRequest, response: Parameters<Respond>[1]): Promise<void> {
    const number = this.heard.length
    this.onHeard()
    await this.held
    if (this.respond) this.respond(request, response)
    else sendToken(response, `token-${number}`, DAY_S)
  }
}

/** Sends some statements, so that all statements sent earlier to this engine have been answered. */
async function leaseWasSeen(db: Db): Promise<void> {
  for (let look = 0; look < 5; look++) await db.selectFrom('issuer_token').select('asking_until_ms').execute()
}
