import { parentPort, workerData } from 'node:worker_threads'
import { assertSize, type PictureHeader } from './picture-header.ts'
import { squareOf } from './picture-square.ts'
import { encodePng, pngPixels } from './png-pixels.ts'

/** What the thread of a picture gets. */
export interface PictureTask {
  readonly bytes: Uint8Array
  readonly header: PictureHeader
  readonly maxSidePx: number
}

const { bytes, header, maxSidePx } = workerData as PictureTask
const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const pixels =
  header.kind === 'png' ? pngPixels(file, header) : await (await import('./jpeg-pixels.ts')).jpegPixels(file)
assertSize(header, pixels)
parentPort!.postMessage(encodePng(squareOf(pixels, maxSidePx)))
