import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CHUNK_ROWS, type JsonSlab } from './parts.ts'
import { patchSlab, pieceOf, rowsOfSlab, SlabWriter } from './slab.ts'

function slabOf(pieces: readonly string[]): JsonSlab {
  const writer = new SlabWriter()
  for (const piece of pieces) writer.add(piece)
  return writer.finish()
}

function piecesOf(slab: JsonSlab): string[] {
  return Array.from({ length: rowsOfSlab(slab) }, (_, row) => Buffer.from(pieceOf(slab, row)).toString())
}

/** Enough rows for a few chunks, and any text in some of them. */
const pieces = fc
  .tuple(fc.nat({ max: 3 * CHUNK_ROWS }), fc.array(fc.string({ unit: 'grapheme-composite' })))
  .map(([rows, texts]) =>
    Array.from({ length: rows }, (_, row) => texts[row % (texts.length || 1)] ?? `${row}`),
  )

test('pieces of any text come back as they were written, and without their end where that is cut', () => {
  fc.assert(
    fc.property(pieces, (written) => {
      const slab = slabOf(written)
      expect(piecesOf(slab)).toEqual(written)
      expect(slab.chunks).toHaveLength(Math.ceil(written.length / CHUNK_ROWS))
    }),
  )
  expect(Buffer.from(pieceOf(slabOf(['null},', 'x']), 0, 2)).toString()).toBe('null')
})

test('so do pieces that are larger than the room that a chunk begins with', () => {
  const sizes = [1, 600_000, 500_000, 0, 1_048_576, 3_000_000, 349_525, 2]
  const written = sizes.map((size, i) => ['한', 'é', 'a'][i % 3]!.repeat(size))

  expect(piecesOf(slabOf(written))).toEqual(written)
})

test('a patched slab has the new pieces, those added at its end, and shares every chunk that has none', () => {
  const change = fc.tuple(fc.nat(), fc.string({ unit: 'grapheme-composite' }))
  fc.assert(
    fc.property(pieces, fc.array(change, { maxLength: 5 }), fc.array(fc.string()), (old, changes, added) => {
      const slab = slabOf(old)
      const expected = [...old, ...added]
      const patch = new Map(added.map((text, i) => [old.length + i, text]))
      for (const [pick, text] of changes) {
        if (expected.length === 0) continue
        patch.set(pick % expected.length, text)
        expected[pick % expected.length] = text
      }

      const patched = patchSlab(slab, patch)

      expect(piecesOf(patched)).toEqual(expected)
      expect(piecesOf(slab)).toEqual(old)
      const changed = new Set([...patch.keys()].map((row) => Math.floor(row / CHUNK_ROWS)))
      for (const [number, chunk] of patched.chunks.entries())
        expect(chunk === slab.chunks[number]).toBe(!changed.has(number))
    }),
  )
})

test('nothing is a slab too', () => {
  expect(slabOf([])).toEqual({ chunks: [] })
})
