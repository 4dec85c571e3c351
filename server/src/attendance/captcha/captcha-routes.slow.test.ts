import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { type TestClock, testClock } from '../../../test/support/http/land-server.ts'
import { readPng } from '../../../test/support/images/png.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import { Metrics } from '../../http/metrics.ts'
import { serveRoutes } from '../../http/routes.ts'
import { createServer } from '../../http/server.ts'
import { Vault } from '../secrets/vault.ts'
import type { IncomingRequest } from '../signed-fetch/signed-request.ts'
import { captchaRoutes } from './captcha-routes.ts'
import { Captchas } from './captchas.ts'

const ANN = '0x00000000000000000000000000000000000000aa'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

interface Body {
  readonly ok: boolean
  readonly code?: string
  readonly data: { readonly uuid: string; readonly expires_at: string; readonly proof_of_work: unknown }
}

/**
 * The routes on a real server and database. Signatures are replaced by a header that names the player; real signatures
 * are tested in signed-fetch/ and in the journeys.
 */
const standIn = {
  verify: async ({ headers }: IncomingRequest) => {
    const address = headers['x-test-player']
    if (typeof address !== 'string') throw new AppError('not_signed', 'The request is not signed.')
    return { address, isPreview: headers['x-test-preview'] === 'yes', isGuest: false }
  },
}

