import { cellOf } from '@landpass/client/grid'
import { describe, expect, test } from 'vitest'
import type { UnlistedOffer } from '../land/records/unlisted-offer.ts'
import { NO_PUBLICATIONS } from './builders/patch-publications.ts'
import { pagedColumn } from './parts/columns.ts'
import { compareEstateIds } from './parts/estate-ids.ts'
import { JsonBufferWriter } from './parts/json-buffer.ts'
import { landAssetsOf } from './parts/land-assets.ts'
import { OwnerIndexWriter } from './parts/owner-index.ts'
import { ANSWER_FORM, buffersOf, CHUNK_ROWS, NO_DISTANCE, type StateParts } from './parts/parts.ts'
import { NO_ORDERS, patchOrders } from './parts/publication-orders.ts'
import { buildRents } from './parts/rents.ts'
import { NO_SALES } from './parts/sales.ts'
import { unlistedAt } from './parts/unlisted-offers.ts'
import { State } from './state.ts'
import { shapeMark } from './world-shape.ts'

const BOUNDS = { minX: 0, minY: 0, maxX: 3, maxY: 1 }
/** West to east, north to south; 2,1 and 3,0 are no parcels. */
const PLACES = [
  [0, 1],
  [0, 0],
  [1, 1],
  [1, 0],
  [2, 0],
  [3, 1],
] as const

/** A state in which the parcel of row 1 has open publications with these expiry times, newest first. */
function stateOf(expiries: readonly number[]): State {
  const parcels = new JsonBufferWriter()
  for (const [x, y] of PLACES) parcels.add(`{"id":"${x},${y}","publication":null},`)
  const estates = new JsonBufferWriter()
  estates.add('{"id":"1","publication":null},')
  const offers = new JsonBufferWriter()
  for (const expiresAtMs of expiries) offers.add(`{"until":${expiresAtMs}}`)
  const owners = new OwnerIndexWriter()
  for (const [row] of PLACES.entries()) owners.add(row % 2 ? 'ann' : null, row)
  const rowAt = new Int32Array(8).fill(-1)
  for (const [row, [x, y]] of PLACES.entries()) rowAt[cellOf(BOUNDS, { x, y })] = row
  const count = expiries.length
  const parts: StateParts = {
    lineage: 'abc',
    worldId: 1,
    revision: 7,
    changedAtMs: 50,
    block: undefined,
    bounds: BOUNDS,
    areas: [BOUNDS],
    parcels: {
      json: parcels.finish(),
      x: Int32Array.from(PLACES, ([x]) => x),
      y: Int32Array.from(PLACES, ([, y]) => y),
      inWorld: PLACES.length,
      rowAt,
      estate: new Int32Array(PLACES.length).fill(-1),
      estatePosition: new Int32Array(PLACES.length),
      orphans: [],
      district: new Int16Array(PLACES.length).fill(-1),
      owner: pagedColumn(Int32Array.from(PLACES, (_, row) => (row % 2 ? 0 : -1))),
      names: PLACES.map(() => undefined),
      updatedAtS: pagedColumn(new Uint32Array(PLACES.length)),
      plazaDistance: new Uint8Array(PLACES.length).fill(NO_DISTANCE),
      roadDistance: new Uint8Array(PLACES.length).fill(NO_DISTANCE),
      owners: owners.finish(),
      operators: new OwnerIndexWriter().finish(),
      offers: { first: Int32Array.from(PLACES, (_, row) => (row === 1 && count > 0 ? 0 : -1)) },
      rents: buildRents([]),
    },
    estates: {
      json: estates.finish(),
      ids: ['1'],
      size: Uint32Array.of(0),
      owner: pagedColumn(Int32Array.of(-1)),
      names: [undefined],
      updatedAtS: pagedColumn(Uint32Array.of(0)),
      owners: new OwnerIndexWriter().finish(),
      operators: new OwnerIndexWriter().finish(),
      offers: { first: Int32Array.of(-1) },
      rents: buildRents([]),
    },
    publications: {
      ...NO_PUBLICATIONS,
      key: Uint32Array.from(expiries, (_, i) => i),
      assetType: new Uint8Array(count),
      asset: new Int32Array(count).fill(1),
      status: new Uint8Array(count),
      open: Int32Array.from(expiries, (_, i) => i),
      orders: patchOrders(NO_ORDERS, new Int32Array(0), Uint32Array.from(expiries.keys()), {
        price: Float64Array.from(expiries),
        created_at: Float64Array.from(expiries),
        expires_at: Float64Array.from(expiries),
        block_time_updated_at: new Float64Array(count).fill(Number.NaN),
      }),
      openJson: offers.finish(),
      openExpiresAtMs: Float64Array.from(expiries),
      openPrice: expiries.map(String),
      openKey: Uint32Array.from(expiries, (_, i) => i),
      openNext: Int32Array.from(expiries, (_, i) => (i + 1 < count ? i + 1 : -1)),
    },
    sales: NO_SALES,
    districts: { ids: [], names: [], kinds: new Uint8Array(0), listJson: new Uint8Array(0) },
    unlisted: [],
    cells: new Uint8Array(rowAt.length),
  }
  return new State(parts)
}

