/** Lines of an outline, in edges of cells: line 0 is the western or northern edge of the world. */
export interface Outline {
  /** Threes: row of the edge, first column, column behind the last. */
  readonly horizontal: Int32Array
  /** Threes: column of the edge, first row, row behind the last. */
  readonly vertical: Int32Array
  /** The box around all of it. */
  readonly box: {
    readonly west: number
    readonly north: number
    readonly east: number
    readonly south: number
  }
}

/**
 * The outline of cells: the edges between one of them and a neighbour that is not among them. Adjacent edges are
 * joined.
 *
 * @param cells numbers as in the feed: columns from west to east, each from north to south
 * @param rows of the world
 */
export function outlineOf(cells: Uint32Array, rows: number): Outline {
  const isIn = new Set(cells)
  const horizontal: Edge[] = []
  const vertical: Edge[] = []
  const box = { west: Infinity, north: Infinity, east: -Infinity, south: -Infinity }
  for (const number of isIn) {
    const column = Math.floor(number / rows)
    const row = number % rows
    box.west = Math.min(box.west, column)
    box.north = Math.min(box.north, row)
    box.east = Math.max(box.east, column + 1)
    box.south = Math.max(box.south, row + 1)
    if (row === 0 || !isIn.has(number - 1)) horizontal.push([row, column])
    if (row === rows - 1 || !isIn.has(number + 1)) horizontal.push([row + 1, column])
    if (!isIn.has(number - rows)) vertical.push([column, row])
    if (!isIn.has(number + rows)) vertical.push([column + 1, row])
  }
  return { horizontal: joined(horizontal), vertical: joined(vertical), box }
}

/** A piece of a line, as long as a cell: on which line, and where on it. */
type Edge = readonly [line: number, at: number]

function joined(edges: Edge[]): Int32Array {
  edges.sort(([line, at], [otherLine, otherAt]) => line - otherLine || at - otherAt)
  const lines: number[] = []
  for (const [line, at] of edges) {
    const last = lines.length - 3
    if (last >= 0 && lines[last] === line && lines[last + 2]! >= at) lines[last + 2] = at + 1
    else lines.push(line, at, at + 1)
  }
  return Int32Array.from(lines)
}
