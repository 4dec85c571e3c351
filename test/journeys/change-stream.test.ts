import net from 'node:net'
import { FeedGrid, readFeed } from '@landpass/client/feed'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import { describeOnOneEngine, freshEngine } from '@landpass/server/test/support/database/engines'
import { EventReader, type StreamEvent } from '@landpass/server/test/support/http/event-reader'
import { type LandServer, startLandServer } from '@landpass/server/test/support/http/land-server'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { demoSnapshot } from '@landpass/server/test/support/land/demo-snapshots'
import { addressOf, bidRow, publicationRow } from '@landpass/server/test/support/land/land-rows'
import { importWorld } from '@landpass/server/test/support/land/worlds'
import { eventually } from '@landpass/server/test/support/processes/landpass'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

const RADIUS = 10
const WORLD = `-${RADIUS},-${RADIUS},${RADIUS},${RADIUS}`

/** The data of an event, and its kind. */
interface ChangeEvent {
  readonly kind: string
  readonly revision: number
  readonly state: string
  readonly changed_at: string
  readonly parcels?: readonly string[]
  readonly estates?: readonly string[]
}

const readers: EventReader[] = []
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close()
})

async function listen(
  server: LandServer,
  since?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventReader> {
  const query = since === undefined ? '' : `?since=${since}`
  const reader = await EventReader.open(`${server.origin}/v2/changes${query}`, headers)
  readers.push(reader)
  return reader
}

async function nextEvent(reader: EventReader): Promise<ChangeEvent> {
  const event: StreamEvent = await reader.next()
  const change = { kind: event.kind, ...(event.data as Omit<ChangeEvent, 'kind'>) }
  expect(event.id).toBe(change.state)
  return change
}

describeOnOneEngine('the stream of changes', (open) => {
  let land: DemoLand
  /** Another process over the same database. */
  let other: LandServer
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: RADIUS })
    other = await startLandServer(await open(), land.clock, { WORLD })
  })
  afterAll(async () => {
    await other.close()
    await land.server.close()
  })

  const rename = (x: number, y: number, name: string) =>
    ({ kind: 'change-parcel', x, y, to: { name } }) as const
  const feedState = async () => readFeed((await land.server.ask('GET', '/v2/feed')).bytes).state

  test('sends the current state, and then every change as it happens, in every process', async () => {
    const reader = await listen(land.server)
    const elsewhere = await listen(other)
    const hello = await nextEvent(reader)
    expect(hello).toEqual({
      kind: 'hello',
      revision: land.server.app.keeper.revision,
      state: await feedState(),
      changed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    expect(await nextEvent(elsewhere)).toEqual(hello)

    await land.change(rename(1, 2, 'one'), { kind: 'change-estate', id: '2', to: { name: 'two' } })
    const change = await nextEvent(reader)
    expect(change).toEqual({
      kind: 'change',
      revision: hello.revision + 1,
      state: await feedState(),
      changed_at: new Date(land.nowMs()).toISOString(),
      parcels: ['1,2'],
      estates: ['2'],
    })
    expect(await nextEvent(elsewhere)).toEqual(change)

    // A bid changes no parcel, but the answers about it.
    await land.change({ kind: 'place-bid', bid: bidRow('a bid', { asset_id: '1,2' }) })
    expect(await nextEvent(reader)).toMatchObject({ revision: change.revision + 1, parcels: [], estates: [] })
    expect(await nextEvent(elsewhere)).toMatchObject({ revision: change.revision + 1 })
    expect([reader.unheard, elsewhere.unheard]).toEqual([[], []])
  })

  test('names what is put up for sale, and what is no longer for sale when an offer expires', async () => {
    const reader = await listen(land.server, await feedState())
    const expires_at_ms = land.nowMs() + HOUR_MS
    const onEstate = { asset_type: 'estate', asset_id: '2', expires_at_ms } as const
    await land.change(
      { kind: 'open-publication', publication: publicationRow('short', { asset_id: '5,5', expires_at_ms }) },
      { kind: 'open-publication', publication: publicationRow('of an estate', onEstate) },
    )
    const offered = await nextEvent(reader)
    expect(offered).toMatchObject({ kind: 'change', parcels: ['5,5'], estates: ['2'] })

    land.clock.set(expires_at_ms)
    expect(await nextEvent(reader)).toEqual({
      kind: 'change',
      revision: offered.revision,
      state: await feedState(),
      changed_at: new Date(expires_at_ms).toISOString(),
      parcels: ['5,5'],
      estates: ['2'],
    })
    expect(await feedState()).not.toBe(offered.state)
  })

  test('continues after a broken connection, with one event for all missed changes', async () => {
    const reader = await listen(land.server)
    const { state } = await nextEvent(reader)
    reader.close()
    await land.change(rename(3, 3, 'first'))
    await land.change(rename(3, 3, 'second'), rename(-4, 0, 'third'))

    // A browser sends its first address again, and in the header the last event that it received.
    const began = await listen(land.server, state)
    const back = await listen(land.server, '1.another.5.0', { 'last-event-id': state })
    const missed = await nextEvent(began)
    expect(missed).toMatchObject({ kind: 'change', parcels: ['-4,0', '3,3'], estates: [] })
    expect(missed.state).toBe(await feedState())
    expect(await nextEvent(back)).toEqual(missed)

    // A client with the current state gets no event until something changes.
    const upToDate = await listen(other, missed.state)
    await land.change(rename(3, 3, 'fourth'))
    for (const one of [began, back, upToDate])
      expect(await nextEvent(one)).toMatchObject({ revision: missed.revision + 1, parcels: ['3,3'] })
  })

  test('keeps a grid of the feed up to date: each event has the next state of the feed', async () => {
    const grid = new FeedGrid(readFeed((await land.server.ask('GET', '/v2/feed')).bytes))
    const reader = await listen(land.server, grid.state)
    for (const owner of ['ann', 'bob']) {
      await land.change({
        kind: 'change-parcel',
        x: 0,
        y: 7,
        to: { owner: addressOf(owner), estate_id: null },
      })
      const { state } = await nextEvent(reader)

      const part = readFeed((await land.server.ask('GET', `/v2/feed?since=${grid.state}`)).bytes)
      expect(part.since).toBe(grid.state)
      grid.apply(part)

      expect([grid.state, grid.tileAt(0, 7).owner]).toEqual([state, addressOf(owner)])
    }
  })

  test('begins with a reset for an unknown state', async () => {
    const state = await feedState()
    const [version, lineage, revision, expiry] = state.split('.')
    const unknown = [
      `${version}.000000000000.${revision}.${expiry}`,
      `${version}.${lineage}.0.${expiry}`,
      `${version}.${lineage}.${Number(revision) + 1}.${expiry}`,
      'something-else',
    ]
    for (const since of unknown) {
      for (const reader of [
        await listen(land.server, since),
        await listen(land.server, undefined, { 'last-event-id': since }),
      ]) {
        const { changed_at, ...event } = await nextEvent(reader)
        expect(event, since).toEqual({ kind: 'reset', revision: Number(revision), state })
        reader.close()
      }
    }
    const odd = await listen(land.server, undefined, { 'last-event-id': 'a b;<ü>' })
    expect((await nextEvent(odd)).kind).toBe('reset')
    // An empty header is none.
    const empty = await listen(land.server, undefined, { 'last-event-id': '' })
    expect((await nextEvent(empty)).kind).toBe('hello')

    for (const since of ['a%20b', 'x'.repeat(101)]) {
      const { data } = await land.refusal(`/v2/changes?since=${since}`, 400, 'invalid_parameter')
      expect(data.parameter).toBe('since')
    }
  })

  test('is a stream for GET only, and for pages of other origins too', async () => {
    const reader = await listen(land.server, undefined, { 'accept-encoding': 'br, gzip' })
    const head = await land.server.ask('HEAD', '/v2/changes')
    const options = await land.server.ask('OPTIONS', '/v2/changes', {
      headers: {
        origin: 'https://map.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'last-event-id',
      },
    })

    expect([head.status, head.bytes.length]).toEqual([200, 0])
    for (const { headers } of [reader, head]) {
      expect(headers).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        'access-control-allow-origin': '*',
        'x-request-id': expect.stringMatching(/\S/),
      })
      expect(headers).not.toHaveProperty('content-encoding')
      expect(headers).not.toHaveProperty('etag')
    }
    expect([options.status, options.headers['access-control-allow-headers']]).toEqual([204, 'last-event-id'])
    expect((await land.server.ask('POST', '/v2/changes')).status).toBe(405)
  })

  test('an import is announced as a reset', async () => {
    const reader = await listen(land.server)
    const elsewhere = await listen(other)
    const { revision } = await nextEvent(reader)
    await nextEvent(elsewhere)

    await importWorld(land.engine.db, await demoSnapshot(2, RADIUS), land.clock)
    await land.server.app.keeper.refresh()

    const reset = await nextEvent(reader)
    expect(reset).toMatchObject({ kind: 'reset', revision: revision + 1 })
    expect(reset).not.toHaveProperty('parcels')
    expect(await nextEvent(elsewhere)).toEqual(reset)
    // The journal of the new world begins with it.
    const late = await listen(land.server, `1.${reset.state.split('.')[1]}.${revision}.0`)
    expect(await nextEvent(late)).toEqual(reset)
  })
})

