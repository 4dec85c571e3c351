import { parentPort } from 'node:worker_threads'
import { encodeRgb } from '../../../image/rgb-png.ts'
import { assertSize, type PictureHeader } from './picture-header.ts'
import { squareOf } from './picture-square.ts'
import { pngPixels } from './png-pixels.ts'

/** What the thread of a picture gets. */
export interface PictureTask {
  readonly bytes: Uint8Array
  readonly header: PictureHeader
  readonly maxSidePx: number
}

/** The picture is stored once and sent often: a lower level would make it a twentieth larger. */
const DEFLATE_LEVEL = 6

// A failure ends the thread: the decoder of JPEGs cannot be used again after one
parentPort!.on('message', async ({ bytes, header, maxSidePx }: PictureTask) => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const pixels =
    header.kind === 'png' ? pngPixels(file) : await (await import('./jpeg-pixels.ts')).jpegPixels(file)
  assertSize(header, pixels)
  parentPort!.postMessage(encodeRgb(squareOf(pixels, maxSidePx), DEFLATE_LEVEL))
})
