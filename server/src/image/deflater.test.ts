import { inflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Deflater, MAX_DISTANCE } from './deflater.ts'

type Token = { readonly byte: number } | { readonly length: number; readonly distance: number }

/** The bytes that the tokens stand for, and the bytes that zlib reads from the stream. */
function roundTrip(deflater: Deflater, tokens: readonly Token[]): { expected: Buffer; read: Buffer } {
  const expected: number[] = []
  deflater.begin()
  for (const token of tokens) {
    if ('byte' in token) {
      deflater.literal(token.byte)
      expected.push(token.byte)
      continue
    }
    const distance = Math.min(token.distance, expected.length)
    if (distance === 0) continue
    deflater.match(token.length, distance)
    for (let i = 0; i < token.length; i++) expected.push(expected[expected.length - distance]!)
  }
  return { expected: Buffer.from(expected), read: inflateRawSync(deflater.finish()) }
}

const literal = fc.record({ byte: fc.integer({ min: 0, max: 255 }) })
const match = fc.record({
  length: fc.oneof(fc.integer({ min: 3, max: 40 }), fc.integer({ min: 3, max: 2000 })),
  distance: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: MAX_DISTANCE })),
})
const tokens = fc.array(fc.oneof({ weight: 3, arbitrary: literal }, { weight: 1, arbitrary: match }), {
  maxLength: 400,
})

test('zlib reads the bytes of the tokens, stream after stream', () => {
  const deflater = new Deflater()
  fc.assert(
    fc.property(tokens, (tokens) => {
      const { expected, read } = roundTrip(deflater, tokens)
      expect(read.equals(expected)).toBe(true)
    }),
  )
})

test('matches of each length at each kind of distance', () => {
  const deflater = new Deflater()
  const start = Array.from({ length: MAX_DISTANCE }, (_, i) => ({ byte: (i * i) & 255 }))
  const distances = Array.from({ length: 15 }, (_, i) => [2 ** i, 2 ** i + 1, 1.5 * 2 ** i]).flat()
  const matches = distances.flatMap((distance, i) =>
    Array.from({ length: 60 }, (_, k) => ({
      length: 3 + ((7 * i + 5 * k) % 800),
      distance: Math.ceil(distance),
    })),
  )
  const all = Array.from({ length: 600 }, (_, i) => ({ length: i + 3, distance: MAX_DISTANCE }))

  for (const tail of [matches, all]) {
    const { expected, read } = roundTrip(deflater, [...start, ...tail])
    expect(read.equals(expected)).toBe(true)
  }
})

test('more literals than a block holds, of bytes that cannot be compressed', () => {
  const deflater = new Deflater()
  let seed = 1
  const noise = Array.from({ length: 300_000 }, () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return { byte: seed >>> 24 }
  })
  const { expected, read } = roundTrip(deflater, noise)

  expect(read.equals(expected)).toBe(true)
})

test('more matches than a block holds', () => {
  const deflater = new Deflater()
  const start = Array.from({ length: 300 }, (_, i) => ({ byte: (i * i) & 255 }))
  const matches = Array.from({ length: 140_000 }, (_, i) => ({
    length: 3 + (i % 5),
    distance: 1 + ((i * i) % 299),
  }))
  const { expected, read } = roundTrip(deflater, [...start, ...matches])

  expect(read.equals(expected)).toBe(true)
})

test('an unfinished stream does not affect the next one', () => {
  const deflater = new Deflater()
  deflater.begin()
  deflater.literal(1)
  const { read } = roundTrip(deflater, [{ byte: 7 }])

  expect([...read]).toEqual([7])
})

test('a stream can be empty', () => {
  expect(roundTrip(new Deflater(), []).read).toHaveLength(0)
})
