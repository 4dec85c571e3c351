import { describe, expect, test } from 'vitest'
import { FIRST_PRICE_INK, INK_COUNT, NO_INK, PRICE_STEPS } from './inks.ts'
import { FIRST_INK_PIXEL, MAP_PALETTES, pixelsOf } from './map-palette.ts'

type Rgb = readonly [number, number, number]

/** Simulations of colour vision: linear red, green and blue in, the same out (Machado, Oliveira, Fernandes 2009). */
const EYES: Readonly<Record<string, readonly [Rgb, Rgb, Rgb]>> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  'without red': [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  'without green': [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  'without blue': [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

describe.each(['light', 'dark'] as const)('the %s palette', (theme) => {
  const palette = MAP_PALETTES[theme]
  const prices = palette.inks.slice(FIRST_PRICE_INK, FIRST_PRICE_INK + PRICE_STEPS)

  test('has a colour for every ink', () => {
    expect(palette.inks).toHaveLength(INK_COUNT)
    for (const [ink, colour] of palette.inks.entries()) {
      if (ink !== NO_INK) expect(colour, `ink ${ink}`).toMatch(/^#[0-9a-f]{6}$/)
    }
  })

  test('becomes pixels of a canvas: red, green, blue, opaque', () => {
    const bytes = new Uint8Array(pixelsOf(palette).buffer)
    const at = (pixel: number) => {
      const hex = Array.from(bytes.subarray(pixel * 4, pixel * 4 + 4), (byte) =>
        byte.toString(16).padStart(2, '0'),
      )
      return `#${hex.join('')}`
    }

    expect(palette.kinds.map((_, kind) => at(kind))).toEqual(palette.kinds.map((colour) => `${colour}ff`))
    expect(at(FIRST_INK_PIXEL + FIRST_PRICE_INK)).toBe(`${prices[0]}ff`)
  })

  test('has colours for kinds that differ enough', () => {
    for (const [kind, colour] of palette.kinds.entries()) {
      for (const other of palette.kinds.slice(kind + 1)) {
        expect(difference(colour, other), `${colour} ${other}`).toBeGreaterThan(0.04)
      }
    }
  })

  test('lets every ink stand out from all land that it is not', () => {
    for (const ink of palette.inks.filter(Boolean)) {
      for (const kind of palette.kinds) {
        expect(difference(ink, kind), `${ink} on ${kind}`).toBeGreaterThan(0.08)
      }
    }
  })

  test.each(Object.keys(EYES))('has even steps of price, light for cheap, in the colour vision %s', (eye) => {
    const lightness = prices.map((colour) => lab(colour, eye)[0])
    const steps = lightness.slice(1).map((value, i) => lightness[i]! - value)

    expect(Math.min(...steps)).toBeGreaterThan(0.035)
    expect(Math.max(...steps) / Math.min(...steps)).toBeLessThan(eye === 'all' ? 1.3 : 2.5)
  })

  test('keeps outlines apart from any land or ink: by the line or by its halo', () => {
    for (const colour of [...palette.kinds, ...palette.inks.filter(Boolean)]) {
      for (const line of [palette.selected, palette.cursor]) {
        const best = Math.max(contrast(line, colour), contrast(palette.halo, colour))
        expect(best, `${line} on ${colour}`).toBeGreaterThan(2.1)
      }
    }
    expect(contrast(palette.selected, palette.halo)).toBeGreaterThan(4.5)
    expect(contrast(palette.cursor, palette.halo)).toBeGreaterThan(4.5)
  })
})

function linear(colour: string): Rgb {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return [red, green, blue]
}

/** OKLab values of a colour in one of the simulations. */
function lab(colour: string, eye = 'all'): Rgb {
  const rgb = linear(colour)
  const [red, green, blue] = EYES[eye]!.map((row) =>
    Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]),
  ) as unknown as Rgb // `map` would lose the tuple type
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ]
}

function difference(a: string, b: string): number {
  const [from, to] = [lab(a), lab(b)]
  return Math.hypot(from[0] - to[0], from[1] - to[1], from[2] - to[2])
}

/** As WCAG counts it. */
function contrast(a: string, b: string): number {
  const luminance = (colour: string) => {
    const [red, green, blue] = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (high + 0.05) / (low + 0.05)
}
