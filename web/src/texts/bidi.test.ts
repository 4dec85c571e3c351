import { expect, test } from 'vitest'
import { isolated, withoutTurns } from './bidi.ts'

const RLO = '\u202e'
const PDI = '\u2069'

test('a name from left to right is unchanged', () => {
  for (const name of ['Old Arcade', 'Élan', '서울', '地产 7', '', '👩‍🚀']) expect(isolated(name)).toBe(name)
})

test('a name from right to left is isolated from the sentence around it', () => {
  expect(isolated('בית 12')).toBe('\u2068בית 12\u2069')
  expect(isolated('سوق')).toBe('\u2068سوق\u2069')
  expect(isolated('12\u200f')).toBe('\u206812\u200f\u2069')
})

test('no name can turn what follows it, or end its isolation', () => {
  expect(withoutTurns(`a${RLO}b${PDI}c`)).toBe('abc')
  expect(isolated(`${PDI}בית${RLO}`)).toBe('\u2068בית\u2069')
})
