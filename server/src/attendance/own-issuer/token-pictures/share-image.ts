import type { PixelImage } from '../../../image/palette-png.ts'
import type { Pixels } from '../pictures/picture-square.ts'
import { encodePng } from '../pictures/png-pixels.ts'
import { TOKEN_IMAGE_PX, tokenPixels } from './token-image.ts'

/** The size that programs which preview links show across a message. */
export const SHARE_SIZE = { widthPx: 1_200, heightPx: 630 }
const { widthPx: WIDTH_PX, heightPx: HEIGHT_PX } = SHARE_SIZE
const FRAME_PX = 12
const TOP_PX = (HEIGHT_PX - TOKEN_IMAGE_PX) / 2
/** A higher level takes several times as long, for files that are read seldom. */
const DEFLATE_LEVEL = 4

export interface ShareParts {
  /** 16 bytes. */
  readonly eventId: Uint8Array
  /** 16 bytes. */
  readonly tokenId: Uint8Array
  /** The picture of the event, a square. Undefined: it has none. */
  readonly picture: Pixels | undefined
}

/**
 * Draws what a link to a token is shown with: a PNG of 1200 x 630 pixels, in a frame of the colour of the event. It has the picture of
 * the event and the rosette of the token beside each other, or the rosette alone. Without letters, as names may have any script;
 * title and text are in the HTML.
 */
export function drawShare({ eventId, tokenId, picture }: ShareParts): Buffer {
  const rosette = tokenPixels(eventId, tokenId)
  const sheet = new Uint8Array(4 * WIDTH_PX * HEIGHT_PX)
  paintFrame(sheet, rosette.palette)
  if (picture) {
    paintSquare(sheet, TOP_PX, (x, y) => pixelOf(picture, x, y))
    paintSquare(sheet, WIDTH_PX - TOP_PX - TOKEN_IMAGE_PX, (x, y) => colourOf(rosette, x, y))
  } else paintSquare(sheet, (WIDTH_PX - TOKEN_IMAGE_PX) / 2, (x, y) => colourOf(rosette, x, y))
  return encodePng({ ...SHARE_SIZE, rgba: sheet }, DEFLATE_LEVEL)
}

function paintFrame(sheet: Uint8Array, palette: Uint8Array): void {
  const [paper, rim] = [palette.subarray(0, 3), palette.subarray(3, 6)]
  for (let y = 0; y < HEIGHT_PX; y++) {
    for (let x = 0; x < WIDTH_PX; x++) {
      const fromEdge = Math.min(x, y, WIDTH_PX - 1 - x, HEIGHT_PX - 1 - y)
      setPixel(sheet, x, y, fromEdge < FRAME_PX ? rim : paper)
    }
  }
}

/** @param colourAt the colour of a place of the square, from 0 to 511 */
function paintSquare(
  sheet: Uint8Array,
  leftPx: number,
  colourAt: (x: number, y: number) => Uint8Array | Uint8ClampedArray,
): void {
  for (let y = 0; y < TOKEN_IMAGE_PX; y++)
    for (let x = 0; x < TOKEN_IMAGE_PX; x++) setPixel(sheet, leftPx + x, TOP_PX + y, colourAt(x, y))
}

function setPixel(sheet: Uint8Array, x: number, y: number, colour: Uint8Array | Uint8ClampedArray): void {
  const at = 4 * (y * WIDTH_PX + x)
  sheet[at] = colour[0]!
  sheet[at + 1] = colour[1]!
  sheet[at + 2] = colour[2]!
  sheet[at + 3] = 255
}

function colourOf({ palette, pixels }: PixelImage, x: number, y: number): Uint8Array {
  const colour = pixels[y * TOKEN_IMAGE_PX + x]!
  return palette.subarray(3 * colour, 3 * colour + 3)
}

/** A smaller picture is enlarged. */
function pixelOf({ widthPx, heightPx, rgba }: Pixels, x: number, y: number) {
  const sourceX = Math.floor((x * widthPx) / TOKEN_IMAGE_PX)
  const sourceY = Math.floor((y * heightPx) / TOKEN_IMAGE_PX)
  const at = 4 * (sourceY * widthPx + sourceX)
  return rgba.subarray(at, at + 3)
}
