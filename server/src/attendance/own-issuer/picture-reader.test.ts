import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { deflateSync } from 'node:zlib'
import encode, { init } from '@jsquash/jpeg/encode.js'
import { PNG } from 'pngjs'
import { expect, test } from 'vitest'
import { readPictureHeader } from './picture-header.ts'
import { PictureReader } from './picture-reader.ts'
import { squareOf } from './picture-square.ts'
import { pngPixels } from './png-pixels.ts'

const reader = new PictureReader()

/** Red on the left half, blue on the right one. */
function twoColours(widthPx: number, heightPx: number): PNG {
  const png = new PNG({ width: widthPx, height: heightPx })
  for (let at = 0; at < widthPx * heightPx; at++)
    png.data.set(at % widthPx < widthPx / 2 ? [255, 0, 0, 255] : [0, 0, 255, 255], 4 * at)
  return png
}

async function jpegOf({ data, width, height }: PNG): Promise<Buffer> {
  const file = fileURLToPath(import.meta.resolve('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm'))
  await (init as unknown as (options: object) => Promise<void>)({ wasmBinary: readFileSync(file) })
  const image = { data: new Uint8ClampedArray(data), width, height }
  return Buffer.from(await encode(image as unknown as Parameters<typeof encode>[0]))
}

test('a PNG and a JPEG become squares of their middle, and nothing else of the file is left', async () => {
  const png = PNG.sync.write(twoColours(700, 100))
  const secret = Buffer.concat([Buffer.from('0000000474455874', 'hex'), Buffer.from('GPS!'), Buffer.alloc(4)])
  const withText = Buffer.concat([png.subarray(0, 33), secret, png.subarray(33)])
  const jpeg = await jpegOf(twoColours(600, 1_200))

  for (const [file, sidePx] of [
    [withText, 100],
    [jpeg, 512],
  ] as const) {
    const made = await reader.read(file)
    const { width, height, data } = PNG.sync.read(made)
    expect([width, height]).toEqual([sidePx, sidePx])
    const at = (x: number) => [...data.subarray(4 * x, 4 * x + 3)].map((value) => Math.round(value / 16))
    expect([at(2), at(sidePx - 3)]).toEqual([
      [16, 0, 0],
      [0, 0, 16],
    ])
    expect(made.includes('GPS!')).toBe(false)
  }
})

test('other files, and those that are too large or damaged, are refused', async () => {
  const jpeg = await jpegOf(twoColours(64, 64))
  const png = PNG.sync.write(twoColours(64, 64))
  const bomb = bombOf(64, 64)
  for (const [file, message] of [
    [Buffer.from('GIF89a'), 'of another format'],
    [Buffer.alloc(0), 'of another format'],
    [PNG.sync.write(twoColours(2_049, 64)), '2049 x 64'],
    [PNG.sync.write(twoColours(63, 64)), '63 x 64'],
    [Buffer.concat([png, Buffer.alloc(1_048_576)]), '64 x 64'],
    [png.subarray(0, png.length - 30), 'damaged'],
    [jpeg.subarray(0, 30), 'of another format'],
    [Buffer.from('ffd8ffc0001108004000400301220002110103110100ffd9', 'hex'), 'damaged'],
    [bomb, 'damaged'],
  ] as const)
    await expect(reader.read(Buffer.from(file)), message).rejects.toThrow(message)
  expect(() => pngPixels(bomb, { widthPx: 64, heightPx: 64 })).toThrow(/larger than/)
})

test('transparent pixels become white, and several of them their mean', () => {
  const rgba = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 255, 200, 0, 0, 255, 0, 100, 0, 255)
  const [red, green, blue, opacity] = squareOf({ widthPx: 2, heightPx: 2, rgba }, 1).rgba
  expect([red, green, blue, opacity]).toEqual([114, 89, 64, 255])
  expect(readPictureHeader(Buffer.from('ffd8ffff', 'hex'))).toBeUndefined()
})

/** A PNG whose data are a thousand times as long as its size allows. */
function bombOf(widthPx: number, heightPx: number): Buffer {
  const png = PNG.sync.write(twoColours(widthPx, heightPx))
  const data = deflateSync(Buffer.alloc(50_000_000))
  const at = png.indexOf('IDAT')
  const head = Buffer.alloc(4)
  head.writeUInt32BE(data.length)
  return Buffer.concat([
    png.subarray(0, at - 4),
    head,
    Buffer.from('IDAT'),
    data,
    Buffer.alloc(4),
    png.subarray(-12),
  ])
}
