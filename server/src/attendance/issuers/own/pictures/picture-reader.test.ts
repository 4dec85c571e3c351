import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { deflateSync } from 'node:zlib'
import encode, { init } from '@jsquash/jpeg/encode.js'
import omggif from 'omggif'
import { PNG } from 'pngjs'
import { expect, test } from 'vitest'
import {
  jpegOfScans,
  type PngForm,
  pngChunk,
  pngOf,
  SAMPLES,
} from '../../../../../test/support/images/costly-pictures.ts'
import { gifPixels } from './gif-pixels.ts'
import { assertSize, isAnimation, readPictureHeader } from './picture-header.ts'
import { MAX_SCANS, PictureError, PictureReader } from './picture-reader.ts'
import { squareOf } from './picture-square.ts'
import { pngPixels } from './png-pixels.ts'

const reader = new PictureReader()
const FRAME_MARKERS = [0xc0, 0xc1, 0xc2]
/** 64 x 64 pixels, red on the left; on the right blue, or transparent. */
const WEBP = {
  red: 'UklGRiYAAABXRUJQVlA4TBoAAAAvP8APAA8Q87//8x8OxILJ/KVj6Ivof1TBdw==',
  half: 'UklGRqIAAABXRUJQVlA4WAoAAAAQAAAAPwAAPwAAQUxQSBQAAAABDzD/ERFCLJjMXzqGvoj+RxV8B1ZQOCBoAAAAUAUAnQEqQABAAD4xGIpDIiGhFQQAIAMEsYBovoAfiBpgPwA/YD+gAFP7eYiRetxHEYeAAP73opWnvD4zf7mHeBopiZn//CdKfNvdpR7Ii9Wv/hZlwna2zYUOBQcpTVNEwKCQXGwAAAA=',
}
const mayDecode = async () => {}

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

/** A GIF whose left half is red and whose right half is transparent, with so many frames of other colours behind it. */
function gifOf(frames: number): Buffer {
  const bytes = Buffer.alloc(100_000)
  const writer = new omggif.GifWriter(bytes, 64, 64, { palette: [0xff0000, 0x0000ff, 0x00ff00, 0] })
  const halves = Array.from({ length: 64 * 64 }, (_, at) => (at % 64 < 32 ? 0 : 1))
  writer.addFrame(0, 0, 64, 64, halves, { transparent: 1 })
  for (let frame = 1; frame < frames; frame++)
    writer.addFrame(
      0,
      0,
      64,
      64,
      halves.map(() => 2),
    )
  return bytes.subarray(0, writer.end())
}

/** An animation of files that are no animations. */
function animationOf(files: readonly Buffer[]): Buffer {
  const chunk = (type: string, body: Buffer) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(body.length)
    return Buffer.concat([Buffer.from(type), length, body, Buffer.alloc(body.length % 2)])
  }
  const frames = files.map((file) => {
    const own = file.toString('latin1', 12, 16) === 'VP8X' ? file.subarray(30) : file.subarray(12)
    return chunk('ANMF', Buffer.concat([Buffer.from('0000000000003f00003f000064000000', 'hex'), own]))
  })
  const head = chunk('VP8X', Buffer.from('120000003f00003f0000', 'hex'))
  const body = Buffer.concat([Buffer.from('WEBP'), head, chunk('ANIM', Buffer.alloc(6)), ...frames])
  return chunk('RIFF', body)
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
    const made = await reader.read(file, mayDecode)
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
    [pngOf(2_048, 1_025, { depth: 1, colour: 0, isInterlaced: false }), '2048 x 1025'],
    [pngOf(1_025, 1_024, { depth: 16, colour: 6, isInterlaced: true }), '1025 x 1024 with 64 bits a pixel'],
    [jpegOfScans(64, MAX_SCANS + 1), `a JPEG of ${MAX_SCANS + 1} scans`],
    [jpegOfScans(64, 1_000, 3), 'a JPEG of 1000 scans'],
    [withComment(jpegOfScans(64, 1_000), 'ffd9'), 'a JPEG of 1000 scans'],
    [Buffer.concat([png, Buffer.alloc(1_048_576)]), '64 x 64'],
    [png.subarray(0, png.length - 30), 'damaged'],
    [jpeg.subarray(0, 30), 'of another format'],
    [Buffer.from('ffd8ffc0001108004000400301220002110103110100ffd9', 'hex'), 'damaged'],
    [bomb, 'damaged'],
  ] as const)
    await expect(reader.read(Buffer.from(file), mayDecode), message).rejects.toThrow(message)
  expect(() => pngPixels(bomb)).toThrow(/larger than/)
})

