import { parentPort } from 'node:worker_threads'
import { encodeRgb } from '../../../../image/rgb-png.ts'
import { assertSize, type PictureHeader } from './picture-header.ts'
import { type Pixels, squareOf } from './picture-square.ts'
import { pngPixels } from './png-pixels.ts'

/** What the thread of a picture gets. */
export interface PictureTask {
  readonly bytes: Uint8Array
  readonly header: PictureHeader
  readonly maxSidePx: number
}

/** The picture is stored once and sent often: a lower level would make it a twentieth larger. */
const DEFLATE_LEVEL = 6

/** The code of a decoder is loaded for its first picture. */
async function pixelsOf(file: Buffer, kind: PictureHeader['kind']): Promise<Pixels> {
  switch (kind) {
    case 'png':
      return pngPixels(file)
    case 'jpeg':
      return (await import('./jpeg-pixels.ts')).jpegPixels(file)
    case 'webp':
      return (await import('./webp-pixels.ts')).webpPixels(file)
    case 'gif':
      return (await import('./gif-pixels.ts')).gifPixels(file)
  }
}

// A failure ends the thread: the decoder of JPEGs cannot be used again after one
parentPort!.on('message', async ({ bytes, header, maxSidePx }: PictureTask) => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const pixels = await pixelsOf(file, header.kind)
  assertSize(header, pixels)
  parentPort!.postMessage(encodeRgb(squareOf(pixels, maxSidePx), DEFLATE_LEVEL))
})
