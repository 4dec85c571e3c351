import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DrawnLandOptions, drawnLand } from '../../test/support/images/drawn-land.ts'
import { colourText, expectSamePicture, type Picture, readPng } from '../../test/support/images/png.ts'
import { referenceMap } from '../../test/support/images/reference-map.ts'
import { runs } from '../../test/support/run/property-seed.ts'
import type { MapState } from './map-state.ts'
import { INKS, PALETTES } from './palette.ts'
import { renderMap } from './render.ts'
import type { View } from './view.ts'

const JOINS = 0b0011_1000

/** Random land: any kinds and joins, in bounds that may not contain 0,0, with offers for some parcels. */
const state: fc.Arbitrary<MapState> = fc
  .record({
    minX: fc.integer({ min: -20, max: 20 }),
    minY: fc.integer({ min: -20, max: 20 }),
    width: fc.integer({ min: 1, max: 24 }),
    height: fc.integer({ min: 1, max: 24 }),
    withSales: fc.boolean(),
    // With a small number, most cells are equal to their neighbour, as in a real world.
    variety: fc.integer({ min: 1, max: 10 }),
    chance: fc.infiniteStream(fc.nat(0xffff)),
  })
  .map(({ minX, minY, width, height, withSales, variety, chance }) => {
    const cells = new Uint8Array(width * height)
    const rowAt = new Int32Array(width * height)
    let parcels = 0
    for (let cell = 0; cell < cells.length; cell++) {
      const number = chance.next().value!
      cells[cell] =
        cell > 0 && number % 10 >= variety ? cells[cell - 1]! : ((number >> 4) % 6) | (number & JOINS)
      rowAt[cell] = (cells[cell]! & 7) === INKS.outside ? -1 : parcels++
    }
    const offers = Int32Array.from({ length: parcels }, () => (chance.next().value! % 4 === 0 ? 7 : -1))
    const bounds = { minX, minY, maxX: minX + width - 1, maxY: minY + height - 1 }
    return { bounds, cells, rowAt, offers: withSales ? offers : undefined }
  })

const isUneven = (sizePx: number) => sizePx > 1 && !Number.isInteger(sizePx)

const sizePx = fc.oneof(
  fc.integer({ min: 1, max: 80 }),
  fc.integer({ min: 5, max: 40 }),
  fc.constantFrom(1 / 2, 1 / 4, 1 / 8),
  fc.constantFrom(25.6, 5.5, 14.75, 6.4, 49.9),
)

/** A random view with land near its middle. Coordinates outside of the land may be selected. Uneven parcels have uneven origins. */
const view: fc.Arbitrary<View> = fc
  .record({
    widthPx: fc.integer({ min: 1, max: 120 }),
    heightPx: fc.integer({ min: 1, max: 80 }),
    sizePx,
    shiftXPx: fc.integer({ min: -70, max: 70 }),
    shiftYPx: fc.integer({ min: -70, max: 70 }),
    centre: fc.record({ x: fc.integer({ min: -20, max: 30 }), y: fc.integer({ min: -20, max: 30 }) }),
    /** Which of the parcels of a shared pixel is 0,0. */
    phase: fc.nat({ max: 7 }),
    near: fc.array(fc.record({ x: fc.integer({ min: -3, max: 3 }), y: fc.integer({ min: -3, max: 3 }) }), {
      maxLength: 20,
    }),
    theme: fc.constantFrom('dark', 'light'),
  })
  .map(({ widthPx, heightPx, sizePx, shiftXPx, shiftYPx, centre, phase, near, theme }) => ({
    widthPx,
    heightPx,
    sizePx,
    originXPx: isUneven(sizePx)
      ? widthPx / 2 + shiftXPx - centre.x * sizePx + phase / 8
      : Math.floor(widthPx / 2 + shiftXPx - centre.x * sizePx),
    originYPx: isUneven(sizePx)
      ? heightPx / 2 + shiftYPx + centre.y * sizePx + phase / 8
      : Math.floor(heightPx / 2 + shiftYPx + centre.y * sizePx) + (sizePx < 1 ? (phase * sizePx) % 1 : 0),
    selected: near.map(({ x, y }) => ({ x: centre.x + x, y: centre.y + y })),
    theme,
  }))

test('each pixel is equal to that of a simple reference, for any land, view, offers, selection and theme', () => {
  fc.assert(
    fc.property(state, view, (state, view) => {
      expectSamePicture(readPng(renderMap(state, view)), referenceMap(state, view))
    }),
    { numRuns: runs(70) },
  )
})

