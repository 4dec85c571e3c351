import { isInWorld, parseWorld } from '@landpass/client/grid'
import { brokenRules } from '@landpass/server/test/support/land/demo-rules/broken-rules'
import { HAS_FIXED_SEED, runs } from '@landpass/server/test/support/run/property-seed'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DemoWorld, demoWorld, demoWorldInfo } from './demo-world.ts'
import { AWKWARD_NAMES } from './names.ts'
import { recordJson } from './record-json.ts'
import { worldShape } from './shape.ts'

const made = demoWorld(1)
/** Its parcels are generated at each iteration: here once for all tests. */
const city = { ...made, parcels: [...made.parcels] }
const present = Date.parse(city.referenceTime)

/** All of a world as text: two worlds are the same when this is. */
function textOf(world: DemoWorld): string {
  const { districts, contributions, parcels, estates, publications, bids, mortgages } = world
  return [districts, contributions, [...parcels], estates, publications, bids, mortgages]
    .map((records) => records.map(recordJson).join('\n'))
    .join('\n\n')
}

function tally<T>(records: Iterable<T>, kindOf: (record: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const record of records) counts[kindOf(record)] = (counts[kindOf(record)] ?? 0) + 1
  return counts
}

const listingKind = ({ status, expires_at }: { status: string; expires_at: number | string }) =>
  status === 'open' ? (Number(expires_at) > present ? 'open' : 'expired') : status

test('a full-size city keeps every rule of the snapshot format', () => {
  expect(brokenRules(city)).toEqual([])
})

test('small worlds of any seed keep every rule too, and have something of everything', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 0xffff_ffff }),
      fc.integer({ min: 8, max: HAS_FIXED_SEED ? 26 : 40 }),
      (seed, radius) => {
        const world = demoWorld(seed, { radius })
        expect(brokenRules(world)).toEqual([])
        expectEveryKind(world)
      },
    ),
    { numRuns: runs(16) },
  )
})

/** Rectangles of up to 30 × 30 parcels, apart or over each other, anywhere on the grid of the contract. */
const anyWorld = fc
  .tuple(
    fc.integer({ min: -9000, max: 9000 }),
    fc.array(fc.tuple(fc.nat(40), fc.nat(40), fc.nat(29), fc.nat(29)), { minLength: 1, maxLength: 3 }),
  )
  .map(([corner, areas]) =>
    areas.map(([x, y, width, height]) =>
      [corner + x, y - corner, corner + x + width, y - corner + height].join(','),
    ),
  )
  .map((areas) => parseWorld(areas.join(';'))!)

test('the city of any world covers its rectangles and nothing else, and keeps every rule', () => {
  fc.assert(
    fc.property(fc.nat(0xffff_ffff), anyWorld, (seed, world) => {
      const demo = demoWorld(seed, { world })
      expect(brokenRules(demo)).toEqual([])
      const { bounds } = world
      let places = 0
      for (let x = bounds.minX; x <= bounds.maxX; x++)
        for (let y = bounds.minY; y <= bounds.maxY; y++) if (isInWorld(world, { x, y })) places++
      const parcels = [...demo.parcels]
      expect(parcels.every((parcel) => isInWorld(world, parcel))).toBe(true)
      expect(parcels).toHaveLength(places)
    }),
    { numRuns: 20 },
  )
})

test.each(['0,0,0,0', '5,5,6,5', '100,-100,104,-96', '-8,-8,8,8;30,30,30,30'])(
  'a world of %s has a city that keeps every rule',
  (text) => {
    const world = parseWorld(text)!
    for (const seed of [1, 2]) expect(brokenRules(demoWorld(seed, { world }))).toEqual([])
  },
)

test('the square around 0,0 gives the same city as its radius', () => {
  const world = parseWorld('-12,-12,12,12')!
  expect(textOf(demoWorld(5, { world }))).toBe(textOf(demoWorld(5, { radius: 12 })))
})

