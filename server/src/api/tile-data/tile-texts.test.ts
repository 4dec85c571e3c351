import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sourceOf, type TilePlan, tilePlan } from '../../../test/support/land/tile-plans.ts'
import type { RowRange } from '../../state/state.ts'
import { ALL_FIELDS, legacyTileForm, type TileForm, tileForm } from './tile-forms.ts'
import { type TileSource, tileAt } from './tile-source.ts'
import { TileTexts } from './tile-texts.ts'

const WHOLE = tileForm(ALL_FIELDS)
const LEGACY = legacyTileForm(ALL_FIELDS)
const SOME = tileForm(new Set(['type', 'price']))
const CHUNK_ROWS = 256
const MAX_CACHED_BYTES = 40 * 1024 * 1024

describe('the texts of tiles', () => {
  test('are those of each row, for any ranges and forms in any order', () => {
    const range = fc
      .tuple(fc.nat(900), fc.nat(900))
      .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }))
    const ask = fc.record({
      rows: fc.array(range, { maxLength: 3 }),
      form: fc.constantFrom(WHOLE, LEGACY, SOME),
      method: fc.constantFrom('smallAreaPieces' as const, 'largeAreaPieces' as const),
    })
    const source = sourceOf(columnPlan(900))
    fc.assert(
      fc.property(fc.array(ask, { minLength: 1, maxLength: 6 }), (asks) => {
        const texts = new TileTexts(source)
        for (const { rows, form, method } of asks) {
          expect(textOf(texts[method](form, rows))).toBe(plainly(source, rows, form))
        }
      }),
      { numRuns: 50 },
    )
  })

  test('are right for every world', () => {
    fc.assert(
      fc.property(tilePlan, (plan) => {
        const source = sourceOf(plan)
        const all = [{ from: 0, to: source.parcels.x.length }]
        expect(textOf(new TileTexts(source).smallAreaPieces(WHOLE, all))).toBe(plainly(source, all, WHOLE))
      }),
    )
  })

  test('are cached only for small areas in the whole form', () => {
    const texts = new TileTexts(sourceOf(columnPlan(900)))
    const all = [{ from: 0, to: 900 }]

    for (const form of [WHOLE, LEGACY, SOME]) textOf(texts.largeAreaPieces(form, all))
    for (const form of [LEGACY, SOME]) textOf(texts.smallAreaPieces(form, all))
    expect(texts.cachedBytes).toBe(0)

    const across = [{ from: CHUNK_ROWS - 1, to: CHUNK_ROWS + 1 }]
    textOf(texts.smallAreaPieces(WHOLE, across))
    expect(buffersOf(texts, across)).toHaveLength(2)
    expect(buffersOf(texts, across)).toEqual(buffersOf(texts, across))
  })

  test('are written only where they were asked for', () => {
    const source = sourceOf(columnPlan(CHUNK_ROWS))
    const texts = new TileTexts(source)
    const window = [{ from: 100, to: 121 }]

    const { length } = textOf(texts.smallAreaPieces(WHOLE, window))

    expect(texts.cachedBytes).toBeLessThan(length + 10 * CHUNK_ROWS)
    for (const rows of [[{ from: 90, to: 110 }], [{ from: 115, to: 125 }], [{ from: 80, to: 130 }]])
      expect(textOf(texts.smallAreaPieces(WHOLE, rows))).toBe(plainly(source, rows, WHOLE))
  })

  test('are cached up to a limit of bytes, and the chunk that was used last is kept', () => {
    const rows = 450 * CHUNK_ROWS
    const source = sourceOf(columnPlan(rows))
    const texts = new TileTexts(source)
    const first = [{ from: 0, to: 10 }]
    textOf(texts.smallAreaPieces(WHOLE, first))
    const [kept] = buffersOf(texts, first)

    for (let from = CHUNK_ROWS; from < rows; from += CHUNK_ROWS) {
      textOf(texts.smallAreaPieces(WHOLE, [{ from, to: from + CHUNK_ROWS }]))
      textOf(texts.smallAreaPieces(WHOLE, first))
    }

    expect(texts.cachedBytes).toBeGreaterThan(0.9 * MAX_CACHED_BYTES)
    expect(texts.cachedBytes).toBeLessThanOrEqual(MAX_CACHED_BYTES)
    expect(buffersOf(texts, first)[0]).toBe(kept)
  })
})

