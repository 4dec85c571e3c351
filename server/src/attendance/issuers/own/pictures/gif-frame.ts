/** The first picture of a GIF. */
export interface GifFrame {
  /** The width of the whole picture, in which the frame lies. */
  readonly widthPx: number
  readonly heightPx: number
  /** Whether more frames follow. */
  readonly isAnimated: boolean
  readonly left: number
  readonly top: number
  readonly frameWidthPx: number
  readonly frameHeightPx: number
  readonly isInterlaced: boolean
  /** Red, green and blue of each colour; empty where the file has none for the frame. */
  readonly palette: Buffer
  /** The colour that is not drawn. */
  readonly transparent: number | undefined
  /** Bits of the shortest codes, then the codes. */
  readonly codeBits: number
  readonly codes: Buffer
}

const START = /^GIF8[79]a$/
const HEAD_BYTES = 13
const FRAME_BYTES = 10
const [FRAME, EXTENSION, END] = [0x2c, 0x21, 0x3b]
const GRAPHIC_CONTROL = 0xf9
const GRAPHIC_CONTROL_BYTES = 4

/** Finds the first picture of a GIF. Undefined for other files, and for damaged ones. */
export function firstGifFrame(bytes: Buffer): GifFrame | undefined {
  if (bytes.length < HEAD_BYTES || !START.test(bytes.toString('latin1', 0, 6))) return undefined
  const screen = { widthPx: bytes.readUInt16LE(6), heightPx: bytes.readUInt16LE(8) }
  const common = paletteAt(bytes, HEAD_BYTES, bytes[10]!)
  let first: GifFrame | undefined
  let transparent: number | undefined
  for (let at = HEAD_BYTES + common.length; at + 2 <= bytes.length && bytes[at] !== END; ) {
    if (bytes[at] === EXTENSION) {
      const blocks = blocksAt(bytes, at + 2)
      if (!blocks) return undefined
      if (bytes[at + 1] === GRAPHIC_CONTROL) transparent = transparentOf(blocks.content)
      at = blocks.end
      continue
    }
    if (bytes[at] !== FRAME || at + FRAME_BYTES > bytes.length) return undefined
    if (first) return { ...first, isAnimated: true }
    const flags = bytes[at + 9]!
    const own = paletteAt(bytes, at + FRAME_BYTES, flags)
    const codesAt = at + FRAME_BYTES + own.length
    const blocks = blocksAt(bytes, codesAt + 1)
    if (!blocks) return undefined
    first = {
      ...screen,
      isAnimated: false,
      left: bytes.readUInt16LE(at + 1),
      top: bytes.readUInt16LE(at + 3),
      frameWidthPx: bytes.readUInt16LE(at + 5),
      frameHeightPx: bytes.readUInt16LE(at + 7),
      isInterlaced: (flags & 0x40) !== 0,
      palette: own.length > 0 ? own : common,
      transparent,
      codeBits: bytes[codesAt]!,
      codes: blocks.content,
    }
    if (first.left + first.frameWidthPx > screen.widthPx) return undefined
    if (first.top + first.frameHeightPx > screen.heightPx) return undefined
    at = blocks.end
  }
  return first
}

function paletteAt(bytes: Buffer, at: number, flags: number): Buffer {
  return bytes.subarray(at, at + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0))
}

/** @returns what the blocks have, each with its length before it, and where the next part begins; undefined where they are cut */
function blocksAt(
  bytes: Buffer,
  from: number,
): { readonly content: Buffer; readonly end: number } | undefined {
  const blocks: Buffer[] = []
  for (let at = from; at < bytes.length; ) {
    const end = at + 1 + bytes[at]!
    if (end === at + 1) return { content: Buffer.concat(blocks), end }
    blocks.push(bytes.subarray(at + 1, end))
    at = end
  }
  return undefined
}

function transparentOf(control: Buffer): number | undefined {
  return control.length >= GRAPHIC_CONTROL_BYTES && (control[0]! & 1) === 1 ? control[3] : undefined
}
