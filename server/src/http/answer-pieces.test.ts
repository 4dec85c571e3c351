import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { streamed } from './answer.ts'
import { Metrics } from './metrics.ts'
import { send } from './send.ts'
import { createServer } from './server.ts'

const PIECE = Buffer.alloc(64 * 1024, 'a piece ')
/** 256 MB in all: far more than the buffers of the sockets hold while the client does not read. */
const PIECES = 4_096
const FEW = PIECES / 4
const ROUNDS = 200

let server: FastifyInstance
let origin: string
/** Pieces that were made for the last client, and whether their generator has ended. */
let made = 0
let isOver = false

beforeAll(async () => {
  server = await createServer({
    logLevel: 'silent',
    requestTimeoutMs: 10_000,
    metrics: new Metrics(),
    trustedProxies: [],
  })
  server.get('/pieces', (request, reply) => {
    made = 0
    isOver = false
    const format = { contentType: 'application/x-ndjson', fileName: 'pieces.ndjson' }
    const freshness = { tag: 'a.1', changedAtMs: 1_000 }
    return send(request, reply, { freshness, format, body: () => streamed(makePieces, 1) })
  })
  server.get('/other', (_request, reply) => reply.send('here'))
  await server.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
})

afterAll(() => server.close())

function* makePieces(): Generator<Uint8Array> {
  try {
    for (; made < PIECES; made++) yield PIECE
  } finally {
    isOver = true
  }
}

async function startReading(encoding: string, method = 'GET'): Promise<http.IncomingMessage> {
  const headers = { 'accept-encoding': encoding }
  const request = http.request(`${origin}/pieces`, { method, headers, agent: false }).end()
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  response.on('error', () => {})
  response.pause()
  return response
}

/** Sends many other requests: a server that did not wait for its slow client would make more pieces meanwhile. */
async function sendOtherRequests(): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) await (await fetch(`${origin}/other`)).text()
}

test('a client that does not read pauses the work, and gets the rest when it reads on', async () => {
  const response = await startReading('identity')
  await sendOtherRequests()

  expect(made).toBeLessThan(FEW)
  let bytes = 0
  for await (const chunk of response) bytes += (chunk as Buffer).length
  expect([bytes, made, isOver]).toEqual([PIECES * PIECE.length, PIECES, true])
})

test.each(['identity', 'gzip', 'br'])('a client that disconnects ends the work (%s)', async (encoding) => {
  const response = await startReading(encoding)
  expect(response.headers['content-encoding']).toBe(encoding === 'identity' ? undefined : encoding)
  response.destroy()
  while (!isOver) await (await fetch(`${origin}/other`)).text()

  expect(made).toBeLessThan(PIECES)
})

test('HEAD has the same headers, and no piece is made for it', async () => {
  const { headers } = await startReading('identity', 'HEAD')

  expect(headers).toMatchObject({
    etag: '"a.1"',
    'content-type': 'application/x-ndjson',
    'content-disposition': 'attachment; filename="pieces.ndjson"',
  })
  expect(made).toBe(0)
})
