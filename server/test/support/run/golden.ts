import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PNG } from 'pngjs'
import { expect } from 'vitest'
import { type Picture, readPng } from '../images/png.ts'

const FOLDER = fileURLToPath(new URL('../../../../test/golden/', import.meta.url))
const UPDATE_VARIABLE = 'LANDPASS_UPDATE_GOLDEN'

export interface GoldenOptions {
  /** false where the bytes are made by a library that may change: then only the pixels have to be the same. */
  readonly sameBytes: boolean
}

/**
 * Fails unless a picture is the one that is kept as `server/test/golden/<name>.png`, and leaves both and what differs for
 * you to look at. With `LANDPASS_UPDATE_GOLDEN=1` the picture is kept instead: look at it before you commit it.
 */
export function expectGolden(name: string, actual: Buffer, { sameBytes }: GoldenOptions): void {
  const path = join(FOLDER, `${name}.png`)
  if (process.env[UPDATE_VARIABLE] === '1') {
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(path, actual)
    return
  }
  if (!existsSync(path)) expect.fail(`there is no ${path}: ${UPDATE_VARIABLE}=1 makes it`)
  const expected = readFileSync(path)
  if (expected.equals(actual)) return
  const difference = differenceOf(readPng(expected), readPng(actual))
  if (!difference && !sameBytes) return
  const folder = mkdtempSync(join(tmpdir(), 'landpass-golden-'))
  writeFileSync(join(folder, `${name}.expected.png`), expected)
  writeFileSync(join(folder, `${name}.actual.png`), actual)
  if (difference) writeFileSync(join(folder, `${name}.difference.png`), difference.png)
  const what = difference
    ? `${difference.count} pixels of ${name} differ`
    : `${name} looks the same, but its file has other bytes (${actual.length} instead of ${expected.length})`
  expect.fail(`${what}: see ${folder}, and keep the new one with ${UPDATE_VARIABLE}=1 if it is right`)
}

/** The expected picture, faded, with each pixel that differs in red. Undefined: none does. */
function differenceOf(expected: Picture, actual: Picture): { count: number; png: Buffer } | undefined {
  const widthPx = Math.max(expected.widthPx, actual.widthPx)
  const heightPx = Math.max(expected.heightPx, actual.heightPx)
  const png = new PNG({ width: widthPx, height: heightPx })
  let count = 0
  for (let y = 0; y < heightPx; y++) {
    for (let x = 0; x < widthPx; x++) {
      const before = colourAt(expected, x, y)
      const isSame = before?.join() === colourAt(actual, x, y)?.join()
      if (!isSame) count++
      const faded = before?.map((value) => 192 + (value >> 2)) ?? [255, 255, 255]
      png.data.set(isSame ? [...faded, 255] : [220, 0, 30, 255], 4 * (y * widthPx + x))
    }
  }
  return count > 0 ? { count, png: PNG.sync.write(png) } : undefined
}

function colourAt({ widthPx, heightPx, rgb }: Picture, x: number, y: number): number[] | undefined {
  if (x >= widthPx || y >= heightPx) return undefined
  return [...rgb.subarray(3 * (y * widthPx + x), 3 * (y * widthPx + x) + 3)]
}
