import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/support/run/property-seed.ts'
import { nameRanks } from './name-ranks.ts'

const names = (minLength: number, maxLength: number) =>
  fc.array(fc.option(fc.constantFrom('b', 'B', 'é', 'e', 'a b', 'z'), { nil: undefined }), {
    ...{ minLength, maxLength },
  })

test('names have the same ranks however they came about', () => {
  const history = fc.array(fc.tuple(names(1, 2), names(3, 5)), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(history, (states) => {
      for (const [estates, parcels] of states) {
        const { ranks, keyOf, rankOf } = nameRanks(estates, parcels, estates.length + parcels.length)

        const folded = [...estates, ...parcels].map((name) => name?.toUpperCase().replace('É', 'E'))
        const sorted = folded.filter((name) => name !== undefined).sort()
        expect([...ranks]).toEqual(folded.map((name) => (name === undefined ? -1 : sorted.indexOf(name))))
        for (const [asset, name] of folded.entries()) {
          expect(keyOf(asset)).toBe(name)
          if (name !== undefined) expect(rankOf(name)).toBe(ranks[asset])
        }
        expect(rankOf('C')).toBe(sorted.filter((name) => name < 'C').length - 0.5)
      }
    }),
    { numRuns: runs(200) },
  )
})
