import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expectSamePicture, type Picture, paint, readPng } from '../../test/support/images/png.ts'
import { runs } from '../../test/support/run/property-seed.ts'
import { type BandImage, encodeBands, encodePixels, type PixelImage } from './palette-png.ts'
import { MAX_SIDE_PX } from './png-file.ts'

/** A simple reference: paints a {@link BandImage} pixel by pixel. */
function paintBands(image: BandImage): Picture {
  const bandOf = [...image.rows.subarray(0, image.bandCount)].flatMap((rows, band) => Array(rows).fill(band))
  return paint(image.widthPx, image.heightPx, image.palette, (x, y) => {
    const strip = Math.floor((x - image.firstPx) / image.stripPx)
    const inside = x - image.firstPx - strip * image.stripPx
    const part = image.partEndsPx.findIndex((endPx) => inside < endPx)
    return (image.strips[bandOf[y] * image.stripsPerRow + strip]! >> (4 * part)) & 15
  })
}

function paintPixels({ widthPx, heightPx, palette, pixels }: PixelImage): Picture {
  return paint(widthPx, heightPx, palette, (x, y) => pixels[y * widthPx + x]!)
}

const palette = fc
  .integer({ min: 1, max: 16 })
  .chain((colours) => fc.uint8Array({ minLength: 3 * colours, maxLength: 3 * colours }))

const ends = fc
  .tuple(fc.integer({ min: 1, max: 45 }), fc.nat(45), fc.nat(45), fc.nat(45))
  .map(([side, ...inner]) => [...inner.map((end) => Math.min(end, side)).sort((a, b) => a - b), side])

/** Images with few different strips, so that there are repetitions, or with many. */
const bandImage: fc.Arbitrary<BandImage> = fc
  .record({
    widthPx: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 1100 })),
    ends,
    cutPx: fc.nat(44),
    palette,
    kinds: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 60_000 })),
    rows: fc.array(fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 40 })), {
      minLength: 1,
      maxLength: 12,
    }),
    likeness: fc.infiniteStream(fc.nat()),
    chance: fc.infiniteStream(fc.nat(0xffff)),
  })
  .map(({ widthPx, ends, cutPx, palette, kinds, rows, likeness, chance }) => {
    const stripPx = ends[3]!
    const firstPx = 0 - Math.min(cutPx, stripPx - 1)
    const stripsPerRow = Math.ceil((widthPx - firstPx) / stripPx)
    const colours = palette.length / 3
    const stripOf = (number: number) => {
      const mixed = Math.imul((number % kinds) + 1, 40_503)
      return [0, 4, 8, 12].reduce((strip, at) => strip | ((((mixed >>> at) & 15) % colours) << at), 0)
    }
    const similar = rows.map((_, band) => (likeness.next().value! % (band + 1)) - 1)
    const strips = new Uint16Array(stripsPerRow * rows.length)
    for (let i = 0; i < strips.length; i++) {
      const like = similar[Math.floor(i / stripsPerRow)]!
      const number = chance.next().value!
      // Three of four strips are equal to that of the similar band, or to the strip before.
      if (number % 4 === 0 || i === 0) strips[i] = stripOf(number)
      else
        strips[i] =
          number % 4 === 1 || like < 0 ? strips[i - 1]! : strips[like * stripsPerRow + (i % stripsPerRow)]!
    }
    return {
      widthPx,
      heightPx: rows.reduce((sum, count) => sum + count),
      palette,
      firstPx,
      stripPx,
      partEndsPx: [ends[0]!, ends[1]!, ends[2]!, ends[3]!],
      stripsPerRow,
      bandCount: rows.length,
      strips,
      rows: Uint16Array.from(rows),
      similar: Int32Array.from(similar),
    }
  })

test('images of bands have the right pixels, for any widths, colours and similar bands', () => {
  fc.assert(
    fc.property(bandImage, (image) => {
      expectSamePicture(readPng(encodeBands(image)), paintBands(image))
    }),
    { numRuns: runs(80) },
  )
})