test('a city is planned around the largest rectangle, and for at most 801 × 801 parcels', () => {
  expect(worldShape(parseWorld('0,0,20,10')!)).toMatchObject({ origin: { x: 10, y: 5 }, radius: 10 })
  expect(worldShape(parseWorld('-150,-150,150,150;62,151,162,158')!)).toMatchObject({
    origin: { x: 0, y: 0 },
    radius: 162,
  })
  expect(worldShape(parseWorld('3,3,3,3')!).radius).toBe(8)
  expect(worldShape(parseWorld('0,0,1999,0')!)).toMatchObject({ origin: { x: 999, y: 0 }, radius: 400 })
})

test('the square of a city follows the number of its parcels, however far apart they are', () => {
  const radiusOf = (text: string) => worldShape(parseWorld(text)!).radius
  // The far rectangle of 100 parcels is left out, a near one is not.
  expect(radiusOf('0,0,9,9;380,380,389,389')).toBe(75)
  expect(radiusOf('0,0,9,9;70,70,79,79')).toBe(75)
  expect(radiusOf('0,0,99,99;200,200,299,299')).toBe(140)
  expect(radiusOf('0,0,99,99;120,0,219,99')).toBe(140)
  expect(radiusOf('0,0,9,0;300,0,399,0')).toBe(75)

  const world = parseWorld('0,0,9,9;380,380,389,389')!
  expect([...demoWorld(1, { world }).parcels]).toHaveLength(100)
})

test('a mid-size city keeps every rule', () => {
  expect(brokenRules(demoWorld(2, { radius: 75 }))).toEqual([])
})

function expectEveryKind(world: DemoWorld): void {
  for (const type of ['parcel', 'estate']) {
    const listings = world.publications.filter((one) => one.asset_type === type)
    expect(Object.keys(tally(listings, listingKind)).sort()).toEqual(['cancelled', 'expired', 'open', 'sold'])
  }
  expect(Object.keys(tally(world.bids, listingKind)).sort()).toEqual(['cancelled', 'expired', 'open', 'sold'])
  expect(Object.keys(tally(world.mortgages, (loan) => loan.status)).sort()).toEqual([
    'cancelled',
    'claimed',
    'defaulted',
    'ongoing',
    'paid',
    'pending',
  ])
  const hashes = new Set(world.publications.map((one) => one.tx_hash))
  expect(hashes.size, 'two offers of one transaction').toBeLessThan(world.publications.length)
  expect(world.estates.some(({ data }) => data.parcels.length === 0)).toBe(true)
  expect(world.districts.filter(({ disabled }) => disabled)).toHaveLength(1)
}

test('the same seed gives the same world, another seed another one', () => {
  const one = textOf(demoWorld(5, { radius: 12 }))

  expect(textOf(demoWorld(5, { radius: 12 }))).toBe(one)
  expect(textOf(demoWorld(6, { radius: 12 }))).not.toBe(one)
})

test('the parcels can be read twice', () => {
  const { parcels } = demoWorld(1, { radius: 8 })

  expect([...parcels]).toEqual([...parcels])
})

test('seeds and radii out of range are refused', () => {
  for (const seed of [-1, 0.5, 2 ** 32, Number.NaN]) expect(() => demoWorld(seed)).toThrow(RangeError)
  for (const radius of [7, 401, 8.5]) expect(() => demoWorld(1, { radius })).toThrow(RangeError)
})

