import omggif from 'omggif'
import type { Pixels } from './picture-square.ts'

/**
 * Decodes the first frame of a GIF whose size was checked: {@link readPictureHeader}. What the frame does not cover is transparent.
 *
 * @throws for a damaged or cut file
 */
export function gifPixels(bytes: Buffer): Pixels {
  const { width, height, decode } = reading(bytes)
  const rgba = new Uint8Array(4 * width * height)
  if (saysWarning(() => decode(rgba)))
    throw new RangeError('the frame has fewer or more pixels than its size')
  return { widthPx: width, heightPx: height, rgba }
}

function reading(bytes: Buffer) {
  const reader = new omggif.GifReader(bytes)
  const { width, height } = reader
  return { width, height, decode: (rgba: Uint8Array) => reader.decodeAndBlitFrameRGBA(0, rgba) }
}

/** The decoder says by `console.log` alone that a frame ends early. The thread of pictures has nothing else to log. */
function saysWarning(work: () => void): boolean {
  const { log } = console
  let said = false
  console.log = () => {
    said = true
  }
  try {
    work()
  } finally {
    console.log = log
  }
  return said
}
