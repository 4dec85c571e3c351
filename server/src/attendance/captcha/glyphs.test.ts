import { expect, test } from 'vitest'
import { ALPHABET, glyphsOf, LOOK_ALIKES } from './glyphs.ts'

test('no two characters of the alphabet look alike', () => {
  const alikes = [
    '0OQD',
    '1ILJ7T',
    '2Z',
    '5S',
    '6GB',
    '8B3',
    'UVJ',
    'EF',
    'PR',
    'CGE',
    'HN',
    'MN',
    '4A',
    'XY',
  ]

  for (const alike of alikes) {
    const kept = [...alike].filter((character) => ALPHABET.includes(character))
    // J and T are far enough from each other: one has a hook, the other a bar
    expect(kept.join(''), alike).toMatch(/^(?:.?|JT)$/)
  }
})

test('look-alikes are not in the alphabet, and are replaced by a character of it', () => {
  for (const [typed, meant] of LOOK_ALIKES) {
    expect(ALPHABET).not.toContain(typed)
    expect(ALPHABET).toContain(meant)
  }
})

test('every character has two shapes, whose points are in the box', () => {
  for (const character of ALPHABET) {
    const glyphs = glyphsOf(character)

    expect(glyphs, character).toHaveLength(2)
    const places = glyphs.flatMap(({ strokes }) => strokes.flat(2))
    expect(Math.min(...places), character).toBe(0)
    expect(Math.max(...places), character).toBe(100)
    for (const { strokes } of glyphs)
      expect(Math.min(...strokes.map(({ length }) => length))).toBeGreaterThan(2)
  }
})