test('the same view gives the same bytes again after another view was drawn', () => {
  fc.assert(
    fc.property(state, view, view, (state, one, other) => {
      const first = renderMap(state, one)
      renderMap(state, other)

      expect(renderMap(state, one).equals(first)).toBe(true)
    }),
    { numRuns: runs(25) },
  )
})

interface Drawn {
  /** The ink of the pixel px,py of parcel x,y, counted from the parcel's north-west corner. */
  inkAt(x: number, y: number, px: number, py: number): keyof typeof INKS | undefined
}

/** Draws all of a small land with its first letter at 0,0 and one parcel of ground around it. */
function draw(
  lines: readonly string[],
  sizePx: number,
  options: DrawnLandOptions & { selected?: string } = {},
): Drawn {
  const land = drawnLand(lines, { northWest: { x: 0, y: 0 }, ...options })
  const view: View = {
    widthPx: (lines[0]!.length + 2) * sizePx,
    heightPx: (lines.length + 2) * sizePx,
    sizePx,
    originXPx: sizePx,
    originYPx: sizePx,
    selected: [...(options.selected ?? '')].flatMap((letter) => land.placesOf(letter)),
    theme: 'dark',
  }
  const picture = readPng(renderMap(land.state, view))
  return {
    inkAt: (x, y, px, py) =>
      inkOf(picture, (1 - y) * sizePx * view.widthPx + py * view.widthPx + (x + 1) * sizePx + px),
  }
}

function inkOf(picture: Picture, pixel: number): keyof typeof INKS | undefined {
  const inks = Object.keys(INKS) as (keyof typeof INKS)[]
  return inks.find((ink) => {
    const colour = PALETTES.dark.subarray(3 * INKS[ink], 3 * INKS[ink] + 3)
    return colourText(picture, pixel) === `#${Buffer.from(colour).toString('hex')}`
  })
}

test('there is no gap between parcels of one estate, and one between others', () => {
  for (const size of [5, 6, 9, 10, 17, 24, 33, 40]) {
    const { inkAt } = draw(['aab', 'aab', '##.'], size)
    const middle = Math.floor(size / 2)

    expect(inkAt(1, 0, 0, middle), 'a to the east of a').toBe('owned')
    expect(inkAt(0, -1, middle, 0), 'a to the south of a').toBe('owned')
    expect(inkAt(1, -1, 0, 0), 'where four of a meet').toBe('owned')
    expect(inkAt(2, 0, 0, middle), 'b to the east of a').toBe('outside')
    expect(inkAt(1, -2, 0, middle), 'two parcels of no estate').toBe('outside')
    expect(inkAt(2, -2, middle, middle), 'a parcel without owner').toBe('unowned')
    expect(inkAt(0, 0, 0, middle), 'the western edge of the land').toBe('outside')
  }
})

test('where three parcels of an estate meet a parcel of none, the corner stays a gap', () => {
  const { inkAt } = draw(['#aa', 'aaa', 'aaa'], 10)

  expect(inkAt(1, -1, 0, 0)).toBe('outside')
  expect(inkAt(1, -1, 1, 0)).toBe('owned')
  expect(inkAt(1, -1, 0, 1)).toBe('owned')
  expect(inkAt(2, -2, 0, 0)).toBe('owned')
})

test('the gap is 1 pixel up to size 14, 2 up to 30, 3 beyond; there is none below size 5', () => {
  const widthOfGap = (size: number) => {
    const { inkAt } = draw(['##'], size)
    return Array.from({ length: size }, (_, px) => inkAt(1, 0, px, size - 1)).filter(
      (ink) => ink === 'outside',
    ).length
  }

  expect([1, 2, 4, 5, 14, 15, 30, 31, 80].map(widthOfGap)).toEqual([0, 0, 0, 1, 1, 2, 2, 3, 3])
})

test('parcels join only within the same district, road or plaza', () => {
  const { inkAt } = draw(['DDR', 'DER', 'PPR'], 10)

  expect(inkAt(1, 0, 0, 5)).toBe('district')
  expect(inkAt(1, -1, 0, 5), 'another district').toBe('outside')
  expect(inkAt(2, -1, 5, 0), 'road to road').toBe('road')
  expect(inkAt(2, 0, 0, 5), 'road to district').toBe('outside')
  expect(inkAt(1, -2, 0, 5), 'plaza to plaza').toBe('plaza')
})

