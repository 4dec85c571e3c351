import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/support/run/property-seed.ts'
import { calendarLine, xmlText } from './land-feeds.ts'

test('text within XML has no sign with a meaning, and no character that XML does not have', () => {
  expect(xmlText('a < b & "c" > d')).toBe('a &lt; b &amp; &quot;c&quot; &gt; d')
  expect(xmlText('bell \u0007, half \ud83d, whole 😀\n')).toBe('bell \ufffd, half \ufffd, whole 😀\n')
})

test('a line of a calendar is folded at 75 bytes, never within a character, and unfolds to itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
      const value = text.replace(/[\r\n]/g, '')
      const line = calendarLine('SUMMARY', value)

      for (const part of line.split('\r\n')) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(75)
      expect(Buffer.from(line).toString()).toBe(line)
      expect(line.replaceAll('\r\n ', '')).toBe(`SUMMARY:${value}\r\n`)
    }),
    { numRuns: runs(200) },
  )
})
