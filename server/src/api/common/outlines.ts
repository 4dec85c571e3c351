import type { Coord } from '@landpass/client/grid'
import type { GridLines } from './row-files.ts'

/** A closed line of corners: the last is the first again. A corner x,y is the south-west one of the parcel x,y. */
export type Ring = readonly Coord[]
/** The outer ring, counter-clockwise, then a ring for each hole, clockwise. */
export type Polygon = readonly Ring[]

interface Side {
  readonly from: Coord
  readonly to: Coord
}

/**
 * The outlines of some parcels: a polygon for each group that is connected by edges, with its holes, as GeoJSON (RFC 7946) has
 * them. Rings of one polygon may touch at a corner, and none passes a corner twice.
 *
 * @example
 * outlinesOf([{ x: 0, y: 0 }]) // [[[{x:0,y:0}, {x:1,y:0}, {x:1,y:1}, {x:0,y:1}, {x:0,y:0}]]]
 */
export function outlinesOf(parcels: readonly Coord[]): readonly Polygon[] {
  return groupsOf(parcels).map((group) => {
    const rings = ringsOf(sidesOf(group)).map(withoutStraightCorners)
    const outer = rings.filter((ring) => areaOf(ring) > 0)
    return [...outer, ...rings.filter((ring) => areaOf(ring) < 0)]
  })
}

/** The outlines of some parcels as a GeoJSON geometry: a Polygon, or a MultiPolygon of several. */
export function geometryJson(parcels: readonly Coord[], { lonAt, latAt }: GridLines): string {
  const polygons = (parcels.length === 1 ? [[squareOf(parcels[0]!)]] : outlinesOf(parcels)).map(
    (rings) => `[${rings.map((ring) => `[${ring.map(({ x, y }) => `[${lonAt(x)},${latAt(y)}]`)}]`)}]`,
  )
  return polygons.length === 1
    ? `{"type":"Polygon","coordinates":${polygons[0]}}`
    : `{"type":"MultiPolygon","coordinates":[${polygons}]}`
}

/** A number for each place of the contract, which a map finds sooner than text. */
const name = (x: number, y: number) => x * 2 ** 22 + y

/** What {@link outlinesOf} gives for one parcel, which nearly all assets have. */
function squareOf({ x, y }: Coord): Ring {
  const southWest = { x, y }
  return [southWest, { x: x + 1, y }, { x: x + 1, y: y + 1 }, { x, y: y + 1 }, southWest]
}

/** Parcels that share edges, directly or through others. */
function groupsOf(parcels: readonly Coord[]): Coord[][] {
  const left = new Map(parcels.map((parcel) => [name(parcel.x, parcel.y), parcel]))
  const groups: Coord[][] = []
  for (const first of parcels) {
    if (!left.delete(name(first.x, first.y))) continue
    const group = [first]
    for (const { x, y } of group) {
      for (const [sideX, sideY] of [
        [x + 1, y],
        [x - 1, y],
        [x, y + 1],
        [x, y - 1],
      ] as const) {
        const side = left.get(name(sideX, sideY))
        if (!side) continue
        left.delete(name(sideX, sideY))
        group.push(side)
      }
    }
    groups.push(group)
  }
  return groups
}

/** The sides at which the group ends, each with the group on its left. */
function sidesOf(group: readonly Coord[]): Side[] {
  const inside = new Set(group.map(({ x, y }) => name(x, y)))
  const sides: Side[] = []
  for (const { x, y } of group) {
    const [southWest, southEast] = [
      { x, y },
      { x: x + 1, y },
    ]
    const [northWest, northEast] = [
      { x, y: y + 1 },
      { x: x + 1, y: y + 1 },
    ]
    if (!inside.has(name(x, y - 1))) sides.push({ from: southWest, to: southEast })
    if (!inside.has(name(x + 1, y))) sides.push({ from: southEast, to: northEast })
    if (!inside.has(name(x, y + 1))) sides.push({ from: northEast, to: northWest })
    if (!inside.has(name(x - 1, y))) sides.push({ from: northWest, to: southWest })
  }
  return sides
}

/** Joins sides to rings. Where a line comes to a corner again, what lies between is a ring of its own. */
function ringsOf(sides: readonly Side[]): Ring[] {
  const from = new Map<number, Side[]>()
  for (const side of sides) {
    const start = name(side.from.x, side.from.y)
    const others = from.get(start)
    if (others) others.push(side)
    else from.set(start, [side])
  }
  const rings: Ring[] = []
  for (const starts of from.values()) {
    while (starts.length > 0) {
      const line: Coord[] = [starts[0]!.from]
      const placeOf = new Map([[name(line[0]!.x, line[0]!.y), 0]])
      while (true) {
        const at = line.at(-1)!
        const next = from.get(name(at.x, at.y))!.pop()
        if (!next) break
        const corner = name(next.to.x, next.to.y)
        const before = placeOf.get(corner)
        line.push(next.to)
        if (before === undefined) {
          placeOf.set(corner, line.length - 1)
          continue
        }
        const ring = line.splice(before)
        for (const one of ring) placeOf.delete(name(one.x, one.y))
        rings.push(ring)
        line.push(ring[0]!)
        placeOf.set(corner, before)
      }
    }
  }
  return rings
}

/** Twice the area; above 0 for a ring that runs counter-clockwise. */
function areaOf(ring: Ring): number {
  return ring.reduce((sum, { x, y }, i) => {
    const next = ring[(i + 1) % ring.length]!
    return sum + x * next.y - next.x * y
  }, 0)
}

/** Leaves out corners at which the ring goes straight on. */
function withoutStraightCorners(ring: Ring): Ring {
  const corners = ring.slice(0, -1)
  const turns = corners.filter(({ x, y }, i) => {
    const before = corners.at(i - 1)!
    const after = corners[(i + 1) % corners.length]!
    return (x - before.x) * (after.y - y) !== (y - before.y) * (after.x - x)
  })
  return [...turns, turns[0]!]
}
