import { describe, expect, test } from 'vitest'
import { type FollowOptions, followChanges, followLand } from './changes.ts'
import { createClient } from './client.ts'
import * as land from './land.ts'
import type { Transport, TransportResponse } from './transport.ts'

const written = (kind: string, revision: number) =>
  `id: s${revision}\nevent: ${kind}\ndata: ${JSON.stringify({ revision, state: `s${revision}`, changed_at: '2026-11-20T00:00:00.000Z', ...(kind === 'change' && { parcels: ['1,2'], estates: [] }) })}\n\n`

type Reply = Partial<TransportResponse> | Error

/** Follows a server that sends the replies of the test. After the last one, the signal ends the iteration. */
async function follow(replies: readonly Reply[], options: FollowOptions = {}) {
  const asked: string[] = []
  const waits: number[] = []
  const received: string[] = []
  const end = new AbortController()
  const left = [...replies]
  const transport: Transport = async ({ url }) => {
    asked.push(url)
    const reply = left.shift() ?? new TypeError('the test has no more replies')
    if (reply instanceof Error) throw reply
    return { status: 200, headers: {}, body: '', ...reply }
  }
  const client = createClient({
    baseUrl: '',
    transport,
    wait: async (ms) => {
      waits.push(ms)
      if (left.length === 0) end.abort()
      end.signal.throwIfAborted()
    },
  })
  const following = (async () => {
    for await (const change of followChanges(client, { ...options, signal: end.signal }))
      received.push(`${change.kind} ${change.revision}`)
  })()
  const error: unknown = await following.catch((reason: unknown) => reason)
  return { asked, waits, received, error }
}

const busy = (status: number, headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  body: JSON.stringify({ ok: false, error: 'No.', code: 'too_many_streams', data: {} }),
})

