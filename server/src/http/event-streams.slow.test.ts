import net from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { EventReader } from '../../test/support/http/event-reader.ts'
import { startReading } from '../../test/support/http/slow-reading.ts'
import { eventually } from '../../test/support/processes/landpass.ts'
import { MINUTE_MS, SECOND_MS } from '../clock.ts'
import {
  EVENT_STREAM_HEADERS,
  EventStreams,
  retryMs,
  type StreamGroup,
  type StreamLimits,
} from './event-streams.ts'
import { Metrics } from './metrics.ts'
import { createServer } from './server.ts'

const NO_LIMITS: StreamLimits = { max: 1_000_000, perClient: 0 }
const FOREVER_MS = 3_600_000

interface Started {
  readonly url: string
  readonly streams: EventStreams
  /** All streams of the server. */
  readonly group: StreamGroup
  readonly metrics: Metrics
  close(): Promise<void>
}

const running: Started[] = []
afterEach(async () => {
  for (const { close } of running.splice(0)) await close()
})

/** A server whose `/events` is a stream that gets announced events from its start. */
async function start(limits = NO_LIMITS, heartbeatEveryMs = FOREVER_MS): Promise<Started> {
  const metrics = new Metrics()
  const app = await createServer({
    logLevel: 'silent',
    requestTimeoutMs: 5_000,
    metrics,
    trustedProxies: ['127.0.0.1'],
  })
  const streams = new EventStreams(app, limits, heartbeatEveryMs)
  const group: StreamGroup = new Set()
  app.get('/events', { config: { isEndless: true } }, (request, reply) => {
    streams.open(request, reply).follow(group)
    return reply
  })
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const started = { url: `${origin}/events`, streams, group, metrics, close: () => app.close() }
  running.push(started)
  return started
}

const numbered = (n: number, more = '') => Buffer.from(`id: ${n}\ndata: "${more}"\n\n`)
const from = (address: string) => ({ 'x-forwarded-for': address })

test('every stream gets the events that are announced after it was opened', async () => {
  const { url, streams, group } = await start()
  const first = await EventReader.open(url)
  await streams.announce(numbered(1), group)
  const second = await EventReader.open(url)
  await streams.announce(numbered(2), group)

  expect([(await first.next()).id, (await first.next()).id]).toEqual(['1', '2'])
  expect((await second.next()).id).toBe('2')
  expect(first.headers).toMatchObject({
    ...EVENT_STREAM_HEADERS,
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
  })
  expect(first.headers['content-encoding']).toBeUndefined()
  expect(first.text).toMatch(/^retry: \d{4}\n\nid: 1\n/)
})

test('the stream of a client that does not read is closed, and the others get every event', async () => {
  const { url, streams, group } = await start()
  const slow = await startReading(url)
  const reader = await EventReader.open(url)
  const large = 'x'.repeat(1024 * 1024)
  // The operating system buffers some megabytes before any bytes wait in this process.
  let announced = 0
  while (streams.counts.dropped === 0) {
    await streams.announce(numbered(++announced, large), group)
    expect((await reader.next()).id).toBe(String(announced))
    expect(announced, 'megabytes that wait for a client').toBeLessThan(100)
  }

  await eventually(
    async () => streams.size,
    (size) => size === 1,
    SECOND_MS,
  )
  await streams.announce(numbered(0), group)
  expect((await reader.next()).id).toBe('0')
  slow.destroy()
})

test('the limits for all streams and for one address hold, and a closed stream makes room', async () => {
  const { url, streams } = await start({ max: 3, perClient: 2 })
  const refused = async (address: string) => {
    const answer = await fetch(url, { headers: from(address) })
    const { code } = (await answer.json()) as { code: string }
    return [answer.status, code, answer.headers.get('retry-after')]
  }
  const ann = await EventReader.open(url, from('10.0.0.1'))
  await EventReader.open(url, from('10.0.0.1'))

  expect(await refused('10.0.0.1')).toEqual([429, 'too_many_requests', '30'])
  await EventReader.open(url, from('2001:db8::1'))
  expect(await refused('10.0.0.2')).toEqual([503, 'too_many_streams', '30'])

  ann.close()
  await eventually(
    async () => streams.size,
    (size) => size === 2,
    SECOND_MS,
  )
  // IPv6 addresses of one network count as one client.
  await EventReader.open(url, from('2001:db8::ffff'))
  expect(streams.counts).toEqual({ opened: 4, refused: 2, dropped: 0 })
})

test('a stream without events gets heartbeats', async () => {
  const { url } = await start(NO_LIMITS, 5)
  const reader = await EventReader.open(url)

  await eventually(
    async () => reader.text,
    (text) => text.endsWith(':\n\n:\n\n'),
    SECOND_MS,
  )
  expect(reader.unheard).toEqual([])
})

test('streams end at once when the server closes', async () => {
  const { url, close } = await start()
  const readers = [await EventReader.open(url), await EventReader.open(url)]
  const startedMs = performance.now()

  await close()
  await Promise.all(readers.map(({ ended }) => ended))

  expect(performance.now() - startedMs).toBeLessThan(MINUTE_MS)
})

test('requests behind a stream on the same connection are not run, and it ends with its connection', async () => {
  const { url, streams } = await start()
  const { port, pathname } = new URL(url)
  const socket = net.connect(Number(port), '127.0.0.1')
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(3))

  await eventually(
    async () => streams.counts.opened,
    (opened) => opened === 1,
    SECOND_MS,
  )
  expect(streams.size).toBe(1)
  socket.destroy()
  await eventually(
    async () => streams.size,
    (size) => size === 0,
    SECOND_MS,
  )
  expect(streams.counts.opened).toBe(1)
})

test('a stream is counted as a request, and its duration is not measured', async () => {
  const { url, streams, metrics } = await start({ max: 1, perClient: 0 })
  const reader = await EventReader.open(url)
  expect((await fetch(url)).status).toBe(503)
  reader.close()
  await eventually(
    async () => streams.size,
    (size) => size === 0,
    SECOND_MS,
  )

  const text = await metrics.registry.metrics()

  for (const status of [200, 503])
    expect(text).toContain(`landpass_http_requests_total{group="other",status="${status}"} 1\n`)
  expect(text).toContain('landpass_http_request_duration_seconds_count 0\n')
  expect(text).toMatch(/response_bytes_total\{group="other"\} [1-9]/)
})

test('clients reconnect spread over eight seconds, for any number of clients', () => {
  expect(retryMs(1)).toBe(6944)
  for (const readers of [10, 1_000]) {
    const times = Array.from({ length: readers }, (_, n) => retryMs(n)).sort((a, b) => a - b)
    const gaps = times.slice(1).map((time, i) => time - times[i]!)
    expect([times[0]! >= 2_000, times.at(-1)! < 10_000]).toEqual([true, true])
    expect(Math.max(...gaps) / (8_000 / readers)).toBeLessThan(3)
  }
})
