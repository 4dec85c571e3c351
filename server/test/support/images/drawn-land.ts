import type { Coord } from '@landpass/client/grid'
import type { MapState } from '../../../src/map/map-state.ts'
import { pagedColumn } from '../../../src/state/parts/columns.ts'
import { KINDS, layTileCells } from '../../../src/state/parts/tile-cells.ts'

/** A small land that a test has drawn with letters. */
export interface DrawnLand {
  readonly state: MapState
  /** The places that a letter stands at. */
  placesOf(letter: string): Coord[]
}

export interface DrawnLandOptions {
  /** Where the first letter of the first line lies; otherwise such that 0,0 is near the middle. */
  readonly northWest?: Coord
  /** The letters that are on sale; otherwise nothing stands out. */
  readonly onSale?: string
}

const DISTRICT_KINDS: Readonly<Record<string, number>> = { R: KINDS.road, P: KINDS.plaza }

/**
 * Reads lines from north to south, a letter per parcel: `R` road, `P` plaza, any other capital a district, a small
 * letter an estate, `#` a parcel with an owner, `.` one without, `$` one with an owner which may be put on sale apart,
 * and a space is outside of the world.
 *
 * @example
 * drawnLand(['RRR', 'aa#', 'ab.'], { onSale: 'a' })
 */
export function drawnLand(lines: readonly string[], options: DrawnLandOptions = {}): DrawnLand {
  const width = Math.max(...lines.map((line) => line.length))
  const { northWest = { x: -Math.floor(width / 2), y: Math.floor(lines.length / 2) }, onSale } = options
  const letters = [...new Set(lines.join(''))]
  const at: string[] = []
  const rowAt = new Int32Array(width * lines.length).fill(-1)
  for (let column = 0; column < width; column++) {
    for (const [row, line] of lines.entries()) {
      const letter = line[column] ?? ' '
      if (letter !== ' ') rowAt[column * lines.length + row] = at.push(letter) - 1
    }
  }
  const bounds = {
    minX: northWest.x,
    minY: northWest.y - lines.length + 1,
    maxX: northWest.x + width - 1,
    maxY: northWest.y,
  }
  const cells = layTileCells({
    bounds,
    rowAt,
    estate: Int32Array.from(at, (letter) => (/[a-z]/.test(letter) ? letters.indexOf(letter) : -1)),
    district: Int16Array.from(at, (letter) => (/[A-Z]/.test(letter) ? letters.indexOf(letter) : -1)),
    owner: pagedColumn(Int32Array.from(at, (letter) => (/[a-z#$]/.test(letter) ? 0 : -1))),
    districtKinds: Uint8Array.from(letters, (letter) => DISTRICT_KINDS[letter] ?? KINDS.district),
  })
  const offers =
    onSale === undefined ? undefined : Int32Array.from(at, (letter) => (onSale.includes(letter) ? 0 : -1))
  const placesOf = (letter: string) =>
    lines.flatMap((line, row) =>
      [...line].flatMap((one, column) =>
        one === letter ? [{ x: northWest.x + column, y: northWest.y - row }] : [],
      ),
    )
  return { state: { bounds, rowAt, cells, offers }, placesOf }
}
