import { type Bitmap2D, generate } from 'lean-qr'

/** Blank modules around the code; readers need them to find it (ISO/IEC 18004 asks for four). */
export const QUIET_MODULES = 4

/** A QR code as the path of an SVG, one unit a module. */
export interface QrPath {
  /** The quiet zone included. */
  readonly side: number
  /** The path of the dark modules. */
  readonly path: string
}

/**
 * The QR code of a text.
 *
 * @example
 * qrPath('https://land.example/organise?event=90001').side // 37: 29 modules and the quiet zone
 */
export function qrPath(text: string): QrPath {
  const code = generate(text)
  return { side: code.size + 2 * QUIET_MODULES, path: darkModules(code) }
}

/** Each run of dark modules in a row is one rectangle: separate squares would show seams. */
function darkModules(code: Bitmap2D): string {
  const path: string[] = []
  for (let y = 0; y < code.size; y++) {
    for (let x = 0; x < code.size; x++) {
      const start = x
      while (x < code.size && code.get(x, y)) x++
      if (x > start) path.push(`M${start + QUIET_MODULES} ${y + QUIET_MODULES}h${x - start}v1h${start - x}z`)
    }
  }
  return path.join('')
}