const pixelImage: fc.Arbitrary<PixelImage> = fc
  .record({
    widthPx: fc.integer({ min: 1, max: 70 }),
    heightPx: fc.integer({ min: 1, max: 40 }),
    palette,
    chance: fc.infiniteStream(fc.nat(255)),
  })
  .map(({ widthPx, heightPx, palette, chance }) => {
    const pixels = new Uint8Array(widthPx * heightPx)
    for (let y = 0; y < heightPx; y++) {
      if (y > 0 && chance.next().value! < 128) pixels.copyWithin(y * widthPx, (y - 1) * widthPx, y * widthPx)
      else
        for (let x = 0; x < widthPx; x++)
          pixels[y * widthPx + x] = chance.next().value! % (palette.length / 3)
    }
    return { widthPx, heightPx, palette, pixels }
  })

test('images of pixels have the right pixels, with and without repeated rows', () => {
  fc.assert(
    fc.property(pixelImage, (image) => {
      expectSamePicture(readPng(encodePixels(image)), paintPixels(image))
    }),
  )
})

test('the example of the three boxes', () => {
  const boxes: BandImage = {
    widthPx: 30,
    heightPx: 10,
    palette: Uint8Array.of(0, 0, 0, 255, 0, 0, 0, 0, 255),
    firstPx: 0,
    stripPx: 10,
    partEndsPx: [1, 10, 10, 10],
    stripsPerRow: 3,
    bandCount: 2,
    rows: Uint16Array.of(1, 9),
    similar: Int32Array.of(-1, -1),
    strips: Uint16Array.of(0x000, 0x000, 0x000, 0x020, 0x010, 0x020),
  }
  const picture = readPng(encodeBands(boxes))

  expectSamePicture(
    picture,
    paint(30, 10, boxes.palette, (x, y) => (y === 0 || x % 10 === 0 ? 0 : x >= 10 && x < 20 ? 1 : 2)),
  )
})

/** Noise: bands of one row, strips of four single pixels. */
function noise(widthPx: number, heightPx: number, colours: number): BandImage {
  const stripsPerRow = Math.ceil(widthPx / 4)
  let seed = 1
  const strips = Uint16Array.from({ length: stripsPerRow * heightPx }, () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return [0, 4, 8, 12].reduce((strip, at) => strip | (((seed >>> (12 + at)) % colours) << at), 0)
  })
  return {
    widthPx,
    heightPx,
    palette: Uint8Array.from({ length: 3 * colours }, (_, i) => 5 * i),
    firstPx: 0,
    stripPx: 4,
    partEndsPx: [1, 2, 3, 4],
    stripsPerRow,
    bandCount: heightPx,
    strips,
    rows: new Uint16Array(heightPx).fill(1),
    similar: Int32Array.from({ length: heightPx }, (_, band) => band - 1),
  }
}

test('a large image without repetitions is at most 1 % larger than its pixels', () => {
  const image = noise(1501, 700, 16)
  const file = encodeBands(image)

  expectSamePicture(readPng(file), paintBands(image))
  expect(file.length).toBeLessThan(751 * 700 * 1.01)
})

test('the largest image, with the largest sums that a row can have', () => {
  const white = { ...noise(MAX_SIDE_PX, 40, 16), rows: new Uint16Array(40).fill(1) }
  const image = { ...white, strips: white.strips.map((_, i) => (i % 5000 === 0 ? 0 : 0xffff)) }

  expectSamePicture(readPng(encodeBands(image)), paintBands(image))
})

test('an image without pixels, or a larger one than the largest, is refused', () => {
  const pixels = new Uint8Array(0)
  const palette = Uint8Array.of(1, 2, 3)
  for (const [widthPx, heightPx] of [
    [0, 1],
    [1, 0],
    [MAX_SIDE_PX + 1, 1],
    [1, MAX_SIDE_PX + 1],
  ] as const) {
    expect(() => encodePixels({ widthPx, heightPx, palette, pixels })).toThrow(RangeError)
    expect(() => encodeBands({ ...noise(4, 1, 1), widthPx, heightPx })).toThrow(RangeError)
  }
})