test('a file whose decoder would find another size than the header says is refused', async () => {
  const png = PNG.sync.write(twoColours(64, 64))
  const ihdr = png.subarray(8, 33)
  const tall = PNG.sync.write(new PNG({ width: 64, height: 72 }))
  const twoHeaders = Buffer.concat([png.subarray(0, 33), tall.subarray(8)])
  expect(readPictureHeader(twoHeaders)).toMatchObject({ widthPx: 64 })
  await expect(reader.read(twoHeaders, mayDecode)).rejects.toThrow('damaged')
  const late = Buffer.concat([png.subarray(0, 8), png.subarray(33, -12), ihdr, png.subarray(-12)])
  await expect(reader.read(late, mayDecode)).rejects.toThrow('of another format')

  for (const marker of [0x01, 0xd0, 0xd7, 0xd8, 0xd9, 0xda, 0xc8, 0xcc, 0x02])
    expect(readPictureHeader(withDecoy(marker)), marker.toString(16)).toBeUndefined()
  expect(readPictureHeader(withDecoy(0xe1))).toMatchObject({ widthPx: 64 })
  const wide = await jpegOf(twoColours(2_304, 64))
  await expect(reader.read(withDecoy(0x01, wide.subarray(2)), mayDecode)).rejects.toThrow('of another format')

  const header = { kind: 'jpeg', widthPx: 64, heightPx: 128, bitsPerPixel: 24, scans: 1 } as const
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
    await expect(reader.read(cut, mayDecode), String(part)).rejects.toThrow('damaged')
  }
  // Cameras put pictures of the same scene behind each other
  const two = Buffer.concat([jpeg, jpeg.subarray(0, jpeg.length - 2)])
  expect((await reader.read(two, mayDecode)).equals(await reader.read(jpeg, mayDecode))).toBe(true)
})

test('a JPEG whose frame ends early is refused, whatever marker follows', async () => {
  const noise = new PNG({ width: 128, height: 128 })
  for (let at = 0; at < noise.data.length; at++) noise.data[at] = at % 4 === 3 ? 255 : (at * at * 31) >> 7
  const jpeg = await jpegOf(noise)
  const half = jpeg.subarray(0, jpeg.length >> 1)
  for (const behind of ['ffd9', 'ffd0ffd9', 'ffe00004abcdffd9', 'fffe0004aaaaffd9', 'ffc4000400000000ffd9']) {
    const cut = Buffer.concat([half, Buffer.from(behind, 'hex')])
    await expect(reader.read(cut, mayDecode), behind).rejects.toThrow('damaged')
  }
  // The decoder prints its first warning only: here another one comes before that of the missing pixels
  const [cut, scanAt] = [Buffer.concat([half, Buffer.from('ffd9', 'hex')]), half.indexOf('ffda', 'hex')]
  const strayByte = Buffer.concat([cut.subarray(0, scanAt), Buffer.from([0x11]), cut.subarray(scanAt)])
  const otherVersion = Buffer.from(cut)
  otherVersion[cut.indexOf('JFIF') + 5] = 2
  for (const file of [strayByte, otherVersion])
    await expect(reader.read(file, mayDecode)).rejects.toThrow('damaged')
  expect(await reader.read(jpeg, mayDecode), 'the thread works on').toBeInstanceOf(Buffer)
})

