import { describe, expect, test } from 'vitest'
import type { Call } from './call.ts'
import type { ClientOptions } from './client.ts'
import { attendance, createClient, type EtagStore, land, memoryEtagStore, system } from './index.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

type Reply = Partial<TransportResponse> | Error

const good = (data: unknown, headers: Record<string, string> = {}): Reply => ({
  headers,
  body: JSON.stringify({ ok: true, data }),
})
const busy = (retryAfter?: string, status = 503): Reply => ({
  status,
  headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  body: JSON.stringify({ ok: false, error: 'Not now.', code: 'world_not_loaded', data: {} }),
})

/** A server that sends the replies of the test, one after another, and records requests and waits. */
function recorded(replies: readonly Reply[], options: Partial<ClientOptions> = {}) {
  const requests: TransportRequest[] = []
  const waits: number[] = []
  const left = [...replies]
  const transport: Transport = async (request) => {
    requests.push(request)
    const reply = left.shift()
    if (!reply) throw new Error('the test has no more replies')
    if (reply instanceof Error) throw reply
    return { status: 200, headers: {}, body: '', ...reply }
  }
  const wait = async (ms: number, signal?: AbortSignal) => {
    waits.push(ms)
    signal?.throwIfAborted()
  }
  const client = createClient({ baseUrl: 'http://land.example/', transport, wait, ...options })
  return { client, requests, waits }
}

