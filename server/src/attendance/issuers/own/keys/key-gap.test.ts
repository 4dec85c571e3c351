import { expect, test } from 'vitest'
import { findKeyGap } from './key-gap.ts'

const key = (from_s: number, until_s: number | null, withdrawn_at_s: number | null = null) => ({
  ...{ address: '', from_s, until_s, withdrawn_at_s, created_at_ms: 0 },
})

test('the first time without a key that signs', () => {
  expect(findKeyGap([], 100)).toEqual({ fromS: 100 })
  expect(findKeyGap([key(0, null)], 100)).toBeUndefined()
  expect(findKeyGap([key(0, 600)], 100)).toEqual({ fromS: 600 })
  // The key that signs now is stolen, its successor has yet to begin; and the other way round
  expect(findKeyGap([key(0, 600, 100), key(600, null)], 100)).toEqual({ fromS: 100, untilS: 600 })
  expect(findKeyGap([key(0, 600), key(600, null, 100)], 100)).toEqual({ fromS: 600 })
  expect(findKeyGap([key(0, 600), key(600, null)], 100)).toBeUndefined()
  // A key that was planned and never signs, and one that is over
  expect(findKeyGap([key(0, 50), key(600, 600), key(0, null)], 100)).toBeUndefined()
  expect(findKeyGap([key(0, 50), key(600, 600)], 100)).toEqual({ fromS: 100 })
})
