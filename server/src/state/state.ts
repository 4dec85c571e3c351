import { type Area, type Coord, cellOf, parseCoord, type World } from '@landpass/client/grid'
import type { DatedFreshness } from '../freshness.ts'
import { type AssetName, type AssetType, NO_RENT } from '../land/records/assets.ts'
import type { JsonPieces } from '../land/records/json.ts'
import { rowsOfEstate } from './parts/estate-members.ts'
import { pieceOf } from './parts/json-buffer.ts'
import { isValidAt, type OpenOffers, openOffersAt } from './parts/open-offers.ts'
import { rowsOfOwner } from './parts/owner-index.ts'
import { findParcelRow } from './parts/parcel-rows.ts'
import {
  ANSWER_FORM,
  type AssetRents,
  CHUNK_ROWS,
  type JsonBuffer,
  type OwnerIndex,
  type StateParts,
} from './parts/parts.ts'
import { positionsOf } from './parts/positions.ts'
import { type PublicationLists, publicationListsOf } from './parts/publication-lists.ts'
import { findRent, firstRentFrom, lastRentEnd, rentAt, runningRentJson } from './parts/rents.ts'
import { shapeMark } from './world-shape.ts'

const CLOSE = Buffer.from('}')
/** Length of `null},` at the end of each asset's piece: a publication replaces `null`. */
const NO_PUBLICATION_LENGTH = 6
const COMMA_LENGTH = 1
const CLOSE_LENGTH = CLOSE.length
const NULL = Buffer.from('null')
/** At the end of each asset's piece: while the asset is rented, its rent and publication replace it. */
const NO_RENT_LENGTH = NO_RENT.length + COMMA_LENGTH

/** A parcel or an estate of a state. */
export interface AssetRow {
  readonly type: AssetType
  readonly row: number
}

export interface RowRange {
  readonly from: number
  /** The row after the last. */
  readonly to: number
}

/**
 * The land at one revision, for requests. Immutable: a request that holds one sees one world, even if a change is
 * committed meanwhile. What depends on the clock takes the time as an argument.
 */
export class State {
  readonly parts: StateParts
  readonly lists: PublicationLists
  readonly worldId: number
  readonly revision: number
  readonly changedAtMs: number
  /**
   * The lineage of the database, and a mark of the world's shape: the same database answers other bytes under another
   * setting `WORLD`. Part of every `ETag` and of every state version.
   */
  readonly origin: string
  /** Per parcel, whether it and its estate have open publications, expired or not: see PARCEL_OFFERED. Mostly 0. */
  private readonly offered: Uint8Array
  private readonly tagBase: string
  private latestOpenOffers: OpenOffers | undefined

  /** @param world the shape of the world; without it, all cells of the bounds belong to it */
  constructor(parts: StateParts, world: World = { areas: [parts.bounds], bounds: parts.bounds }) {
    this.parts = parts
    this.worldId = parts.worldId
    this.revision = parts.revision
    this.changedAtMs = parts.changedAtMs
    this.origin = `${parts.lineage}-${shapeMark(world)}`
    this.tagBase = `${this.origin}.${ANSWER_FORM}.${parts.revision}`
    this.offered = offeredOf(parts)
    this.lists = publicationListsOf(parts)
    // Indexed now, so that no request has to wait for it.
    positionsOf(parts.estates.ids)
    for (const { owners, operators } of [parts.parcels, parts.estates])
      for (const { addresses } of [owners, operators]) positionsOf(addresses)
  }

  /**
   * The freshness (see `Freshness`) of an answer.
   *
   * @param lastExpiryMs for answers that show offers or rents: when the last of them expired, 0 if none has
   */
  freshness(lastExpiryMs = 0): DatedFreshness {
    const tag = lastExpiryMs === 0 ? this.tagBase : `${this.tagBase}.${lastExpiryMs}`
    return { tag, changedAtMs: Math.max(this.changedAtMs, lastExpiryMs) }
  }

  /** Row of the parcel at these coordinates, or -1. A row behind `parcels.inWorld` lies outside of the world. */
  parcelRow(coord: Coord): number {
    return findParcelRow(this.parts.bounds, this.parts.parcels, coord)
  }

  /** Row of an estate, or -1. */
  estateRow(id: string): number {
    return positionsOf(this.parts.estates.ids).get(id) ?? -1
  }

