import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, type MockInstance, test, vi } from 'vitest'
import { BARE_JSON } from './answer.ts'
import { Metrics } from './metrics.ts'
import { send } from './send.ts'
import { createServer } from './server.ts'

const BYTES = 240 * 1024
const PIECES = 40

let server: FastifyInstance
let port: number
/** Of the last request for `/letter/a`. */
let lastSocket: Socket | undefined
/** Calls of `write` of the last answer: none where its pieces were copied. */
let writes: MockInstance | undefined

beforeAll(async () => {
  const settings = { logLevel: 'silent', requestTimeoutMs: 10_000, trustedProxies: [] } as const
  server = await createServer({ ...settings, metrics: new Metrics() })
  server.get<{ Params: { letter: string } }>('/letter/:letter', (request, reply) => {
    if (request.params.letter === 'a') lastSocket = request.raw.socket
    writes = vi.spyOn(reply.raw, 'write')
    const piece = Buffer.alloc(BYTES / PIECES, request.params.letter)
    const freshness = { tag: request.params.letter, changedAtMs: 1_000 }
    return send(request, reply, { freshness, format: BARE_JSON, body: () => Array(PIECES).fill(piece) })
  })
  server.get('/large', (request, reply) => {
    writes = vi.spyOn(reply.raw, 'write')
    return send(request, reply, { freshness: { tag: 'large' }, format: BARE_JSON, body: () => largePieces() })
  })
  await server.listen({ host: '127.0.0.1', port: 0 })
  port = (server.server.address() as AddressInfo).port
})

afterAll(() => server.close())

/** 750 kB: more than is copied at once; small pieces and large ones, and each has its number. */
function largePieces(): Buffer[] {
  return Array.from({ length: 400 }, (_, i) => Buffer.alloc(i % 3 === 0 ? 5_500 : 40, `${i} `))
}

const textOf = async (path: string) =>
  (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'accept-encoding': 'identity' } })).text()

test('the pieces of a large body arrive in order', async () => {
  expect(await textOf('/large')).toBe(Buffer.concat(largePieces()).toString())
  expect(writes, 'in pieces').toHaveBeenCalled()
})

/** Requests until the system takes no more for this client, which does not read. @returns the number of requests */
async function requestTooMuch(client: Socket): Promise<number> {
  let requests = 0
  do {
    client.write('GET /letter/a HTTP/1.1\r\nhost: a\r\n\r\n')
    requests += 1
    expect(await textOf('/letter/b')).toBe('b'.repeat(BYTES))
  } while (!lastSocket || lastSocket.writableLength === 0)
  return requests
}

async function connected(): Promise<Socket> {
  const client = connect({ port, host: '127.0.0.1', noDelay: true }) // Else requests arrive together, more than may wait
  await once(client, 'connect')
  return client
}

test('a client that reads slowly gets its own answers, and others get theirs meanwhile', async () => {
  lastSocket = undefined
  const slow = await connected()
  const requests = await requestTooMuch(slow)
  for (const letter of 'cdcd') {
    expect(await textOf(`/letter/${letter}`)).toBe(letter.repeat(BYTES))
    expect(writes).toHaveBeenCalled()
  }
  slow.write('GET /letter/a HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')

  const answers = (await text(slow)).split('HTTP/1.1 200 OK\r\n').slice(1)
  const bodies = answers.map((answer) => answer.slice(answer.indexOf('\r\n\r\n') + 4))
  expect(bodies).toEqual(Array(requests + 1).fill('a'.repeat(BYTES)))
})

test('after a client that left before it had its answer, pieces are copied again', async () => {
  lastSocket = undefined
  const leaving = await connected()
  await requestTooMuch(leaving)
  leaving.destroy()
  await new Promise((resolve) => lastSocket!.once('close', resolve)) // With or without an error

  for (const letter of 'efef') {
    expect(await textOf(`/letter/${letter}`)).toBe(letter.repeat(BYTES))
    expect(writes).not.toHaveBeenCalled()
  }
})
