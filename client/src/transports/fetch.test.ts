import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readText } from '../body.ts'
import type { Call } from '../call.ts'
import { createClient } from '../client.ts'
import * as land from '../land.ts'
import * as system from '../system.ts'
import { fetchTransport } from './fetch.ts'

/** A call without an answer, and a call whose answer does not end. */
const SILENT_CALLS: readonly Call<unknown>[] = [system.openApi(), system.metrics()]

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('sends method, headers and body, and returns status, headers and body', async () => {
  const origin = await serve(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    response.writeHead(418, { 'X-Kind': 'teapot' }).end(`${request.method} ${request.headers['x-a']} ${body}`)
  })

  const response = await fetchTransport()({
    method: 'PATCH',
    url: origin,
    headers: { 'x-a': 'b' },
    body: 'c',
  })

  expect([response.status, response.headers['x-kind']]).toEqual([418, 'teapot'])
  expect(await readText(response.body)).toBe('PATCH b c')
})

test('has the browser ask the server before it uses a copy, but for calls that bring an ETag of their own', async () => {
  const modes: (RequestCache | undefined)[] = []
  const transport = fetchTransport({
    fetch: async (_url, init) => {
      modes.push(init?.cache)
      return new Response('{}')
    },
  })
  const request = { url: 'http://land.example/v2/tiles', headers: {}, signal: undefined }

  await transport({ ...request, method: 'GET' })
  await transport({ ...request, method: 'GET', headers: { 'if-none-match': '"1"' } })
  await transport({ ...request, method: 'POST', body: '{}' })

  expect(modes).toEqual(['no-cache', undefined, undefined])
})

test('follows no redirect, and a closed port is unreachable', async () => {
  const origin = await serve((_request, response) => response.writeHead(302, { location: '/' }).end())
  const client = createClient({ baseUrl: origin, retries: 0 })
  await expect(client.send(land.offers())).rejects.toMatchObject({ code: 'unreadable_answer', status: 302 })

  const closed = createClient({ baseUrl: 'http://127.0.0.1:9' })
  await expect(closed.send(land.offers())).rejects.toMatchObject({ code: 'offline', status: 0 })
})

test('aborts a request when the server sends no data, before its answer and during it', async () => {
  const origin = await serve((request, response) => {
    if (request.url === '/metrics') response.writeHead(200).write('half of')
  })
  const client = createClient({ baseUrl: origin, transport: fetchTransport({ timeoutMs: 20 }) })

  for (const call of SILENT_CALLS) {
    const outcome = client.send(call)
    await expect(outcome).rejects.toMatchObject({ code: 'offline', cause: { name: 'TimeoutError' } })
  }
})

test('a slow reader does not start the timeout', async () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const pieces = new ReadableStream<Uint8Array>({
    start: (stream) => {
      stream.enqueue(new TextEncoder().encode('first'))
      stream.enqueue(new TextEncoder().encode('second'))
      stream.close()
    },
  })
  const transport = fetchTransport({ timeoutMs: 1_000, fetch: async () => new Response(pieces) })
  const { body } = await transport({ method: 'GET', url: 'http://land.example', headers: {} })
  let text = ''

  for await (const piece of body as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(piece)
    await vi.advanceTimersByTimeAsync(60_000)
  }

  expect(text).toBe('firstsecond')
  expect(vi.getTimerCount()).toBe(0)
})

test.each([
  [Number.POSITIVE_INFINITY, 0],
  [2 ** 31, 1],
])('with a limit of %d ms a server may be silent for an hour', async (timeoutMs, timers) => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  let reply: (response: Response) => void = () => undefined
  const fake: typeof fetch = (_url, init) =>
    new Promise((resolve, reject) => {
      reply = resolve
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
    })
  const transport = fetchTransport({ timeoutMs, fetch: fake })

  const answer = transport({ method: 'GET', url: 'http://land.example', headers: {} })
  expect(vi.getTimerCount()).toBe(timers)
  await vi.advanceTimersByTimeAsync(3_600_000)
  reply(new Response('at last'))

  expect(await readText((await answer).body)).toBe('at last')
  expect(vi.getTimerCount()).toBe(0)
})

test('the signal of the caller aborts a request before its answer and during it', async () => {
  const origin = await serve((request, response) => {
    if (request.url === '/metrics') response.writeHead(200).write('half of')
    end.abort()
  })
  const client = createClient({ baseUrl: origin })
  let end = new AbortController()

  for (const call of SILENT_CALLS) {
    end = new AbortController()
    await expect(client.send(call, { signal: end.signal })).rejects.toMatchObject({ name: 'AbortError' })
  }
})

test('a stream that is not read to its end closes its connection', async () => {
  let closed: Promise<unknown> | undefined
  const origin = await serve((request, response) => {
    closed = once(request.socket, 'close')
    response.writeHead(200).write('the first piece')
  })
  const stream = await createClient({ baseUrl: origin }).send(land.parcelsNdjson())

  for await (const piece of stream) {
    expect(new TextDecoder().decode(piece)).toBe('the first piece')
    break
  }

  expect(closed).toBeDefined()
  await closed
})

test('a stream that is never read is closed by the signal of its caller', async () => {
  let closed: Promise<unknown> | undefined
  const origin = await serve((request, response) => {
    closed = once(request.socket, 'close')
    response.writeHead(200).write('the first piece')
  })
  const end = new AbortController()
  await createClient({ baseUrl: origin }).send(land.parcelsNdjson(), { signal: end.signal })

  end.abort()

  expect(closed).toBeDefined()
  await closed
})

test('another fetch function can be passed', async () => {
  const asked: unknown[] = []
  const fake: typeof fetch = async (url) => {
    asked.push(url)
    return new Response('{"ok":true,"data":{"status":"live","version":"1.2.0"}}')
  }
  const client = createClient({ baseUrl: 'http://x', transport: fetchTransport({ fetch: fake }) })

  expect(await client.send(system.live())).toEqual({ status: 'live', version: '1.2.0' })
  expect(asked).toEqual(['http://x/health/live'])
})