test('a JPEG in the colours of print is named as such', async () => {
  const jpeg = Buffer.from(await jpegOf(twoColours(64, 64)))
  jpeg[jpeg.findLastIndex((byte, at) => byte === 0xff && FRAME_MARKERS.includes(jpeg[at + 1]!)) + 9] = 4
  await expect(reader.read(jpeg, mayDecode)).rejects.toThrow('CMYK')
})

test('a WebP becomes a square on white, and so does the first frame of an animation', async () => {
  const [whole, half] = [WEBP.red, WEBP.half].map((text) => Buffer.from(text, 'base64'))
  const pixelsOf = async (file: Buffer) => {
    const { width, height, data } = PNG.sync.read(await reader.read(file, mayDecode))
    const at = (x: number) => [...data.subarray(4 * x, 4 * x + 3)].map((value) => Math.round(value / 16))
    return { width, height, colours: [at(2), at(width - 3)] }
  }
  const square = { width: 64, height: 64 }
  expect(await pixelsOf(whole!)).toEqual({
    ...square,
    colours: [
      [16, 0, 0],
      [0, 0, 16],
    ],
  })
  expect(await pixelsOf(half!)).toEqual({
    ...square,
    colours: [
      [16, 0, 0],
      [16, 16, 16],
    ],
  })
  const animation = animationOf([half!, whole!])
  expect([isAnimation(whole!), isAnimation(animation)]).toEqual([false, true])
  expect(await pixelsOf(animation)).toEqual(await pixelsOf(half!))

  await expect(reader.read(half!.subarray(0, -9), mayDecode)).rejects.toThrow('of another format')
  const noWidth = 'UklGRiwAAABXRUJQQUxQSAQAAAAAAAAAVlA4IBQAAAAAAACdASoAAAAAAAAAAAAAAAAAAA=='
  await expect(reader.read(Buffer.from(noWidth, 'base64'), mayDecode)).rejects.toThrow('of another format')
  const short = Buffer.from(whole!.subarray(0, -14))
  short.writeUInt32LE(12, 16)
  await expect(reader.read(short, mayDecode)).rejects.toThrow('damaged')
  const large = Buffer.from(whole!)
  large.writeUInt32LE(1_024 | (1_023 << 14), 21)
  await expect(reader.read(large, mayDecode)).rejects.toThrow('1025 x 1024 as WebP')
})

test('a GIF becomes a square of its first frame, and what its memory would not hold is refused', async () => {
  const first = gifOf(1)
  const animation = gifOf(3)
  expect([isAnimation(first), isAnimation(animation)]).toEqual([false, true])
  const made = await reader.read(animation, mayDecode)
  expect(made.equals(await reader.read(first, mayDecode))).toBe(true)
  const { data } = PNG.sync.read(made)
  expect([[...data.subarray(0, 3)], [...data.subarray(-4, -1)]]).toEqual([
    [255, 0, 0],
    [255, 255, 255],
  ])

  const frameAt = first.indexOf(0x2c, 13 + 12)
  const wide = Buffer.from(first)
  wide.writeUInt16LE(65_535, frameAt + 5)
  await expect(reader.read(wide, mayDecode)).rejects.toThrow('of another format')
  const short = Buffer.concat([first.subarray(0, frameAt + 11), Buffer.from('0104003b', 'hex')])
  await expect(reader.read(short, mayDecode)).rejects.toThrow('damaged')
  await expect(reader.read(first.subarray(0, -100), mayDecode)).rejects.toThrow('of another format')
  const noColours = Buffer.concat([first.subarray(0, 13), first.subarray(13 + 12)])
  noColours[10] = 0
  await expect(reader.read(noColours, mayDecode)).rejects.toThrow('damaged')
})