describeOnBothEngines('the routes of captchas', (open) => {
  let db: Db
  let app: FastifyInstance
  let clock: TestClock
  let origin: string
  let counted: string[]
  let imagesLeft: number
  let isRehearsing: boolean
  const vault = new Vault(Buffer.alloc(32, 7))

  beforeAll(async () => {
    db = (await open()).db
    clock = testClock()
    app = await createServer({
      logLevel: 'silent',
      requestTimeoutMs: 5_000,
      trustedProxies: [],
      metrics: new Metrics(),
    })
    const routes = {
      signedFetch: standIn,
      clientLimit: async () => {},
      imageLimit: async () => {
        if (--imagesLeft < 0) throw new AppError('too_many_requests', 'Too many.', { retry_after_s: 7 })
      },
      assertConfigured: () => {},
      playerLimit: async (_request: object, _reply: object, address: string) => {
        counted.push(address)
        if (counted.length > 5) throw new AppError('too_many_requests', 'Too many.')
      },
    }
    const rehearsals = { isAnyOn: async () => isRehearsing }
    const parts = (proofOfWorkBits: number) => ({
      ...routes,
      rehearsals,
      captchas: new Captchas({ db, vault, clock, proofOfWorkBits }),
    })
    await serveRoutes(app, captchaRoutes, parts(0))
    await serveRoutes(app, captchaRoutes, parts(18), '/strict')
    origin = await app.listen({ host: '127.0.0.1', port: 0 })
  })

  afterAll(() => app.close())

  beforeEach(() => {
    counted = []
    imagesLeft = 100
    isRehearsing = false
  })

  async function create(path = '/captcha', headers: Record<string, string> = { 'x-test-player': ANN }) {
    const response = await fetch(origin + path, { method: 'POST', headers })
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body }
  }

  test('a signed request without a body makes a captcha, in the form that booths read', async () => {
    // The world's client sends content-type JSON and no body
    const { status, headers, body } = await create('/captcha', {
      'x-test-player': ANN,
      'content-type': 'application/json',
    })

    expect(status).toBe(200)
    expect(body).toEqual({
      ok: true,
      data: {
        uuid: expect.stringMatching(UUID),
        width: 500,
        height: 150,
        expires_at: '2026-11-20T00:02:00.000Z',
        proof_of_work: null,
      },
    })
    expect(headers.get('cache-control')).toBe('no-store')
    expect(counted).toEqual([ANN])
  })

  test('a server that asks for a proof of work answers with the challenge', async () => {
    const { body } = await create('/strict/captcha')

    expect(body.data.proof_of_work).toEqual({ algorithm: 'sha256', bits: 18, challenge: body.data.uuid })
  })

  test('an unsigned request makes no captcha, and is counted for no player', async () => {
    const { status, body } = await create('/captcha', {})

    expect([status, body.code, counted]).toEqual([401, 'not_signed', []])
  })

  test('a scene in preview gets no captcha: its claim would be refused', async () => {
    const before = await db.selectFrom('captcha').select('uuid').execute()
    const { status, body } = await create('/captcha', { 'x-test-player': ANN, 'x-test-preview': 'yes' })

    expect([status, body.code]).toEqual([403, 'preview_realm'])
    expect(await db.selectFrom('captcha').select('uuid').execute()).toEqual(before)
  })

  test('while an event rehearses, a scene in preview gets a captcha, which says nothing of it: it may be for another event', async () => {
    isRehearsing = true
    const rehearsed = await create('/captcha', { 'x-test-player': ANN, 'x-test-preview': 'yes' })

    expect([rehearsed.status, rehearsed.headers.get('x-rehearsal')]).toEqual([200, null])
    expect(rehearsed.body.data).toMatchObject({ uuid: expect.stringMatching(UUID) })
    expect(rehearsed.body.data).not.toHaveProperty('rehearsal')
  })

  test('images are counted by network address', async () => {
    const { body } = await create()
    imagesLeft = 2
    const answers = []
    for (let i = 0; i < 3; i++) answers.push(await fetch(`${origin}/captcha/${body.data.uuid}`))

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(answers[2]!.headers.get('retry-after')).toBe('7')
  })

  test('a player over the limit gets no captcha', async () => {
    for (let i = 0; i < 5; i++) await create()
    const before = await db.selectFrom('captcha').select('uuid').execute()

    const { status, body } = await create()

    expect([status, body.code]).toEqual([429, 'too_many_requests'])
    expect(await db.selectFrom('captcha').select('uuid').execute()).toEqual(before)
  })

  test('the image is a PNG of 500 x 150 for every client, for every request, and is not cached by clients', async () => {
    const { body } = await create()

    const [first, second] = [
      await fetch(`${origin}/captcha/${body.data.uuid}`),
      await fetch(`${origin}/captcha/${body.data.uuid.toUpperCase()}`, {
        headers: { origin: 'https://scene.example' },
      }),
    ]

    const files = [Buffer.from(await first.arrayBuffer()), Buffer.from(await second.arrayBuffer())]
    expect(files[1]).toEqual(files[0])
    const { widthPx, heightPx } = readPng(files[0]!)
    expect([widthPx, heightPx]).toEqual([500, 150])
    for (const { status, headers } of [first, second]) {
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe('image/png')
      expect(headers.get('content-length')).toBe(String(files[0]!.length))
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('access-control-allow-origin')).toBe('*')
    }
  })

  test('HEAD answers like GET, without the image', async () => {
    const { body } = await create()

    const [get, head] = [
      await fetch(`${origin}/captcha/${body.data.uuid}`),
      await fetch(`${origin}/captcha/${body.data.uuid}`, { method: 'HEAD' }),
    ]

    expect(head.status).toBe(200)
    for (const name of ['content-type', 'content-length', 'cache-control']) {
      expect(head.headers.get(name), name).toBe(get.headers.get(name))
    }
    expect((await head.arrayBuffer()).byteLength).toBe(0)
  })

  test('an invalid UUID is refused; an unknown, replaced or expired captcha is not found', async () => {
    const old = await create()
    const { body } = await create()
    const ask = async (uuid: string) => {
      const response = await fetch(`${origin}/captcha/${uuid}`)
      const { code, ...failure } = (await response.json()) as Body
      expect(failure).toMatchObject({ ok: false, error: expect.any(String), data: expect.any(Object) })
      return [response.status, code]
    }

    const notFound = [404, 'captcha_not_found']
    for (const text of ['1', `${body.data.uuid}0`, body.data.uuid.replaceAll('-', ''), '%00', "'"]) {
      expect(await ask(text), text).toEqual([400, 'invalid_parameter'])
    }
    expect(await ask('00000000-0000-4000-8000-000000000000')).toEqual(notFound)
    expect(await ask(old.body.data.uuid)).toEqual(notFound)
    const nowMs = clock.nowMs()
    clock.set(Date.parse(body.data.expires_at))
    expect(await ask(body.data.uuid)).toEqual(notFound)
    clock.set(nowMs)
    expect((await fetch(`${origin}/captcha/${body.data.uuid}`)).status).toBe(200)
  })

  test('CORS: pages of any origin may send the signed request with any headers', async () => {
    const names = 'content-type,x-identity-auth-chain-0,x-identity-timestamp,x-identity-metadata'
    const response = await fetch(`${origin}/captcha`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://scene.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': names,
      },
    })

    expect(response.ok).toBe(true)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-allow-headers')).toBe(names)
    expect(response.headers.get('access-control-allow-methods')).toContain('POST')
  })
})
