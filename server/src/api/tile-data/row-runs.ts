import type { RowRange } from '../../state/state.ts'

/** Joins ascending rows to ranges; -1 is a cell without a parcel. */
export function runsOf(rows: readonly number[]): RowRange[] {
  const runs: { from: number; to: number }[] = []
  for (const row of rows) {
    if (row < 0) continue
    const last = runs.at(-1)
    if (last?.to === row) last.to++
    else runs.push({ from: row, to: row + 1 })
  }
  return runs
}
