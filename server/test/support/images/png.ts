import { inflateSync } from 'node:zlib'
import { convertIndexedToRgb, decode } from 'fast-png'
import { PNG } from 'pngjs'
import { expect } from 'vitest'

/** A picture as its readers see it. */
export interface Picture {
  readonly widthPx: number
  readonly heightPx: number
  /** Red, green and blue of each pixel, rows from the top. */
  readonly rgb: Uint8Array
}

/** Reads a PNG with two decoders that know nothing of each other, checksums included. Fails where they differ. */
export function readPng(file: Buffer): Picture {
  const one = PNG.sync.read(file, { checkCRC: true })
  const { data } = one
  const rgb = new Uint8Array(3 * one.width * one.height)
  for (let from = 0, to = 0; from < data.length; from += 4) {
    for (let channel = 0; channel < 3; channel++) rgb[to++] = data[from + channel]!
    if (data[from + 3] !== 255) expect.fail(`pixel ${from / 4} is transparent`)
  }
  const other = decode(file, { checkCrc: true })
  expect([other.width, other.height]).toEqual([one.width, one.height])
  if (!Buffer.from(convertIndexedToRgb(other)).equals(rgb))
    expect.fail('two decoders read different pictures')
  // Neither of them looks at the checksum of the rows; zlib does.
  inflateSync(dataOf(file))
  return { widthPx: one.width, heightPx: one.height, rgb }
}

/** The compressed rows of a PNG that has them in one piece. */
function dataOf(file: Buffer): Buffer {
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at)
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT') return file.subarray(at + 8, at + 8 + length)
    at += 12 + length
  }
  throw new Error('no rows')
}

/** Fails unless two pictures are the same, naming the first pixel in which they are not. */
export function expectSamePicture(actual: Picture, expected: Picture): void {
  expect([actual.widthPx, actual.heightPx]).toEqual([expected.widthPx, expected.heightPx])
  if (Buffer.from(actual.rgb.buffer).equals(expected.rgb)) return
  const at = actual.rgb.findIndex((value, i) => value !== expected.rgb[i])
  const pixel = Math.floor(at / 3)
  const place = `${pixel % actual.widthPx},${Math.floor(pixel / actual.widthPx)}`
  expect.fail(`pixel ${place} is ${colourText(actual, pixel)} instead of ${colourText(expected, pixel)}`)
}

/** `#rrggbb` of a pixel. */
export function colourText({ rgb }: Picture, pixel: number): string {
  return `#${Buffer.from(rgb.subarray(3 * pixel, 3 * pixel + 3)).toString('hex')}`
}

/** A picture from the numbers of its pixels' colours. */
export function paint(
  widthPx: number,
  heightPx: number,
  palette: Uint8Array,
  colourAt: (x: number, y: number) => number,
): Picture {
  const rgb = new Uint8Array(3 * widthPx * heightPx)
  for (let y = 0; y < heightPx; y++) {
    for (let x = 0; x < widthPx; x++) {
      const colour = colourAt(x, y)
      rgb.set(palette.subarray(3 * colour, 3 * colour + 3), 3 * (y * widthPx + x))
    }
  }
  return { widthPx, heightPx, rgb }
}
