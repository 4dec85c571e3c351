import decode, { init } from '@jsquash/webp/decode.js'
import type { Pixels } from './picture-square.ts'
import { type DecodedImage, pixelsOf, prepareDecoder } from './wasm-decoder.ts'
import { firstWebpFrame } from './webp-frame.ts'

await prepareDecoder('@jsquash/webp/codec/dec/webp_dec.wasm', init, () => {})

/**
 * Decodes a WebP; of an animation the first frame. For a thread of its own.
 *
 * @throws for a damaged or cut file, and one for which the decoder wants too much memory
 */
export async function webpPixels(bytes: Buffer): Promise<Pixels> {
  const frame = firstWebpFrame(bytes)
  if (!frame) throw new RangeError('the file has no frame')
  return pixelsOf((await decode(new Uint8Array(frame.file).buffer)) as DecodedImage)
}
