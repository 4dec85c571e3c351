import { createHash } from 'node:crypto'
import type { World } from '@landpass/client/grid'

/** 30 bits, so that a changed shape keeps its mark once in a thousand million. */
const MARK_LENGTH = 5

/**
 * A short mark of a world's shape, equal for all ways to write the same shape. Characters of `[\w-]`.
 *
 * @example
 * shapeMark(parseWorld('0,0,9,9')!) === shapeMark(parseWorld('5,0,9,9; 0,0,4,9')!) // true
 * shapeMark(parseWorld('0,0,9,9')!) === shapeMark(parseWorld('0,0,9,8')!) // false
 */
export function shapeMark({ areas }: World): string {
  return createHash('sha256').update(canonicalShape(areas)).digest('base64url').slice(0, MARK_LENGTH)
}

/** The shape as bands of equal rows from south to north, each with the ranges of x that lie in the world. */
function canonicalShape(areas: World['areas']): string {
  const edges = [...new Set(areas.flatMap(({ minY, maxY }) => [minY, maxY + 1]))].sort((a, b) => a - b)
  let shape = ''
  let ranges = ''
  for (const y of edges) {
    const next = rangesAt(areas, y)
    if (next === ranges) continue
    shape += `${y}:${next};`
    ranges = next
  }
  return shape
}

/** The ranges of x of one row, merged where they touch. */
function rangesAt(areas: World['areas'], y: number): string {
  const inRow = areas.filter(({ minY, maxY }) => minY <= y && y <= maxY).sort((a, b) => a.minX - b.minX)
  const merged: { minX: number; maxX: number }[] = []
  for (const { minX, maxX } of inRow) {
    const last = merged.at(-1)
    if (last && minX <= last.maxX + 1) last.maxX = Math.max(last.maxX, maxX)
    else merged.push({ minX, maxX })
  }
  return merged.map(({ minX, maxX }) => `${minX},${maxX}`).join(' ')
}