describe('a call', () => {
  test('is sent to the server, and returns the data of the envelope', async () => {
    const { client, requests } = recorded([good({ id: '1,2' }, { etag: '"a"' })])

    expect(await client.answer(land.parcel({ x: 1, y: 2 }))).toEqual({ data: { id: '1,2' }, etag: '"a"' })
    expect(requests).toEqual([
      { method: 'GET', url: 'http://land.example/v1/parcels/1/2', headers: {}, signal: undefined },
    ])
  })

  test('that changes something has its JSON in the body', async () => {
    const { client, requests } = recorded([good({ claim: {} })])

    await client.send(attendance.claim('u-1', { address: '0xab' }))

    expect(requests[0]).toMatchObject({
      method: 'POST',
      url: 'http://land.example/claim/u-1',
      headers: { 'content-type': 'application/json' },
      body: '{"address":"0xab"}',
    })
  })

  test('returns JSON without an envelope, text, bytes or a stream, by its form', async () => {
    const bytes = Uint8Array.of(1, 2, 3)
    const { client } = recorded([
      { body: '{"name":"7"}' },
      { body: 'a 1\n' },
      { body: bytes },
      { body: 'ab' },
    ])

    expect(await client.send(land.estateToken('7'))).toEqual({ name: '7' })
    expect(await client.send(system.metrics())).toBe('a 1\n')
    expect(await client.send(land.mapImage())).toEqual(bytes)
    const stream = await client.send(land.parcelsNdjson())
    for await (const piece of stream) expect(new TextDecoder().decode(piece)).toBe('ab')
  })

  test('has an address, for links and images', () => {
    const { client } = recorded([])
    expect(client.url(land.parcelImage({ x: 1, y: 2 }, { width: 320 }))).toBe(
      'http://land.example/v1/parcels/1/2/map.png?width=320',
    )
    expect(createClient({ baseUrl: '' }).url(land.offers())).toBe('/v2/offers')
    for (const baseUrl of ['localhost:4510', 'land.example', 'ws://land.example'])
      expect(() => createClient({ baseUrl })).toThrow('baseUrl must begin with http:// or https://.')
  })

  test('returns every digit of a number from exactAnswer', async () => {
    const json = '{"ok":true,"data":{"price":0.123456789012345678}}'
    const { client } = recorded([{ body: json }, { body: json }])

    expect((await client.exactAnswer(land.publication('0x'))).data.price).toBe('0.123456789012345678')
    expect((await client.send(land.publication('0x'))).price).toBe(0.12345678901234568)
  })

  test.each([
    ['a refusal', busy(), { code: 'world_not_loaded', message: 'Not now.', status: 503 }],
    ['no answer', new TypeError('refused'), { code: 'offline', status: 0 }],
    ['no JSON', { body: '<html>' }, { code: 'unreadable_answer', status: 200 }],
    ['JSON without envelope', { body: '[]' }, { code: 'unreadable_answer', status: 200 }],
    ['304 for an answer that is not cached', { status: 304 }, { code: 'unreadable_answer', status: 304 }],
    ['a body that breaks off', { body: brokenOff() }, { code: 'offline' }],
  ])('answered with %s fails as a LandpassError', async (_name, reply, facts) => {
    const { client } = recorded([reply as Reply], { retries: 0 })

    await expect(client.send(land.offers())).rejects.toMatchObject({ name: 'LandpassError', ...facts })
  })

  test('that is aborted before it is sent fails with the reason of the signal', async () => {
    const reason = new Error('enough')
    const { client, requests } = recorded([good(1)])

    await expect(client.send(land.offers(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(requests).toEqual([])
  })

  test('that is aborted while it is sent fails with the reason of the signal', async () => {
    const end = new AbortController()
    const transport: Transport = () => {
      end.abort()
      return Promise.reject(new TypeError('aborted'))
    }
    const client = createClient({ baseUrl: '', transport })

    const outcome = client.send(land.offers(), { signal: end.signal })

    await expect(outcome).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('a GET request that a busy server refuses', () => {
  test('is retried after the wait that the server names, or after 1 s and then 2 s', async () => {
    const { client, requests, waits } = recorded([busy('7'), busy('3', 429), good(1)])
    expect(await client.send(land.offers())).toBe(1)
    expect([requests.length, waits]).toEqual([3, [7_000, 3_000]])

    const silent = recorded([busy(), busy(), good(1)])
    await silent.client.send(land.offers())
    expect(silent.waits).toEqual([1_000, 2_000])
  })

  test('fails after the last retry, or at once if the wait is too long', async () => {
    const often = recorded([busy('1'), busy('1'), busy('1'), good(1)])
    await expect(often.client.send(land.offers())).rejects.toMatchObject({ retryAfterS: 1 })
    expect(often.requests.length).toBe(3)

    const long = recorded([busy('31'), good(1)])
    await expect(long.client.send(land.offers())).rejects.toMatchObject({ retryAfterS: 31 })
    expect(long.waits).toEqual([])

    const patient = recorded([busy('31'), good(1)], { maxWaitMs: 60_000 })
    expect(await patient.client.send(land.offers())).toBe(1)
  })

  test('is not retried if the caller sets no retries or aborts the wait', async () => {
    const { client, requests } = recorded([busy('1'), busy('1'), good(1)])
    await expect(client.send(land.offers(), { retries: 0 })).rejects.toMatchObject({ status: 503 })

    const end = new AbortController()
    const waiting = createClient({
      baseUrl: '',
      transport: async () => ({ status: 503, headers: {}, body: '' }),
      wait: async (_ms, signal) => {
        end.abort()
        signal?.throwIfAborted()
      },
    })
    const outcome = waiting.send(land.offers(), { signal: end.signal })
    await expect(outcome).rejects.toMatchObject({ name: 'AbortError' })
    expect(requests.length).toBe(1)
  })

  test.each<[string, Call<unknown>, readonly Reply[]]>([
    ['another refusal', land.offers(), [{ status: 500 }, good(1)]],
    ['no answer', land.offers(), [new TypeError('refused'), good(1)]],
    ['a claim', attendance.claim('u-1'), [busy('1'), good(1)]],
    ['a captcha', attendance.captcha(), [busy('1', 429), good(1)]],
  ])('but not %s', async (_name, call, replies) => {
    const { client, requests } = recorded(replies)

    await expect(client.send(call)).rejects.toThrow()
    expect(requests.length).toBe(1)
  })
})

describe('a client with a cache of answers', () => {
  test('revalidates a cached answer and returns it', async () => {
    const replies = [
      good({ id: '1,2' }, { etag: '"a"' }),
      { status: 304 },
      good({ id: 'new' }, { etag: '"b"' }),
    ]
    const { client, requests } = recorded(replies, { etags: memoryEtagStore() })
    const ask = () => client.answer(land.parcel({ x: 1, y: 2 }))

    const first = await ask()
    const again = await ask()
    const changed = await ask()

    expect(again).toEqual(first)
    expect(changed).toEqual({ data: { id: 'new' }, etag: '"b"' })
    expect(requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"a"', '"a"'])
  })

  test('caches bytes unchanged, even if the caller changes its copy', async () => {
    const replies = [
      { headers: { etag: '"a"' }, body: Uint8Array.of(1, 2) },
      { status: 304 },
      { status: 304 },
    ]
    const { client } = recorded(replies, { etags: memoryEtagStore() })

    for (let i = 0; i < 3; i++) {
      const bytes = await client.send(land.feed())
      expect([...bytes]).toEqual([1, 2])
      bytes.fill(9)
    }
  })

  test('caches no POST, no refusal and no stream', async () => {
    const cached: string[] = []
    const etags: EtagStore = { get: async () => undefined, set: async (url) => void cached.push(url) }
    const headers = { etag: '"a"' }
    const replies = [good(1, headers), { status: 404, headers }, { headers, body: 'x' }, good(1, headers)]
    const { client } = recorded(replies, { etags })

    await client.send(attendance.captcha())
    await client.send(land.estate('7')).catch(() => undefined)
    await client.send(land.parcelsGeoJson())
    await client.send(land.offers())

    expect(cached).toEqual(['http://land.example/v2/offers'])
  })
})

async function* brokenOff(): AsyncGenerator<Uint8Array> {
  yield Uint8Array.of(1)
  throw new TypeError('terminated')
}