const textOf = (pieces: Iterable<Uint8Array>) => Buffer.concat([...pieces]).toString()

describe('the state', () => {
  test('finds parcels by coordinates, and none outside the world', () => {
    const state = stateOf([])

    expect(PLACES.map(([x, y]) => state.parcelRow({ x, y }))).toEqual([0, 1, 2, 3, 4, 5])
    for (const [x, y] of [
      [2, 1],
      [3, 0],
      [-1, 0],
      [0, 2],
      [4, 0],
    ] as const)
      expect(state.parcelRow({ x, y })).toBe(-1)
    expect([...state.parcelsOf('ann')]).toEqual([1, 3, 5])
    expect([...state.parcelsOf('nobody')]).toEqual([])
  })

  test('gives an area as few runs of rows, also where the world has holes', () => {
    const state = stateOf([100])
    const area = (minX: number, maxX: number, minY: number, maxY: number) =>
      state.rowsIn({ minX, maxX, minY, maxY }).map(({ from, to }) => [from, to])

    expect(area(0, 3, 0, 1)).toEqual([[0, 6]])
    expect(area(0, 3, 0, 0)).toEqual([
      [1, 2],
      [3, 5],
    ])
    expect(area(2, 2, 1, 1)).toEqual([])
    expect(textOf(state.parcelRunPieces([{ from: 0, to: 3 }], 99))).toBe(
      '{"id":"0,1","publication":null},{"id":"0,0","publication":{"until":100}},{"id":"1,1","publication":null}',
    )
    expect(textOf(state.parcelRunPieces([{ from: 0, to: 2 }], 100))).toBe(
      '{"id":"0,1","publication":null},{"id":"0,0","publication":null}',
    )
  })

  test('joins the parcels of a run across chunks, with and without offers', () => {
    const rows = 2 * CHUNK_ROWS + 7
    const idOf = (row: number) => `{"row":${row},"publication":null},`
    const writer = new JsonBufferWriter()
    for (let row = 0; row < rows; row++) writer.add(idOf(row))
    const one = stateOf([100])
    const first = new Int32Array(rows).fill(-1)
    for (const row of [0, CHUNK_ROWS - 1, CHUNK_ROWS, rows - 1]) first[row] = 0
    const parcels = { ...one.parts.parcels, json: writer.finish(), offers: { first } }
    parcels.estate = new Int32Array(rows).fill(-1)
    const state = new State({ ...one.parts, parcels })

    for (const nowMs of [99, 100]) {
      for (const [from, to] of [
        [0, rows],
        [0, CHUNK_ROWS],
        [1, CHUNK_ROWS + 1],
        [CHUNK_ROWS, 2 * CHUNK_ROWS],
        [CHUNK_ROWS - 1, CHUNK_ROWS],
        [3, 2 * CHUNK_ROWS + 1],
      ] as const) {
        const expected = Array.from({ length: to - from }, (_, i) => {
          const publication = nowMs === 99 && first[from + i] === 0 ? { until: 100 } : null
          return { row: from + i, publication }
        })
        expect(JSON.parse(`[${textOf(state.parcelRunPieces([{ from, to }], nowMs))}]`)).toEqual(expected)
      }
    }
  })

  test('shows the newest offer that has not expired, and when the last shown offer expired', () => {
    const state = stateOf([400, 200, 600, 300, 900]) // newest first
    const at = (nowMs: number) => [
      textOf(state.parcelPieces(1, nowMs)).match(/\d+(?=\})/)?.[0],
      state.parcelExpiry(1, nowMs),
    ]

    expect([0, 199, 200, 300, 399].map(at)).toEqual(Array(5).fill(['400', 0]))
    expect([400, 599].map(at)).toEqual(Array(2).fill(['600', 400]))
    expect([600, 899].map(at)).toEqual(Array(2).fill(['900', 600]))
    expect([900, 10_000].map(at)).toEqual(Array(2).fill([undefined, 900]))
  })

  test('says when the next offer or rent of the world ends, shown or not', () => {
    const state = stateOf([300, 100, 200])
    const { parts } = state
    const rented = new State({
      ...parts,
      parcels: { ...parts.parcels, rents: buildRents([{ tenant: 'ann', untilMs: 150, isHeld: true }]) },
      estates: { ...parts.estates, rents: buildRents([{ tenant: 'ann', untilMs: 250, isHeld: true }]) },
    })
    const signed = new State({ ...parts, unlisted: [{ expiresAtMs: 120 } as UnlistedOffer] })
    expect([99, 100, 120].map((nowMs) => signed.nextExpiry(nowMs))).toEqual([100, 120, 200])
    const times = [0, 99, 100, 149, 150, 200, 250, 299, 300]
    expect(times.map((nowMs) => state.nextExpiry(nowMs))).toEqual([
      100,
      100,
      200,
      200,
      200,
      300,
      300,
      300,
      Number.POSITIVE_INFINITY,
    ])
    expect(times.map((nowMs) => rented.nextExpiry(nowMs))).toEqual([
      100,
      100,
      150,
      150,
      200,
      250,
      300,
      300,
      Number.POSITIVE_INFINITY,
    ])
  })

  test('shows a rent until it ends, beside an offer or without, alone and in a run across chunks', () => {
    const rows = CHUNK_ROWS + 3
    const writer = new JsonBufferWriter()
    for (let row = 0; row < rows; row++)
      writer.add(`{"row":${row},"tenant":null,"rented_until":null,"publication":null},`)
    const one = stateOf([100])
    const first = new Int32Array(rows).fill(-1)
    for (const row of [0, 7, CHUNK_ROWS]) first[row] = 0
    const ends = new Map(
      [0, 1, 6, CHUNK_ROWS - 1, CHUNK_ROWS, rows - 1].map((row) => [row, 90 + (row % 2) * 20]),
    )
    const rents = buildRents(
      Array.from({ length: rows }, (_, row) => {
        const untilMs = ends.get(row)
        return untilMs === undefined ? undefined : { tenant: `0x${row}`, untilMs, isHeld: true }
      }),
    )
    const parcels = { ...one.parts.parcels, json: writer.finish(), offers: { first }, rents }
    parcels.estate = new Int32Array(rows).fill(-1)
    const state = new State({ ...one.parts, parcels })

    for (const nowMs of [0, 89, 90, 99, 100, 109, 110]) {
      const expected = Array.from({ length: rows }, (_, row) => {
        const untilMs = ends.get(row) ?? 0
        return {
          row,
          tenant: untilMs > nowMs ? `0x${row}` : null,
          rented_until: untilMs > nowMs ? String(untilMs) : null,
          publication: first[row] === 0 && nowMs < 100 ? { until: 100 } : null,
        }
      })
      for (const from of [0, 1, 5, CHUNK_ROWS - 1])
        expect(JSON.parse(`[${textOf(state.parcelRunPieces([{ from, to: rows }], nowMs))}]`)).toEqual(
          expected.slice(from),
        )
      for (const row of [0, 1, 6, 7, rows - 1])
        expect(JSON.parse(textOf(state.parcelPieces(row, nowMs)))).toEqual(expected[row])
    }
    expect([89, 90, 99].map((nowMs) => state.parcelExpiry(0, nowMs))).toEqual([0, 90, 90])
    expect(state.parcelExpiry(0, 100)).toBe(100)
    expect([109, 110].map((nowMs) => state.parcelExpiry(1, nowMs))).toEqual([0, 110])
    const expiryOf = (from: number, to: number, nowMs: number) =>
      state.areaExpiry([{ from, to }], nowMs, { withEstates: true })
    expect([expiryOf(2, 6, 200), expiryOf(2, 7, 95), expiryOf(1, 2, 200)]).toEqual([0, 90, 110])
    expect([0, 95, 200].map((nowMs) => state.rentExpiry(nowMs))).toEqual([0, 90, 110])
    expect(state.openOffers(95)).toMatchObject({ lastExpiryMs: 90, nextExpiryMs: 100 })
  })

  test('a tag contains lineage, shape of the world, revision and last expiry', () => {
    const state = stateOf([])
    const base = `abc-${shapeMark({ areas: [BOUNDS], bounds: BOUNDS })}.${ANSWER_FORM}.7`

    expect(state.freshness()).toEqual({ tag: base, changedAtMs: 50 })
    expect(state.freshness(40)).toEqual({ tag: `${base}.40`, changedAtMs: 50 })
    expect(state.freshness(60)).toEqual({ tag: `${base}.60`, changedAtMs: 60 })
  })

  test('finds assets by name: each once, without unknown and dissolved ones', () => {
    const names = ['0,0', '9,9', '1,1', '0,0', 'x'].map((id) => ({ type: 'parcel', id }) as const)

    expect(
      stateOf([]).assetsNamed([...names, { type: 'estate', id: '1' }, { type: 'estate', id: '2' }]),
    ).toEqual([
      { type: 'parcel', row: 1 },
      { type: 'parcel', row: 2 },
    ])
  })
})

