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
const MAX_CACHED_CHUNKS = 384

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
    expect(texts.size).toBe(0)

    textOf(texts.smallAreaPieces(WHOLE, [{ from: CHUNK_ROWS - 1, to: CHUNK_ROWS + 1 }]))
    expect(texts.size).toBe(2)
  })

  test('are cached up to a limit, and the oldest chunk is dropped first', () => {
    const rows = (MAX_CACHED_CHUNKS + 3) * CHUNK_ROWS
    const texts = new TileTexts(sourceOf(columnPlan(rows)))

    for (let from = 0; from < rows; from += CHUNK_ROWS) {
      for (const piece of texts.smallAreaPieces(WHOLE, [{ from, to: from + 1 }]))
        expect(piece.length).toBeGreaterThan(0)
    }
    expect(texts.size).toBe(MAX_CACHED_CHUNKS)
  })
})

describe('the texts of the next state', () => {
  const rows = 3 * CHUNK_ROWS + 10
  const all = [{ from: 0, to: rows }]
  const before = columnPlan(rows)

  test('are all reused if no tile has changed', () => {
    const texts = filled(sourceOf(before))

    const next = new TileTexts(sourceOf(before), texts)

    expect(next.size).toBe(4)
    const pieces = (one: TileTexts) =>
      [...one.largeAreaPieces(WHOLE, all)].map(({ buffer, byteOffset }) => ({ buffer, byteOffset }))
    for (const [i, { buffer }] of pieces(next).entries()) expect(buffer).toBe(pieces(texts)[i]!.buffer)
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

    const next = new TileTexts(source, filled(sourceOf(before)))

    expect(next.size).toBe(3)
    expect(textOf(next.smallAreaPieces(WHOLE, all))).toBe(plainly(source, all, WHOLE))
  })

  test('are made again in two chunks if a change affects tiles of both', () => {
    const edge = 2 * CHUNK_ROWS
    const south = withParcel(before, edge, { district: 0 })
    const both = sourceOf(withParcel(south, edge - 1, { district: 0 }))

    const next = new TileTexts(both, filled(sourceOf(south)))

    expect(next.size).toBe(2)
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