test('no frame hides in an extension of a GIF', async () => {
  const first = gifOf(1)
  // Some readers take this extension for one of 16 bytes, and go on behind them
  const hidden = Buffer.concat([
    Buffer.from([0x21, 0xff, 28]),
    Buffer.alloc(16),
    frameOf(40_000),
    Buffer.from([2, 0, 0]),
  ])
  const file = Buffer.concat([first.subarray(0, 25), hidden, first.subarray(25)])
  expect((await reader.read(file, mayDecode)).equals(await reader.read(first, mayDecode))).toBe(true)
})

test('codes of a GIF that refer to one another are refused', () => {
  for (const codes of [
    [256, 1, 259, 2, 258, 259, 259, 260],
    [256, 1, 300, 258, 259, 260],
    [256, 258, 1],
    [257],
  ])
    expect(() => gifPixels(gifOfCodes(codes)), String(codes)).toThrow(RangeError)
})

test('a GIF has the pixels that another decoder reads, whatever its colours, its frame and the order of its rows', () => {
  for (const colours of [2, 4, 16, 256])
    for (const isInterlaced of [false, true])
      for (const [left, top, width, height] of [
        [0, 0, 80, 70],
        [3, 5, 70, 61],
        [79, 69, 1, 1],
      ] as const) {
        const bytes = Buffer.alloc(100_000)
        const palette = Array.from({ length: colours }, (_, at) => (at * 7_654_321) & 0xffffff)
        const writer = new omggif.GifWriter(bytes, 80, 70, { palette })
        // Runs, then noise: codes of all lengths, and tables that are full
        const pixels = Array.from({ length: width * height }, (_, at) =>
          at < 1_000 ? (at >> 6) % colours : ((at * at * 31) >> 5) & (colours - 1),
        )
        writer.addFrame(left, top, width, height, pixels, { transparent: 1 })
        const file = bytes.subarray(0, writer.end())
        if (isInterlaced) file[file.indexOf(0x2c, 13 + 3 * colours + 8) + 9]! |= 0x40
        const expected = new Uint8Array(4 * 80 * 70)
        new omggif.GifReader(file).decodeAndBlitFrameRGBA(0, expected)
        const { rgba } = gifPixels(file)
        expect(Buffer.from(rgba).equals(expected), JSON.stringify({ colours, isInterlaced, width })).toBe(
          true,
        )
      }
})

test('what is too much work is refused before it counts, and what counts does so before it is decoded', async () => {
  const done: string[] = []
  const counting = new PictureReader(async () => {
    done.push('decoded')
    return Buffer.alloc(1)
  })
  const count = async () => void done.push('counted')
  for (const file of [
    jpegOfScans(64, 64_979),
    pngOf(2_048, 2_048, { depth: 16, colour: 6, isInterlaced: true }),
  ])
    await expect(counting.read(file, count)).rejects.toThrow(PictureError)
  expect(done).toEqual([])
  for (const file of [
    jpegOfScans(1_448, MAX_SCANS),
    pngOf(1_024, 1_024, { depth: 16, colour: 6, isInterlaced: true }),
  ])
    await counting.read(file, count)
  expect(done).toEqual(['counted', 'decoded', 'counted', 'decoded'])
  const tooMany = async () => Promise.reject(new Error('too many'))
  await expect(counting.read(jpegOfScans(64, 1), tooMany)).rejects.toThrow('too many')
  expect(done).toHaveLength(4)
})

