import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import docs from '../../../docs/map-page.md?raw'
import {
  ADDRESS_LISTS,
  FIRST_PAGE,
  LAYERS,
  type ListQuery,
  SORT_ORDERS,
  SORTS,
} from '../state/explore-state.ts'
import { FILTER_NAMES, type LandFilter, readFilter } from '../state/land-filter.ts'
import { type Permalink, parsePermalink, permalinkText, stepText } from './permalink.ts'

const BARE = parsePermalink('')
const ADDRESS = `0x${'a1'.repeat(20)}`
const DISTRICT = '11111111-2222-4333-8444-555555555555'

test('a bare address shows the whole world, what is on sale, and nothing selected', () => {
  expect(BARE).toEqual({ layer: 'on_sale', filter: {} })
  expect(permalinkText(BARE)).toBe('')
})

test('a link is readable', () => {
  const link: Permalink = {
    view: { x: 12, y: -34.126, zoom: 18 },
    selection: { type: 'parcel', x: 12, y: -34 },
    layer: 'price',
    mine: undefined,
    district: undefined,
    list: { name: 'land', page: 2, sortBy: 'price', sortOrder: 'asc' },
    filter: { status: 'open', max_price: '500.5', nw: '-5,9', se: '5,-9', q: 'Café & bar' },
    language: 'es',
    theme: 'dark',
  }

  expect(permalinkText(link)).toBe(
    '?at=12,-34.13&zoom=18&parcel=12,-34&layer=price&list=land&sort=price.asc&page=2' +
      '&status=open&max_price=500.5&nw=-5,9&se=5,-9&q=Caf%C3%A9%20%26%20bar&lang=es&theme=dark',
  )
})

