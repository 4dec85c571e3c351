import { crc32, deflateSync } from 'node:zlib'

export interface PngForm {
  readonly depth: 1 | 2 | 4 | 8 | 16
  /** 0 grey, 2 colours, 3 palette, 4 grey with opacity, 6 colours with opacity. */
  readonly colour: 0 | 2 | 3 | 4 | 6
  readonly isInterlaced: boolean
}

/** How many samples a pixel has, by the type of its colours. */
export const SAMPLES = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 } as const
/** First column and row of each part of an interlaced picture, and the steps between its columns and rows. */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

/**
 * A PNG of any form, which encoders of pictures do not all write.
 *
 * @param byteAt the bytes of a row by its number and their place in it; the first of them is the filter of the row
 */
export function pngOf(
  widthPx: number,
  heightPx: number,
  form: PngForm,
  byteAt: (row: number, at: number) => number = () => 0,
  more: readonly Buffer[] = [],
): Buffer {
  const { depth, colour, isInterlaced } = form
  const parts = isInterlaced ? ADAM7 : ([[0, 0, 1, 1]] as const)
  const rows: Buffer[] = []
  for (const [left, top, stepX, stepY] of parts) {
    const columns = Math.ceil((widthPx - left) / stepX)
    if (columns <= 0) continue
    const rowBytes = 1 + Math.ceil((columns * depth * SAMPLES[colour]) / 8)
    for (let y = top; y < heightPx; y += stepY) {
      const row = Buffer.alloc(rowBytes)
      for (let at = 0; at < rowBytes; at++) row[at] = byteAt(rows.length, at)
      rows.push(row)
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(widthPx, 0)
  header.writeUInt32BE(heightPx, 4)
  header.set([depth, colour, 0, 0, isInterlaced ? 1 : 0], 8)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    ...more,
    pngChunk('IDAT', deflateSync(Buffer.concat(rows), { level: 9 })),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

export function pngChunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(body.length, 0)
  frame.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
}

/** A progressive JPEG whose scans hold nearly nothing: a decoder goes over all its blocks for each of them. */
export function jpegOfScans(sidePx: number, scans: number, components: 1 | 3 = 1): Buffer {
  const segment = (marker: number, body: readonly number[]) => [
    ...[0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 255],
    ...body,
  ]
  const size = [sidePx >> 8, sidePx & 255]
  const parts = Array.from({ length: components }, (_, at) => at + 1)
  const oneCode = [1, ...Array<number>(15).fill(0), 0]
  const head = [
    ...[0xff, 0xd8],
    ...segment(0xdb, [0, ...Array<number>(64).fill(1)]),
    ...segment(0xc2, [8, ...size, ...size, components, ...parts.flatMap((id) => [id, 0x11, 0])]),
    ...segment(0xc4, [0, ...oneCode]),
    ...segment(0xc4, [0x10, ...oneCode]),
  ]
  const all = Array.from({ length: scans }, (_, at) =>
    Buffer.from([...segment(0xda, [1, parts[at % components]!, 0, 0, 0, 0]), 0, 0, 0, 0, 0, 0]),
  )
  return Buffer.concat([Buffer.from(head), ...all, Buffer.from([0xff, 0xd9])])
}