describe('lists of publications', () => {
  const query = { statuses: ['open'], sortBy: 'expires_at', sortOrder: 'asc' } as const

  test('contain what is open at the given time, and the last expiry', () => {
    const { lists } = stateOf([400, 200, 600])
    const at = (nowMs: number) => {
      const { rows, lastExpiryMs } = lists.find(query, nowMs)
      return [[...rows], lastExpiryMs]
    }

    // Forwards and backwards in time: a cached list must not be used outside its time
    for (const nowMs of [0, 199, 200, 400, 600, 400, 200, 0]) {
      const expected = {
        0: [[1, 0, 2], 0],
        199: [[1, 0, 2], 0],
        200: [[0, 2], 200],
        400: [[2], 400],
        600: [[], 600],
      }
      expect(at(nowMs), String(nowMs)).toEqual(expected[nowMs as keyof typeof expected])
    }
  })

  test('are the same for any order of statuses, and can be limited to an asset type', () => {
    const { lists } = stateOf([400, 200])

    expect(lists.find({ ...query, statuses: ['sold', 'open'] }, 0)).toBe(
      lists.find({ ...query, statuses: ['open', 'sold'] }, 0),
    )
    expect([...lists.find({ ...query, assetType: 'parcel' }, 0).rows]).toEqual([1, 0])
    expect([...lists.find({ ...query, assetType: 'estate' }, 0).rows]).toEqual([])
    expect([...lists.find({ ...query, statuses: ['sold'] }, 0).rows]).toEqual([])
  })

  test('are those of the state before, while its publications and the sizes of estates stay', () => {
    const { parts, lists } = stateOf([400, 200])
    expect(new State({ ...parts, revision: 8 }).lists).toBe(lists)
    const dissolved = { ...parts, estates: { ...parts.estates, size: parts.estates.size.slice() } }
    expect(new State(dissolved).lists).not.toBe(lists)
    expect(new State({ ...parts, publications: { ...parts.publications } }).lists).not.toBe(lists)
  })
})

