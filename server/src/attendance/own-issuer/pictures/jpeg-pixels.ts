import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import decode, { init } from '@jsquash/jpeg/decode.js'
import { isWholeJpeg } from './picture-header.ts'
import type { Pixels } from './picture-square.ts'

const DECODER = '@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm'
const PAGE_BYTES = 65_536
/** Four times what the largest picture needs: its coefficients, its pixels, and those that are turned. */
const MAX_DECODER_BYTES = 256 * 1_048_576

interface Memory {
  readonly buffer: ArrayBuffer
  grow: (pages: number) => number
}

interface Instance {
  readonly exports: Readonly<Record<string, unknown>>
}

/** Every version of Node has it; its types come with those of browsers. */
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Module: new (bytes: Uint8Array) => object
    readonly Instance: new (module: object, imports: object) => Instance
    readonly Memory: new () => Memory
  }
}

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

let isReady = false

/**
 * Decodes a JPEG, upright as its camera says. For a thread of its own: it defines a global class, and the decoder cannot
 * be used again after a failure.
 *
 * @throws for a damaged or cut file, and one for which the decoder wants too much memory
 */
export async function jpegPixels(bytes: Buffer): Promise<Pixels> {
  if (!isWholeJpeg(bytes)) throw new RangeError('the end of the file is missing')
  if (!isReady) await prepareDecoder()
  isReady = true
  const file = new Uint8Array(bytes).buffer
  const { data, width, height } = (await decode(file, { preserveOrientation: true })) as DecodedImage
  return { widthPx: width, heightPx: height, rgba: data }
}

async function prepareDecoder(): Promise<void> {
  Object.assign(globalThis, { ImageData: DecodedImage })
  const decoder = new WebAssembly.Module(readFileSync(fileURLToPath(import.meta.resolve(DECODER))))
  const instantiateWasm = (imports: object, onInstance: (instance: Instance) => void) => {
    const instance = new WebAssembly.Instance(decoder, imports)
    for (const part of Object.values(instance.exports)) if (part instanceof WebAssembly.Memory) bound(part)
    onInstance(instance)
    return instance.exports
  }
  const initWith = init as unknown as (module: object, options: object) => Promise<void>
  await initWith(decoder, { instantiateWasm, printErr: () => {} })
}

/** Lets the decoder's memory grow to its limit only: the decoder has set none, and a thread's limits do not count it. */
function bound(memory: Memory): void {
  const grow = memory.grow.bind(memory)
  memory.grow = (pages) => {
    if (memory.buffer.byteLength + pages * PAGE_BYTES > MAX_DECODER_BYTES)
      throw new RangeError('too much memory')
    return grow(pages)
  }
}
