import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NumberSet } from './number-set.ts'

const END = 200
const numbers = fc.uniqueArray(fc.nat({ max: END - 1 })).map((list) => list.sort((a, b) => a - b))

test('a set of bits has the numbers that it was made of, and no others', () => {
  fc.assert(
    fc.property(numbers, numbers, fc.nat({ max: END }), (some, others, from) => {
      const set = NumberSet.of(some)

      for (const one of [...some, ...others, 5_000]) expect(set.has(one)).toBe(some.includes(one))
      expect([...set.list()]).toEqual(some)
      expect(set.count()).toBe(some.length)
      const read = new Uint32Array(3)
      const behind = some.filter((one) => one >= from).slice(0, 3)
      expect([...read.subarray(0, set.read(read, from))]).toEqual(behind)
    }),
  )
})

test('sets are joined as lists are', () => {
  fc.assert(
    fc.property(numbers, numbers, fc.nat({ max: END }), fc.nat({ max: END }), (some, others, from, to) => {
      const [one, other] = [NumberSet.of(some, END), NumberSet.of(others, END)]
      const both = some.filter((number) => others.includes(number))
      const isInRange = (number: number) => number >= from && number < to
      const range = one.copy()
      range.addRange(from, to)

      expect([...one.copy().keep(other).list()]).toEqual(both)
      expect(one.count(other)).toBe(both.length)
      expect([...one.list(other)]).toEqual(both)
      const read = new Uint32Array(3)
      const behind = both.filter((number) => number >= from).slice(0, 3)
      expect([...read.subarray(0, one.read(read, from, other))]).toEqual(behind)
      const either = new Set([...some, ...others])
      expect([...one.copy().addAll(other).list()]).toEqual([...either].sort((a, b) => a - b))
      expect([...one.copy().deleteAll(other).list()]).toEqual(some.filter((n) => !others.includes(n)))
      expect([...one.copy().filter(isInRange).list()]).toEqual(some.filter(isInRange))
      const all = Array.from({ length: END }, (_, number) => number)
      expect([...range.list()]).toEqual(all.filter((number) => isInRange(number) || some.includes(number)))
      for (const number of others) one.delete(number)
      expect([...one.list()]).toEqual(some.filter((number) => !others.includes(number)))
    }),
  )
})
