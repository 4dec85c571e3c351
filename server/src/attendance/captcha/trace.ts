import type { Keystream } from './keystream.ts'

/** A point of the image, in pixels from its upper left corner. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** The path of a round pen, whose size may change along the path. */
export interface Trace {
  readonly points: readonly Point[]
  /** Half of the line's width at each point. */
  readonly radiiPx: readonly number[]
}

/** Maximum distance between two points of a trace. */
const STEP_PX = 5
/** Maximum relative change of the size of the pen. */
const PRESSURE = 0.24

/** A smooth line through all corners; the pen has a random size at both ends and in the middle. */
export function traceThrough(corners: readonly Point[], penPx: number, random: Keystream): Trace {
  const points = smooth(corners)
  const pressure = () => penPx * (1 + random.around(PRESSURE))
  const [from, middle, to] = [pressure(), pressure(), pressure()]
  const radiiPx = points.map((_, i) => {
    const part = (2 * i) / (points.length - 1)
    return part < 1 ? from + part * (middle - from) : middle + (part - 1) * (to - middle)
  })
  return { points, radiiPx }
}

export function movePoints({ points, radiiPx }: Trace, by: (point: Point) => Point): Trace {
  return { points: points.map(by), radiiPx }
}

export interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** The box of traces, including the size of the pen. */
export function boxOf(traces: readonly Trace[]): Box {
  const points = traces.flatMap(({ points }) => points)
  const radiusPx = Math.max(...traces.flatMap(({ radiiPx }) => radiiPx))
  const xs = points.map(({ x }) => x)
  const ys = points.map(({ y }) => y)
  return {
    left: Math.min(...xs) - radiusPx,
    right: Math.max(...xs) + radiusPx,
    top: Math.min(...ys) - radiusPx,
    bottom: Math.max(...ys) + radiusPx,
  }
}

/** A Catmull-Rom spline through the corners. */
function smooth(corners: readonly Point[]): Point[] {
  const points: Point[] = [corners[0]!]
  for (let i = 1; i < corners.length; i++) {
    const [from, to] = [corners[i - 1]!, corners[i]!]
    const before = corners[i - 2] ?? from
    const after = corners[i + 1] ?? to
    const steps = Math.max(2, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / STEP_PX))
    for (let step = 1; step <= steps; step++) {
      const part = step / steps
      points.push({
        x: between(before.x, from.x, to.x, after.x, part),
        y: between(before.y, from.y, to.y, after.y, part),
      })
    }
  }
  return points
}

function between(before: number, from: number, to: number, after: number, part: number): number {
  const slope = (to - before) / 2
  const bend = before - 2.5 * from + 2 * to - after / 2
  const twist = (after - before) / 2 + 1.5 * (from - to)
  return ((twist * part + bend) * part + slope) * part + from
}