test('an offer colours its parcel, or all parcels of its estate', () => {
  const { inkAt } = draw(['aa$', 'ba#'], 10, { onSale: 'a$' })

  expect([inkAt(0, 0, 5, 5), inkAt(1, 0, 0, 5), inkAt(1, 0, 5, 5)]).toEqual(['onSale', 'onSale', 'onSale'])
  expect(inkAt(2, 0, 5, 5)).toBe('onSale')
  expect(inkAt(2, 0, 0, 5), 'a gap between two offers').toBe('outside')
  expect([inkAt(0, -1, 5, 5), inkAt(2, -1, 5, 5)]).toEqual(['owned', 'owned'])
})

test('without offers no parcel has the colour of one', () => {
  expect(draw(['$'], 10).inkAt(0, 0, 5, 5)).toBe('owned')
})

test('a selected estate has an outline around it and none inside', () => {
  const { inkAt } = draw(['###', '#aa', '#a#'], 10, { selected: 'a' })

  expect(inkAt(1, -1, 5, 5)).toBe('selected')
  expect(inkAt(2, -1, 0, 5), 'between two of the estate').toBe('selected')
  expect(inkAt(1, -1, 0, 5), 'the gap in the west').toBe('outline')
  expect(inkAt(0, -1, 9, 5), 'a pixel of the western neighbour').toBe('outline')
  expect(inkAt(0, -1, 8, 5)).toBe('owned')
  expect(inkAt(2, -2, 0, 5), 'the gap of the eastern neighbour').toBe('outline')
  expect(inkAt(2, -2, 1, 5), 'a pixel of the eastern neighbour').toBe('outline')
  expect(inkAt(2, -2, 2, 5)).toBe('owned')
  expect(inkAt(0, 0, 9, 9), 'the corner').toBe('outline')
  expect(inkAt(2, -2, 0, 0), 'the inner corner').toBe('outline')
})

test('selected parcels that do not join have a seam between them', () => {
  const { inkAt } = draw(['$$', '$$'], 10, { selected: '$' })

  expect([inkAt(1, 0, 0, 5), inkAt(0, -1, 5, 0), inkAt(1, -1, 0, 0)]).toEqual(['seam', 'seam', 'seam'])
  expect(inkAt(0, 0, 0, 5)).toBe('outline')
})

test('selected coordinates outside of the land have fill and outline too', () => {
  const { inkAt } = draw(['#'], 5, { selected: ' ' })
  const state = drawnLand(['#'], { northWest: { x: 0, y: 0 } }).state
  const view = { widthPx: 15, heightPx: 15, sizePx: 5, originXPx: 5, originYPx: 5, theme: 'dark' } as const
  const picture = readPng(renderMap(state, { ...view, selected: [{ x: 1, y: 1 }] }))

  expect(inkAt(0, 0, 2, 2)).toBe('owned')
  expect(inkOf(picture, 2 * 15 + 12)).toBe('selected')
  expect([inkOf(picture, 15 + 10), inkOf(picture, 6 * 15 + 12), inkOf(picture, 6 * 15 + 9)]).toEqual([
    'outline',
    'outline',
    'outline',
  ])
})

test('in a pixel that parcels share, a road outweighs owned land, and a selected parcel outweighs all', () => {
  const half = (lines: readonly string[], selected = '') => {
    const land = drawnLand(lines, { northWest: { x: 0, y: 0 }, onSale: '$' })
    const view = {
      widthPx: 1,
      heightPx: 1,
      sizePx: 1 / 2,
      originXPx: 0,
      originYPx: 0,
      theme: 'dark',
    } as const
    const places = [...selected].flatMap((letter) => land.placesOf(letter))
    return inkOf(readPng(renderMap(land.state, { ...view, selected: places })), 0)
  }

  expect(half(['#R', '#R'])).toBe('road')
  expect(half(['##', '#R'])).toBe('owned')
  expect(half(['$#', '#$'])).toBe('onSale')
  expect(half(['..', ' #'])).toBe('unowned')
  expect(half(['  ', ' R'])).toBe('outside')
  expect(half(['PP', 'Pa'], 'a')).toBe('selected')
})

test('in each theme every ink has a different colour', () => {
  for (const palette of Object.values(PALETTES)) {
    const colours = Object.values(INKS).map((ink) => palette.subarray(3 * ink, 3 * ink + 3).join())
    expect(new Set(colours).size).toBe(Object.keys(INKS).length)
    expect(palette).toHaveLength(3 * Object.keys(INKS).length)
  }
  expect(Object.keys(INKS).length).toBeLessThanOrEqual(16)
})
