import { parentPort } from 'node:worker_threads'
import { pngPixels } from '../pictures/png-pixels.ts'
import { drawShare } from './share-image.ts'

/** What the thread that draws the picture of a link gets. */
export interface ShareTask {
  readonly eventId: Uint8Array
  readonly tokenId: Uint8Array
  /** The file of the event's picture, a PNG of ours. */
  readonly png: Uint8Array | undefined
}

parentPort!.on('message', ({ eventId, tokenId, png }: ShareTask) => {
  parentPort!.postMessage(drawShare({ eventId, tokenId, picture: png && pixelsOf(png) }))
})

function pixelsOf(file: Uint8Array) {
  return pngPixels(Buffer.from(file.buffer, file.byteOffset, file.byteLength))
}
