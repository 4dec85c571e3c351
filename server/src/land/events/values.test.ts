import fc from 'fast-check'
import { expect, test } from 'vitest'
import { moneyText } from '../records/decimal.ts'
import { deadlineMs, manaText, safeInteger, weiOf } from './amounts.ts'
import { estateFingerprint, toggleParcel } from './fingerprints.ts'

const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

test('amounts keep all of their digits', () => {
  expect(manaText(1_500_123_456_789_012_345_678n)).toBe('1500.123456789012345678')
  expect(manaText(10n ** 18n)).toBe('1')
  expect(manaText(0n)).toBe('0')
  expect(weiOf('0.5')).toBe(500_000_000_000_000_000n)
  expect(weiOf('2.50')).toBe(25n * 10n ** 17n)
  fc.assert(
    fc.property(uint256, (wei) => {
      expect(weiOf(manaText(wei))).toBe(wei)
      expect(moneyText(manaText(wei))).toBe(manaText(wei))
    }),
  )
})

test('a deadline is in seconds or in milliseconds, as its size says, and may be beyond all numbers', () => {
  expect(deadlineMs(1_700_000_000n)).toBe(1_700_000_000_000)
  expect(deadlineMs(1_700_000_000_000n)).toBe(1_700_000_000_000)
  expect(deadlineMs(10n ** 12n)).toBe(10 ** 15)
  expect(deadlineMs(10n ** 12n + 1n)).toBe(10 ** 12 + 1)
  expect(deadlineMs(2n ** 256n - 1n)).toBe(2 ** 53 - 1)
  expect(safeInteger(2n ** 53n)).toBe(2 ** 53 - 1)
})

test('fingerprints of estates are those of the contract', () => {
  expect(estateFingerprint('3', [])).toBe(
    '0xddb2364e2ad70c712830fb8b52823d50e037df0bd5c7351085a42f28d82a5d89',
  )
  const of2 = '0x38863c48f1eb8168d3d333a52342aa97684d2ad099741aca85923358ef43daba'
  expect(
    estateFingerprint('2', [
      { x: 8, y: 20 },
      { x: 8, y: 21 },
    ]),
  ).toBe(of2)

  const grown = toggleParcel(of2, { x: 8, y: 22 })

  expect(grown).not.toBe(of2)
  expect(toggleParcel(grown, { x: 8, y: 22 })).toBe(of2)
})
