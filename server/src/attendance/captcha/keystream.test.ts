import { expect, test } from 'vitest'
import { Keystream, SEED_BYTES } from './keystream.ts'

const ZEROS = Buffer.alloc(SEED_BYTES)

test('the bytes are those of AES-128 in counter mode', () => {
  // Zero key, zero block: the first known answer that AES libraries are tested with
  expect(new Keystream(ZEROS).bytes(16).toString('hex')).toBe('66e94bd4ef8a2c3b884cfa59ca342b2e')
})

test('the same seed gives the same numbers, one bit more gives others', () => {
  const numbersOf = (seed: Buffer) => {
    const random = new Keystream(seed)
    return Array.from({ length: 3000 }, () => random.between(0, 1))
  }
  const other = Buffer.from(ZEROS)
  other[15] = 1

  expect(numbersOf(ZEROS)).toEqual(numbersOf(ZEROS))
  expect(new Set([...numbersOf(ZEROS), ...numbersOf(other)]).size).toBeGreaterThan(5990)
})

test('numbers stay in their range and use all of it', () => {
  const random = new Keystream(ZEROS)
  const draw = (next: () => number) => Array.from({ length: 5000 }, next)

  const between = draw(() => random.between(-3, 5))
  const around = draw(() => random.around(2))
  const below = draw(() => random.below(15))

  expect(Math.min(...between)).toBeGreaterThanOrEqual(-3)
  expect(Math.min(...between)).toBeLessThan(-2.9)
  expect(Math.max(...between)).toBeLessThan(5)
  expect(Math.max(...between)).toBeGreaterThan(4.9)
  expect(Math.max(...around.map(Math.abs))).toBeLessThan(2)
  expect(around.filter((number) => Math.abs(number) < 1).length).toBeGreaterThan(3500) // three of four
  expect(new Set(below)).toEqual(new Set(Array.from({ length: 15 }, (_, i) => i)))
})

test('a seed of another length is refused', () => {
  expect(() => new Keystream(Buffer.alloc(4))).toThrow(RangeError)
})
