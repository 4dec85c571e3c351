import { once } from 'node:events'
import http from 'node:http'
import { makePlayer } from '@landpass/simulators/player/player'
import fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  incomingRequest,
  SIGNING_VECTORS,
  vectorNamed,
} from '../../../test/support/attendance/signing-vectors.ts'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import { handleError } from '../../http/error-handler.ts'
import { readBodiesAsJson } from '../../http/json-body.ts'
import { incomingRequestOf } from './incoming-request.ts'
import { SignedFetch } from './signed-fetch.ts'
import { deleteExpiredRequests } from './signed-fetch-queries.ts'
import type { SignedRequest } from './signed-request.ts'
import { verifySignature } from './verify-signature.ts'

const NOW_MS = SIGNING_VECTORS.now
const ann = makePlayer('ann')

describeOnBothEngines('a signed request can be used once', (open) => {
  test('however its signature is spelled', async () => {
    const { db } = await open()
    const first = await proven('legacy payload, no body')
    const twin = await proven('same request as the first, signature re-encoded')
    const another = await proven('newer payload (metadata case kept), no body')

    expect(await outcomeOf(db, first)).toBe('accepted')
    expect(await outcomeOf(db, twin)).toBe('signature_used')
    expect(await outcomeOf(db, first)).toBe('signature_used')
    expect(await outcomeOf(db, another)).toBe('accepted')
  })

  test('by one of fifty that arrive at the same time, at two processes', async () => {
    const [one, other] = [(await open()).db, (await open()).db]
    const signed = await claimAt(NOW_MS)

    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, i) => outcomeOf(i % 2 === 0 ? one : other, signed)),
    )

    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 'signature_used')).toHaveLength(49)
  })

  test('and is stored for as long as any process could accept it', async () => {
    const { db } = await open()
    await db.deleteFrom('seen_request').execute()
    const requests = await Promise.all(Array.from({ length: 7 }, (_, i) => claimAt(NOW_MS + i)))
    for (const signed of requests) await outcomeOf(db, signed)
    const lastUseMs = NOW_MS + MINUTE_MS
    const forget = (nowMs: number) => deleteExpiredRequests(db, { nowMs, batchRows: 2 })

    expect(await forget(lastUseMs)).toBe(0)
    expect(await forget(lastUseMs + MINUTE_MS + 5)).toBe(5)
    expect(await forget(lastUseMs + MINUTE_MS + 5)).toBe(0)
    expect(await outcomeOf(db, requests[6]!)).toBe('signature_used')
    expect(await forget(lastUseMs + 3 * MINUTE_MS)).toBe(2)
  })
})

describeOnBothEngines('over HTTP', (open) => {
  const clock = testClock(NOW_MS)
  const results: string[] = []
  let app: FastifyInstance
  let origin: string

  beforeAll(async () => {
    const { db } = await open()
    const signedFetch = new SignedFetch({
      db,
      clock,
      windowMs: MINUTE_MS,
      publicUrl: 'https://example.org/attendance',
      onResult: (result) => results.push(result),
    })
    app = fastify()
    readBodiesAsJson(app)
    app.setErrorHandler(handleError)
    app.post('/claim/:uuid', async (request) => ({
      isSigned: signedFetch.isSigned(request),
      ...(await signedFetch.verify(incomingRequestOf(request))),
      hash: undefined,
    }))
    origin = await app.listen({ host: '127.0.0.1', port: 0 })
  })
  afterAll(() => app.close())

  test('the signature covers the bytes of the body and not the query', async () => {
    const body = '{ "captcha": "h7kq2" }'
    const headers = ann.sign({ method: 'POST', path: '/claim/Ab', body, atMs: clock.nowMs() })

    expect(await post('/claim/Ab', `${body} `, headers)).toMatchObject({ code: 'bad_signature' })
    expect(await post('/claim/Ab?x=1', body, headers)).toEqual({
      isSigned: true,
      address: ann.address,
      expiresAtMs: NOW_MS + MINUTE_MS,
      isBodySigned: true,
      isPreview: false,
      isGuest: false,
    })
    expect(await post('/claim/Ab', body, headers)).toMatchObject({ code: 'signature_used' })
    expect(results.splice(0)).toEqual(['bad_signature', 'accepted', 'signature_used'])
  })

  test('the signed path is the path that clients call, with the prefix that a proxy removes', async () => {
    const headers = ann.sign({ method: 'POST', path: '/attendance/claim/7', atMs: clock.nowMs() })

    expect(await post('/claim/7', '', headers)).toMatchObject({ address: ann.address })
  })

  test('a header that comes twice is refused', async () => {
    const headers = ann.sign({ method: 'POST', path: '/claim/8', atMs: clock.nowMs() })

    for (const name of Object.keys(headers)) {
      const twice = { ...headers, [name]: [headers[name]!, headers[name]!] }
      expect(await post('/claim/8', '', twice), name).toMatchObject({ code: 'bad_signature' })
    }
    expect(await post('/claim/8', '', {})).toMatchObject({ code: 'not_signed' })
  })

  async function post(path: string, body: string, headers: http.OutgoingHttpHeaders): Promise<unknown> {
    const request = http.request(origin + path, { method: 'POST', headers, agent: false })
    request.end(body)
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    return JSON.parse(Buffer.concat(await response.toArray()).toString())
  }
})

function proven(vector: string): Promise<SignedRequest> {
  return verifySignature(incomingRequest(vectorNamed(vector)), { nowMs: NOW_MS, windowMs: MINUTE_MS })
}

function claimAt(atMs: number): Promise<SignedRequest> {
  const headers = ann.sign({ method: 'POST', path: '/captcha', atMs })
  const request = { method: 'POST', path: '/captcha', headers, body: Buffer.alloc(0) }
  return verifySignature(request, { nowMs: NOW_MS, windowMs: MINUTE_MS })
}

/** `accepted`, or the code of the refusal. */
async function outcomeOf(db: Db, signed: SignedRequest): Promise<string> {
  const signedFetch = new SignedFetch({ db, clock: testClock(NOW_MS), windowMs: MINUTE_MS })
  try {
    await signedFetch.useUp(signed, 7)
    return 'accepted'
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}
