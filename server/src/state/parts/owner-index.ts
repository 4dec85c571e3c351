import { mergeRows } from './merge-rows.ts'
import type { OwnerIndex } from './parts.ts'
import { replacePieces } from './pieces.ts'
import { positionsOf } from './positions.ts'

/** Collects assets by owner; `add` is called in the order in which an owner's assets are to be listed. */
export class OwnerIndexWriter {
  private readonly rowsOf = new Map<string, number[]>()

  add(owner: string | null, row: number): void {
    if (owner === null) return
    const rows = this.rowsOf.get(owner)
    if (rows) rows.push(row)
    else this.rowsOf.set(owner, [row])
  }

  finish(): OwnerIndex {
    const addresses = [...this.rowsOf.keys()]
    const starts = new Uint32Array(addresses.length + 1)
    const rows: number[] = []
    addresses.forEach((address, i) => {
      for (const row of this.rowsOf.get(address) ?? []) rows.push(row)
      starts[i + 1] = rows.length
    })
    return { addresses, starts, rows: Uint32Array.from(rows) }
  }
}

/** For each of `count` rows the index of its owner in `addresses`, or -1. */
export function ownerOfRows({ addresses, starts, rows }: OwnerIndex, count: number): Int32Array {
  const owner = new Int32Array(count).fill(-1)
  for (let place = 0; place < addresses.length; place++) {
    for (let i = starts[place]!; i < starts[place + 1]!; i++) owner[rows[i]!] = place
  }
  return owner
}

/** Which owner has which assets, and which asset has which owner. */
export interface Ownership {
  readonly owners: OwnerIndex
  /** Per asset the index of its owner in `owners.addresses`, or -1. */
  readonly owner: Int32Array
}

/**
 * Changes the owners of some assets. An address keeps its index, even if it owns nothing any more.
 *
 * @param ownerOf the owners of the assets whose owner may have changed, by row
 * @param compare the order in which an owner's assets are listed
 */
export function patchOwnership(
  held: Ownership,
  ownerOf: ReadonlyMap<number, string | null>,
  compare: (a: number, b: number) => number,
): Ownership {
  const addresses = withNewAddresses(held.owners.addresses, ownerOf.values())
  const places = positionsOf(addresses)
  const owner = held.owner.slice()
  const gained = new Map<number, number[]>()
  const moved = new Set<number>()
  for (const [row, address] of ownerOf) {
    const [before, after] = [owner[row]!, address === null ? -1 : places.get(address)!]
    if (before === after) continue
    owner[row] = after
    moved.add(row)
    if (before >= 0 && !gained.has(before)) gained.set(before, [])
    if (after >= 0) gained.set(after, [...(gained.get(after) ?? []), row])
  }
  if (moved.size === 0) return { owners: held.owners, owner: held.owner }
  const rowsOf = new Map<number, Uint32Array>()
  for (const [place, rows] of gained) {
    const remaining = rowsOfOwner(held.owners, place).filter((row) => !moved.has(row))
    rowsOf.set(place, mergeRows(remaining, Uint32Array.from(rows).sort(compare), compare))
  }
  return { owners: withRows(held.owners, addresses, rowsOf), owner }
}

/**
 * An index in which an asset can stand under several addresses, after some assets got others. The assets of an address
 * are in the order of their rows.
 *
 * @param addressesOf all addresses of the assets that may have changed, by row
 */
export function patchAddresses(
  held: OwnerIndex,
  addressesOf: ReadonlyMap<number, readonly string[]>,
): OwnerIndex {
  const addresses = withNewAddresses(held.addresses, [...addressesOf.values()].flat())
  const places = positionsOf(addresses)
  const listed = new Map<number, number[]>()
  for (const [row, list] of addressesOf) {
    for (const address of list) {
      const place = places.get(address)!
      listed.set(place, [...(listed.get(place) ?? []), row])
    }
  }
  const rowsOf = new Map<number, Uint32Array>()
  for (const place of new Set([...placesWith(held, addressesOf), ...listed.keys()])) {
    const before = rowsOfOwner(held, place)
    const kept = before.filter((row) => !addressesOf.has(row))
    const after = mergeRows(kept, Uint32Array.from(listed.get(place) ?? []).sort(), ascending)
    if (!isSame(before, after)) rowsOf.set(place, after)
  }
  return rowsOf.size === 0 ? held : withRows(held, addresses, rowsOf)
}

/** The addresses under which one of these assets stands. */
function placesWith({ starts, rows }: OwnerIndex, assets: ReadonlyMap<number, unknown>): number[] {
  const places: number[] = []
  let place = 0
  for (let at = 0; at < rows.length; at++) {
    if (!assets.has(rows[at]!)) continue
    while (starts[place + 1]! <= at) place++
    places.push(place)
  }
  return places
}

function ascending(a: number, b: number): number {
  return a - b
}

function isSame(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((row, i) => row === b[i])
}

/** The index with other rows for some of its addresses, by their places, and with more addresses at its end. */
function withRows(
  { starts, rows: values }: OwnerIndex,
  addresses: readonly string[],
  rowsOf: ReadonlyMap<number, Uint32Array>,
): OwnerIndex {
  const pieces = replacePieces({ starts, values }, rowsOf, addresses.length)
  return { addresses, starts: pieces.starts, rows: pieces.values }
}

function withNewAddresses(addresses: readonly string[], owners: Iterable<string | null>): readonly string[] {
  const known = positionsOf(addresses)
  const more = new Set<string>()
  for (const owner of owners) if (owner !== null && !known.has(owner)) more.add(owner)
  return more.size === 0 ? addresses : [...addresses, ...more]
}

/** Rows of the assets of the owner with this index; none for an index beyond the last. */
export function rowsOfOwner({ starts, rows }: OwnerIndex, place: number): Uint32Array {
  return rows.subarray(starts[place] ?? rows.length, starts[place + 1] ?? rows.length)
}
