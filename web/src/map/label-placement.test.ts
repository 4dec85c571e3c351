import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { areOverlapping, edgeTicks, type MapLabel, placeLabels } from './label-placement.ts'

const BOUNDS = { minX: -50, minY: -40, maxX: 50, maxY: 40 }
const measure = ({ text }: MapLabel) => ({ width: 7 * [...text].length, height: 14 })
const place = (labels: readonly MapLabel[], zoom: number) =>
  placeLabels(labels, { zoom, bounds: BOUNDS, measure })
const names = (labels: readonly MapLabel[], zoom: number) =>
  place(labels, zoom).map(({ label }) => label.text)

const label: fc.Arbitrary<MapLabel> = fc.record({
  text: fc.oneof(
    fc.constantFrom('Plaza', 'Velodrome', '東の庭', 'בית'),
    fc.string({ minLength: 1, maxLength: 12 }),
  ),
  kind: fc.constantFrom('district', 'plaza', 'estate'),
  place: fc.record({ x: fc.integer({ min: -50, max: 50 }), y: fc.integer({ min: -40, max: 40 }) }),
  size: fc.integer({ min: 1, max: 2_000 }),
})
const labels = fc.array(label, { maxLength: 60 })
const zooms = fc.double({ min: 0.5, max: 96, noNaN: true })

test('no name lies over another', () => {
  fc.assert(
    fc.property(labels, zooms, (some, zoom) => {
      const placed = place(some, zoom)
      for (const [i, one] of placed.entries())
        for (const other of placed.slice(i + 1)) expect(areOverlapping(one, other)).toBe(false)
    }),
  )
})

test('the order in which names come does not matter', () => {
  const shuffled = labels.chain((some) =>
    fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })),
  )
  fc.assert(
    fc.property(shuffled, zooms, ([some, others], zoom) => {
      expect(place(others, zoom)).toEqual(place(some, zoom))
    }),
  )
})

test('a name of smaller land takes no place from larger land, so names stay when smaller ones come', () => {
  fc.assert(
    fc.property(labels, label, zooms, (some, one, zoom) => {
      const smallest = { ...one, size: Math.min(one.size, ...some.map(({ size }) => size)) - 1 }

      const before = place(some, zoom)

      expect(place([...some, smallest], zoom).slice(0, before.length)).toEqual(before)
    }),
  )
})

test('each name is in the middle of its land, at every zoom', () => {
  const velodrome = { text: 'Velodrome', kind: 'district', place: { x: -50, y: 40 }, size: 900 } as const

  expect(place([velodrome], 2)).toEqual([
    { label: velodrome, left: 1 - 31.5, top: 1 - 7, width: 63, height: 14 },
  ])
  expect(place([velodrome], 20)).toMatchObject([{ left: 10 - 31.5, top: 10 - 7 }])
})

test('names come with the zoom: districts and plazas first, then estates', () => {
  const land: readonly MapLabel[] = [
    { text: 'Velodrome', kind: 'district', place: { x: 0, y: 0 }, size: 900 },
    { text: 'Plaza', kind: 'plaza', place: { x: 0, y: 20 }, size: 100 },
    { text: 'The Tower', kind: 'estate', place: { x: 10, y: 20 }, size: 9 },
    { text: 'Nook', kind: 'estate', place: { x: 11, y: 20 }, size: 4 },
  ]

  expect([0.5, 1.5, 2, 18, 96].map((zoom) => names(land, zoom))).toEqual([
    [],
    ['Velodrome', 'Plaza'],
    ['Velodrome', 'Plaza'],
    ['Velodrome', 'Plaza', 'The Tower'],
    ['Velodrome', 'Plaza', 'The Tower', 'Nook'],
  ])
})

test.each([
  [-12, 13, 10, [-10, 0, 10]],
  [-150, 150, 2.7, [-150, -100, -50, 0, 50, 100, 150]],
  [-3, 2, 96, [-3, -2, -1, 0, 1, 2]],
  [5, 4, 10, []],
])('the edge from %s to %s at %s pixels a parcel has %j', (from, to, zoom, ticks) => {
  expect(edgeTicks(from, to, zoom)).toEqual(ticks)
})

describe('the names of a town, as pictures', () => {
  const town: readonly MapLabel[] = [
    { text: 'Velodrome', kind: 'district', place: { x: -7, y: 3 }, size: 60 },
    { text: 'Fashion Street', kind: 'district', place: { x: -7, y: -4 }, size: 36 },
    { text: 'Genesis', kind: 'plaza', place: { x: 2, y: 0 }, size: 49 },
    { text: '東の庭', kind: 'district', place: { x: 9, y: 3 }, size: 30 },
    { text: 'The Tower', kind: 'estate', place: { x: 2, y: 4 }, size: 9 },
    { text: 'Tower Hall', kind: 'estate', place: { x: 3, y: 4 }, size: 8 },
    { text: 'Nook', kind: 'estate', place: { x: 9, y: -4 }, size: 4 },
    { text: 'A very long name', kind: 'estate', place: { x: 3, y: -5 }, size: 12 },
  ]

  test('from afar: the large ones', () => {
    expect(pictureOf(town, 8)).toMatchInlineSnapshot(`
      "·····························
      ·····························
      ··Velodrome············東の庭···
      ·············Genesis·········
      ·····························
      ·····························
      ·····························
      ·····························"
    `)
  })

  test('closer: those that fit their land, and of two at one place the larger', () => {
    expect(pictureOf(town, 24)).toMatchInlineSnapshot(`
      "······················································································
      ······················································································
      ······················································································
      ······················································································
      ·············································The Tower································
      ······················································································
      ··············Velodrome·················································東の庭···········
      ······················································································
      ······················································································
      ······················································································
      ······················································································
      ··············································Genesis·································
      ······················································································
      ······················································································
      ······················································································
      ······················································································
      ······················································································
      ······················································································
      ············Fashion Street··············································Nook··········
      ······················································································
      ······················································································
      ······················································································
      ······················································································"
    `)
  })
})

/** A letter is 7 pixels wide and a line 14 high, as in `measure`: one character of the picture each. */
function pictureOf(labels: readonly MapLabel[], zoom: number): string {
  const bounds = { minX: -12, minY: -6, maxX: 12, maxY: 6 }
  const lines = Array.from({ length: Math.ceil((13 * zoom) / 14) }, () =>
    Array.from({ length: Math.ceil((25 * zoom) / 7) }, () => '·'),
  )
  for (const { label, left, top } of placeLabels(labels, { zoom, bounds, measure }))
    for (const [i, letter] of [...label.text].entries())
      lines[Math.round(top / 14)]![Math.round(left / 7) + i] = letter
  return lines.map((line) => line.join('')).join('\n')
}
