import { describe, expect, test } from 'vitest'
import type { AppError } from '../../errors.ts'
import { parameterReader } from '../../http/validation.ts'
import {
  manaRange,
  placeQuery,
  readManaRange,
  readPlaces,
  readTimeOf,
  readWholeRange,
  strictQuery,
  timeQuery,
  wholeRange,
  wordsOf,
  wordsQuery,
} from './land-filters.ts'

const KINDS = ['parcel', 'estate']
const DISTRICT = 'F77140F9-c7b4-4787-89c9-9fa0e219b079'

const schema = strictQuery({
  ...placeQuery,
  ...wholeRange('road', 'distance of the nearest road, in parcels'),
  ...manaRange('price', 'price'),
  from: timeQuery('From', 'At or after.'),
  kind: wordsQuery(KINDS, { title: 'Kind', description: 'Kinds.' }),
})

/** Reads a query as an endpoint does. */
function read(text: string) {
  const given: Record<string, unknown> = {}
  const query = new URLSearchParams(text)
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name)
    given[name] = values.length === 1 ? values[0] : values
  }
  const reader = parameterReader({ schema, method: 'GET', url: '/', httpPart: 'querystring' } as never)
  const { value } = (reader as (given: unknown) => { value: Record<string, never> })(given)
  return {
    places: readPlaces(value),
    road: readWholeRange(value, 'road'),
    price: readManaRange(value, 'price'),
    from: readTimeOf('from', value.from),
    kinds: wordsOf(value.kind),
  }
}

function refusalOf(text: string): Pick<AppError, 'code' | 'message' | 'data'> {
  try {
    return expect.fail(`${text} was read as ${JSON.stringify(read(text).places)}`)
  } catch (error) {
    return error as AppError
  }
}

describe('the parameters that lists share', () => {
  test('an area, a circle and districts say where land has a parcel', () => {
    expect(read(`nw=-3,7&se=2,5&center=0,1&radius=2.5&district=${DISTRICT}`).places).toEqual({
      area: { minX: -3, maxX: 2, minY: 5, maxY: 7 },
      center: { x: 0, y: 1 },
      radius: 2.5,
      districts: [DISTRICT.toLowerCase()],
    })
    expect(read('').places).toEqual({
      area: undefined,
      center: undefined,
      radius: undefined,
      districts: undefined,
    })
  })

  test('0 is a value, and a range may be open to one side', () => {
    expect(read('min_road=0&max_road=0').road).toEqual({ min: 0, max: 0 })
    expect(read('max_road=3').road).toEqual({ min: undefined, max: 3 })
    expect(read('radius=0&center=1,2').places.radius).toBe(0)
    expect(read('min_road=&max_road=3').road).toEqual({ min: undefined, max: 3 })
  })

  test('prices keep every digit', () => {
    expect(read('min_price=0.000000000000000001&max_price=9007199254740993').price).toEqual({
      min: 1n,
      max: 9_007_199_254_740_993n * 10n ** 18n,
    })
  })

  test.each([
    ['1772323200000', 1_772_323_200_000],
    ['2026-03-01', Date.UTC(2026, 2, 1)],
    ['2026-03-01T00:30:00%2B01:00', Date.UTC(2026, 1, 28, 23, 30)],
    ['2026-03-01T00:00:00.5Z', Date.UTC(2026, 2, 1) + 500],
  ])('%s is a time', (text, timeMs) => {
    expect(read(`from=${text}`).from).toBe(timeMs)
  })

  test('several words are separated by commas, or the parameter is repeated', () => {
    expect(read('kind=estate,parcel').kinds).toEqual(['estate', 'parcel'])
    expect(read('kind=estate&kind=parcel').kinds).toEqual(['estate', 'parcel'])
  })

  test.each([
    ['nwest=1,2', 'nwest'],
    ['min_rode=1', 'min_rode'],
    ['nw=1,2', 'se'],
    ['se=1,2', 'nw'],
    ['nw=3,2&se=1,2', 'nw'],
    ['nw=1,2&se=1,3', 'nw'],
    ['nw=1, 2&se=1,3', 'nw'],
    ['radius=3', 'center'],
    ['center=1,2&radius=-1', 'radius'],
    ['center=1,2&radius=NaN', 'radius'],
    ['min_road=2&max_road=1', 'min_road'],
    ['min_road=1.5', 'min_road'],
    ['min_price=2&max_price=1.999999999999999999', 'min_price'],
    ['min_price=1e3', 'min_price'],
    ['max_price=0.0000000000000000001', 'max_price'],
    ['from=2026-02-30', 'from'],
    ['from=2026-03-01T10:00:00', 'from'],
    ['from=yesterday', 'from'],
    ['kind=parcel,plot', 'kind'],
    ['district=7', 'district'],
  ])('%s is refused, and %s is named', (text, name) => {
    const { code, data, message } = refusalOf(text)

    expect([code, (data as { parameter: string }).parameter]).toEqual(['invalid_parameter', name])
    expect(message).toContain(name)
  })
})
