import { expect, test } from 'vitest'
import { priceClass, priceClassKey } from './land-classes.ts'

test.each([
  ['0', '0-1'],
  ['0.999999999999999999', '0-1'],
  ['1', '1-2'],
  ['1.999999999999999999', '1-2'],
  ['2', '2-5'],
  ['5', '5-10'],
  ['9.5', '5-10'],
  ['10', '10-20'],
  ['1999.5', '1000-2000'],
  ['2000', '2000-5000'],
  ['9'.repeat(60), `5${'0'.repeat(59)}-1${'0'.repeat(60)}`],
])('%s is of the class %s', (price, key) => {
  expect(priceClassKey(priceClass(price))).toBe(key)
})

test('classes are numbered from the lowest price', () => {
  const numbers = ['0', '1', '2', '5', '10', '20', '50', '100'].map(priceClass)

  expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
})