describe('following the changes', () => {
  test('reconnects after the last event when the stream ends, after the wait that the server named', async () => {
    const { asked, waits, received, error } = await follow([
      { body: `retry: 2500\n\n${written('hello', 7)}${written('change', 8)}` },
      { body: written('reset', 9) },
    ])

    expect(received).toEqual(['hello 7', 'change 8', 'reset 9'])
    expect(asked).toEqual(['/v2/changes', '/v2/changes?since=s8'])
    expect(waits).toEqual([2_500, 2_500])
    expect(error).toMatchObject({ name: 'AbortError' })
  })

  test('follows a search, whose filters are one parameter', async () => {
    const asked: string[] = []
    const lists = { began: [], changed: [], ceased: ['1,2'] }
    const event = (data: object) =>
      `id: a.1\nevent: change\ndata: ${JSON.stringify({ revision: 1, state: 'a.1', changed_at: '', ...data })}\n\n`
    const replies = [event(lists), event({ ...lists, ceased: undefined }), event(lists)]
    const client = createClient({
      baseUrl: '',
      transport: async ({ url }) => {
        asked.push(url)
        return { status: 200, headers: {}, body: replies.shift()! }
      },
      wait: async () => {},
    })
    const search = {
      status: ['open', 'rented'],
      center: { x: 1, y: 2 },
      radius: 3,
      max_price: '0.5',
    } as const

    const received: unknown[] = []
    for await (const change of followLand(client, search)) if (received.push(change) === 2) break
    const match = 'match=status%3Dopen,rented%26center%3D1,2%26radius%3D3%26max_price%3D0.5'
    expect(asked).toEqual([`/v2/changes?${match}`, ...[1, 2].map(() => `/v2/changes?${match}&since=a.1`)])
    expect(client.url(land.landStream({}))).toBe('/v2/changes?match=inside_estates%3Dfalse')
    expect(received).toMatchObject([
      { kind: 'change', ...lists },
      { kind: 'change', ...lists },
    ])
  })

  test('begins after the given state', async () => {
    const { asked } = await follow([{ body: written('change', 8) }], { since: 's 7' })

    expect(asked).toEqual(['/v2/changes?since=s%207'])
  })

  test('reconnects when the connection breaks, and after the wait that a busy server names', async () => {
    const breaks: unknown[] = []
    let opens = 0
    const { asked, waits, received } = await follow(
      [
        { body: breaking(written('change', 8)) },
        new TypeError('refused'),
        busy(503, { 'retry-after': '30' }),
        busy(429),
        { status: 502, body: '<html>' },
        { body: written('change', 9) },
      ],
      { since: 's7', retryMs: 10_000, onBreak: (fault) => breaks.push(fault?.code), onOpen: () => opens++ },
    )

    expect(received).toEqual(['change 8', 'change 9'])
    expect(asked.slice(1)).toEqual(Array.from({ length: 5 }, () => '/v2/changes?since=s8'))
    expect(waits).toEqual([10_000, 10_000, 30_000, 10_000, 10_000, 10_000])
    expect(breaks).toEqual([
      'offline',
      'offline',
      'too_many_streams',
      'too_many_streams',
      'unreadable_answer',
      undefined,
    ])
    expect(opens).toBe(2)
  })

  test('ends with a permanent refusal', async () => {
    const refusal = { ok: false, error: 'since is no state.', code: 'invalid_parameter', data: {} }
    const { waits, error } = await follow([{ status: 400, body: JSON.stringify(refusal) }])

    expect(error).toMatchObject({ code: 'invalid_parameter', message: 'since is no state.' })
    expect(waits).toEqual([])
  })

  test('ignores unknown events, and treats an unreadable event as a broken stream', async () => {
    const { received, asked } = await follow([
      { body: `event: news\ndata: 1\n\n${written('change', 8)}event: change\ndata: {\n\n` },
      { body: written('change', 9) },
    ])

    expect(received).toEqual(['change 8', 'change 9'])
    expect(asked[1]).toBe('/v2/changes?since=s8')
  })

  test.each([
    ['no object', '7'],
    ['null', 'null'],
    ['an event without a state', '{"revision":9}'],
    ['a state that is no text', '{"revision":9,"state":9,"parcels":[],"estates":[]}'],
    ['a change without its lists', '{"revision":9,"state":"s9"}'],
  ])('takes %s for a broken stream and asks again after the last good state', async (_, data) => {
    const { received, asked, waits } = await follow([
      { body: `${written('change', 8)}event: change\ndata: ${data}\n\n${written('change', 10)}` },
      { body: written('change', 9) },
    ])

    expect(received).toEqual(['change 8', 'change 9'])
    expect(asked).toEqual(['/v2/changes', '/v2/changes?since=s8'])
    expect(waits).toEqual([5_000, 5_000])
  })

  test('the kind of an event is its name, not a field of its data', async () => {
    const data = '{"kind":"change","revision":9,"state":"s9"}'

    const { received } = await follow([{ body: `event: reset\ndata: ${data}\n\n` }])

    expect(received).toEqual(['reset 9'])
  })

  test('treats an event without an end as a broken stream', async () => {
    let sent = 0
    async function* endless() {
      yield new TextEncoder().encode(written('change', 8))
      for (; sent < 10_000_000; sent += 100_000) yield new TextEncoder().encode('x'.repeat(100_000))
    }
    const breaks: unknown[] = []

    const { received, asked, waits } = await follow([{ body: endless() }, { body: written('change', 9) }], {
      onBreak: (fault) => breaks.push(fault?.code),
    })

    expect(received).toEqual(['change 8', 'change 9'])
    expect(asked[1]).toBe('/v2/changes?since=s8')
    expect(waits).toEqual([5_000, 5_000])
    expect(breaks).toEqual(['offline', undefined])
    expect(sent).toBeLessThan(2_000_000)
  })

  test('waits at least 500 ms and at most 5 minutes before it reconnects', async () => {
    const { waits } = await follow([
      { body: 'retry: 0\n\n' },
      busy(503, { 'retry-after': '99999999' }),
      { body: `retry: ${2 ** 31}\n\n` },
      { body: `retry: ${'9'.repeat(400)}\n\n` },
      { body: 'retry: 2500\n\n' },
    ])

    expect(waits).toEqual([500, 300_000, 300_000, 300_000, 2_500])
  })

  test.each([
    [0, 500],
    [-1, 500],
    [Number.NaN, 500],
    [Number.POSITIVE_INFINITY, 300_000],
  ])('a pause of %d ms that the caller wants is one of %d ms', async (retryMs, waited) => {
    const { waits } = await follow([new TypeError('refused')], { retryMs })

    expect(waits).toEqual([waited])
  })

  test('ends the request when onOpen throws', async () => {
    let isClosed = false
    async function* stream() {
      try {
        yield new TextEncoder().encode(written('hello', 1))
      } finally {
        isClosed = true
      }
    }

    const { error, received } = await follow([{ body: stream() }], {
      onOpen: () => {
        throw new Error('the caller failed')
      },
    })

    expect(error).toMatchObject({ message: 'the caller failed' })
    expect(received).toEqual([])
    expect(isClosed).toBe(true)
  })

  test('ends the request when the caller leaves the loop', async () => {
    let isClosed = false
    async function* endless() {
      try {
        for (let revision = 1; ; revision++) yield new TextEncoder().encode(written('change', revision))
      } finally {
        isClosed = true
      }
    }
    const transport: Transport = async () => ({ status: 200, headers: {}, body: endless() })

    for await (const { revision } of followChanges(createClient({ baseUrl: '', transport })))
      if (revision === 3) break

    expect(isClosed).toBe(true)
  })
})

async function* breaking(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
  throw new TypeError('terminated')
}
