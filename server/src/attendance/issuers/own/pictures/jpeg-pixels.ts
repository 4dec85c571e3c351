import decode, { init } from '@jsquash/jpeg/decode.js'
import { isWholeJpeg } from './picture-header.ts'
import type { Pixels } from './picture-square.ts'
import { type DecodedImage, pixelsOf, prepareDecoder } from './wasm-decoder.ts'

/** Whether the decoder has printed a line: it fills what is missing with grey, and prints its first warning only. */
let isWarned = false
await prepareDecoder('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm', init, () => {
  isWarned = true
})

/**
 * Decodes a JPEG, upright as its camera says. For a thread of its own: the decoder cannot be used again after a failure.
 *
 * @throws for a damaged or cut file, and one for which the decoder wants too much memory
 */
export async function jpegPixels(bytes: Buffer): Promise<Pixels> {
  if (!isWholeJpeg(bytes)) throw new RangeError('the end of the file is missing')
  isWarned = false
  const image = await decode(new Uint8Array(bytes).buffer, { preserveOrientation: true })
  if (isWarned) throw new RangeError('the file is damaged, or a scan ends before its last pixel')
  return pixelsOf(image as DecodedImage)
}
