import { expect } from 'vitest'
import type { LandServer } from '../http/land-server.ts'
import { colourText, readPng } from './png.ts'

/** A picture as its readers see it: `rgb(x, y)` is a pixel's colour as `#rrggbb`. */
export interface ReadPicture {
  readonly widthPx: number
  readonly heightPx: number
  rgb(xPx: number, yPx: number): string
}

export function readPicture(bytes: Buffer): ReadPicture {
  const picture = readPng(bytes)
  const { widthPx, heightPx } = picture
  return { widthPx, heightPx, rgb: (xPx, yPx) => colourText(picture, yPx * widthPx + xPx) }
}

/** The bytes of a 200 that is a PNG. */
export async function pictureAt(server: LandServer, path: string): Promise<Buffer> {
  const { status, headers, bytes } = await server.ask('GET', path)
  expect(status, `${path} answered ${bytes.subarray(0, 300)}`).toBe(200)
  expect(headers['content-type'], path).toBe('image/png')
  return bytes
}

/** What `/metrics` says of the pictures. */
export async function pictureFigures(server: LandServer) {
  const { text } = await server.get('/metrics')
  const figure = (name: string) => {
    const line = text.split('\n').find((one) => one.startsWith(`landpass_picture_cache_${name} `))
    return Number(line?.split(' ')[1])
  }
  return {
    drawn: figure('misses_total'),
    hits: figure('hits_total'),
    bytes: figure('bytes'),
    entries: figure('entries'),
  }
}
