import { parseWorld } from '@landpass/client/grid'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCoordinates } from '../../../server/src/attendance/events/coordinates.ts'
import { AppError } from '../../../server/src/errors.ts'
import {
  coordinatesText,
  MAX_PLACES,
  placesBetween,
  placeText,
  readCoordinates,
  withDrawn,
} from './coordinates.ts'

const bounds = { minX: -150, minY: -150, maxX: 150, maxY: 150 }
const world = parseWorld('-150,-150,150,150')!
const many = Array.from({ length: MAX_PLACES }, (_, i) => `${i % 150},${Math.floor(i / 150)}`)

/** Texts as people type them: pairs, some of them bad, and whatever stands around them. */
const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.integer({ min: -160, max: 160 }), fc.integer({ min: -160, max: 160 })).map(String),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      ';',
      '-0,0',
      ' 1 , 2 ',
      '1.5,2',
      '007,1',
      '1-0,5',
      '--0,1',
      '1,2,3',
      '−1,2',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 12, unit: 'binary' }) },
)
const typed = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(';'))
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

  test('is judged as the server judges it, whatever it is', () => {
    fc.assert(
      fc.property(typed, (text) => {
        expect(ourJudgement(text)).toEqual(serversJudgement(text))
      }),
      { numRuns: 2_000 },
    )
  })

  test('is left to the server where nobody knows how large the world is', () => {
    expect(readCoordinates('99999,0').fault).toBeUndefined()
  })
})

describe('what an organiser draws', () => {
  test('adds what is missing, takes out what was all there, and leaves slips alone', () => {
    expect(withDrawn('', [{ x: 1, y: 2 }])).toBe('1,2')
    expect(
      withDrawn('1,1;', [
        { x: 1, y: 1 },
        { x: 2, y: 1 },
      ]),
    ).toBe('1,1;2,1')
    expect(withDrawn(' 1 , 1 ;here;1,1', [{ x: 1, y: 1 }])).toBe('here')
  })

  test('the same stroke a second time takes it all back', () => {
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

function ourJudgement(text: string) {
  const { places, fault } = readCoordinates(text, bounds)
  if (!fault) return coordinatesText(places)
  return fault.kind === 'missing'
    ? { position: 1, pair: '' }
    : { pair: fault.pair, position: positionOf(fault) }
}

function positionOf(fault: { readonly kind: string; readonly position?: number }): number {
  return fault.position ?? MAX_PLACES + 1
}

function serversJudgement(text: string) {
  try {
    return coordinatesText(parseCoordinates(text, world))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { pair: error.data.pair, position: error.data.position }
  }
}
