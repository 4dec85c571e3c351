import { type PagedColumn, pagedColumn, patchPages, valueAt } from './columns.ts'
import { mergeRows } from './merge-rows.ts'
import { NumberSet } from './number-set.ts'
import type { OwnerIndex } from './parts.ts'
import { patchChunks } from './pieces.ts'
import { positionsOf, withTexts } from './positions.ts'

/** Some 60 chunks in the usual world. */
const CHUNK_ADDRESSES = 64
const CHUNKS = { size: CHUNK_ADDRESSES, none: new Uint32Array(0) }

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
    const lists = new Map(addresses.map((address, i) => [i, Uint32Array.from(this.rowsOf.get(address)!)]))
    return { addresses, chunks: patchChunks([], lists, CHUNKS) }
  }
}

/** For each of `count` rows the index of its owner in `addresses`, or -1. */
export function ownerOfRows(index: OwnerIndex, count: number): PagedColumn<Int32Array> {
  const owner = new Int32Array(count).fill(-1)
  for (let place = 0; place < index.addresses.length; place++)
    for (const row of rowsOfOwner(index, place)) owner[row] = place
  return pagedColumn(owner)
}

/** Which owner has which assets, and which asset has which owner. */
export interface Ownership {
  readonly owners: OwnerIndex
  /** Per asset the index of its owner in `owners.addresses`, or -1. */
  readonly owner: PagedColumn<Int32Array>
}

/** The owner of a row; undefined where it has none. */
export function ownerAt({ owner, owners }: Ownership, row: number): string | undefined {
  return owners.addresses[valueAt(owner, row)!]
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
  const gained = new Map<number, number[]>()
  const moved = new Map<number, number>()
  for (const [row, address] of ownerOf) {
    const [before, after] = [valueAt(held.owner, row)!, address === null ? -1 : places.get(address)!]
    if (before === after) continue
    moved.set(row, after)
    if (before >= 0 && !gained.has(before)) gained.set(before, [])
    if (after >= 0) gained.set(after, [...(gained.get(after) ?? []), row])
  }
  if (moved.size === 0) return { owners: held.owners, owner: held.owner }
  const gone = NumberSet.of(moved.keys())
  const rowsOf = new Map<number, Uint32Array>()
  for (const [place, rows] of gained) {
    const remaining = without(rowsOfOwner(held.owners, place), gone)
    rowsOf.set(place, mergeRows(remaining, Uint32Array.from(rows).sort(compare), compare))
  }
  return { owners: withRows(held.owners, addresses, rowsOf), owner: patchPages(held.owner, moved) }
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
  const changed = NumberSet.of(addressesOf.keys())
  const before = listedOf(held, changed)
  const rowsOf = new Map<number, Uint32Array>()
  for (const place of new Set([...before.keys(), ...listed.keys()])) {
    const [was, is] = [before.get(place) ?? [], (listed.get(place) ?? []).sort(ascending)]
    // An address may operate most of the land: its list is not copied for assets that it operates as before.
    if (isSame(was, is)) continue
    const kept = without(rowsOfOwner(held, place), changed)
    rowsOf.set(place, mergeRows(kept, Uint32Array.from(is), ascending))
  }
  return rowsOf.size === 0 ? held : withRows(held, addresses, rowsOf)
}

/** Which of these assets stand under which address, in the order of their rows. */
function listedOf({ chunks }: OwnerIndex, assets: NumberSet): Map<number, number[]> {
  const listed = new Map<number, number[]>()
  for (const [number, { starts, values }] of chunks.entries()) {
    let piece = 0
    for (let at = 0; at < values.length; at++) {
      const row = values[at]!
      if (!assets.has(row)) continue
      while (starts[piece + 1]! <= at) piece++
      const place = number * CHUNK_ADDRESSES + piece
      const rows = listed.get(place)
      if (rows) rows.push(row)
      else listed.set(place, [row])
    }
  }
  return listed
}

/** All rows but those of the set: an owner may have most of the land. */
function without(rows: Uint32Array, gone: NumberSet): Uint32Array {
  const kept = new Uint32Array(rows.length)
  let count = 0
  for (const row of rows) if (!gone.has(row)) kept[count++] = row
  return kept.subarray(0, count)
}

function ascending(a: number, b: number): number {
  return a - b
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((row, i) => row === b[i])
}

/** The index with other rows for some of its addresses, by their places, and with more addresses at its end. */
function withRows(
  { chunks }: OwnerIndex,
  addresses: readonly string[],
  rowsOf: ReadonlyMap<number, Uint32Array>,
): OwnerIndex {
  return { addresses, chunks: patchChunks(chunks, rowsOf, CHUNKS) }
}

function withNewAddresses(addresses: readonly string[], owners: Iterable<string | null>): readonly string[] {
  return withTexts(
    addresses,
    [...owners].filter((owner) => owner !== null),
  )
}

/** Rows of the assets of the owner with this index; none for an index beyond the last. */
export function rowsOfOwner({ chunks }: OwnerIndex, place: number): Uint32Array {
  const chunk = chunks[Math.floor(place / CHUNK_ADDRESSES)]
  if (!chunk) return CHUNKS.none
  const { starts, values } = chunk
  const piece = place % CHUNK_ADDRESSES
  return values.subarray(starts[piece] ?? values.length, starts[piece + 1] ?? values.length)
}

/** The same index after assets got other rows. @param newRowOf the new row of each old row, in the same order */
export function withMovedRows({ addresses, chunks }: OwnerIndex, newRowOf: Int32Array): OwnerIndex {
  return {
    addresses,
    chunks: chunks.map(({ starts, values }) => ({ starts, values: values.map((row) => newRowOf[row]!) })),
  }
}
