import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../test/support/processes/landpass.ts'
import { SECOND_MS } from '../clock.ts'
import { EventStreams } from './event-streams.ts'
import { Metrics } from './metrics.ts'
import { ReadyAnswers, readyAnswer } from './ready-answers.ts'
import { RequestScheduler } from './request-scheduler.ts'
import { createServer } from './server.ts'
import { Stopping } from './stopping.ts'

/** As many as fit into one packet of 64 KiB. */
const PACKET = 1_233
/** Those that may wait on one connection, and the one that runs. */
const ACCEPTED = 17

let app: FastifyInstance
let port: number
let stopping: Stopping
/** What the server did, in order. */
let story: string[]
let running = 0
let mostRunning = 0
const sockets: net.Socket[] = []

beforeEach(async () => {
  story = []
  mostRunning = 0
  stopping = new Stopping()
  const metrics = new Metrics()
  const readyAnswers = new ReadyAnswers(metrics)
  readyAnswers.findWith((url) =>
    url.startsWith('/ready')
      ? readyAnswer({ group: '/ready', headers: [], body: Buffer.from(url) })
      : undefined,
  )
  app = await createServer({
    logLevel: 'silent',
    requestTimeoutMs: 5_000,
    metrics,
    readyAnswers,
    stopping,
    trustedProxies: [],
  })
  const streams = new EventStreams(app, { max: 10, perClient: 0 })
  app.get<{ Params: { name: string } }>('/slow/:name', async ({ params }) => {
    mostRunning = Math.max(mostRunning, ++running)
    story.push(params.name)
    for (let i = 0; i < 3; i++) await setImmediate()
    running--
    return params.name
  })
  app.get('/large', () => 'x'.repeat(8 * 1024 * 1024))
  app.post('/length', (request) => String(JSON.stringify(request.body).length))
  app.get('/events', (request, reply) => {
    streams.open(request, reply).follow(new Set())
    return reply
  })
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  port = Number(new URL(origin).port)
})

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await app.close()
})

interface Conversation {
  readonly socket: net.Socket
  text(): string
  /** Resolves when the connection is closed. */
  readonly closed: Promise<unknown>
}

