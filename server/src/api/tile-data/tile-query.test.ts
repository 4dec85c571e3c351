import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parameterReader } from '../../http/validation.ts'
import { TILE_FIELDS } from './tile-forms.ts'
import { readTileArea, readTileFields, readTileFilter, type TileQuery, tileQuery } from './tile-query.ts'

const BOUNDS = { minX: -150, minY: -150, maxX: 150, maxY: 150 }

/** As the server reads it. */
function read(text: string): TileQuery {
  const reader = parameterReader({
    schema: tileQuery,
    method: 'GET',
    url: '/v2/tiles',
    httpPart: 'querystring',
  })
  const values = new URLSearchParams(text)
  const given = Object.fromEntries(
    [...new Set(values.keys())].map((name) => {
      const all = values.getAll(name)
      return [name, all.length === 1 ? all[0] : all]
    }),
  )
  return (reader(given) as { value: TileQuery }).value
}

describe('an area', () => {
  test('is the same whichever corners are given first', () => {
    const place = fc.integer({ min: -999_999, max: 999_999 })
    fc.assert(
      fc.property(place, place, place, place, (x1, y1, x2, y2) => {
        const area = readTileArea({ x1, y1, x2, y2 }, BOUNDS)
        for (const other of [
          { x1: x2, y1: y2, x2: x1, y2: y1 },
          { x1, y1: y2, x2, y2: y1 },
          { x1: x2, y1, x2: x1, y2 },
        ])
          expect(readTileArea(other, BOUNDS)).toEqual(area)
      }),
    )
  })

  test('has exactly the parcels between its corners that are in the world', () => {
    const near = fc.integer({ min: -160, max: 160 })
    fc.assert(
      fc.property(near, near, near, near, near, near, (x1, y1, x2, y2, x, y) => {
        const area = readTileArea({ x1, y1, x2, y2 }, BOUNDS)
        const isBetween = (value: number, a: number, b: number) =>
          value >= Math.min(a, b) && value <= Math.max(a, b)
        const isInside = (place: { x: number; y: number }, { minX, minY, maxX, maxY }: typeof BOUNDS) =>
          place.x >= minX && place.x <= maxX && place.y >= minY && place.y <= maxY
        expect(isInside({ x, y }, area)).toBe(
          isBetween(x, x1, x2) && isBetween(y, y1, y2) && isInside({ x, y }, BOUNDS),
        )
      }),
    )
  })

  test('is the whole world without corners', () => {
    expect(readTileArea(read(''), BOUNDS)).toEqual(BOUNDS)
  })

  test.each(['x1', 'y1', 'x2', 'y2'])('is refused without %s, and says so', (missing) => {
    const query = ['x1', 'y1', 'x2', 'y2'].filter((name) => name !== missing).map((name) => `${name}=1`)

    expect(() => readTileArea(read(query.join('&')), BOUNDS)).toThrow(
      `${missing} is missing, but must be given, as x1, y1, x2 and y2 belong together.`,
    )
  })

  test.each(['1.5', '1e2', '0x1', ' 1', '1000000', '-1000000', 'NaN', '01', '-0'])(
    'is refused with %j for a corner',
    (value) => {
      expect(() => read(`x1=${encodeURIComponent(value)}&y1=0&x2=0&y2=0`)).toThrow(
        /^x1 is .* a whole number from -999999 to 999999\.$/,
      )
    },
  )
})

describe('the fields', () => {
  const subset = fc.subarray([...TILE_FIELDS], { minLength: 1 })

  test('are those that are included, or all but those that are excluded', () => {
    fc.assert(
      fc.property(subset, fc.boolean(), (names, isReversed) => {
        const list = (isReversed ? names.toReversed() : names).join(',')
        expect([...readTileFields(read(`include=${list}`))]).toEqual(names)
        expect([...readTileFields(read(`exclude=${list}`))]).toEqual(
          TILE_FIELDS.filter((one) => !names.includes(one)),
        )
      }),
    )
  })

  test('are all fields if the query names none, or all', () => {
    expect([...readTileFields(read(''))]).toEqual(TILE_FIELDS)
    expect([...readTileFields(read('include=&exclude='))]).toEqual(TILE_FIELDS)
    expect([...readTileFields(read(`include=${TILE_FIELDS.join(',')}`))]).toEqual(TILE_FIELDS)
  })

  test('exclude is ignored if include is given, and a name given twice counts once', () => {
    expect([...readTileFields(read('include=x,y,x&exclude=x'))]).toEqual(['x', 'y'])
  })

  test('that there are not are left out, however they are written', () => {
    expect([...readTileFields(read('include=rentalListing,type,colour'))]).toEqual(['type'])
    expect([...readTileFields(read('include=colour'))]).toEqual([])
    expect([...readTileFields(read('exclude=rentalListing'))]).toEqual(TILE_FIELDS)
    for (const list of [',', 'X', 'x;y', '__proto__', 'constructor', 'length'])
      expect([...readTileFields(read(`include=${encodeURIComponent(list)}`))], list).toEqual([])
    for (const list of ['x,', ',x', 'x,,y', 'x, y', ' x ,y', `${'y,'.repeat(500)}x`])
      expect(readTileFields(read(`include=${encodeURIComponent(list)}`)).has('x'), list).toBe(true)
  })

  test('of a second list do not count: a public client sends its unwanted fields so', () => {
    expect([...readTileFields(read('include=x,y&include=owner'))]).toEqual(['x', 'y'])
    expect([...readTileFields(read('exclude=x&exclude=y'))]).toEqual(
      TILE_FIELDS.slice(0, 1).concat(TILE_FIELDS.slice(2)),
    )
  })
})

describe('the filter', () => {
  test('is an owner, in any letter case, and one or more types', () => {
    const owner = `0x${'aB'.repeat(20)}`

    expect(readTileFilter(read(''))).toBeUndefined()
    expect(readTileFilter(read(`owner=${owner}`))).toEqual({ owner: owner.toLowerCase(), types: undefined })
    expect(readTileFilter(read('type=road,plaza,road'))).toEqual({
      owner: undefined,
      types: new Set(['road', 'plaza']),
    })
  })

  test.each([
    'owner=0x1',
    'owner=me',
    'type=roads',
    'type=road,',
    'type=10',
    'type=Owned',
    'type=owned&type=road',
  ])('is refused as %s', (text) => {
    expect(() => read(text)).toThrow(/^(owner|type) is .*, but must be (an address|one or more of owned, )/)
  })
})