describe('many streams', () => {
  const open = freshEngine('postgres')
  const MANY = 1_000
  let land: DemoLand
  beforeAll(async () => {
    land = await startDemoLand(await open(), {
      radius: 8,
      env: { CHANGE_STREAMS_PER_CLIENT: '0', CONNECTIONS_PER_CLIENT: '0' },
      limits: { maxChangeStreams: MANY },
    })
  })

  test('each get a change once, no more than the limit are open, and all end with the server', async () => {
    const streams = await Promise.all(Array.from({ length: MANY }, () => listenCheaply(land.server.origin)))
    const refused = await land.server.get('/v2/changes')
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
      503,
      'too_many_streams',
      '30',
    ])
    expect((await land.server.ask('HEAD', '/v2/changes')).status).toBe(503)
    for (const name of ['first', 'second'])
      await land.change({ kind: 'change-parcel', x: 1, y: 1, to: { name } })
    await eventually(
      async () => streams.every((one) => one.text().split('event: change').length > 2),
      (isSo) => isSo,
      20 * SECOND_MS,
    )
    const metrics = (await land.server.get('/metrics')).text
    expect(metrics).toContain(`\nlandpass_change_streams ${MANY}\n`)
    expect(metrics).toContain(`\nlandpass_change_streams_opened_total ${MANY}\n`)
    expect(metrics).toContain('\nlandpass_change_streams_refused_total 2\n')
    expect(metrics).toContain('\nlandpass_change_streams_dropped_total 0\n')
    expect(metrics).toContain('\nlandpass_change_events_total 2\n')

    const startedMs = performance.now()
    await land.server.close()
    await Promise.all(streams.map(({ ended }) => ended))

    expect(performance.now() - startedMs).toBeLessThan(MINUTE_MS)
    for (const { text } of streams) {
      const ids = [...text().matchAll(/^id: (.*)$/gm)].map(([, id]) => id)
      expect(ids).toHaveLength(3) // hello and two changes
      expect(new Set(ids).size).toBe(3)
    }
  })
})

/** A client that takes as little time of this process as possible. */
async function listenCheaply(origin: string): Promise<{ text(): string; ended: Promise<void> }> {
  const chunks: Buffer[] = []
  const socket = net.connect(Number(new URL(origin).port), '127.0.0.1')
  socket.write('GET /v2/changes HTTP/1.1\r\nHost: a\r\n\r\n')
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      if (chunk.includes('event: hello')) resolve()
    })
  })
  return { text: () => Buffer.concat(chunks).toString('latin1'), ended }
}
