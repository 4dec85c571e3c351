import { AWKWARD_NAMES } from '@landpass/simulators/demo/names'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldText } from './fold.ts'

test.each([
  ['  Élan\tCafé ', 'ELAN CAFE'],
  ['Straße', 'STRASSE'],
  ['（１２，−３４）', '(12,-34)'],
  ['ΟΔΟΣ', foldText('οδος')],
  ['ὁδός', foldText('οδοσ')],
  ['Đất Vàng đẹp', 'DAT VANG DEP'],
  ['Łódź Øre Æther Œuvre', 'LODZ ORE AETHER OEUVRE'],
  ['İstanbul ısı', 'ISTANBUL ISI'],
  ['Clockmakers’ Hill', "CLOCKMAKERS' HILL"],
  ['ﬁnal ℌall', 'FINAL HALL'],
  ['한강', foldText('한강'.normalize('NFD'))],
  ['林小姐的竹林', '林小姐的竹林'],
  ['❤️🏰', foldText('❤🏰')],
  ['\u202Eturned\u202C', 'TURNED'],
  ['a\u2028\u00a0\u3000b\nc', 'A B C'],
])('%j is compared as %j', (text, folded) => {
  expect(foldText(text)).toBe(folded)
})

test('a Korean word is found by the first letters of its syllables, while it is typed', () => {
  expect(foldText('한강').startsWith(foldText('하'))).toBe(true)
})

test('only blank text becomes empty, and folded text has no outer spaces and no line feeds', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const folded = foldText(text)

      expect(folded === '').toBe(text.trim() === '')
      expect(folded).toBe(folded.trim())
      expect(folded).not.toMatch(/[\n\r\t]/)
    }),
    {
      examples: [...AWKWARD_NAMES, '\u0301', '\u200b', '\u200b\ufeff', '\u00a8', '\ud800'].map((text) => [
        text,
      ]),
    },
  )
})

test('spaces, letter case and accents of the usual scripts make no difference', () => {
  for (const name of ['Élan Lantern', 'Dvořák’s Çarşı', 'Тихий рынок', 'Γαλάζιος Φάρος', '달빛 책방']) {
    expect(foldText(`  ${name.toUpperCase().replace(' ', '  ')} `), name).toBe(foldText(name))
    expect(foldText(name.toLowerCase().normalize('NFD')), name).toBe(foldText(name))
  }
})
