import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { deflateSync } from 'node:zlib'
import encode, { init } from '@jsquash/jpeg/encode.js'
import { PNG } from 'pngjs'
import { expect, test } from 'vitest'
import { assertSize, readPictureHeader } from './picture-header.ts'
import { PictureError, PictureReader } from './picture-reader.ts'
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

test('a file whose decoder would find another size than the header says is refused', async () => {
  const png = PNG.sync.write(twoColours(64, 64))
  const ihdr = png.subarray(8, 33)
  const tall = PNG.sync.write(new PNG({ width: 64, height: 72 }))
  const twoHeaders = Buffer.concat([png.subarray(0, 33), tall.subarray(8)])
  expect(readPictureHeader(twoHeaders)).toMatchObject({ widthPx: 64 })
  await expect(reader.read(twoHeaders)).rejects.toThrow('damaged')
  const late = Buffer.concat([png.subarray(0, 8), png.subarray(33, -12), ihdr, png.subarray(-12)])
  await expect(reader.read(late)).rejects.toThrow('of another format')

  for (const marker of [0x01, 0xd0, 0xd7, 0xd8, 0xd9, 0xda, 0xc8, 0xcc, 0x02])
    expect(readPictureHeader(withDecoy(marker)), marker.toString(16)).toBeUndefined()
  expect(readPictureHeader(withDecoy(0xe1))).toMatchObject({ widthPx: 64 })
  const wide = await jpegOf(twoColours(2_304, 64))
  await expect(reader.read(withDecoy(0x01, wide.subarray(2)))).rejects.toThrow('of another format')

  const header = { kind: 'jpeg', widthPx: 64, heightPx: 128 } as const
  assertSize(header, header)
  assertSize(header, { widthPx: 128, heightPx: 64 })
  for (const other of [
    { ...header, widthPx: 65 },
    { ...header, widthPx: 128 },
  ])
    expect(() => assertSize(header, other)).toThrow('another size')
  expect(() => assertSize({ ...header, kind: 'png' }, { widthPx: 128, heightPx: 64 })).toThrow('another size')
})

test('a JPEG that was cut is refused, and one with something behind its end is not', async () => {
  const jpeg = Buffer.from(await jpegOf(twoColours(128, 128)))
  for (const part of [0.5, 0.9]) {
    const cut = jpeg.subarray(0, Math.floor(jpeg.length * part))
    await expect(reader.read(cut), String(part)).rejects.toThrow('damaged')
  }
  // Cameras put pictures of the same scene behind each other
  const two = Buffer.concat([jpeg, jpeg.subarray(0, jpeg.length - 2)])
  expect((await reader.read(two)).equals(await reader.read(jpeg))).toBe(true)
})

test('pictures wait for one another, but not too many of them', async () => {
  let running = 0
  const busy = new PictureReader(async () => {
    expect(++running).toBe(1)
    await Promise.resolve()
    running--
    throw new PictureError('damaged')
  })
  const png = PNG.sync.write(twoColours(64, 64))
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => busy.read(png)))
  const reasons = results.map((result) => (result as PromiseRejectedResult).reason)
  expect(reasons.map(({ message }) => message === 'damaged')).toEqual([...Array(8).fill(true), false, false])
  expect(reasons.at(-1)).toMatchObject({ code: 'too_many_pictures', status: 503, data: { retry_after_s: 5 } })
  await expect(busy.read(png)).rejects.toThrow('damaged')
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

/**
 * A JPEG whose first marker makes a reader that takes each marker for one with a length jump over the frame of the
 * decoder, to another frame of 64 x 64.
 */
function withDecoy(
  marker: number,
  frame: Uint8Array = Buffer.from('ffc0001108100010000301220002110103110100', 'hex'),
) {
  const start = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, marker]), frame])
  const decoyAt = 4 + start.readUInt16BE(4)
  const decoy = Buffer.from('ffc00011080040004003012200021101031101', 'hex')
  return Buffer.concat([start, Buffer.alloc(decoyAt - start.length), decoy, Buffer.from([0xff, 0xd9])])
}
