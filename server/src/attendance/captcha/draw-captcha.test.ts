import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { convertIndexedToRgb, decode } from 'fast-png'
import { expect, test } from 'vitest'
import { readPng } from '../../../test/support/images/png.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import { CAPTCHA_HEIGHT_PX, CAPTCHA_WIDTH_PX, drawCaptcha } from './draw-captcha.ts'
import { ALPHABET } from './glyphs.ts'
import { Keystream } from './keystream.ts'
import { writeLetters } from './letters.ts'
import { boxOf } from './trace.ts'

const SHEET = { widthPx: CAPTCHA_WIDTH_PX, heightPx: CAPTCHA_HEIGHT_PX, penPx: 7 }

const seeds = fc.uint8Array({ minLength: 16, maxLength: 16 })
const texts = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 5, maxLength: 5 })

function seedOf(name: string): Buffer {
  return createHash('sha256').update(name).digest().subarray(0, 16)
}

function textOf(name: string): string {
  const random = new Keystream(seedOf(`text ${name}`))
  return Array.from({ length: 5 }, () => random.pick([...ALPHABET])).join('')
}

/** 1 for ink: pixels nearer to the darkest tone than to the lightest. */
function inkOf(file: Buffer): Uint8Array {
  const rgb = convertIndexedToRgb(decode(file))
  const tones = new Uint16Array(rgb.length / 3)
  let [darkest, lightest] = [Number.POSITIVE_INFINITY, 0]
  // Loops, because a function for each of the 75,000 pixels takes several times as long
  for (let px = 0; px < tones.length; px++) {
    const tone = rgb[3 * px]! + rgb[3 * px + 1]!
    tones[px] = tone
    darkest = Math.min(darkest, tone)
    lightest = Math.max(lightest, tone)
  }
  const middle = darkest + 0.43 * (lightest - darkest)
  const ink = new Uint8Array(tones.length)
  for (let px = 0; px < tones.length; px++) ink[px] = tones[px]! < middle ? 1 : 0
  return ink
}

test('every text is a PNG of 500 x 150 and 10 to 24 kB, with equal pixels in two decoders', () => {
  fc.assert(
    fc.property(texts, seeds, (text, seed) => {
      const file = drawCaptcha(text, seed)

      const { widthPx, heightPx } = readPng(file)
      expect([widthPx, heightPx]).toEqual([500, 150])
      expect(file.length).toBeGreaterThan(10_000)
      expect(file.length).toBeLessThan(24_000)
    }),
    { numRuns: runs(20) },
  )
})

test('the same text and seed give the same image, another text or seed another one', () => {
  const file = drawCaptcha('K3WEA', seedOf('a'))

  expect(drawCaptcha('K3WEA', seedOf('a'))).toEqual(file)
  expect(drawCaptcha('K3WEA', seedOf('b'))).not.toEqual(file)
  expect(drawCaptcha('K3WED', seedOf('a'))).not.toEqual(file)
})

test('the letters of any text stay inside the image, and use its space', () => {
  fc.assert(
    fc.property(texts, seeds, (text, seed) => {
      const { left, right, top, bottom } = boxOf(writeLetters(text, SHEET, new Keystream(seed)))

      expect(Math.min(left, top)).toBeGreaterThan(0)
      expect(right).toBeLessThan(CAPTCHA_WIDTH_PX)
      expect(bottom).toBeLessThan(CAPTCHA_HEIGHT_PX)
      expect(right - left).toBeGreaterThan(250)
      expect(bottom - top).toBeGreaterThan(90)
    }),
    { numRuns: runs(150) },
  )
})

test('a drawing has a limited number of line segments', () => {
  fc.assert(
    fc.property(texts, seeds, (text, seed) => {
      const letters = writeLetters(text, SHEET, new Keystream(seed))

      // 5 letters of at most 4 strokes; each segment touches at most 400 pixels
      expect(letters.reduce((sum, { points }) => sum + points.length, 0)).toBeLessThan(600)
    }),
    { numRuns: runs(150) },
  )
})

test('two drawings of a text are never similar: a table of images does not help', () => {
  const files = Array.from({ length: 100 }, (_, i) => drawCaptcha('K3WEA', seedOf(`${i}`)))

  expect(new Set(files.map((file) => file.toString('latin1'))).size).toBe(100)
  const inks = files.slice(0, 12).map((file) => inkOf(file))
  // For any two drawings, at least a fifth of the ink of one is no ink in the other
  for (const [i, one] of inks.entries()) {
    for (const other of inks.slice(i + 1)) {
      let [parted, inAny] = [0, 0]
      for (let px = 0; px < one.length; px++) {
        parted += one[px]! ^ other[px]!
        inAny += one[px]! | other[px]!
      }
      expect(parted / inAny).toBeGreaterThan(0.2)
    }
  }
})

test('recognition by the most similar known letter image fails mostly', () => {
  const known = Array.from({ length: 100 }, (_, i) => lettersOf(`known ${i}`)).flat()
  const asked = Array.from({ length: 40 }, (_, i) => lettersOf(`asked ${i}`))

  const isRight = asked.map((letters) =>
    letters.map(({ cells, character }) => mostSimilar(known, cells) === character),
  )

  const rightLetters = isRight.flat().filter(Boolean).length
  expect(rightLetters / (5 * asked.length)).toBeLessThan(0.4) // blind guesses: 0.07
  expect(isRight.filter((letters) => letters.every(Boolean)).length).toBeLessThan(2)
})

interface Cut {
  readonly character: string
  readonly cells: Float32Array
}

const CUT_COLUMNS = 16
const CUT_ROWS = 20

/** The image without its margins in five equal parts, each as a small grid of how much ink there is. */
function lettersOf(name: string): Cut[] {
  const text = textOf(name)
  const ink = inkOf(drawCaptcha(text, seedOf(name)))
  const [left, right] = sidesOf(ink)
  const wide = (right - left) / 5
  return [...text].map((character, i) => ({ character, cells: cellsOf(ink, left + i * wide, wide) }))
}

/** The first and the last column with more ink than two lines have. */
function sidesOf(ink: Uint8Array): [number, number] {
  const columns = Array.from({ length: CAPTCHA_WIDTH_PX }, (_, x) => {
    let sum = 0
    for (let y = 0; y < CAPTCHA_HEIGHT_PX; y++) sum += ink[y * CAPTCHA_WIDTH_PX + x]!
    return sum > 34
  })
  return [columns.indexOf(true), columns.lastIndexOf(true)]
}

function cellsOf(ink: Uint8Array, left: number, wide: number): Float32Array {
  const cells = new Float32Array(CUT_COLUMNS * CUT_ROWS)
  for (let y = 0; y < CAPTCHA_HEIGHT_PX; y++) {
    const row = Math.floor((y * CUT_ROWS) / CAPTCHA_HEIGHT_PX)
    for (let x = 0; x < Math.floor(wide); x++) {
      const at = row * CUT_COLUMNS + Math.floor((x * CUT_COLUMNS) / wide)
      cells[at] = cells[at]! + ink[y * CAPTCHA_WIDTH_PX + Math.floor(left) + x]!
    }
  }
  return cells
}

function mostSimilar(known: readonly Cut[], cells: Float32Array): string {
  let [least, found] = [Number.POSITIVE_INFINITY, '']
  for (const { cells: others, character } of known) {
    let apart = 0
    for (let i = 0; i < cells.length; i++) apart += (cells[i]! - others[i]!) ** 2
    if (apart < least) [least, found] = [apart, character]
  }
  return found
}
