import type { PresentParts } from '../land/present/parts.ts'
import type { Coord } from '../world/coord.ts'

/** Parcels by estate: those of estate i are `rows` from `starts[i]` to `starts[i + 1]`. */
interface Members {
  readonly starts: Uint32Array
  readonly rows: Uint32Array
}

/** Collected when the first estate of a revision is asked for, and let go with it. */
const membersOf = new WeakMap<PresentParts, Members>()

/** The places of an estate's parcels, from west to east. */
export function parcelsOfEstate(parts: PresentParts, estateRow: number): Coord[] {
  const { starts, rows } = membersOf.get(parts) ?? collect(parts)
  const { x, y } = parts.parcels
  return Array.from(rows.subarray(starts[estateRow]!, starts[estateRow + 1]!), (row) => ({
    x: x[row]!,
    y: y[row]!,
  }))
}

function collect(parts: PresentParts): Members {
  const { estate } = parts.parcels
  const starts = new Uint32Array(parts.estates.ids.length + 1)
  for (const one of estate) if (one >= 0) starts[one + 1]! += 1
  for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!
  const next = starts.slice()
  const rows = new Uint32Array(starts.at(-1)!)
  for (const [row, one] of estate.entries()) {
    if (one < 0) continue
    rows[next[one]!] = row
    next[one]! += 1
  }
  const members = { starts, rows }
  membersOf.set(parts, members)
  return members
}
