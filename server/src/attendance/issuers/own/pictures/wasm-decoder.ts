import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Pixels } from './picture-square.ts'

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

/** What a decoder makes: browsers have a class of this name. */
export class DecodedImage {
  readonly data: Uint8ClampedArray
  readonly width: number
  readonly height: number
  constructor(data: Uint8ClampedArray, width: number, height: number) {
    this.data = data
    this.width = width
    this.height = height
  }
}

/** Pixels as the rest of the server has them. */
export function pixelsOf({ data, width, height }: DecodedImage): Pixels {
  return { widthPx: width, heightPx: height, rgba: data }
}

/**
 * Prepares a decoder with a limit of memory. For a thread of its own: it defines a global class.
 *
 * @param file of the decoder, as it is imported
 * @param init of its package
 * @param onWarning is called for each line that the decoder prints
 */
export async function prepareDecoder(file: string, init: unknown, onWarning: () => void): Promise<void> {
  Object.assign(globalThis, { ImageData: DecodedImage })
  const decoder = new WebAssembly.Module(readFileSync(fileURLToPath(import.meta.resolve(file))))
  const instantiateWasm = (imports: object, onInstance: (instance: Instance) => void) => {
    const instance = new WebAssembly.Instance(decoder, imports)
    for (const part of Object.values(instance.exports)) if (part instanceof WebAssembly.Memory) bound(part)
    onInstance(instance)
    return instance.exports
  }
  const initWith = init as (module: object, options: object) => Promise<void>
  await initWith(decoder, { instantiateWasm, printErr: onWarning })
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
