import type { Coord } from '@landpass/client/grid'
import type { GridLines } from './row-files.ts'

/** A closed line of corners: the last is the first again. A corner x,y is the south-west one of the parcel x,y. */
export type Ring = readonly Coord[]
/** The outer ring, counter-clockwise, then a ring for each hole, clockwise. */
export type Polygon = readonly Ring[]

/**
 * The outlines of some parcels: a polygon for each group that is connected by edges, with its holes, as GeoJSON (RFC 7946) has
 * them. Rings of one polygon may touch at a corner, and none passes a corner twice.
 *
 * @example
 * outlinesOf([{ x: 0, y: 0 }]) // [[[{x:0,y:0}, {x:1,y:0}, {x:1,y:1}, {x:0,y:1}, {x:0,y:0}]]]
 */
export function outlinesOf(parcels: readonly Coord[]): readonly Polygon[] {
  return groupsOf(parcels).map((group) => {
    const rings = ringsOf(sidesOf(group)).map((ring) => withoutStraightCorners(ring.map(coordOf)))
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

/**
 * A parcel or a corner as a number, of which a world has a hundred thousand: x · 2²² + y. So the next one to the east is 2²² more,
 * and the next one to the north 1 more.
 */
type Name = number
const EAST = 2 ** 22
const NORTH = 1

function coordOf(name: Name): Coord {
  const x = Math.round(name / EAST)
  return { x, y: name - x * EAST }
}

/** What {@link outlinesOf} gives for one parcel, which nearly all assets have. */
function squareOf({ x, y }: Coord): Ring {
  const southWest = { x, y }
  return [southWest, { x: x + 1, y }, { x: x + 1, y: y + 1 }, { x, y: y + 1 }, southWest]
}

/** Parcels that share edges, directly or through others. */
function groupsOf(parcels: readonly Coord[]): Name[][] {
  const left = new Set(parcels.map(({ x, y }) => x * EAST + y))
  const groups: Name[][] = []
  for (const first of [...left]) {
    if (!left.delete(first)) continue
    const group = [first]
    for (const parcel of group) {
      if (left.delete(parcel + EAST)) group.push(parcel + EAST)
      if (left.delete(parcel - EAST)) group.push(parcel - EAST)
      if (left.delete(parcel + NORTH)) group.push(parcel + NORTH)
      if (left.delete(parcel - NORTH)) group.push(parcel - NORTH)
    }
    groups.push(group)
  }
  return groups
}

/** The sides at which a group ends, each with the group on its left: by its first corner the last one. */
interface Sides {
  readonly to: Map<Name, Name>
  /** For corners at which two outlines begin: where the second one goes. */
  readonly secondTo: Map<Name, Name>
}

function sidesOf(group: readonly Name[]): Sides {
  const inside = new Set(group)
  const to = new Map<Name, Name>()
  const secondTo = new Map<Name, Name>()
  const add = (from: Name, end: Name) => (to.has(from) ? secondTo : to).set(from, end)
  for (const southWest of group) {
    const southEast = southWest + EAST
    const northWest = southWest + NORTH
    if (!inside.has(southWest - NORTH)) add(southWest, southEast)
    if (!inside.has(southWest + EAST)) add(southEast, southEast + NORTH)
    if (!inside.has(southWest + NORTH)) add(southEast + NORTH, northWest)
    if (!inside.has(southWest - EAST)) add(northWest, southWest)
  }
  return { to, secondTo }
}

/** Joins sides to rings. Where a line comes to a corner again, what lies between is a ring of its own. */
function ringsOf({ to, secondTo }: Sides): Name[][] {
  const take = (from: Name): Name | undefined => {
    const sides = secondTo.has(from) ? secondTo : to
    const end = sides.get(from)
    sides.delete(from)
    return end
  }
  const rings: Name[][] = []
  for (const start of [...to.keys()]) {
    while (to.has(start)) {
      const line = [start]
      const placeOf = new Map([[start, 0]])
      for (let next = take(start); next !== undefined; next = take(next)) {
        const before = placeOf.get(next)
        line.push(next)
        if (before === undefined) {
          placeOf.set(next, line.length - 1)
          continue
        }
        const ring = line.splice(before)
        for (const corner of ring) placeOf.delete(corner)
        rings.push(ring)
        line.push(next)
        placeOf.set(next, before)
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