  isDissolved(estateRow: number): boolean {
    return this.parts.estates.size[estateRow] === 0
  }

  /** Whether a map shows it: an estate has parcels in the world, a parcel lies there. */
  isOnMap({ type, row }: AssetRow): boolean {
    const { estate, inWorld } = this.parts.parcels
    const [first = -1] = type === 'parcel' ? [row] : rowsOfEstate(estate, row)
    return first >= 0 && first < inWorld
  }

  /** Rows of the parcels that an address owns, by x, then y. */
  parcelsOf(owner: string): Uint32Array {
    return rowsOf(this.parts.parcels.owners, owner)
  }

  /** Rows of the estates that an address owns, by id. */
  estatesOf(owner: string): Uint32Array {
    return rowsOf(this.parts.estates.owners, owner)
  }

  /** Rows of the parcels that an address may operate or update without owning them, ascending. */
  parcelsOperatedBy(address: string): Uint32Array {
    return rowsOf(this.parts.parcels.operators, address)
  }

  /** Rows of the estates that an address may operate or update without owning them, ascending. */
  estatesOperatedBy(address: string): Uint32Array {
    return rowsOf(this.parts.estates.operators, address)
  }

  /** JSON of a parcel with its `publication`: the newest open one that has not expired, or null. */
  parcelPieces(row: number, nowMs: number): JsonPieces {
    const offer = this.parcelOffer(row, nowMs)
    return piecesOf(this.parts.parcels, row, nowMs, offer < 0 ? undefined : this.offerJson(offer))
  }

  estatePieces(row: number, nowMs: number): JsonPieces {
    const offer = this.estateOffer(row, nowMs)
    return piecesOf(this.parts.estates, row, nowMs, offer < 0 ? undefined : this.offerJson(offer))
  }

  /** The assets of these names, each once, in the order of the names; unknown and dissolved ones are left out. */
  assetsNamed(names: Iterable<AssetName>): AssetRow[] {
    const found = new Map<string, AssetRow>()
    for (const { type, id } of names) {
      const row = type === 'parcel' ? this.parcelRowOf(id) : this.estateRow(id)
      if (row < 0 || (type === 'estate' && this.isDissolved(row))) continue
      found.set(`${type} ${row}`, { type, row })
    }
    return [...found.values()]
  }

  /** JSON of an asset with its `publication`, or with the given one in its place. */
  assetPieces({ type, row }: AssetRow, nowMs: number, publication?: Uint8Array): JsonPieces {
    if (!publication) return type === 'parcel' ? this.parcelPieces(row, nowMs) : this.estatePieces(row, nowMs)
    return piecesOf(type === 'parcel' ? this.parts.parcels : this.parts.estates, row, nowMs, publication)
  }

  /** When the last shown offer or rent of one of the assets expired, at `nowMs` or before; 0 if none has. */
  assetsExpiry(assets: Iterable<AssetRow>, nowMs: number): number {
    let last = 0
    for (const { type, row } of assets) {
      const expiry = type === 'parcel' ? this.parcelExpiry(row, nowMs) : this.estateExpiry(row, nowMs)
      if (expiry > last) last = expiry
    }
    return last
  }

  /** The offers at a time. Cached until the next one expires. */
  openOffers(nowMs: number): OpenOffers {
    const latest = this.latestOpenOffers
    if (latest && isValidAt(latest, nowMs)) return latest
    this.latestOpenOffers = openOffersAt(this.parts, nowMs)
    return this.latestOpenOffers
  }

  private parcelRowOf(id: string): number {
    const coord = parseCoord(id)
    return coord ? this.parcelRow(coord) : -1
  }

  /** Number of the offer that is shown for a parcel, or -1. */
  parcelOffer(row: number, nowMs: number): number {
    return this.openAt(this.parts.parcels.offers.first[row]!, nowMs)
  }

  estateOffer(row: number, nowMs: number): number {
    return this.openAt(this.parts.estates.offers.first[row]!, nowMs)
  }

  offerJson(offer: number): Uint8Array {
    return pieceOf(this.parts.publications.openJson, offer)
  }

