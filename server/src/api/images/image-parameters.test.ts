import { coordText, parseWorld } from '@landpass/client/grid'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../errors.ts'
import {
  FRAME_RANGES,
  MAX_SELECTED,
  readCenter,
  readFrame,
  readSelected,
  readStyle,
} from './image-parameters.ts'

const WORLD = parseWorld('-150,-150,150,150')!
const place = fc.record({ x: fc.integer({ min: -150, max: 150 }), y: fc.integer({ min: -150, max: 150 }) })

/** A list of `count` different coordinates. */
function placesText(count: number): string {
  return Array.from({ length: count }, (_, i) => `${(i % 301) - 150},${Math.floor(i / 301)}`).join(';')
}

function refusal(read: () => unknown): { message: string; data: unknown } {
  try {
    read()
  } catch (error) {
    if (error instanceof AppError) return { message: error.message, data: error.data }
    throw error
  }
  return expect.fail('it was read')
}

describe('selected', () => {
  test('every list of coordinates is read, each once, in any order', () => {
    fc.assert(
      fc.property(fc.array(place, { minLength: 1, maxLength: 30 }), fc.func(fc.integer()), (places, key) => {
        const shuffled = [...places].sort((a, b) => key(a) - key(b))
        const read = readSelected(WORLD, places.map(coordText).join(';'))
        expect(readSelected(WORLD, shuffled.map(coordText).join(';'))).toEqual(read)
        expect(new Set(read.map(coordText))).toEqual(new Set(places.map(coordText)))
        expect(read).toHaveLength(new Set(places.map(coordText)).size)
      }),
    )
  })

  test('is empty if left out', () => {
    expect(readSelected(WORLD, undefined)).toEqual([])
  })

  test('may end in a semicolon, and have blanks around its numbers', () => {
    expect(readSelected(WORLD, '10,10;')).toEqual([{ x: 10, y: 10 }])
    expect(readSelected(WORLD, '3,4;1,2;')).toEqual(readSelected(WORLD, '1,2;3,4'))
    expect(readSelected(WORLD, ' 3, 4 ;1 ,2; ')).toEqual(readSelected(WORLD, '1,2;3,4'))
    expect(readSelected(WORLD, `${placesText(MAX_SELECTED)};`)).toHaveLength(1000)
  })

  test('at most a thousand coordinates', () => {
    expect(readSelected(WORLD, placesText(MAX_SELECTED))).toHaveLength(1000)
    const { message, data } = refusal(() => readSelected(WORLD, placesText(MAX_SELECTED + 1)))
    expect(message).toMatch(/^selected is .*, but must be at most 1000 coordinates x,y, separated by ;\.$/)
    expect(data).toMatchObject({ parameter: 'selected' })
    // Repeated coordinates are counted each time
    refusal(() => readSelected(WORLD, '0,0;'.repeat(1_000_000)))
  })

  test('coordinates outside of the world are ignored, also between its rectangles', () => {
    expect(readSelected(WORLD, '151,0;0,0;-999999999,5')).toEqual([{ x: 0, y: 0 }])
    const world = parseWorld('0,0,9,9;20,20,29,29')!
    expect(readSelected(world, '0,0;15,15;29,29')).toHaveLength(2)
  })

  test('what is no coordinates is refused, and named', () => {
    for (const [text, part] of [
      ['1,2;3', '3'],
      ['1,2;;', ''],
      [';', ''],
      ['1,2;;3,4', ''],
      ['1 2,3', '1 2,3'],
      ['0.5,0', '0.5,0'],
      ['1,2,3', '1,2,3'],
    ] as const) {
      expect(refusal(() => readSelected(WORLD, text)).data, text).toMatchObject({
        parameter: 'selected',
        value: part,
      })
    }
  })
})

describe('center', () => {
  test('is 0,0 if left out, or the middle of a world without 0,0', () => {
    expect(readCenter(WORLD, undefined)).toEqual({ x: 0, y: 0 })
    expect(readCenter(parseWorld('10,10,20,30')!, undefined)).toEqual({ x: 15, y: 20 })
  })

  test('may be any point, with blanks and fractions, in the world or not', () => {
    for (const [text, x, y] of [
      ['150,-150', 150, -150],
      ['156,0', 156, 0],
      ['57, -133', 57, -133],
      [' 0.5 ,0', 0.5, 0],
      ['-1.25,1e2', -1.25, 100],
    ] as const)
      expect(readCenter(WORLD, text), text).toEqual({ x, y })
  })

  test('is moved to where the contract ends: farther land does not exist', () => {
    expect(readCenter(WORLD, '1e300,-99999999')).toEqual({ x: 999_999, y: -999_999 })
  })

  test('anything else is refused', () => {
    for (const text of ['', '1', '1,', ',', '1,2;3,4', 'a,b', '1,2,3', 'NaN,1', 'Infinity,0', '1e400,0']) {
      expect(refusal(() => readCenter(WORLD, text)).message, text).toBe(
        `center is ${JSON.stringify(text)}, but must be x,y: two numbers with a comma between them.`,
      )
    }
  })
})

describe('the frame', () => {
  const usual = { width: 500, height: 400, size: 10 }
  const read = (changed: Partial<typeof usual>) => readFrame(FRAME_RANGES, { ...usual, ...changed })

  test('is as it is asked for within its ranges; a parcel may have a fraction of a pixel', () => {
    expect(read({})).toEqual({ frame: { widthPx: 500, heightPx: 400, sizePx: 10 }, changes: undefined })
    expect(read({ width: 32, height: 2048, size: 5 }).changes).toBeUndefined()
    expect(read({ size: 25.6 })).toMatchObject({ frame: { sizePx: 25.6 }, changes: undefined })
  })

  test('has the nearest allowed numbers, and says which it has changed', () => {
    const number = fc.oneof(fc.double({ noNaN: true }), fc.double({ noNaN: true, min: -100, max: 5000 }))
    fc.assert(
      fc.property(number, number, number, (width, height, size) => {
        const { frame, changes = '' } = read({ width, height, size })
        for (const [name, asked, drawn, { min, max }] of [
          ['width', width, frame.widthPx, FRAME_RANGES.width],
          ['height', height, frame.heightPx, FRAME_RANGES.height],
          ['size', size, frame.sizePx, FRAME_RANGES.size],
        ] as const) {
          expect(drawn).toBeGreaterThanOrEqual(min)
          expect(drawn).toBeLessThanOrEqual(max)
          if (asked >= min && asked <= max) expect(Math.abs(drawn - asked)).toBeLessThan(1)
          else expect(drawn).toBe(asked < min ? min : max)
          expect(changes.split(',').includes(`${name}=${drawn}`), changes).toBe(drawn !== asked)
        }
        expect(Number.isInteger(frame.widthPx) && Number.isInteger(frame.heightPx)).toBe(true)
      }),
    )
    expect(read({ width: 9000, size: 100 }).changes).toBe('width=2048,size=40')
    expect(read({ width: 100.5 }).changes).toBe('width=100')
  })
})

test('publications and on-sale are the same parameter', () => {
  const shown = (publications: boolean, onSale: boolean) =>
    readStyle({ publications, 'on-sale': onSale, theme: 'dark' }).showsOffers
  expect([shown(false, false), shown(true, false), shown(false, true), shown(true, true)]).toEqual([
    false,
    true,
    true,
    true,
  ])
})