describe('the texts of the next state', () => {
  const rows = 3 * CHUNK_ROWS + 10
  const all = [{ from: 0, to: rows }]
  const before = columnPlan(rows)

  test('are all reused if no tile has changed', () => {
    const texts = filled(sourceOf(before))

    const next = new TileTexts(sourceOf(before), texts)

    expect(sharedBuffers(next, texts)).toBe(4)
  })

  test.each([
    ['its owner', { owner: `0x${'9'.repeat(40)}` }],
    ['its name', { name: 'new' }],
    ['its district', { district: 0 }],
    ['its estate', { estate: 1 }],
    ['the time of its change', { updatedAtS: 99 }],
    ['its offer', { offer: { price: '5', expiresAtMs: 5000 } }],
  ])('are new where %s has changed, in one chunk alone', (_what, change) => {
    const now = withParcel(before, CHUNK_ROWS + 100, change)
    const source = sourceOf(now)

    const texts = filled(sourceOf(before))
    const next = new TileTexts(source, texts)

    expect(sharedBuffers(next, texts)).toBe(3)
    expect(textOf(next.smallAreaPieces(WHOLE, all))).toBe(plainly(source, all, WHOLE))
  })

  test('are made again in two chunks if a change affects tiles of both', () => {
    const edge = 2 * CHUNK_ROWS
    const south = withParcel(before, edge, { district: 0 })
    const both = sourceOf(withParcel(south, edge - 1, { district: 0 }))

    const texts = filled(sourceOf(south))
    const next = new TileTexts(both, texts)

    expect(sharedBuffers(next, texts)).toBe(2)
    expect(textOf(next.smallAreaPieces(WHOLE, all))).toBe(plainly(both, all, WHOLE))
  })

  test('are correct after any change', () => {
    fc.assert(
      fc.property(tilePlan, tilePlan, (one, other) => {
        const texts = filled(sourceOf(one))
        const now = sourceOf(other)
        const everything = [{ from: 0, to: now.parcels.x.length }]
        const next = new TileTexts(now, texts)
        expect(textOf(next.smallAreaPieces(WHOLE, everything))).toBe(plainly(now, everything, WHOLE))
      }),
    )
  })

  test('are right where the previous state is asked for more of a shared chunk', () => {
    const source = sourceOf(before)
    const texts = new TileTexts(source)
    textOf(texts.smallAreaPieces(WHOLE, [{ from: 0, to: 5 }]))
    const changed = sourceOf(withParcel(before, 50, { name: 'new' }))

    const next = new TileTexts(changed, texts)
    textOf(texts.smallAreaPieces(WHOLE, all))

    expect(textOf(next.smallAreaPieces(WHOLE, all))).toBe(plainly(changed, all, WHOLE))
  })

  test('do not change those of the previous state', () => {
    const source = sourceOf(before)
    const texts = filled(source)

    filled(sourceOf(withParcel(before, 5, { name: 'new' })), texts)

    expect(textOf(texts.smallAreaPieces(WHOLE, all))).toBe(plainly(source, all, WHOLE))
  })
})

/** One column of parcels without an owner, with an estate without parcels and one district. */
function columnPlan(rows: number): TilePlan {
  const parcel = {
    estate: undefined,
    district: undefined,
    owner: undefined,
    name: undefined,
    updatedAtS: 1,
    offer: undefined,
  }
  const estate = { owner: `0x${'e'.repeat(40)}`, name: '조각', updatedAtS: 2, offer: undefined }
  return {
    width: 1,
    height: rows,
    parcels: Array.from({ length: rows }, () => parcel),
    estates: [estate, estate],
    districts: ['plaza'],
  }
}

function withParcel(
  plan: TilePlan,
  row: number,
  change: Partial<NonNullable<TilePlan['parcels'][number]>>,
): TilePlan {
  const parcels = plan.parcels.map((parcel, i) => (i === row && parcel ? { ...parcel, ...change } : parcel))
  return { ...plan, parcels }
}

/** Texts with all chunks cached. */
function filled(source: TileSource, previous?: TileTexts): TileTexts {
  const texts = new TileTexts(source, previous)
  textOf(texts.smallAreaPieces(WHOLE, [{ from: 0, to: source.parcels.x.length }]))
  return texts
}

/** The memory from which tiles are read, piece by piece. */
function buffersOf(texts: TileTexts, rows: readonly RowRange[]): ArrayBufferLike[] {
  return [...texts.largeAreaPieces(WHOLE, rows)].map(({ buffer }) => buffer)
}

/** How many pieces of all tiles both read from the same memory. */
function sharedBuffers(one: TileTexts, other: TileTexts): number {
  const all = [{ from: 0, to: 3 * CHUNK_ROWS + 10 }]
  const ofOther = new Set(buffersOf(other, all))
  return buffersOf(one, all).filter((buffer) => ofOther.has(buffer)).length
}

function textOf(pieces: Iterable<Uint8Array>): string {
  return Buffer.concat([...pieces]).toString()
}

function plainly(source: TileSource, rows: readonly RowRange[], form: TileForm): string {
  let text = ''
  for (const { from, to } of rows) {
    for (let row = from; row < to; row++) text += form.write(tileAt(source, row))
  }
  return text
}