  /** When the last offer or rent that was shown for the parcel expired, at `nowMs` or before; 0 if none has. */
  parcelExpiry(row: number, nowMs: number): number {
    const { offers, rents } = this.parts.parcels
    const rentEndMs = lastRentEnd(rents, nowMs, { from: row, to: row + 1 })
    return Math.max(this.lastExpiry(offers.first[row]!, nowMs), rentEndMs)
  }

  estateExpiry(row: number, nowMs: number): number {
    const { offers, rents } = this.parts.estates
    const rentEndMs = lastRentEnd(rents, nowMs, { from: row, to: row + 1 })
    return Math.max(this.lastExpiry(offers.first[row]!, nowMs), rentEndMs)
  }

  /** When the next open offer or rent of the whole world ends, after `nowMs`; `Infinity` if none does. */
  nextExpiry(nowMs: number): number {
    const { parcels, estates, publications, unlisted } = this.parts
    let next = Number.POSITIVE_INFINITY
    const end = (endMs: number) => {
      if (endMs > nowMs && endMs < next) next = endMs
    }
    for (const endsMs of [publications.openExpiresAtMs, parcels.rents.untilMs, estates.rents.untilMs])
      for (const endMs of endsMs) end(endMs)
    for (const { expiresAtMs } of unlisted) end(expiresAtMs)
    return next
  }

  /** When the last rent of the whole world ended, at `nowMs` or before; 0 if none has. */
  rentExpiry(nowMs: number): number {
    const { parcels, estates } = this.parts
    return Math.max(lastRentEnd(parcels.rents, nowMs), lastRentEnd(estates.rents, nowMs))
  }

  /** The parcels of an area within the bounds, as runs of rows: by x ascending, then y descending. */
  rowsIn(area: Area): RowRange[] {
    const { rowAt } = this.parts.parcels
    const runs: RowRange[] = []
    for (let x = area.minX; x <= area.maxX; x++) {
      // The cells of a column follow each other from north to south; at either end there may be no parcels.
      let north = cellOf(this.parts.bounds, { x, y: area.maxY })
      let south = north + area.maxY - area.minY
      while (north <= south && rowAt[north]! < 0) north++
      if (north > south) continue
      while (rowAt[south]! < 0) south--
      const from = rowAt[north]!
      const to = rowAt[south]! + 1
      const last = runs.at(-1)
      if (last?.to === from) runs[runs.length - 1] = { from: last.from, to }
      else runs.push({ from, to })
    }
    return runs
  }

  /**
   * When the last shown offer or rent in an area expired, at `nowMs` or before; 0 if none has. With estates, the rents
   * of all estates count: they are few.
   */
  areaExpiry(runs: readonly RowRange[], nowMs: number, { withEstates }: { withEstates: boolean }): number {
    const { estates, parcels } = this.parts
    const { offered } = this
    let last = withEstates ? lastRentEnd(estates.rents, nowMs) : 0
    let previous = -1
    for (const { from, to } of runs) {
      last = Math.max(last, lastRentEnd(parcels.rents, nowMs, { from, to }))
      for (let row = from; row < to; row++) {
        const kinds = offered[row]!
        if (kinds === 0) continue
        if (kinds & PARCEL_OFFERED) last = Math.max(last, this.lastExpiry(parcels.offers.first[row]!, nowMs))
        if (!withEstates || !(kinds & ESTATE_OFFERED) || parcels.estate[row] === previous) continue
        previous = parcels.estate[row]!
        last = Math.max(last, this.lastExpiry(estates.offers.first[previous]!, nowMs))
      }
    }
    return last
  }

  /** JSON of the parcels of some runs of rows, joined by commas, without brackets and without a comma at the end. */
  parcelRunPieces(runs: readonly RowRange[], nowMs: number): Uint8Array[] {
    const pieces: Uint8Array[] = []
    const last = runs.at(-1)
    for (const run of runs) {
      for (let row = run.from; row < run.to; ) {
        const to = Math.min(run.to, row - (row % CHUNK_ROWS) + CHUNK_ROWS)
        const isEnd = run === last && to === run.to
        this.addChunkPieces(pieces, { from: row, to }, nowMs, isEnd ? COMMA_LENGTH : 0)
        row = to
      }
    }
    return pieces
  }

