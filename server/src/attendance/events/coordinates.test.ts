import { coordText, parseWorld } from '@landpass/client/grid'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError, ERRORS } from '../../errors.ts'
import { coordinatesText, MAX_COORDINATES, parseCoordinates, readCoordinates } from './coordinates.ts'

const world = parseWorld('-150,-150,150,150')!
const texts = (text: string) => parseCoordinates(text, world).map(coordText)

test('the page of errors says how many an event may have', () => {
  expect(ERRORS.invalid_coordinates.next).toContain(`1 to ${MAX_COORDINATES} pairs`)
})

describe('coordinates of an event', () => {
  test.each([
    ['52,-10', ['52,-10']],
    ['52,-10;53,-10', ['52,-10', '53,-10']],
    ['53,-10;52,-10;', ['53,-10', '52,-10']],
    [' 52 , -10 ; 53,-10 ', ['52,-10', '53,-10']],
    ['1,1;1,1;2,2;1,1', ['1,1', '2,2']],
    ['-0,0', ['0,0']],
  ])('%j are %j', (text, places) => {
    expect(texts(text)).toEqual(places)
  })

  test.each([
    ['', 1, 'missing'],
    ['52', 1, '"52"'],
    ['52,-10;1.5,2', 2, '"1.5,2"'],
    ['52,-10;;53,-10', 2, '""'],
    ['52,-10,4', 1, '"52,-10,4"'],
    ['0,0;151,0', 2, '151,0'],
    ['1e2,0', 1, '"1e2,0"'],
    ['٣,0', 1, 'whole numbers'],
    ['0x10,1', 1, '"0x10,1"'],
    ['007,1', 1, '"007,1"'],
    ['5 2,-1 0', 1, '"5 2,-1 0"'],
    ['1,1;- 5,2', 2, '"- 5,2"'],
    ['5,- 2', 1, '"5,- 2"'],
  ])('%j is refused for its pair %i', (text, position, said) => {
    const error = refusalOf(text)

    expect(error.code).toBe('invalid_coordinates')
    expect(error.message).toContain(said)
    expect(error.data.position).toBe(position)
  })

  test('the refusal of a place outside names all rectangles of the world', () => {
    const inTwo = parseWorld('-150,-150,150,150;151,59,163,150')!

    expect(refusalOf('0,0;163,151', inTwo).message).toBe(
      'Pair 2 of the coordinates, 163,151, lies outside the world, which reaches from -150,-150 to 150,150 or 151,59 to 163,150.',
    )
  })

  test('500 of them, and not one more; duplicates do not count', () => {
    const places = Array.from({ length: MAX_COORDINATES }, (_, i) => `${i % 150},${Math.floor(i / 150)}`)

    expect(texts([...places, ...places].join(';'))).toEqual(places)
    for (const beyond of ['-1,-1', `-1,-1;${'-150,-150;'.repeat(5_000)}`])
      expect(refusalOf([...places, beyond].join(';')).message).toBe(
        'The list of coordinates is too long: an event has at most 500, and -1,-1 is one too many.',
      )
  })

  test('what is written is read again', () => {
    const place = fc.record({
      x: fc.integer({ min: -150, max: 150 }),
      y: fc.integer({ min: -150, max: 150 }),
    })
    fc.assert(
      fc.property(fc.uniqueArray(place, { selector: coordText, minLength: 1, maxLength: 50 }), (places) => {
        expect(readCoordinates(coordinatesText(places))).toEqual(places)
        expect(parseCoordinates(coordinatesText(places), world)).toEqual(places)
      }),
    )
  })

  test('any text is coordinates or a refusal that shows at most 40 letters of it', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80, unit: 'binary' }), (text) => {
        const result = tryParse(text)
        if (result instanceof AppError) expect(String(result.data.pair).length).toBeLessThanOrEqual(40)
        else expect(result.length).toBeGreaterThan(0)
      }),
    )
  })
})

function tryParse(text: string, shape = world) {
  try {
    return parseCoordinates(text, shape)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

function refusalOf(text: string, shape = world): AppError {
  const result = tryParse(text, shape)
  if (result instanceof AppError) return result
  return expect.fail(`${text} was taken`)
}
