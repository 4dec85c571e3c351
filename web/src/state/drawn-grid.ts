import { FeedGrid, ON_SALE } from '@landpass/client/feed'

/** For tests: the cell that a character of {@link drawGrid} stands for. */
export interface DrawnCell {
  /** The type bits of a cell (docs/feed.md). */
  readonly type: 0 | 1 | 2 | 3 | 4 | 5
  readonly owner?: string
  readonly estate?: string
  readonly isOnSale?: boolean
}

/**
 * For tests: a small world from a drawing, with a line for each row from north to south and a character for each
 * parcel. Its lower left corner is 0,0.
 *
 * @example
 * drawGrid(['A.', 'AB'], { '.': { type: 0 }, A: { type: 2, estate: '7' }, B: { type: 3 } }).tileAt(0, 1).estate // '7'
 */
export function drawGrid(lines: readonly string[], meanings: Readonly<Record<string, DrawnCell>>): FeedGrid {
  const [rows, columns] = [lines.length, lines[0]!.length]
  const drawn = Array.from({ length: rows * columns }, (_, cell) => {
    const sign = lines[cell % rows]![Math.floor(cell / rows)]!
    return meanings[sign]!
  })
  const owners = namesOf(drawn.map(({ owner }) => owner))
  const estates = namesOf(drawn.map(({ estate }) => estate))
  return new FeedGrid({
    state: 'drawn',
    since: undefined,
    revision: 1,
    timeMs: 0,
    bounds: { minX: 0, minY: 0, maxX: columns - 1, maxY: rows - 1 },
    numbers: undefined,
    cells: Uint8Array.from(drawn, ({ type, isOnSale }) => type | (isOnSale ? ON_SALE : 0)),
    ownerOf: Uint32Array.from(drawn, ({ owner }) => owners.indexOf(owner ?? '') + 1),
    owners,
    estateOf: Uint32Array.from(drawn, ({ estate }) => estates.indexOf(estate ?? '') + 1),
    estates,
  })
}

function namesOf(names: readonly (string | undefined)[]): string[] {
  return [...new Set(names.filter((name) => name !== undefined))]
}
