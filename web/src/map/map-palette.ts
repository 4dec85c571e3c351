import {
  CHOSEN_DISTRICT_INK,
  DISTRICT_INK,
  FIRST_PRICE_INK,
  INK_COUNT,
  MINE_INK,
  ON_SALE_INK,
} from './inks.ts'

/**
 * The colours of the map, as `#rrggbb`. Ground and land have the colours of the server's pictures (`/map.png`), so that
 * both look alike.
 */
export interface MapPalette {
  /** By kind, as the lowest three bits of a cell count them; the first is also the colour of the gaps. */
  readonly kinds: readonly [
    outside: string,
    unowned: string,
    owned: string,
    district: string,
    road: string,
    plaza: string,
  ]
  /** By ink; the entry of `NO_INK` is not used. */
  readonly inks: readonly string[]
  /** The outline of the selection, and the halo that keeps it visible against any colour on either side. */
  readonly selected: string
  readonly halo: string
  /** Letters, and the line around the parcel that the arrow keys move to. */
  readonly cursor: string
  /** Drawn over a parcel that has just changed. */
  readonly pulse: string
}

export type MapTheme = 'light' | 'dark'

/**
 * Prices from low to high: from yellow to purple, and so from light to dark, in both themes. The steps are equally spaced, in
 * lightness alone too, so that the order is visible with any colour vision.
 */
const DARK_PRICES = ['#fbf488', '#fece70', '#ffa759', '#f4815e', '#de6070', '#bd4782', '#953490']
const LIGHT_PRICES = ['#eab532', '#e68c31', '#d56748', '#b9495d', '#94346b', '#6b2471', '#40166d']

export const MAP_PALETTES: Readonly<Record<MapTheme, MapPalette>> = {
  dark: {
    kinds: ['#11141b', '#20252f', '#394151', '#504a8c', '#757d8e', '#58a886'],
    inks: inksOf({
      onSale: '#5fd0f2',
      prices: DARK_PRICES,
      mine: '#f2c14e',
      district: '#8f86ea',
      chosenDistrict: '#f0b6ff',
    }),
    selected: '#ff8a3a',
    halo: '#11141b',
    cursor: '#fff7e6',
    pulse: '#ffffff',
  },
  light: {
    kinds: ['#fafbfc', '#e6eaf0', '#ccd3dd', '#b7b2ec', '#858e9d', '#63b893'],
    inks: inksOf({
      onSale: '#0f79b0',
      prices: LIGHT_PRICES,
      mine: '#a8480c',
      district: '#7a70d6',
      chosenDistrict: '#4a1f9e',
    }),
    selected: '#d23f0a',
    halo: '#ffffff',
    cursor: '#171b22',
    pulse: '#0b6a9c',
  },
}

interface InkColours {
  readonly onSale: string
  readonly prices: readonly string[]
  readonly mine: string
  readonly district: string
  readonly chosenDistrict: string
}

function inksOf({ onSale, prices, mine, district, chosenDistrict }: InkColours): readonly string[] {
  const inks = new Array<string>(INK_COUNT).fill('')
  inks[ON_SALE_INK] = onSale
  for (const [step, colour] of prices.entries()) inks[FIRST_PRICE_INK + step] = colour
  inks[MINE_INK] = mine
  inks[DISTRICT_INK] = district
  inks[CHOSEN_DISTRICT_INK] = chosenDistrict
  return inks
}

/** How much of its colour a dimmed cell keeps: the rest is that of the gaps. */
const DIMMED_SHARE = 0.3

/** The colours of a palette as pixels of a canvas, in one list: by kind, by ink, and then all of them dimmed. */
export function pixelsOf({ kinds, inks }: MapPalette): Uint32Array {
  const pixels = new Uint32Array(2 * FIRST_DIMMED_PIXEL)
  const bytes = new Uint8Array(pixels.buffer)
  const empty = rgbOf(kinds[0])
  const write = (at: number, colour: string) => {
    const rgb = rgbOf(colour)
    const dimmed = rgb.map((part, i) => empty[i]! + (part - empty[i]!) * DIMMED_SHARE)
    bytes.set([...rgb, 0xff], at * 4)
    bytes.set([...dimmed, 0xff], (FIRST_DIMMED_PIXEL + at) * 4)
  }
  for (const [kind, colour] of kinds.entries()) write(kind, colour)
  for (const [ink, colour] of inks.entries()) if (colour) write(FIRST_INK_PIXEL + ink, colour)
  return pixels
}

function rgbOf(colour: string): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
}

/** Where the inks begin among the pixels of a palette: there are at most eight kinds. */
export const FIRST_INK_PIXEL = 8
/** Where the dimmed colours begin, in the same order. */
export const FIRST_DIMMED_PIXEL = FIRST_INK_PIXEL + INK_COUNT
