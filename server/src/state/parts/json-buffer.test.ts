import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countRows, JsonBufferWriter, patchJsonBuffer, pieceOf } from './json-buffer.ts'
import { CHUNK_ROWS, type JsonBuffer } from './parts.ts'

function bufferOf(pieces: readonly string[]): JsonBuffer {
  const writer = new JsonBufferWriter()
  for (const piece of pieces) writer.add(piece)
  return writer.finish()
}

function piecesOf(buffer: JsonBuffer): string[] {
  return Array.from({ length: countRows(buffer) }, (_, row) => Buffer.from(pieceOf(buffer, row)).toString())
}

/** Rows for up to three chunks, some of them with random text. */
const pieces = fc
  .tuple(fc.nat({ max: 3 * CHUNK_ROWS }), fc.array(fc.string({ unit: 'grapheme-composite' })))
  .map(([rows, texts]) =>
    Array.from({ length: rows }, (_, row) => texts[row % (texts.length || 1)] ?? `${row}`),
  )

test('pieces are read as they were written, without their last bytes where those are cut', () => {
  fc.assert(
    fc.property(pieces, (written) => {
      const buffer = bufferOf(written)
      expect(piecesOf(buffer)).toEqual(written)
      expect(buffer.chunks).toHaveLength(Math.ceil(written.length / CHUNK_ROWS))
    }),
  )
  expect(Buffer.from(pieceOf(bufferOf(['null},', 'x']), 0, 2)).toString()).toBe('null')
})

test('pieces can be larger than the initial memory of a chunk', () => {
  const sizes = [1, 600_000, 500_000, 0, 1_048_576, 3_000_000, 349_525, 2]
  const written = sizes.map((size, i) => ['한', 'é', 'a'][i % 3]!.repeat(size))

  expect(piecesOf(bufferOf(written))).toEqual(written)
})

test('a patched buffer has the replaced and added pieces, and shares all unchanged chunks', () => {
  const change = fc.tuple(fc.nat(), fc.string({ unit: 'grapheme-composite' }))
  fc.assert(
    fc.property(pieces, fc.array(change, { maxLength: 5 }), fc.array(fc.string()), (old, changes, added) => {
      const buffer = bufferOf(old)
      const expected = [...old, ...added]
      const patch = new Map(added.map((text, i) => [old.length + i, text]))
      for (const [pick, text] of changes) {
        if (expected.length === 0) continue
        patch.set(pick % expected.length, text)
        expected[pick % expected.length] = text
      }

      const patched = patchJsonBuffer(buffer, patch)

      expect(piecesOf(patched)).toEqual(expected)
      expect(piecesOf(buffer)).toEqual(old)
      const changed = new Set([...patch.keys()].map((row) => Math.floor(row / CHUNK_ROWS)))
      for (const [number, chunk] of patched.chunks.entries())
        expect(chunk === buffer.chunks[number]).toBe(!changed.has(number))
    }),
  )
})

test('a buffer can be empty', () => {
  expect(bufferOf([])).toEqual({ chunks: [] })
})
