import fc from 'fast-check'
import { expect, test } from 'vitest'
import { positionsOf, withTexts } from './positions.ts'

const text = fc.constantFrom('ann', 'ben', 'eve', 'joe', 'kim', 'liz')

test('lists that grow out of each other have the positions of lists that were made at once', () => {
  const growth = fc.record({ of: fc.nat(), wanted: fc.array(text, { maxLength: 4 }) })
  fc.assert(
    fc.property(fc.uniqueArray(text), fc.array(growth, { maxLength: 6 }), (first, growths) => {
      const lists: (readonly string[])[] = [first]
      for (const { of, wanted } of growths) lists.push(withTexts(lists[of % lists.length]!, wanted))

      for (const list of lists)
        for (const one of ['ann', 'ben', 'eve', 'joe', 'kim', 'liz', 'max']) {
          const place = list.indexOf(one)
          expect(positionsOf(list).get(one)).toBe(place < 0 ? undefined : place)
          expect(positionsOf(list).has(one)).toBe(place >= 0)
        }
    }),
  )
})

test('a list gets each text once, at its end, and stays the same list where it has all of them', () => {
  const list = ['ben', 'ann']

  expect(withTexts(list, ['eve', 'ann', 'eve', 'joe'])).toEqual(['ben', 'ann', 'eve', 'joe'])
  expect(withTexts(list, ['ann'])).toBe(list)
  expect(list).toEqual(['ben', 'ann'])
})
