import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  coordinatesText,
  MAX_PLACES,
  placesBetween,
  placeText,
  readCoordinates,
  withDrawn,
} from './coordinates.ts'

const bounds = { minX: -150, minY: -150, maxX: 150, maxY: 150 }
const many = Array.from({ length: MAX_PLACES }, (_, i) => `${i % 150},${Math.floor(i / 150)}`)

const place = fc.record({ x: fc.integer({ min: -5, max: 5 }), y: fc.integer({ min: -5, max: 5 }) })

describe('what an organiser types', () => {
  test.each([
    ['52,-10', '52,-10'],
    ['53,-10;52,-10;', '53,-10;52,-10'],
    [' 52 , -10 ;\n53,-10 ', '52,-10;53,-10'],
    ['1,1;1,1;2,2;1,1', '1,1;2,2'],
    ['-0,0', '0,0'],
  ])('%j is %j', (text, places) => {
    const read = readCoordinates(text, bounds)

    expect(read.fault).toBeUndefined()
    expect(coordinatesText(read.places)).toBe(places)
  })

  test.each([
    ['', { kind: 'missing' }],
    ['52,-10;here', { kind: 'unreadable', position: 2, pair: 'here' }],
    ['52,-10;;53,-10', { kind: 'unreadable', position: 2, pair: '' }],
    ['151,0;1.5,0', { kind: 'outside', position: 1, pair: '151,0' }],
    [[...many, '-1,-1'].join(';'), { kind: 'too_many', pair: '-1,-1' }],
    [[...many, '-1,-1', 'x'].join(';'), { kind: 'unreadable', position: 502, pair: 'x' }],
  ])('%.30j is not taken, and its first bad pair named', (text, fault) => {
    expect(readCoordinates(text, bounds).fault).toEqual(fault)
  })

  test('is left to the server where the bounds of the world are unknown', () => {
    expect(readCoordinates('99999,0').fault).toBeUndefined()
  })
})

describe('what an organiser draws', () => {
  test('adds what is missing, takes out what was all there, and leaves mistakes alone', () => {
    expect(withDrawn('', [{ x: 1, y: 2 }])).toBe('1,2')
    expect(
      withDrawn('1,1;', [
        { x: 1, y: 1 },
        { x: 2, y: 1 },
      ]),
    ).toBe('1,1;2,1')
    expect(withDrawn(' 1 , 1 ;here;1,1', [{ x: 1, y: 1 }])).toBe('here')
  })

  test('the same rectangle a second time removes it all', () => {
    const strokes = fc.uniqueArray(place, { minLength: 1, maxLength: 10, selector: placeText })
    fc.assert(
      fc.property(strokes, strokes, (before, stroke) => {
        const kept = before.filter((one) => !stroke.some((drawn) => placeText(drawn) === placeText(one)))
        const text = coordinatesText(kept)

        expect(withDrawn(withDrawn(text, stroke), stroke)).toBe(text)
      }),
    )
  })

  test('a rectangle has all of its places, from any corner, and is never beyond the limit', () => {
    expect(placesBetween({ x: 2, y: 0 }, { x: 1, y: 1 })?.map(placeText)).toEqual([
      '1,1',
      '2,1',
      '1,0',
      '2,0',
    ])
    expect(placesBetween({ x: 1, y: 1 }, { x: 25, y: 20 })).toHaveLength(500)
    expect(placesBetween({ x: 1, y: 1 }, { x: 167, y: 3 })).toBeUndefined()
  })
})
