import type { Keystream } from './keystream.ts'

export interface NoiseOptions {
  readonly widthPx: number
  readonly heightPx: number
  readonly lowest: number
  readonly highest: number
  /** Distance between two random values of the grid. */
  readonly cellPx: number
}

/** Value noise: random values on a grid, interpolated smoothly between them. */
export class ValueNoise {
  private readonly cellPx: number
  private readonly columns: number
  private readonly values: Float32Array

  constructor({ widthPx, heightPx, lowest, highest, cellPx }: NoiseOptions, random: Keystream) {
    this.cellPx = cellPx
    this.columns = Math.ceil(widthPx / cellPx) + 1
    const rows = Math.ceil(heightPx / cellPx) + 1
    this.values = Float32Array.from({ length: this.columns * rows }, () => random.between(lowest, highest))
  }

  at(x: number, y: number): number {
    const { cellPx, columns, values } = this
    const column = Math.floor(x / cellPx)
    const row = Math.floor(y / cellPx)
    const right = eased(x / cellPx - column)
    const down = eased(y / cellPx - row)
    const at = row * columns + column
    const upper = values[at]! + right * (values[at + 1]! - values[at]!)
    const lower = values[at + columns]! + right * (values[at + columns + 1]! - values[at + columns]!)
    return upper + down * (lower - upper)
  }
}

function eased(part: number): number {
  return part * part * (3 - 2 * part)
}
