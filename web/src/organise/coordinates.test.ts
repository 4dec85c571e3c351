import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  coordinatesText,
  MAX_PLACES,
  MAX_TEXT_LENGTH,
  placesBetween,
  placeText,
  readCoordinates,
  withDrawn,
} from './coordinates.ts'

const bounds = { minX: -150, minY: -150, maxX: 150, maxY: 150 }
const many = Array.from({ length: MAX_PLACES }, (_, i) => `${i % 150},${Math.floor(i / 150)}`)

const place = fc.record({ x: fc.integer({ min: -5, max: 5 }), y: fc.integer({ min: -5, max: 5 }) })

type Places = readonly { readonly x: number; readonly y: number }[]

const FORMS: readonly ((places: Places) => string)[] = [
  (places) => places.map(({ x, y }) => ` ${x} ${y} `).join('\n'),
  (places) => places.map(({ x, y }) => `(${x}, ${y})`).join(' '),
  (places) => places.map(({ x, y }) => `[${x} ${y}]`).join(',\n'),
  (places) => places.map(placeText).join(', '),
  (places) => places.map(placeText).join(' ;\r\n'),
  (places) => JSON.stringify(places),
  (places) => JSON.stringify(places.map(placeText), null, 2),
  (places) => JSON.stringify(places.map(({ x, y }) => [x, y])),
  (places) => places.map(({ x, y }) => `X: ${x} Y: ${y}`).join(' '),
  (places) => places.map(({ x, y }) => `https://play.example.org/?position=${x},${y}`).join('\n'),
  (places) => fullWidth(coordinatesText(places)),
]

function fullWidth(text: string): string {
  return text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0))
}

describe('what an organiser types', () => {
  test.each([
    ['52,-10', '52,-10'],
    ['X: 52 Y: -10', '52,-10'],
    ['x=52, y=-10; X:53\nY:−10 X54Y-10', '52,-10;53,-10;54,-10'],
    ['{x: 52, y: -10}', '52,-10'],
    ['https://play.decentraland.org/?position=52,-10', '52,-10'],
    [
      'play.decentraland.org/?realm=main&position=52%2C-10&x=1\nhttps://decentraland.org/jump/?position=53,-10',
      '52,-10;53,-10',
    ],
    ['(https://play.decentraland.org/?position=52,-10); 53,-10', '52,-10;53,-10'],
    ['53,-10;52,-10;', '53,-10;52,-10'],
    [' 52 , -10 ;\n53,-10 ', '52,-10;53,-10'],
    ['1,1;1,1;2,2;1,1', '1,1;2,2'],
    ['-0,0', '0,0'],
    ['52 -10', '52,-10'],
    ['5 2,-1 0', '5,2;-1,0'],
    ['(52,-10)', '52,-10'],
    ['52,-10\n53,-10\r\n\n54,-10\n', '52,-10;53,-10;54,-10'],
    ['52,-10;\n53,-10;\n', '52,-10;53,-10'],
    ['52,-10, 53,-10', '52,-10;53,-10'],
    ['52 -10 53 -10', '52,-10;53,-10'],
    ['(52, -10), (53, -10) [54 -10] {55,-10}', '52,-10;53,-10;54,-10;55,-10'],
    ['(52,-10),\n(53,-10),', '52,-10;53,-10'],
    ['[(52,-10), (53,-10)]', '52,-10;53,-10'],
    ['[52, -10]', '52,-10'],
    ['[[52,-10],[53,-10]]', '52,-10;53,-10'],
    ['[52,-10,53,-10]', '52,-10;53,-10'],
    ['["52,-10", "53,-10"]', '52,-10;53,-10'],
    ['[{"x":52,"y":-10},{"x":"53","y":"-10"}]', '52,-10;53,-10'],
    ['{"scene":{"base":"52,-10","parcels":["52,-10","53,-10"]}}', '52,-10;53,-10'],
    ['５２，−１０；（５３、－１０）', '52,-10;53,-10'],
    ['\u200b52,\u00a0\u201310\ufeff', '52,-10'],
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
    ['52-10', { kind: 'unreadable', position: 1, pair: '52-10' }],
    ['52 - 10', { kind: 'unreadable', position: 1, pair: '52 - 10' }],
    ['- 5,2', { kind: 'unreadable', position: 1, pair: '- 5,2' }],
    ['52 , - 10', { kind: 'unreadable', position: 1, pair: '52 , - 10' }],
    ['1,1;2,2,3', { kind: 'unreadable', position: 2, pair: '2,2,3' }],
    ['(1,1),(2)', { kind: 'unreadable', position: 2, pair: '2' }],
    ['[[1,1],[2.5,1]]', { kind: 'unreadable', position: 2, pair: '2.5,1' }],
    ['[1,1,null]', { kind: 'unreadable', position: 1, pair: '1' }],
    ['[[1,1],{"z":1}]', { kind: 'unreadable', position: 2, pair: '{"z":1}' }],
    ['[]', { kind: 'missing' }],
    ['\u200b', { kind: 'missing' }],
    [[...many, '-1,-1'].join(';'), { kind: 'too_many', pair: '-1,-1' }],
    [[...many, '-1,-1', 'x'].join(';'), { kind: 'unreadable', position: 502, pair: 'x' }],
  ])('%.30j is not taken, and its first bad pair named', (text, fault) => {
    expect(readCoordinates(text, bounds).fault).toEqual(fault)
  })

  test('means the same in every form that people paste', () => {
    fc.assert(
      fc.property(
        fc.array(place, { minLength: 1, maxLength: 9 }),
        fc.constantFrom(...FORMS),
        (places, form) => {
          const read = readCoordinates(form(places), bounds)

          expect(read.fault).toBeUndefined()
          expect(coordinatesText(read.places)).toBe(
            coordinatesText(readCoordinates(coordinatesText(places)).places),
          )
        },
      ),
      { seed: 17 },
    )
  })

  test('of any text, what is read is sent in a form that is read again', () => {
    const letters = fc.constantFrom(...'0123456789-,; \n()[]{}"x:.－５，；', ' ', '1,2', '(3,4)')
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: letters, maxLength: 60 }))
    fc.assert(
      fc.property(texts, (text) => {
        const { places } = readCoordinates(text, bounds)

        expect(readCoordinates(coordinatesText(places), bounds).places).toEqual(places)
      }),
      { seed: 17, numRuns: 1_000 },
    )
  })

  test('is read in time that grows with its length alone', () => {
    for (const piece of ['1', ' ', '[', '(', ',', '1 ', '(1', '-', '1,']) {
      expect(readCoordinates(`${piece.repeat(MAX_TEXT_LENGTH / piece.length)}x`).fault).toBeDefined()
    }
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
