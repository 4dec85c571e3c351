import { convertIndexedToRgb, decode } from 'fast-png'
import type { PNG } from 'pngjs'
import { expect } from 'vitest'
import { atEndOfEachFile } from '../run/end-of-file.ts'
import { type OpenedPage, SIZES, type Size, SOON, type Spot } from './browser.ts'

/** What a map viewer has on its screen. The map fills it. */
export interface MapView {
  /** Where the tiles come from. */
  readonly origin: string
  readonly size: Size
  readonly scale: number
  readonly zoom: number
  /** The middle of the screen, in CSS pixels to the east and to the south of the middle of the world. */
  readonly eastPx: number
  readonly southPx: number
}

/** A colour as 0xrrggbb. */
type Colour = number

const TILE_PX = 256
/** The default world lies in a square of so many parcels. */
const SQUARE_PARCELS = 512
/** What a page lays over its map is further up and further down. In CSS pixels from the screen's edges. */
const CLEAR = { top: 100, bottom: 60 }
/** Reading a screenshot takes far longer than a page needs for its next step. */
const LOOKS = { ...SOON, interval: 400 }

/**
 * Waits until the screen shows exactly the pixels of the server's tiles, and where there are none the background.
 * Gives the screen, and the colours of the map on it.
 */
export async function expectOnScreen(opened: OpenedPage, view: MapView, background: Colour) {
  const expected = await pixelsOf(view, background)
  let screen: PNG | undefined
  const differences = async () => {
    screen = await opened.look()
    return differencesOf(screen, expected, view)
  }
  await expect.poll(differences, LOOKS).toEqual([])
  return { screen: screen!, colours: new Set(expected) }
}

/** The middle of a parcel on the screen: a parcel has 256 * 2^zoom / 512 pixels, its south-west corner is x,y. */
export function spotOf(view: MapView, parcel: { readonly x: number; readonly y: number }): Spot {
  const parcelPx = (TILE_PX * 2 ** view.zoom) / SQUARE_PARCELS
  const { width, height } = SIZES[view.size]
  return {
    x: width / 2 - view.eastPx + (parcel.x + 0.5) * parcelPx,
    y: height / 2 - view.southPx - (parcel.y + 0.5) * parcelPx,
  }
}

export function colourAt(screen: PNG, { x, y }: Spot, { scale }: MapView): Colour {
  return rgb(screen.data, (Math.floor(y * scale) * screen.width + Math.floor(x * scale)) * 4)
}

/** The tiles that a page has asked for. */
export function tilesAskedFor({ asked }: OpenedPage): { readonly zoom: number; readonly isDense: boolean }[] {
  return asked.flatMap((address) => {
    const [, zoom, dense] = /\/tiles\/(\d+)\/\d+\/\d+(@2x)?\.png$/.exec(address) ?? []
    return zoom ? [{ zoom: Number(zoom), isDense: dense !== undefined }] : []
  })
}

/** The part of the screen that nothing lies over, in pixels of the screen. */
function clearPart({ size, scale }: MapView) {
  const { width, height } = SIZES[size]
  const top = CLEAR.top * scale
  return { top, width: width * scale, height: (height - CLEAR.bottom) * scale - top }
}

/** The colours that the clear part has to show, row by row, put together from the tiles. */
async function pixelsOf(view: MapView, background: Colour): Promise<Uint32Array> {
  const { top, width, height } = clearPart(view)
  const tilePx = TILE_PX * view.scale
  const tiles = 2 ** view.zoom
  // The north-west corner of the clear part, from that of the pyramid
  const west = (tiles * tilePx - width) / 2 + view.eastPx * view.scale
  const north = (tiles * tilePx - SIZES[view.size].height * view.scale) / 2 + view.southPx * view.scale + top
  const pixels = new Uint32Array(width * height).fill(background)
  const isSeen = (tile: number, from: number, length: number) =>
    (tile + 1) * tilePx > from && tile * tilePx < from + length
  for (let x = 0; x < tiles; x++) {
    for (let y = 0; y < tiles; y++) {
      if (!isSeen(x, west, width) || !isSeen(y, north, height)) continue
      const tile = await tileOf(view, x, y)
      paste(tile, tilePx, { pixels, width, height }, x * tilePx - west, y * tilePx - north)
    }
  }
  return pixels
}

/** The tiles of one server, whose land does not change meanwhile: several views show the same ones. */
let fetched: { readonly origin: string; readonly tiles: Map<string, Promise<Uint32Array>> } | undefined
atEndOfEachFile(async () => {
  fetched = undefined
})

function tileOf({ origin, zoom, scale }: MapView, x: number, y: number): Promise<Uint32Array> {
  if (fetched?.origin !== origin) fetched = { origin, tiles: new Map() }
  const address = `${origin}/tiles/${zoom}/${x}/${y}${scale === 2 ? '@2x' : ''}.png`
  const tile = fetched.tiles.get(address) ?? fetchTile(address)
  fetched.tiles.set(address, tile)
  return tile
}

async function fetchTile(address: string): Promise<Uint32Array> {
  const response = await fetch(address)
  expect(response.status, response.url).toBe(200)
  const picture = decode(await response.arrayBuffer())
  const bytes = convertIndexedToRgb(picture)
  const colours = new Uint32Array(picture.width * picture.height)
  for (let i = 0; i < colours.length; i++) colours[i] = rgb(bytes, i * 3)
  return colours
}

interface Picture {
  readonly pixels: Uint32Array
  readonly width: number
  readonly height: number
}

/** Lays a square over a picture, of which it may stick out. */
function paste(square: Uint32Array, sidePx: number, onto: Picture, left: number, top: number): void {
  const from = Math.max(0, -left)
  const to = Math.min(sidePx, onto.width - left)
  for (let row = Math.max(0, -top); row < sidePx && top + row < onto.height; row++) {
    const line = square.subarray(row * sidePx + from, row * sidePx + to)
    onto.pixels.set(line, (top + row) * onto.width + left + from)
  }
}

/** The first pixels of the clear part that are not as expected, in words. */
function differencesOf(screen: PNG, expected: Uint32Array, view: MapView): string[] {
  const { top, width } = clearPart(view)
  const differences: string[] = []
  for (let i = 0; i < expected.length && differences.length < 3; i++) {
    const seen = rgb(screen.data, (top * width + i) * 4)
    if (seen === expected[i]) continue
    const place = `${i % width},${top + Math.floor(i / width)}`
    differences.push(`${place} is ${seen.toString(16)}, not ${expected[i]!.toString(16)}`)
  }
  return differences
}

/** The colour whose red stands at this place of the bytes. */
export function rgb(bytes: ArrayLike<number>, at: number): Colour {
  return (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
}