describe('the city of seed 1', () => {
  test('has about as much of everything as a city should', () => {
    expectEveryKind(city)
    const listings = tally(city.publications, listingKind)
    const estatesOnOffer = city.publications.filter(
      (one) => one.asset_type === 'estate' && listingKind(one) === 'open',
    )
    const owners = new Set(city.parcels.map(({ owner }) => owner))

    expect(city.publications.length).toBeGreaterThan(12_000)
    expect(listings.open).toBeGreaterThan(1_500)
    expect(estatesOnOffer.length).toBeGreaterThan(100)
    expect(city.bids.length).toBeGreaterThan(6_000)
    expect(city.mortgages.length).toBeGreaterThan(700)
    expect(city.contributions.length).toBeGreaterThan(1_900)
    expect(city.estates.length).toBeGreaterThan(1_000)
    expect(city.estates.filter(({ data }) => data.parcels.length === 0)).toHaveLength(15)
    expect(owners.size).toBeGreaterThan(1_800)
  })

  test('has sizeable districts, one network of roads, and ten plazas', () => {
    const [plazas, roads, ...others] = city.districts
    const sizes = city.estates.map(({ data }) => data.parcels.length)

    expect(plazas?.id).toBe(demoWorldInfo.plazaDistrictId)
    expect(roads?.id).toBe(demoWorldInfo.roadDistrictId)
    expect(partsOf(roads?.parcels ?? [])).toBe(1)
    expect(partsOf(plazas?.parcels ?? [])).toBeGreaterThanOrEqual(8)
    expect(others.length).toBeGreaterThanOrEqual(35)
    for (const district of others) {
      expect(partsOf(district.parcels), district.name).toBe(1)
      if (!district.disabled) expect(district.parcel_count, district.name).toBeGreaterThan(60)
    }
    expect(Math.max(...sizes)).toBeGreaterThan(100)
  })

  test('has open bids only below the price at which their asset can be bought', () => {
    const offered = new Map(
      city.publications
        .filter((one) => listingKind(one) === 'open')
        .map((one) => [`${one.asset_type} ${one.asset_id}`, Number(one.price)]),
    )
    const bidOn = city.bids.filter(
      (one) => one.status === 'open' && offered.has(`${one.asset_type} ${one.asset_id}`),
    )

    expect(bidOn.length).toBeGreaterThan(1_000)
    for (const { asset_type, asset_id, price } of bidOn)
      expect(Number(price), asset_id).toBeLessThan(offered.get(`${asset_type} ${asset_id}`)!)
  })

  test('offers most things until 2029 and later', () => {
    const alive = city.publications.filter((one) => listingKind(one) === 'open')
    const lasting = alive.filter((one) => one.expires_at >= Date.UTC(2029, 0, 1))

    expect(lasting.length / alive.length).toBeGreaterThan(0.8)
  })

  test('has prices that no floating-point number holds', () => {
    const precise = city.publications.filter(({ price }) => /\.\d{17,18}$/.test(String(price)))

    expect(precise.length).toBeGreaterThan(2)
    expect(recordJson(precise[0]!)).toContain(`"price":${precise[0]!.price},`)
  })

  test('has names in many scripts, and every awkward name on a parcel that is for sale', () => {
    const alive = new Set(
      city.publications.filter((one) => listingKind(one) === 'open').map((one) => one.asset_id),
    )
    const names = new Map<string, string>()
    for (const { id, data } of city.parcels) {
      if (data.name !== undefined && (alive.has(id) || !names.has(data.name))) names.set(data.name, id)
    }
    const all = [...names.keys()].join('')

    for (const script of [
      'Han',
      'Hangul',
      'Hiragana',
      'Cyrillic',
      'Arabic',
      'Greek',
      'Extended_Pictographic',
    ]) {
      const pattern = script.startsWith('Extended') ? `\\p{${script}}` : `\\p{Script=${script}}`
      expect(all, script).toMatch(new RegExp(pattern, 'u'))
    }
    for (const name of AWKWARD_NAMES) expect(alive.has(names.get(name) ?? 'nowhere'), name).toBe(true)
  })

  test('asks more for land near a plaza', () => {
    const near: number[] = []
    const far: number[] = []
    for (const { tags, auction_price: price } of city.parcels) {
      if (price === null) continue
      const distance = tags.proximity?.plaza?.distance
      if (distance === undefined) far.push(Number(price))
      else if (distance < 3) near.push(Number(price))
    }

    expect(mean(near)).toBeGreaterThan(2 * mean(far))
  })
})

const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length

/** How many separate pieces some places form, side by side. */
function partsOf(places: readonly string[]): number {
  const left = new Set(places)
  let parts = 0
  for (const place of places) {
    if (!left.delete(place)) continue
    parts++
    const waiting = [place]
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const [x = 0, y = 0] = at.split(',').map(Number)
      for (const next of [`${x + 1},${y}`, `${x - 1},${y}`, `${x},${y + 1}`, `${x},${y - 1}`]) {
        if (left.delete(next)) waiting.push(next)
      }
    }
  }
  return parts
}