/** Sends all of this in one write. */
function send(...requests: readonly string[]): Conversation {
  const socket = net.connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.write(requests.join(''))
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  socket.on('error', () => {})
  return { socket, text: () => text, closed: once(socket, 'close') }
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`
const many = (count: number, path: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => get(path(i)))
const answersIn = (text: string) => text.match(/HTTP\/1\.1 \d+/g) ?? []
const closings = (text: string) => text.match(/^connection: close/gim) ?? []
const bodiesIn = (text: string) =>
  [...text.matchAll(/\r\n\r\n(.*?)(?=HTTP\/1\.1|$)/g)].map(([, body]) => body)

test('the requests of a packet run one by one, in order', async () => {
  const names = Array.from({ length: ACCEPTED }, (_, i) => String(i))
  const { socket, text } = send(...names.map((name) => get(`/slow/${name}`)))

  await eventually(text, (all) => answersIn(all).length === ACCEPTED, SECOND_MS)

  expect(story).toEqual(names)
  expect(bodiesIn(text())).toEqual(names)
  expect(mostRunning).toBe(1)
  expect(socket.closed).toBe(false)
})

test('a connection with a thousand requests in one packet is cut, and the others are answered', async () => {
  const crowded = Array.from({ length: 9 }, (_, c) => send(...many(PACKET, (i) => `/slow/${c}-${i}`)))
  const single = send(get('/slow/single', 'Connection: close\r\n'))

  await Promise.all([single, ...crowded].map(({ closed }) => closed))

  expect(bodiesIn(single.text())).toEqual(['single'])
  expect(story.filter((name) => name !== 'single').length).toBeLessThanOrEqual(9)
})

test('ready answers are sent one by one too', async () => {
  const { text } = send(...many(ACCEPTED, (i) => `/ready/${i}`))

  await eventually(text, (all) => answersIn(all).length === ACCEPTED, SECOND_MS)

  expect(bodiesIn(text()).slice(0, 3)).toEqual(['/ready/0', '/ready/1', '/ready/2'])
})

describe('requests of many connections, which arrive in one turn of the event loop', () => {
  let server: http.Server
  afterEach(() => server.close())

  /**
   * Sends a request on each of new connections, with the header `From`: for health from `monitor`.
   *
   * @param tookMs how long each request takes, by the clock of the scheduler
   * @param options `requests`: how many each connection sends, one after the answer to the other, and `crowdRequests` those of `crowd`, where it sends another number; `idleMs`: how long all are idle then,
   *   before they send as many again; `close`: whether the server begins to stop when fifty connections wait to be read
   * @returns the `From` of each request that was started, the statuses of all answers, the longest time from a request to its start, the
   *   most connections that waited to be read, and how many did when the server had begun to stop
   */
  async function sendAtOnce(
    from: readonly string[],
    tookMs: number,
    { requests = 1, crowdRequests = 0, idleMs = 0, isProxy = false, close = false } = {},
  ) {
    let nowMs = 0
    let mostUnread = 0
    let unreadOfStopping: number | undefined
    const crowded = new Set<net.Socket>()
    let longestMs = 0
    const started: string[] = []
    const scheduler = new RequestScheduler({
      clientOf: (request) => String(request.headers.from),
      isProxy: (socket) => isProxy && crowded.has(socket),
      refuse: (response, { status }) => response.writeHead(status).end(),
      nowMs: () => nowMs,
    })
    let accepted = 0
    server = http
      .createServer((request, response) => {
        if (request.headers.from === 'crowd') crowded.add(request.socket)
        scheduler.serve(request, response, () => {
          started.push(String(request.headers.from))
          longestMs = Math.max(longestMs, nowMs - Number(request.headers.date))
          nowMs += tookMs
          response.end()
          mostUnread = Math.max(mostUnread, scheduler.counts.unread)
          if (close && mostUnread >= 50 && unreadOfStopping === undefined) {
            scheduler.closeConnections()
            unreadOfStopping = scheduler.counts.unread
          }
        })
      })
      .on('connection', () => accepted++)
      .listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as net.AddressInfo
    const clients = from.map(() => net.connect(port, '127.0.0.1'))
    sockets.push(...clients)
    await eventually(
      () => accepted,
      (count) => count === from.length,
      SECOND_MS,
    )
    const statuses: string[] = []
    const talk = async (client: net.Socket, path: string, name: string) => {
      for (let sent = 0; sent < (name === 'crowd' && crowdRequests > 0 ? crowdRequests : requests); sent++) {
        client.write(get(path, `From: ${name}\r\nDate: ${nowMs}\r\n`))
        const [chunk] = await once(client, 'data')
        statuses.push(String(chunk).slice(9, 12))
        if (closings(String(chunk)).length > 0) return
      }
    }
    const talkAll = () =>
      Promise.all(
        clients.map((client, i) => talk(client, from[i] === 'monitor' ? '/health/live' : '/', from[i]!)),
      )
    await talkAll()
    const allAreRead = () => scheduler.counts.unread === 0
    await eventually(allAreRead, Boolean, SECOND_MS)
    for (let turns = 0; turns < 3; turns++) await setImmediate()
    nowMs += idleMs
    if (idleMs > 0) await talkAll()
    const { counts } = scheduler
    return { started, statuses: statuses.sort(), longestMs, mostUnread, unreadOfStopping, counts }
  }

  test('start for a millisecond; then their clients take turns', async () => {
    const { started } = await sendAtOnce([...new Array<string>(100).fill('crowd'), 'alone'], 0.5)

    // Two start when they arrive; in the next turn, the client that sent one request is the second.
    expect(started.indexOf('alone')).toBe(3)
    expect(started).toHaveLength(101)
  })

  test('start after one health check of each client', async () => {
    const crowd = Array.from({ length: 100 }, (_, i) => `client ${i}`)
    const { started } = await sendAtOnce([...crowd, 'monitor', 'monitor'], 0.5)

    // Two start when they arrive; the second check of the monitor waits for its turn
    expect(started.indexOf('monitor')).toBe(2)
    expect(started.lastIndexOf('monitor')).toBe(101)
  })

  test('are refused after five seconds', async () => {
    const { statuses, counts } = await sendAtOnce(new Array<string>(5).fill('crowd'), 3_000)

    expect(statuses).toEqual(['200', '200', '200', '503', '503'])
    expect(counts).toEqual({ queued: 0, behind: 0, refused: 2, cut: 0, unread: 0 })
  })

  describe('and go on', () => {
    const crowd = new Array<string>(200).fill('crowd')

    test('are read in turn when they were answered, one of each client', async () => {
      const { started, mostUnread, statuses, counts } = await sendAtOnce([...crowd, 'alone'], 0.5, {
        requests: 4,
      })

      expect(mostUnread).toBeGreaterThan(100)
      expect(statuses).toEqual(new Array(4 * 201).fill('200'))
      expect(started.lastIndexOf('alone')).toBeLessThan(201)
      expect(counts.unread).toBe(0)
    })

    test('are refused when they were not read for five seconds', async () => {
      const { statuses, longestMs } = await sendAtOnce(crowd, 30, { requests: 3 })

      expect(statuses).toHaveLength(600)
      expect(statuses).toContain('503')
      expect(longestMs).toBeLessThan(5_100) // a request takes up to two others to arrive
    })

    test('are answered at once when nothing was sent for longer than that', async () => {
      const { statuses, mostUnread } = await sendAtOnce([...crowd, ...crowd], 0.02, { idleMs: 6_000 })

      expect(mostUnread).toBeGreaterThan(64)
      expect(statuses).toEqual(new Array(4 * crowd.length).fill('200'))
    })

    test('are always read where one connection has the requests of many clients', async () => {
      const { mostUnread } = await sendAtOnce(crowd, 0.5, { requests: 2, isProxy: true })

      expect(mostUnread).toBe(0)
    })

    test.each(['alone', 'monitor'])('are read also while others fill the queue: %s', async (other) => {
      const { started } = await sendAtOnce([...crowd, other], 0.5, {
        requests: 4,
        crowdRequests: 20,
        isProxy: true,
      })

      expect(started.lastIndexOf(other)).toBeLessThan(started.length / 2)
    })

    test('are read at once when the server begins to stop', async () => {
      const { statuses, unreadOfStopping } = await sendAtOnce(crowd, 0.5, { requests: 2, close: true })

      expect(unreadOfStopping).toBe(0)
      expect(new Set(statuses)).toEqual(new Set(['200']))
    })
  })
})

test('bytes that are no request are refused after answers that wait for their turn', async () => {
  const first = send(...many(ACCEPTED, (i) => `/slow/${i}`))
  await eventually(
    () => story.length,
    (count) => count >= 5,
    SECOND_MS,
  )

  for (const count of [0, 1, 3]) {
    const { closed, text } = send(...many(count, (i) => `/slow/late-${i}`), 'nonsense\r\n\r\n')
    await closed
    expect(answersIn(text())).toEqual([...new Array(count).fill('HTTP/1.1 200'), 'HTTP/1.1 400'])
  }
  const broken = 'POST /length HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n'
  const { closed, text } = send(broken)
  await closed
  expect(answersIn(text())).toEqual(['HTTP/1.1 400'])
  first.socket.destroy()
})

test('the bodies of waiting requests arrive whole', async () => {
  const post = (length: number, more = '') => {
    const body = JSON.stringify({ text: 'x'.repeat(length) })
    return `POST /length HTTP/1.1\r\nHost: a\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`
  }
  const lengths = Array.from({ length: 14 }, (_, i) => 60_000 + i)

  const { closed, text } = send(
    get('/large'),
    ...lengths.map((length) => post(length)),
    post(1, 'Expect: 100-continue\r\n'),
    get('/slow/last', 'Connection: close\r\n'),
  )
  await closed

  expect(
    text()
      .match(/\r\n\r\n\d+(?=HTTP|$)/g)
      ?.map((body) => Number(body) - 11),
  ).toEqual([...lengths, 1])
  expect(text()).toContain('HTTP/1.1 100 Continue')
  expect(story).toEqual(['last'])
})

test('a request behind a large answer starts when the client has taken that', async () => {
  const { socket, closed, text } = send(get('/large'), get('/slow/next', 'Connection: close\r\n'))
  socket.pause()
  // Some requests on another connection: time enough for the one that waits.
  await send(...many(15, (i) => `/ready/${i}`), get('/slow/other', 'Connection: close\r\n')).closed
  expect(story).toEqual(['other'])

  socket.resume()
  await closed

  expect(story).toEqual(['other', 'next'])
  expect(answersIn(text())).toHaveLength(2)
})

test('a stream of events may come after an answer, and requests behind a stream are not run', async () => {
  const { socket, text } = send(get('/slow/first'), get('/events'), ...many(14, (i) => `/slow/${i}`))
  await eventually(text, (received) => received.includes('retry: '), SECOND_MS)

  await send(...many(15, (i) => `/ready/${i}`), get('/slow/other', 'Connection: close\r\n')).closed

  expect(story).toEqual(['first', 'other'])
  socket.destroy()
})

test('requests of a client that has disconnected are not run', async () => {
  const { socket } = send(...many(ACCEPTED, (i) => `/slow/${i}`))
  await once(socket, 'data') // at the next poll all of them may have been run

  socket.resetAndDestroy()

  await send(...many(15, (i) => `/slow/other-${i}`), get('/slow/end', 'Connection: close\r\n')).closed
  expect(story).toContain('end')
  expect(story).not.toContain(String(ACCEPTED - 1))
})

test('bytes that are no request are refused after the answers before them', async () => {
  for (const count of [0, 1, 2, 5]) {
    const { closed, text } = send(...many(count, (i) => `/slow/${i}`), 'nonsense\r\n\r\n')
    await closed

    const statuses = answersIn(text())
    expect(statuses).toEqual([...new Array(count).fill('HTTP/1.1 200'), 'HTTP/1.1 400'])
    expect(text()).toContain('"code":"bad_request"')
  }
})

test('a request whose body breaks is refused, and those before it are answered', async () => {
  const broken = 'POST /length HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n'

  const { closed, text } = send(get('/slow/1'), get('/slow/2'), broken)
  await closed

  expect(answersIn(text())).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400'])
})

test('HEAD and a request that closes the connection keep their order', async () => {
  const { closed, text } = send(
    get('/slow/first'),
    'HEAD /slow/head HTTP/1.1\r\nHost: a\r\n\r\n',
    get('/slow/close', 'Connection: close\r\n'),
    get('/slow/never'),
  )
  await closed

  expect(story).toEqual(['first', 'head', 'close'])
  expect(answersIn(text())).toHaveLength(3)
})

test('a client that sends its requests in many small packets gets every answer', async () => {
  const { socket, closed, text } = send()
  for (let i = 0; i < 300; i++) {
    socket.write(get(`/ready/${i}`))
    if (i % 8 === 0) await eventually(text, (all) => answersIn(all).length >= i - 8, SECOND_MS)
  }
  socket.write(get('/slow/end', 'Connection: close\r\n'))
  await closed

  expect(answersIn(text())).toHaveLength(301)
})

test('a server that stops closes connections after their answers', async () => {
  const { closed, text, socket } = send(get('/slow/1'))
  await eventually(text, (received) => received.includes('HTTP/1.1 200'), SECOND_MS)
  stopping.begin()
  socket.write(get('/slow/2') + get('/slow/3'))
  await closed

  expect(bodiesIn(text())).toEqual(['1', '2'])
  expect(closings(text())).toHaveLength(1)
  const ready = send(get('/ready/1'))
  await ready.closed
  expect(closings(ready.text())).toHaveLength(1)
})
