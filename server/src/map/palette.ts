import { KINDS } from '../state/parts/tile-cells.ts'
import type { Theme } from './view.ts'

/**
 * The numbers of the colours of a map image. The first six are the kinds of parcels ({@link KINDS}). `outside` is the
 * ground outside of the world, and also the colour of gaps.
 */
export const INKS = {
  ...KINDS,
  /** Parcels with an offer. */
  onSale: 6,
  selected: 7,
  /** Between selected parcels that do not join. */
  seam: 8,
  /** Around selected parcels. */
  outline: 9,
} as const

type Ink = keyof typeof INKS

/** Red, green and blue of each ink. */
export const PALETTES: Readonly<Record<Theme, Uint8Array>> = {
  dark: paletteOf({
    outside: '#11141b',
    unowned: '#20252f',
    owned: '#394151',
    district: '#504a8c',
    road: '#757d8e',
    plaza: '#58a886',
    onSale: '#5fd0f2',
    selected: '#ff8a3a',
    seam: '#a8400f',
    outline: '#fff7e6',
  }),
  light: paletteOf({
    outside: '#fafbfc',
    unowned: '#e6eaf0',
    owned: '#ccd3dd',
    district: '#b7b2ec',
    road: '#858e9d',
    plaza: '#63b893',
    onSale: '#0f79b0',
    selected: '#f2632a',
    seam: '#8c2d06',
    outline: '#260c03',
  }),
}

function paletteOf(colours: Readonly<Record<Ink, string>>): Uint8Array {
  const bytes = new Uint8Array(3 * Object.keys(INKS).length)
  for (const ink of Object.keys(INKS) as Ink[]) {
    bytes.set(Buffer.from(colours[ink].slice(1), 'hex'), 3 * INKS[ink])
  }
  return bytes
}
