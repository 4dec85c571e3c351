import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { LandpassError } from '@landpass/client'
import { verifySignature } from '@landpass/server/attendance/signed-fetch/verify-signature'
import { MINUTE_MS } from '@landpass/server/clock'
import { afterEach, expect, test } from 'vitest'
import { type BoothOptions, claimLikeABooth } from './booth.ts'
import { makePlayer } from './player.ts'
import { leadingZeroBits } from './proof-of-work.ts'

const UUID = '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11'
const NOW_MS = Date.parse('2026-01-15T12:00:00.000Z')
const PICTURE = Buffer.from('a picture')
const CHALLENGE = { algorithm: 'sha256', bits: 6, challenge: 'some challenge' }

const ann = makePlayer('ann')
let server: http.Server | undefined
afterEach(() => server?.close())

/** A request that the server received, and the address that signed it. */
interface Received {
  readonly path: string
  readonly signedBy: string | undefined
  readonly body: Readonly<Record<string, string>>
}

interface Reply {
  readonly status: number
  readonly code?: string
  readonly error?: string
  readonly data?: object
}

const claimIs = (status: string): Reply => ({
  status: 200,
  data: { event: { name: 'Harbour Lights' }, claim: { status } },
})
const refused = (status: number, code: string): Reply => ({ status, code, error: `No: ${code}.`, data: {} })

test('a new booth sends a signed claim and nothing else, where the server requires nothing else', async () => {
  const { origin, received } = await serverThat(() => claimIs('minting'))

  const claimed = await claim(origin)

  expect(claimed).toEqual({ eventId: 7, eventUuid: UUID, status: 'minting' })
  expect(received).toEqual([
    { path: `/claim/${UUID}`, signedBy: ann.address, body: { address: ann.address } },
  ])
})

test('a pending claim is sent again until it is no longer pending', async () => {
  const replies = [claimIs('pending'), claimIs('pending'), claimIs('minted')]
  const { origin, received } = await serverThat(() => replies.shift()!)

  expect(await claim(origin)).toMatchObject({ status: 'minted' })
  expect(received).toHaveLength(3)
})

test('a pending claim counts as minted when the server answers already_claimed', async () => {
  const replies = [claimIs('pending'), refused(409, 'already_claimed')]
  const { origin } = await serverThat(() => replies.shift()!)

  expect(await claim(origin)).toMatchObject({ status: 'minted' })
})

test('captcha and proof of work are sent when they are required, both from one challenge', async () => {
  const { origin, received } = await serverThat(({ body }) => {
    if (body.captcha !== 'h7kq2') return refused(403, 'captcha_required')
    return isProven(body.proof) ? claimIs('minting') : refused(403, 'proof_of_work_required')
  })

  expect(await claim(origin)).toMatchObject({ status: 'minting' })
  expect(received.map(({ path, signedBy }) => [path.split('/')[1], signedBy])).toEqual([
    ['claim', ann.address],
    ['captcha', ann.address],
    ['claim', ann.address],
    ['claim', ann.address],
  ])
})

test('an old booth requests a captcha with a signature, then claims without one', async () => {
  const { origin, received } = await serverThat(({ body }) =>
    body.captcha === 'h7kq2' ? claimIs('pending') : refused(401, 'not_signed'),
  )

  expect(await claim(origin, { way: 'captcha' })).toMatchObject({ status: 'pending' })
  expect(received).toEqual([
    { path: '/captcha', signedBy: ann.address, body: {} },
    {
      path: `/claim/${UUID}`,
      signedBy: undefined,
      body: { address: ann.address, room: '', captcha: 'h7kq2' },
    },
  ])
})

test('with the answer to an earlier captcha no new one is requested', async () => {
  const { origin, received } = await serverThat(({ body }) =>
    body.captcha === 'early' ? claimIs('minting') : refused(403, 'captcha_required'),
  )

  await claim(origin, { captcha: 'early' })
  await claim(origin, { captcha: 'early', way: 'captcha' })

  expect(received.map(({ path }) => path)).toEqual([`/claim/${UUID}`, `/claim/${UUID}`])
})

test('a final refusal throws the error text and code of the server', async () => {
  const { origin, received } = await serverThat(() => refused(403, 'captcha_required'))

  const outcome = claim(origin)

  await expect(outcome).rejects.toBeInstanceOf(LandpassError)
  await expect(outcome).rejects.toMatchObject({
    message: 'No: captcha_required.',
    code: 'captcha_required',
    status: 403,
  })
  expect(received).toHaveLength(3) // claim, captcha, claim: not repeated
})

function claim(origin: string, change: Partial<BoothOptions> = {}) {
  return claimLikeABooth({
    server: origin,
    event: '7',
    player: ann,
    way: 'signed',
    readImage: async (png) => (PICTURE.equals(png) ? 'h7kq2' : 'nothing'),
    clock: { nowMs: () => NOW_MS },
    pendingPauseMs: 0,
    ...change,
  })
}

/** A server with what a booth uses: an event, a captcha, and claims that the test answers. */
async function serverThat(
  answerClaim: (claim: Received) => Reply,
): Promise<{ origin: string; received: Received[] }> {
  const received: Received[] = []
  server = http.createServer(async (request, response) => {
    const path = request.url ?? ''
    const bytes = Buffer.concat(await request.toArray())
    if (path === '/captcha/c1') return response.writeHead(200, { 'content-type': 'image/png' }).end(PICTURE)
    const reply = path.startsWith('/event/') ? EVENT : await answer(path, request, bytes)
    response
      .writeHead(reply.status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ ok: reply.status === 200, ...reply }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }

  async function answer(
    path: string,
    { method = '', headers }: http.IncomingMessage,
    bytes: Buffer,
  ): Promise<Reply> {
    const isSigned = 'x-identity-timestamp' in headers
    const options = { nowMs: NOW_MS, windowMs: MINUTE_MS }
    const signedBy = isSigned
      ? (await verifySignature({ method, path, headers, body: bytes }, options)).address
      : undefined
    const request = { path, signedBy, body: JSON.parse(bytes.toString() || '{}') }
    received.push(request)
    if (path !== '/captcha') return answerClaim(request)
    return { status: 200, data: { uuid: 'c1', proof_of_work: CHALLENGE } }
  }
}

const EVENT: Reply = {
  status: 200,
  data: { id: 7, uuid: UUID, name: 'Harbour Lights', coordinates: '3,4;5,6' },
}

function isProven(nonce: string | undefined): boolean {
  const text = `${CHALLENGE.challenge}:${UUID}:${ann.address}:${nonce}`
  return leadingZeroBits(createHash('sha256').update(text).digest()) >= CHALLENGE.bits
}
