import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OwnerIndexWriter } from './owner-index.ts'
import type { JsonSlab } from './parts.ts'
import { SlabWriter } from './slab-writer.ts'

function slabOf(pieces: readonly string[]): JsonSlab {
  const writer = new SlabWriter()
  for (const piece of pieces) writer.add(piece)
  return writer.finish()
}

function piecesOf({ bytes, starts }: JsonSlab): string[] {
  return Array.from({ length: starts.length - 1 }, (_, i) =>
    Buffer.from(bytes.subarray(starts[i]!, starts[i + 1]!)).toString(),
  )
}

test('pieces of any text come back as they were written', () => {
  const text = fc.string({ unit: 'grapheme-composite' })
  fc.assert(
    fc.property(fc.array(text), (pieces) => {
      expect(piecesOf(slabOf(pieces))).toEqual(pieces)
    }),
  )
})

test('so do pieces that cross the size of a chunk, or are larger than one', () => {
  const sizes = [1, 600_000, 500_000, 0, 1_048_576, 3_000_000, 349_525, 2]
  const pieces = sizes.map((size, i) => ['한', 'é', 'a'][i % 3]!.repeat(size))
  const slab = slabOf(pieces)

  expect(piecesOf(slab)).toEqual(pieces)
  expect(slab.bytes.length).toBe(Buffer.byteLength(pieces.join('')))
})

test('nothing is a slab too', () => {
  expect(slabOf([])).toEqual({ bytes: new Uint8Array(0), starts: Uint32Array.of(0) })
})

test('an owner’s assets keep the order in which they were added; what nobody owns is left out', () => {
  const owner = fc.constantFrom('ann', 'ben', 'eve', null)
  fc.assert(
    fc.property(fc.array(owner), (owners) => {
      const writer = new OwnerIndexWriter()
      for (const [row, one] of owners.entries()) writer.add(one, row)
      const { addresses, starts, rows } = writer.finish()

      const found = addresses.map((address, i) => [address, [...rows.subarray(starts[i]!, starts[i + 1]!)]])
      const names = [...new Set(owners)].filter((one) => one !== null)
      expect(found).toEqual(
        names.map((name) => [name, [...owners.keys()].filter((row) => owners[row] === name)]),
      )
    }),
  )
})