test('the links of docs/map-page.md are as the page itself writes them', () => {
  const examples = [...docs.matchAll(/`([a-z]+=[^`]+)`|^ {4}\/\?(.+)$/gm)].map(
    ([, inTable, whole]) => inTable ?? whole,
  )

  expect(examples.length).toBeGreaterThan(9)
  for (const example of examples) expect(permalinkText(parsePermalink(`?${example}`))).toBe(`?${example}`)
})

test('every link survives the trip through its text', () => {
  fc.assert(
    fc.property(links(), (link) => {
      expect(parsePermalink(permalinkText(link))).toEqual(link)
    }),
  )
})

test('what browsers and messengers do to a link does it no harm', () => {
  fc.assert(
    fc.property(links(), (link) => {
      const text = permalinkText(link)
      const encoded = `?${new URLSearchParams(text)}`

      expect(parsePermalink(encoded)).toEqual(link)
      expect(parsePermalink(`${text}&utm_source=x&fbclid=y`)).toEqual(link)
    }),
  )
})

test.each([
  ['at=1,2', { x: 1, y: 2, zoom: 18 }],
  ['at=1,2&zoom=0', { x: 1, y: 2, zoom: 18 }],
  ['at=1,2&zoom=-3', { x: 1, y: 2, zoom: 18 }],
  ['at=1,2&zoom=Infinity&parcel=3,4', { x: 1, y: 2, zoom: 18 }],
  ['at=1,2&zoom=40&parcel=3,4', { x: 1, y: 2, zoom: 40 }],
  ['zoom=40&parcel=3,4', { x: 3, y: 4, zoom: 40 }],
  ['zoom=40&estate=7', undefined],
  ['parcel=3,4', undefined],
])('the map of %s is where its place and its zoom say', (query, view) => {
  expect(parsePermalink(`?${query}`).view).toEqual(view)
})

describe('garbage', () => {
  test('of any kind never throws, and what is made of it is a link', () => {
    const names = fc.constantFrom('at', 'zoom', 'parcel', 'estate', 'layer', 'mine', 'district', 'list', 'of')
    const more = fc.constantFrom('sort', 'page', 'lang', 'theme', '__proto__', 'constructor', '')
    const filters = fc.constantFrom(...FILTER_NAMES)
    const part = fc.tuple(fc.oneof(names, more, filters), fc.string({ unit: 'binary', maxLength: 20 }))
    const query = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 50 }),
      fc
        .array(part, { maxLength: 8 })
        .map((parts) => parts.map(([name, value]) => `${name}=${value}`).join('&')),
    )
    fc.assert(
      fc.property(query, (text) => {
        const link = parsePermalink(text)

        expect(parsePermalink(permalinkText(link))).toEqual(link)
      }),
    )
  })

  test.each([
    ['zoom=5', {}],
    ['at=1,2,3&zoom=5', {}],
    ['at=NaN,2&zoom=5', {}],
    ['at=1e3,2&zoom=5', {}],
    ['at=9999999,2&zoom=5', {}],
    ['parcel=1.5,2&zoom=5', {}],
    ['parcel=1.5,2', {}],
    ['parcel=1', {}],
    ['estate=<script>', {}],
    ['estate=-1', {}],
    [`estate=${'9'.repeat(79)}`, {}],
    ['layer=everything', {}],
    ['layer=toString', {}],
    ['mine=0x123', {}],
    ['district=../secret', {}],
    ['list=secrets', {}],
    ['lang=tlh', {}],
    ['theme=pink', {}],
    ['%E0%A4%A', {}],
  ])('%s is as if it were not there', (query, rest) => {
    expect(parsePermalink(`?${query}`)).toEqual({ ...BARE, ...rest })
  })

  test('takes nothing else with it', () => {
    const link = parsePermalink(
      '?at=x&zoom=18&parcel=1,x&estate=7&layer=price&list=land&sort=up.asc&status=free&max_size=-1&max_road=3&page=-2&lang=es&theme=',
    )

    expect(link).toEqual({
      layer: 'price',
      selection: { type: 'estate', id: '7' },
      list: { name: 'land', page: 1, sortBy: 'listed_at', sortOrder: 'asc' },
      filter: { max_road: '3' },
      language: 'es',
    })
  })
})

test('moving the map, another language and another theme are no steps; all else is', () => {
  const link = parsePermalink('?at=1,2&zoom=5&layer=price&lang=es&theme=dark')
  const moved = parsePermalink('?at=7,7&zoom=9&layer=price&lang=fr')

  expect(stepText(moved)).toBe(stepText(link))
  for (const change of [
    'parcel=1,2',
    'estate=1',
    'status=open',
    `district=${DISTRICT}`,
    'list=bids',
    `mine=${ADDRESS}`,
  ]) {
    expect(stepText(parsePermalink(`?layer=price&${change}`)), change).not.toBe(stepText(link))
  }
})

/** Any link. Views have at most two decimals, as links have. */
function links(): fc.Arbitrary<Permalink> {
  const hundredths = (min: number, max: number) =>
    fc.integer({ min: min * 100, max: max * 100 }).map((value) => value / 100)
  const whole = fc.integer({ min: -1000, max: 1000 })
  const address = fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: 40, maxLength: 40 })
    .map((digits) => `0x${digits.join('')}`)
  const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })
  const page = fc.integer({ min: 1, max: 999 })
  const list = fc.oneof(
    fc.record({
      name: fc.constant('land' as const),
      page,
      sortBy: fc.constantFrom(...SORTS),
      sortOrder: fc.constantFrom(...SORT_ORDERS),
    }),
    fc.constant({ name: 'sales', ...FIRST_PAGE }),
    fc.record({
      name: fc.constant('watched' as const),
      page,
      sortBy: fc.constant('listed_at' as const),
      sortOrder: fc.constant('desc' as const),
    }),
    fc.record(
      {
        name: fc.constantFrom(...ADDRESS_LISTS),
        address,
        page,
        sortBy: fc.constant('listed_at' as const),
        sortOrder: fc.constant('desc' as const),
      },
      { requiredKeys: ['name', 'page', 'sortBy', 'sortOrder'] },
    ),
  ) as fc.Arbitrary<ListQuery>
  return fc.record({
    view: maybe(fc.record({ x: hundredths(-200, 200), y: hundredths(-200, 200), zoom: hundredths(1, 100) })),
    selection: maybe(
      fc.oneof(
        fc.record({ type: fc.constant('parcel' as const), x: whole, y: whole }),
        fc.record({ type: fc.constant('estate' as const), id: fc.nat().map(String) }),
      ),
    ),
    layer: fc.constantFrom(...LAYERS),
    mine: maybe(address),
    district: maybe(fc.uuid()),
    list: maybe(list),
    filter: filters(address),
    language: maybe(fc.constantFrom('en' as const, 'es', 'fr', 'ko', 'zh')),
    theme: maybe(fc.constantFrom('light' as const, 'dark')),
  })
}

/** Any filters, as the page reads them. */
function filters(address: fc.Arbitrary<string>): fc.Arbitrary<LandFilter> {
  const place = fc.tuple(fc.integer({ min: -150, max: 150 }), fc.integer({ min: -150, max: 150 })).map(String)
  const digits = fc.oneof(fc.nat().map(String), fc.constantFrom('0.5', '123456789012345.000000000000000001'))
  const values = fc.record(
    Object.fromEntries(
      FILTER_NAMES.map((name) => [
        name,
        /price|size|plaza|road/.test(name)
          ? digits
          : /nw|se/.test(name)
            ? place
            : fc.string({ unit: 'binary' }),
      ]),
    ),
    { requiredKeys: [] },
  ) as fc.Arbitrary<Readonly<Record<string, string>>>
  const words = fc.record({
    status: fc.constantFrom('open', 'sold'),
    owner: address,
    in_district: fc.uuid(),
    q: fc.constantFrom('a b', 'é&=%', '집'),
  })
  return fc.tuple(values, words).map(([some, others]) => {
    const all: Readonly<Record<string, string>> = { ...some, ...others }
    return readFilter((name) => all[name])
  })
}
