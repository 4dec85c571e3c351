import type { Coord } from '@landpass/client/grid'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { moneyText } from '../records/decimal.ts'
import { deadlineMs, manaText, safeInteger, weiOf } from './amounts.ts'
import {
  estateFingerprint,
  estateFingerprintV2,
  fingerprintTest,
  orderWithout,
  toggleParcel,
} from './fingerprints.ts'

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

const OF_42 = [
  { x: 0, y: 0 },
  { x: 1, y: 0 },
  { x: -1, y: -1 },
]

test('the second fingerprint of an estate depends on the order in which the registry keeps its parcels', () => {
  expect(estateFingerprintV2('42', OF_42)).toBe(
    '0x111dd9c0948afeb210870e8a7914f6bda5f0f5354ba5b910989a2bc4b3f8fc2e',
  )
  expect(estateFingerprintV2('42', OF_42.toReversed())).toBe(
    '0xeb5baf0d4feec381dd26c6f50fb2963babdd655eb25a04b470fb8ed9845f6b7d',
  )
  expect(estateFingerprintV2('42', [])).toBe(
    '0x738ec4523a32e26714b239cad35c0e20abdbe3b7073a069dc28acda6db04e5e6',
  )
})

test('a parcel that leaves gives its place to the last one', () => {
  const [first, second, third] = OF_42 as [Coord, Coord, Coord]
  const fourth = { x: 5, y: 5 }
  const leave = (parcel: Coord, members: readonly Coord[]) =>
    orderWithout([...OF_42, fourth], { parcel, members })
  expect(leave(first, [second, third, fourth])).toBe('5,5 1,0 -1,-1')
  expect(leave(fourth, OF_42)).toBeNull() // The order in which they joined.
  expect(leave(third, [first, second, fourth])).toBeNull()
})

test('the registry takes both fingerprints up to 18 parcels, and the second one alone above', () => {
  for (const [size, isFirstTaken] of [
    [18, true],
    [19, false],
  ] as const) {
    const parcels = Array.from({ length: size }, (_, x) => ({ x, y: 0 }))
    const fingerprint = estateFingerprint('7', parcels)
    const isTaken = fingerprintTest({ id: '7', fingerprint, parcels })
    expect(isTaken(fingerprint)).toBe(isFirstTaken)
    expect(isTaken(estateFingerprintV2('7', parcels))).toBe(true)
    expect(isTaken(estateFingerprintV2('7', parcels.toReversed()))).toBe(false)
  }
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