  /** Adds the parcels of rows of one chunk, each followed by a comma. @param leftOut bytes at the end */
  private addChunkPieces(pieces: Uint8Array[], { from, to }: RowRange, nowMs: number, leftOut: number): void {
    const { json, offers, rents } = this.parts.parcels
    const number = Math.floor(from / CHUNK_ROWS)
    const { values: bytes, starts } = json.chunks[number]!
    const firstRow = number * CHUNK_ROWS
    let nextRent = firstRentFrom(rents, from)
    let start = starts[from - firstRow]!
    for (let row = from; row < to; row++) {
      const first = offers.first[row]!
      const offer = first < 0 ? -1 : this.openAt(first, nowMs)
      const rent =
        rents.rows[nextRent] === row ? runningRentJson(rentAt(rents, nextRent++), nowMs) : undefined
      if (offer < 0 && !rent) continue
      const end = starts[row - firstRow + 1]!
      if (rent) {
        pieces.push(bytes.subarray(start, end - NO_RENT_LENGTH), rent)
        start = end - NO_PUBLICATION_LENGTH
      }
      if (offer < 0) continue
      pieces.push(bytes.subarray(start, end - NO_PUBLICATION_LENGTH), this.offerJson(offer))
      start = end - CLOSE_LENGTH - COMMA_LENGTH
    }
    pieces.push(bytes.subarray(start, starts[to - firstRow]! - leftOut))
  }

  private openAt(firstOffer: number, nowMs: number): number {
    const { openExpiresAtMs, openNext } = this.parts.publications
    let offer = firstOffer
    while (offer >= 0 && openExpiresAtMs[offer]! <= nowMs) offer = openNext[offer]!
    return offer
  }

  /** Offers older than the shown one are skipped: they are never shown, so their expiry changes no answer. */
  private lastExpiry(firstOffer: number, nowMs: number): number {
    const { openExpiresAtMs, openNext } = this.parts.publications
    let last = 0
    for (let offer = firstOffer; offer >= 0; offer = openNext[offer]!) {
      const expiresAtMs = openExpiresAtMs[offer]!
      if (expiresAtMs > nowMs) break
      if (expiresAtMs > last) last = expiresAtMs
    }
    return last
  }
}

const PARCEL_OFFERED = 1
const ESTATE_OFFERED = 2

interface Offered {
  readonly estateOf: Int32Array
  readonly ofEstates: Int32Array
  readonly offered: Uint8Array
}

/** By the first offers of the parcels. Most states share them with the state before. */
const knownOffered = new WeakMap<Int32Array, Offered>()

function offeredOf({ parcels, estates }: StateParts): Uint8Array {
  const [estateOf, ofParcels, ofEstates] = [parcels.estate, parcels.offers.first, estates.offers.first]
  const known = knownOffered.get(ofParcels)
  if (known?.estateOf === estateOf && known.ofEstates === ofEstates) return known.offered
  const offered = readOffered(parcels, estates)
  knownOffered.set(ofParcels, { estateOf, ofEstates, offered })
  return offered
}

function readOffered(
  { estate: estateOf, offers }: StateParts['parcels'],
  estates: StateParts['estates'],
): Uint8Array {
  const offered = new Uint8Array(estateOf.length)
  for (let row = 0; row < offered.length; row++) {
    const estate = estateOf[row]!
    if (offers.first[row]! >= 0) offered[row] = PARCEL_OFFERED
    if (estate >= 0 && estates.offers.first[estate]! >= 0) offered[row]! |= ESTATE_OFFERED
  }
  return offered
}

/** JSON of an asset with its rent while that runs, and with its publication. */
function piecesOf(
  { json, rents }: { readonly json: JsonBuffer; readonly rents: AssetRents },
  row: number,
  nowMs: number,
  publication: Uint8Array | undefined,
): JsonPieces {
  const rent = runningRentJson(findRent(rents, row), nowMs)
  if (rent) return [pieceOf(json, row, NO_RENT_LENGTH), rent, publication ?? NULL, CLOSE]
  if (publication) return [pieceOf(json, row, NO_PUBLICATION_LENGTH), publication, CLOSE]
  return [pieceOf(json, row, COMMA_LENGTH)]
}

function rowsOf(owners: OwnerIndex, owner: string): Uint32Array {
  const place = positionsOf(owners.addresses).get(owner)
  return place === undefined ? new Uint32Array(0) : rowsOfOwner(owners, place)
}
