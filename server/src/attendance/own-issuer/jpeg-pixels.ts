import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import decode, { init } from '@jsquash/jpeg/decode.js'
import type { Pixels } from './picture-square.ts'

const DECODER = '@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm'

/** What the decoder makes: browsers have a class of this name. */
class DecodedImage {
  readonly data: Uint8ClampedArray
  readonly width: number
  readonly height: number
  constructor(data: Uint8ClampedArray, width: number, height: number) {
    this.data = data
    this.width = width
    this.height = height
  }
}

/**
 * Decodes a JPEG, upright as its camera says. For a thread of its own: it defines a global class, and the decoder cannot
 * be used again after a failure.
 *
 * @throws for a damaged file
 */
export async function jpegPixels(bytes: Buffer): Promise<Pixels> {
  Object.assign(globalThis, { ImageData: DecodedImage })
  const wasmBinary = readFileSync(fileURLToPath(import.meta.resolve(DECODER)))
  const initWith = init as unknown as (options: object) => Promise<void>
  await initWith({ wasmBinary, printErr: () => {} })
  const file = new Uint8Array(bytes).buffer
  const { data, width, height } = (await decode(file, { preserveOrientation: true })) as DecodedImage
  return { widthPx: width, heightPx: height, rgba: data }
}
