import { expect, test } from 'vitest'
import { isolated, withoutTurns } from './bidi.ts'

const RLO = '\u202e'
const PDI = '\u2069'

test('a name from left to right is unchanged', () => {
  for (const name of [
    'Old Arcade',
    'Élan',
    'e\u0301',
    'Ωδή',
    'Дом № 5',
    '서울',
    '地产 7',
    'コーヒーの店',
    'ไทย',
    '“A” — m²',
    '',
    '👩‍🚀',
  ])
    expect(isolated(name)).toBe(name)
})

test('a name from right to left is isolated from the sentence around it', () => {
  expect(isolated('בית 12')).toBe('\u2068בית 12\u2069')
  expect(isolated('سوق')).toBe('\u2068سوق\u2069')
  expect(isolated('12\u200f')).toBe('\u206812\u200f\u2069')
})

test.each([
  ['Old South Arabian', '𐩱𐩨'],
  ['Hanifi Rohingya', '𐴀𐴁'],
  ['Mende Kikakui', '𞠀'],
  ['Phoenician', '𐤀'],
  ['Arabic digits', '٧'],
  ['Arabic punctuation', '7؟'],
  ['the mark of a verse', '\u06dd'],
  ['Siyaq numbers', '\u{1ec71}'],
  ['a script that Unicode does not have yet', '\u{1e9ff}'],
])('a name in %s is isolated', (_, name) => {
  expect(isolated(name)).toBe(`\u2068${name}\u2069`)
})

test('no name can turn what follows it, or end its isolation', () => {
  expect(withoutTurns(`a${RLO}b${PDI}c`)).toBe('abc')
  expect(isolated(`${PDI}בית${RLO}`)).toBe('\u2068בית\u2069')
})
