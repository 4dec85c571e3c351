import type { PixelImage } from '../../../../image/palette-png.ts'
import { encodeRgb } from '../../../../image/rgb-png.ts'
import type { Pixels } from '../pictures/picture-square.ts'
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
  const sheet = new Uint8Array(3 * WIDTH_PX * HEIGHT_PX)
  paintFrame(sheet, rosette.palette)
  if (picture) {
    paintPicture(sheet, TOP_PX, picture)
    paintRosette(sheet, WIDTH_PX - TOP_PX - TOKEN_IMAGE_PX, rosette)
  } else paintRosette(sheet, (WIDTH_PX - TOKEN_IMAGE_PX) / 2, rosette)
  return encodeRgb({ ...SHARE_SIZE, rgb: sheet }, DEFLATE_LEVEL)
}

function paintFrame(sheet: Uint8Array, palette: Uint8Array): void {
  const [paper, rim] = [palette.subarray(0, 3), palette.subarray(3, 6)]
  const rowOf = (edge: Uint8Array, inside: Uint8Array) => {
    const row = new Uint8Array(3 * WIDTH_PX)
    for (let x = 0; x < WIDTH_PX; x++)
      row.set(x < FRAME_PX || x >= WIDTH_PX - FRAME_PX ? edge : inside, 3 * x)
    return row
  }
  const [outer, inner] = [rowOf(rim, rim), rowOf(rim, paper)]
  for (let y = 0; y < HEIGHT_PX; y++)
    sheet.set(y < FRAME_PX || y >= HEIGHT_PX - FRAME_PX ? outer : inner, 3 * y * WIDTH_PX)
}

function paintRosette(sheet: Uint8Array, leftPx: number, { palette, pixels }: PixelImage): void {
  for (let y = 0; y < TOKEN_IMAGE_PX; y++) {
    let to = 3 * ((TOP_PX + y) * WIDTH_PX + leftPx)
    for (let at = y * TOKEN_IMAGE_PX; at < (y + 1) * TOKEN_IMAGE_PX; at++) {
      const from = 3 * pixels[at]!
      sheet[to++] = palette[from]!
      sheet[to++] = palette[from + 1]!
      sheet[to++] = palette[from + 2]!
    }
  }
}

/** A smaller picture is enlarged. */
function paintPicture(sheet: Uint8Array, leftPx: number, { widthPx, heightPx, rgba }: Pixels): void {
  for (let y = 0; y < TOKEN_IMAGE_PX; y++) {
    const row = Math.floor((y * heightPx) / TOKEN_IMAGE_PX) * widthPx
    let to = 3 * ((TOP_PX + y) * WIDTH_PX + leftPx)
    for (let x = 0; x < TOKEN_IMAGE_PX; x++) {
      const from = 4 * (row + Math.floor((x * widthPx) / TOKEN_IMAGE_PX))
      sheet[to++] = rgba[from]!
      sheet[to++] = rgba[from + 1]!
      sheet[to++] = rgba[from + 2]!
    }
  }
}
