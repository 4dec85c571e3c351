import { once } from 'node:events'
import net from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import { startReading } from '../../test/support/http/slow-reading.ts'
import { eventually } from '../../test/support/processes/landpass.ts'
import { SECOND_MS } from '../clock.ts'
import type { HttpServerOptions } from './http-server.ts'
import { Metrics } from './metrics.ts'
import { createServer } from './server.ts'

let app: FastifyInstance
afterEach(() => app.close())

/** A server whose `/large` answers 16 MB. @returns its address */
async function start(options: Partial<HttpServerOptions>): Promise<string> {
  app = await createServer({
    logLevel: 'silent',
    requestTimeoutMs: 5_000,
    metrics: new Metrics(),
    trustedProxies: [],
    ...options,
  })
  app.get('/large', () => Buffer.alloc(16 * 1024 * 1024, 'x'))
  app.get('/small', () => 'small')
  return app.listen({ host: '127.0.0.1', port: 0 })
}

/** Opens a connection. @returns it, and whether it is still open after the answer to a request, or was refused */
async function connect(origin: string): Promise<{ socket: net.Socket; isOpen: boolean }> {
  const socket = net.connect(Number(new URL(origin).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write('GET /small HTTP/1.1\r\nHost: a\r\n\r\n')
  const isOpen = await Promise.race([
    once(socket, 'data').then(
      () => true,
      () => false,
    ),
    once(socket, 'close').then(() => false),
  ])
  return { socket, isOpen }
}

test('a client that takes nothing of its answer is disconnected, one that reads is not', async () => {
  const metrics = new Metrics()
  const origin = await start({ metrics, slowReaders: { timeoutMs: 500, bytesPerSecond: 1_000 } })
  const { socket: idle } = await connect(origin)

  const stalled = await startReading(`${origin}/large`)
  await eventually(
    async () => metrics.registry.getSingleMetricAsString('landpass_slow_readers_total'),
    (text) => text.endsWith(' 1'),
    SECOND_MS,
  )

  expect((await (await fetch(`${origin}/large`)).text()).length).toBe(16 * 1024 * 1024)
  expect([stalled.complete, idle.destroyed]).toEqual([false, false])
  idle.destroy()
})

describe('a connection beyond the limit of its address', () => {
  const ask = (origin: string) => {
    const socket = net.connect(Number(new URL(origin).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
    })
    socket.write('GET /small HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\n\r\n')
    return { socket, text: () => text }
  }
  const isAnswered = ({ text }: ReturnType<typeof ask>) => eventually(text, (all) => all !== '', SECOND_MS)

  test('is answered when another one closes', async () => {
    const metrics = new Metrics()
    const origin = await start({ metrics, connections: { max: 100, perClient: 2 } })
    const [first, second] = [ask(origin), ask(origin)]
    await Promise.all([isAnswered(first), isAnswered(second)])
    const third = ask(origin)
    await eventually(
      async () => metrics.registry.getSingleMetricAsString('landpass_connections_open'),
      (text) => text.endsWith(' 3'),
      SECOND_MS,
    )
    expect(third.text()).toBe('')

    first.socket.destroy()

    await isAnswered(third)
    expect(third.text()).toMatch(/^HTTP\/1\.1 200 /)
    for (const { socket } of [second, third]) socket.destroy()
  })

  test('is refused with 429 after its wait, and closed', async () => {
    const metrics = new Metrics()
    const origin = await start({ metrics, connections: { max: 100, perClient: 1, waitMs: 10 } })
    const first = ask(origin)
    await isAnswered(first)

    const second = ask(origin)
    await once(second.socket, 'close')

    const [head = '', body = ''] = second.text().split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 429 /)
    expect(head.toLowerCase()).toMatch(/retry-after: \d/)
    expect(head.toLowerCase()).toContain('x-request-id: mine')
    expect(head.toLowerCase()).toContain('connection: close')
    expect(JSON.parse(body)).toMatchObject({ ok: false, code: 'too_many_requests', data: { limit: 1 } })
    expect(await metrics.registry.getSingleMetricAsString('landpass_connections_refused_total')).toMatch(
      / 1$/,
    )
    first.socket.destroy()
  })

  test('of a trusted proxy is answered: it has the requests of many clients', async () => {
    const connections = { max: 100, perClient: 1, waitMs: 60 * SECOND_MS }
    const origin = await start({ connections, trustedProxies: ['127.0.0.0/8'] })
    const asked = [ask(origin), ask(origin), ask(origin)]
    await Promise.all(asked.map(isAnswered))
    for (const { socket } of asked) socket.destroy()
  })
})

test('a client with packets of a thousand requests is read slowly, so that another one is answered after the first packet', async () => {
  const origin = await start({ connections: { max: 100, perClient: 10 } })
  let parsed = 0
  app.server.on('request', () => parsed++)
  const port = Number(new URL(origin).port)
  const packet = 'GET /small HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_500)
  const crowd = Array.from({ length: 5 }, () =>
    net.connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }),
  )
  for (const socket of crowd) socket.on('error', () => {})
  const [{ socket: other }] = await Promise.all([
    connect(origin),
    ...crowd.map((socket) => once(socket, 'connect')),
  ])

  for (const socket of crowd) socket.write(packet)
  other.write('GET /small HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(other, 'data')

  expect(parsed).toBeLessThan(2 * 1_500)
  for (const socket of [...crowd, other]) socket.destroy()
})

test('a trusted proxy may open more connections than another address, up to the limit of the server', async () => {
  const origin = await start({
    connections: { max: 3, perClient: 1, waitMs: 10 },
    trustedProxies: ['127.0.0.0/8'],
  })

  const opened: Awaited<ReturnType<typeof connect>>[] = []
  for (let i = 0; i < 4; i++) opened.push(await connect(origin))

  expect(opened.map(({ isOpen }) => isOpen)).toEqual([true, true, true, false])
  for (const { socket } of opened) socket.destroy()
})

test('a connection that sends nothing, or a body that does not end, is cut after the request timeout', async () => {
  const origin = await start({ requestTimeoutMs: 200 })
  const port = Number(new URL(origin).port)
  const silent = net.connect(port, '127.0.0.1')
  const slow = net.connect(port, '127.0.0.1')
  slow.write('POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{')
  let text = ''
  slow.on('data', (chunk) => {
    text += chunk
  })

  await Promise.all([silent.resume(), slow].map((socket) => once(socket, 'close')))

  expect(text).toMatch(/^HTTP\/1.1 (?:408|405|404) /)
})
