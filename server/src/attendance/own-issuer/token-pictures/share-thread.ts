import { parentPort, workerData } from 'node:worker_threads'
import { readPictureHeader } from '../pictures/picture-header.ts'
import { pngPixels } from '../pictures/png-pixels.ts'
import { drawShare } from './share-image.ts'

/** What the thread that draws the picture of a link gets. */
export interface ShareTask {
  readonly eventId: Uint8Array
  readonly tokenId: Uint8Array
  /** The file of the event's picture, a PNG of ours. */
  readonly png: Uint8Array | undefined
}

const { eventId, tokenId, png } = workerData as ShareTask
parentPort!.postMessage(drawShare({ eventId, tokenId, picture: png && pixelsOf(png) }))

function pixelsOf(file: Uint8Array) {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  return pngPixels(bytes, readPictureHeader(bytes)!)
}