test('estate ids are ordered as numbers', () => {
  expect(compareEstateIds('9', '10')).toBe(-1)
  expect(['10', '9', '100', '1', '11', '2'].sort(compareEstateIds)).toEqual([
    '1',
    '2',
    '9',
    '10',
    '11',
    '100',
  ])
})

test('of two offers for the same dollars the same one stands for a parcel, whichever was read first', () => {
  const { parts } = stateOf([])
  const offer = (hash: string, price: string): UnlistedOffer => ({
    ...{ kind: 'dollars', assetType: 'parcel', assetId: '0,0', price, hash, madeAtMs: 1, expiresAtMs: 100 },
    periods: [],
  })
  const assets = landAssetsOf(parts)
  const shown = (unlisted: readonly UnlistedOffer[]) =>
    [...unlistedAt({ ...parts, unlisted }, assets, 50).dollars.values()].map(({ hash }) => hash)

  const offers = [offer('0x2', '9.5'), offer('0x1', '9.5'), offer('0x0', '10')]
  expect([shown(offers), shown(offers.toReversed())]).toEqual([['0x1'], ['0x1']])
})

test('each buffer of the parts is found once', () => {
  const bytes = new Uint8Array(4)
  const found = buffersOf({
    a: bytes,
    b: { c: new Uint32Array(bytes.buffer), d: ['text', undefined] },
    e: null,
    f: new Float64Array(2),
    g: [{ h: new Uint8Array(1) }],
  })

  expect(found.size).toBe(3)
})
