import { coordText, parseWorld } from '@landpass/client/grid'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../errors.ts'
import { MAX_SELECTED, readCenter, readSelected, readStyle } from './image-parameters.ts'

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

  test('may end in a semicolon', () => {
    expect(readSelected(WORLD, '10,10;')).toEqual([{ x: 10, y: 10 }])
    expect(readSelected(WORLD, '3,4;1,2;')).toEqual(readSelected(WORLD, '1,2;3,4'))
    expect(readSelected(WORLD, `${placesText(MAX_SELECTED)};`)).toHaveLength(1000)
  })

  test('at most a thousand coordinates', () => {
    expect(readSelected(WORLD, placesText(MAX_SELECTED))).toHaveLength(1000)
    const { message, data } = refusal(() => readSelected(WORLD, placesText(MAX_SELECTED + 1)))
    expect(message).toMatch(
      /^selected is .*, but must be at most 1000 coordinates x,y of the world, separated by ;\.$/,
    )
    expect(data).toMatchObject({ parameter: 'selected' })
    // Repeated coordinates are counted each time
    refusal(() => readSelected(WORLD, '0,0;'.repeat(1_000_000)))
  })

  test('coordinates outside the world are refused, and named', () => {
    for (const [text, part] of [
      ['1,2;3', '3'],
      ['1,2;;', ''],
      [';', ''],
      ['1,2;;3,4', ''],
      ['1,2 ;3,4', '1,2 '],
      ['0,0;151,0', '151,0'],
      ['1,2,3', '1,2,3'],
      ['1,-0', '1,-0'],
    ] as const) {
      expect(refusal(() => readSelected(WORLD, text)).data, text).toMatchObject({
        parameter: 'selected',
        value: part,
      })
    }
  })

  test('coordinates between the rectangles of the world are refused', () => {
    const world = parseWorld('0,0,9,9;20,20,29,29')!
    expect(readSelected(world, '0,0;29,29')).toHaveLength(2)
    expect(refusal(() => readSelected(world, '15,15')).message).toContain('0,0 to 9,9 or 20,20 to 29,29')
  })
})

describe('center', () => {
  test('is 0,0 if left out, or the middle of a world without 0,0', () => {
    expect(readCenter(WORLD, undefined)).toEqual({ x: 0, y: 0 })
    expect(readCenter(parseWorld('10,10,20,30')!, undefined)).toEqual({ x: 15, y: 20 })
  })

  test('may be any coordinates within the bounds, also between the rectangles', () => {
    const world = parseWorld('0,0,9,9;20,20,29,29')!
    expect(readCenter(world, '15,15')).toEqual({ x: 15, y: 15 })
    for (const text of ['150,-150', '-150,150', '0,0']) expect(coordText(readCenter(WORLD, text))).toBe(text)
  })

  test('anything else is refused with the range', () => {
    for (const text of ['151,0', '0,-151', '', '1', '1,2;3,4', 'a,b', '1.5,2', '1, 2']) {
      expect(refusal(() => readCenter(WORLD, text)).message, text).toBe(
        `center is ${JSON.stringify(text)}, but must be x,y: whole numbers from -150,-150 to 150,150.`,
      )
    }
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
