import { encodePixels, type PixelImage } from '../../../../image/palette-png.ts'

/** A square, which every gallery shows. */
export const TOKEN_IMAGE_PX = 512
const COLOURS = 16
const HALF = TOKEN_IMAGE_PX / 2
/** Where the picture ends and the paper begins, in pixels from the middle. */
const RADIUS = 244
/** Width of the dark rim, in pixels. */
const RIM_PX = 3

/** The picture of a token as a PNG of 512 x 512 pixels: {@link tokenPixels}. */
export function drawToken(eventId: Uint8Array, tokenId: Uint8Array): Buffer {
  return encodePixels(tokenPixels(eventId, tokenId))
}

/**
 * Draws the picture of a token: a rosette, whose petals, waves and colours come from the event, and whose turn comes from
 * the token. So the tokens of an event look alike, and no two are the same. Always the same pixels for the same ids; colour 0 is the
 * paper, colour 1 the rim.
 *
 * @param eventId 16 bytes
 * @param tokenId 16 bytes
 */
export function tokenPixels(eventId: Uint8Array, tokenId: Uint8Array): PixelImage {
  const at = (index: number) => eventId[index % eventId.length]!
  const petals = 5 + (at(0) % 9)
  const innerPetals = 3 + (at(1) % 7)
  const waves = 2 + (at(2) % 4)
  const depth = 0.25 + at(3) / 1_000
  const turn = ((tokenId[0]! * 256 + tokenId[1]!) / 65_536) * 2 * Math.PI
  const swirl = (tokenId[2]! / 255 - 0.5) * 2
  const pixels = new Uint8Array(TOKEN_IMAGE_PX * TOKEN_IMAGE_PX)
  for (let y = 0; y < TOKEN_IMAGE_PX; y++) {
    for (let x = 0; x < TOKEN_IMAGE_PX; x++) {
      // A third of the time of Math.hypot
      const distance = Math.sqrt((x - HALF + 0.5) ** 2 + (y - HALF + 0.5) ** 2) / RADIUS
      if (distance > 1) continue
      const angle = Math.atan2(y - HALF + 0.5, x - HALF + 0.5) + turn + swirl * distance
      const outer = depth * Math.cos(petals * angle)
      const inner = (depth / 2) * Math.cos(innerPetals * angle + Math.PI * distance)
      const height = (1 + Math.sin(2 * Math.PI * (waves * distance + outer + inner))) / 2
      const shade = Math.min(COLOURS - 2, Math.floor(height * (COLOURS - 1)))
      pixels[y * TOKEN_IMAGE_PX + x] = 1 + (distance > 1 - RIM_PX / RADIUS ? 0 : shade)
    }
  }
  return {
    widthPx: TOKEN_IMAGE_PX,
    heightPx: TOKEN_IMAGE_PX,
    palette: paletteOf(at(4), at(5)),
    pixels,
  }
}

/** Paper, then fifteen colours from dark to light, between two hues. */
function paletteOf(hue: number, distance: number): Uint8Array {
  const first = (hue / 256) * 360
  const second = first + 40 + (distance / 256) * 120
  const palette = new Uint8Array(3 * COLOURS)
  palette.set([250, 248, 244])
  for (let step = 0; step < COLOURS - 1; step++) {
    const share = step / (COLOURS - 2)
    palette.set(rgbOf(first + (second - first) * share, 0.55, 0.2 + 0.62 * share), 3 * (step + 1))
  }
  return palette
}

/** Hue in degrees, saturation and lightness from 0 to 1. */
function rgbOf(hue: number, saturation: number, lightness: number): number[] {
  const spread = saturation * Math.min(lightness, 1 - lightness)
  return [0, 8, 4].map((offset) => {
    const k = (offset + hue / 30) % 12
    return Math.round(255 * (lightness - spread * Math.max(-1, Math.min(k - 3, 9 - k, 1))))
  })
}