test('a PNG of every form has the pixels that another decoder reads', () => {
  const forms: PngForm[] = []
  for (const [colour, depths] of Object.entries({
    0: [1, 2, 4, 8, 16],
    2: [8, 16],
    3: [1, 2, 4, 8],
    4: [8, 16],
    6: [8, 16],
  }))
    for (const depth of depths)
      for (const isInterlaced of [false, true])
        forms.push({ depth, colour: Number(colour), isInterlaced } as PngForm)
  const palette = Buffer.from(Array.from({ length: 3 * 256 }, (_, at) => (at * 37) & 255))
  for (const form of forms) {
    const { depth, colour } = form
    const hidden =
      colour === 3
        ? Buffer.from([0, 100, 255].slice(0, 2 ** depth))
        : Buffer.alloc(2 * SAMPLES[colour], depth === 16 ? 1 : 0)
    const more = [
      ...(colour === 3 ? [pngChunk('PLTE', palette.subarray(0, 3 * 2 ** depth))] : []),
      ...(colour === 4 || colour === 6 ? [] : [pngChunk('tRNS', hidden)]),
    ]
    for (const [width, height] of [
      [13, 11],
      [1, 1],
      [4, 9],
    ] as const) {
      const file = pngOf(
        width,
        height,
        form,
        (row, at) => (at === 0 ? row % 5 : (row * 31 + at * 17) & 255),
        more,
      )
      const { rgba } = pngPixels(file)
      const expected = PNG.sync.read(file).data
      const farthest = Math.max(...Array.from(rgba, (value, at) => Math.abs(value - expected[at]!)))
      // Of 16 bits the other decoder rounds, and ours takes the first eight
      expect(farthest, JSON.stringify({ ...form, width, height })).toBeLessThanOrEqual(depth === 16 ? 1 : 0)
    }
  }
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
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => busy.read(png, mayDecode)))
  const reasons = results.map((result) => (result as PromiseRejectedResult).reason)
  expect(reasons.map(({ message }) => message === 'damaged')).toEqual([...Array(8).fill(true), false, false])
  expect(reasons.at(-1)).toMatchObject({ code: 'too_many_pictures', status: 503, data: { retry_after_s: 5 } })
  await expect(busy.read(png, mayDecode)).rejects.toThrow('damaged')
})

test('transparent pixels become white, and several of them their mean', () => {
  const rgba = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 255, 200, 0, 0, 255, 0, 100, 0, 255)
  expect([...squareOf({ widthPx: 2, heightPx: 2, rgba }, 1).rgb]).toEqual([114, 89, 64])
  expect(readPictureHeader(Buffer.from('ffd8ffff', 'hex'))).toBeUndefined()
})

/** The head of a frame of a GIF, as high as wide. */
function frameOf(sidePx: number): Buffer {
  const head = Buffer.alloc(10)
  head[0] = 0x2c
  head.writeUInt16LE(sidePx, 5)
  head.writeUInt16LE(sidePx, 7)
  return head
}

/** A GIF of 64 x 64 pixels and 256 colours with these codes of 9 bits. */
function gifOfCodes(codes: readonly number[]): Buffer {
  const bits = codes.map((code) => [...code.toString(2).padStart(9, '0')].reverse().join('')).join('')
  const bytes = bits.match(/.{1,8}/g)!.map((byte) => Number.parseInt([...byte].reverse().join(''), 2))
  const head = Buffer.from([...Buffer.from('GIF89a'), 64, 0, 64, 0, 0xf7, 0, 0, ...Buffer.alloc(768)])
  return Buffer.concat([head, frameOf(64), Buffer.from([8, bytes.length, ...bytes, 0, 0x3b])])
}

/** With a comment behind the frame: its bytes are no markers. */
function withComment(jpeg: Buffer, hex: string): Buffer {
  const at = jpeg.indexOf(Buffer.from([0xff, 0xda]))
  const text = Buffer.from(hex, 'hex')
  return Buffer.concat([
    jpeg.subarray(0, at),
    Buffer.from([0xff, 0xfe, 0, text.length + 2]),
    text,
    jpeg.subarray(at),
  ])
}

/** A PNG whose data are a thousand times as long as its size allows. */
function bombOf(widthPx: number, heightPx: number): Buffer {
  const png = PNG.sync.write(twoColours(widthPx, heightPx))
  const at = png.indexOf('IDAT') - 4
  return Buffer.concat([
    png.subarray(0, at),
    pngChunk('IDAT', deflateSync(Buffer.alloc(50_000_000))),
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
