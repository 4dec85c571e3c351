import { expect, test } from 'vitest'
import { nextMessage, startChild } from '../test/support/processes/children.ts'
import { ownBytes } from './own-memory.ts'

const NAMES = 900
const TEXT_LENGTH = 16_000

test('bytes that are a part of others are copied, and others are not', () => {
  const [small, large] = [Buffer.from('a few bytes'), Buffer.alloc(10_000, 7)]
  expect([ownBytes(small).buffer.byteLength, ownBytes(small).equals(small)]).toEqual([small.length, true])
  expect(ownBytes(large)).toBe(large)
})

test.each(['bounded-cache', 'one-second-cache', 'cost-budget'])(
  'a %s keeps the names that it was given, and not the texts that they were cut from',
  async (which) => {
    const child = startChild('held-memory-child', which, String(NAMES), String(TEXT_LENGTH))

    const { bytes, isHeld } = (await nextMessage(child)) as { bytes: number; isHeld: boolean }

    expect(isHeld).toBe(true)
    expect(bytes).toBeLessThan((NAMES * TEXT_LENGTH) / 4)
  },
)
