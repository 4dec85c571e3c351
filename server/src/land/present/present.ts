import type { Freshness, JsonPieces } from '../../http/answers.ts'
import { type Coord, parseCoord } from '../../world/coord.ts'
import type { Area } from '../../world/world.ts'
import type { AssetName, AssetRow } from '../assets.ts'
import { cellOf } from './build-parcels.ts'
import type { JsonSlab, OwnerIndex, PresentParts } from './parts.ts'
import { PublicationLists } from './publication-lists.ts'

/** Raised when an answer changes its form: a reader's copy of the old form is then no longer right. */
const FORM = 1

const CLOSE = Buffer.from('}')
/** `null},` at the end of each asset's piece: what a publication takes the place of, and the comma after it. */
const NO_PUBLICATION_LENGTH = 6

export interface RowRange {
  readonly from: number
  /** The row after the last. */
  readonly to: number
}

/**
 * One revision of the land, as its readers ask for it. Never changes: a reader that holds one sees one world,
 * whatever is committed meanwhile. What depends on the clock takes the time as an argument.
 */
export class Present {
  readonly parts: PresentParts
  readonly lists: PublicationLists
  readonly worldId: number
  readonly revision: number
  readonly changedAtMs: number
  /** For each parcel what of it has open offers, expired or not: nearly always nothing. */
  private readonly offered: Uint8Array
  private readonly tagBase: string
  private readonly parcelBytes: Buffer
  private readonly estateBytes: Buffer
  private readonly offerBytes: Buffer
  private readonly estateRows: ReadonlyMap<string, number>
  private readonly parcelOwners: ReadonlyMap<string, number>
  private readonly estateOwners: ReadonlyMap<string, number>

  constructor(parts: PresentParts) {
    this.parts = parts
    this.worldId = parts.worldId
    this.revision = parts.revision
    this.changedAtMs = parts.changedAtMs
    this.tagBase = `${parts.lineage}.${FORM}.${parts.revision}`
    this.offered = offeredOf(parts)
    this.lists = new PublicationLists(parts.publications)
    this.parcelBytes = bufferOver(parts.parcels.json)
    this.estateBytes = bufferOver(parts.estates.json)
    this.offerBytes = bufferOver(parts.publications.openJson)
    this.estateRows = rowsByText(parts.estates.ids)
    this.parcelOwners = rowsByText(parts.parcels.owners.addresses)
    this.estateOwners = rowsByText(parts.estates.owners.addresses)
  }

  /**
   * The freshness of an answer.
   *
   * @param lastExpiryMs for answers that show open offers: the last time when one of theirs expired, 0 if none did
   */
  freshness(lastExpiryMs = 0): Freshness {
    const tag = lastExpiryMs === 0 ? this.tagBase : `${this.tagBase}.${lastExpiryMs}`
    return { tag, changedAtMs: Math.max(this.changedAtMs, lastExpiryMs) }
  }

  /** Row of the parcel at a place, or -1. */
  parcelRow(coord: Coord): number {
    return this.parts.parcels.rowAt[cellOf(this.parts.bounds, coord)] ?? -1
  }

  /** Row of an estate, or -1. */
  estateRow(id: string): number {
    return this.estateRows.get(id) ?? -1
  }

  isDissolved(estateRow: number): boolean {
    return this.parts.estates.size[estateRow] === 0
  }

  /** Rows of the parcels that an address owns, by x, then y. */
  parcelsOf(owner: string): Uint32Array {
    return rowsOf(this.parts.parcels.owners, this.parcelOwners.get(owner))
  }

  /** Rows of the estates that an address owns, by id. */
  estatesOf(owner: string): Uint32Array {
    return rowsOf(this.parts.estates.owners, this.estateOwners.get(owner))
  }

  /** A parcel with its `publication`: the newest that is open and not expired, or null. */
  parcelPieces(row: number, nowMs: number): JsonPieces {
    return this.withOffer(this.parcelBytes, this.parts.parcels.json, row, this.parcelOffer(row, nowMs))
  }

  estatePieces(row: number, nowMs: number): JsonPieces {
    return this.withOffer(this.estateBytes, this.parts.estates.json, row, this.estateOffer(row, nowMs))
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

  /** An asset with its `publication`, or with one of the caller's choice. */
  assetPieces({ type, row }: AssetRow, nowMs: number, publication?: Uint8Array): JsonPieces {
    if (!publication) return type === 'parcel' ? this.parcelPieces(row, nowMs) : this.estatePieces(row, nowMs)
    if (type === 'parcel') return embed(this.parcelBytes, this.parts.parcels.json, row, publication)
    return embed(this.estateBytes, this.parts.estates.json, row, publication)
  }

  /** The last time at or before `nowMs` when one of the assets lost the offer that it was shown with, or 0. */
  assetsExpiry(assets: Iterable<AssetRow>, nowMs: number): number {
    let last = 0
    for (const { type, row } of assets) {
      const expiry = type === 'parcel' ? this.parcelExpiry(row, nowMs) : this.estateExpiry(row, nowMs)
      if (expiry > last) last = expiry
    }
    return last
  }

  private parcelRowOf(id: string): number {
    const coord = parseCoord(id)
    return coord ? this.parcelRow(coord) : -1
  }

  /** Number of the offer that a parcel is shown with, or -1. */
  parcelOffer(row: number, nowMs: number): number {
    return this.openAt(this.parts.parcels.offers.first[row]!, nowMs)
  }

  estateOffer(row: number, nowMs: number): number {
    return this.openAt(this.parts.estates.offers.first[row]!, nowMs)
  }

  offerJson(offer: number): Uint8Array {
    return piece(this.offerBytes, this.parts.publications.openJson, offer)
  }

  /** The last time at or before `nowMs` when the parcel lost the offer that it was shown with, or 0. */
  parcelExpiry(row: number, nowMs: number): number {
    return this.lastExpiry(this.parts.parcels.offers.first[row]!, nowMs)
  }

  estateExpiry(row: number, nowMs: number): number {
    return this.lastExpiry(this.parts.estates.offers.first[row]!, nowMs)
  }

  /** The parcels of an area within the bounds, as runs of rows: by x ascending, then y descending. */
  rowsIn(area: Area): RowRange[] {
    const { rowAt } = this.parts.parcels
    const runs: RowRange[] = []
    for (let x = area.minX; x <= area.maxX; x++) {
      // The cells of a column follow each other from north to south; a world may have none at either end.
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

  /** The last time at or before `nowMs` when something in an area lost the offer that it was shown with, or 0. */
  areaExpiry(runs: readonly RowRange[], nowMs: number, { withEstates }: { withEstates: boolean }): number {
    const { estate } = this.parts.parcels
    const { offered } = this
    let last = 0
    let previous = -1
    for (const { from, to } of runs) {
      for (let row = from; row < to; row++) {
        const kinds = offered[row]!
        if (kinds === 0) continue
        if (kinds & PARCEL_OFFERED) last = Math.max(last, this.parcelExpiry(row, nowMs))
        if (!withEstates || !(kinds & ESTATE_OFFERED) || estate[row] === previous) continue
        previous = estate[row]!
        last = Math.max(last, this.estateExpiry(previous, nowMs))
      }
    }
    return last
  }

  /** A run of parcels as pieces of an array: joined by commas, without one at the end. */
  *parcelRunPieces({ from, to }: RowRange, nowMs: number): Generator<Uint8Array> {
    const { starts } = this.parts.parcels.json
    const { first } = this.parts.parcels.offers
    let start = starts[from]!
    for (let row = from; row < to; row++) {
      const offer = first[row]! < 0 ? -1 : this.openAt(first[row]!, nowMs)
      if (offer < 0) continue
      yield* slices(this.parcelBytes, start, starts[row + 1]! - NO_PUBLICATION_LENGTH)
      yield this.offerJson(offer)
      start = starts[row + 1]! - 2 // the closing brace and the comma
    }
    yield* slices(this.parcelBytes, start, starts[to]! - 1)
  }

  private withOffer(bytes: Buffer, json: JsonSlab, row: number, offer: number): JsonPieces {
    if (offer >= 0) return embed(bytes, json, row, this.offerJson(offer))
    return [bytes.subarray(json.starts[row]!, json.starts[row + 1]! - 1)]
  }

  private openAt(firstOffer: number, nowMs: number): number {
    const { openExpiresAtMs, openNext } = this.parts.publications
    let offer = firstOffer
    while (offer >= 0 && openExpiresAtMs[offer]! <= nowMs) offer = openNext[offer]!
    return offer
  }

  /** Offers older than the one that is shown do not count: whether they expired makes no difference to anyone. */
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

function offeredOf({ parcels, estates }: PresentParts): Uint8Array {
  return Uint8Array.from(parcels.estate, (estate, row) => {
    const parcelOffered = parcels.offers.first[row]! >= 0 ? PARCEL_OFFERED : 0
    const estateOffered = estate >= 0 && estates.offers.first[estate]! >= 0 ? ESTATE_OFFERED : 0
    return parcelOffered | estateOffered
  })
}

/** The largest piece that a stream writes at once: small enough that a slow reader holds up little. */
const SLICE_BYTES = 256 * 1024

function* slices(bytes: Buffer, from: number, to: number): Generator<Uint8Array> {
  for (let at = from; at < to; at += SLICE_BYTES) yield bytes.subarray(at, Math.min(at + SLICE_BYTES, to))
}

function embed(bytes: Buffer, { starts }: JsonSlab, row: number, publication: Uint8Array): JsonPieces {
  return [bytes.subarray(starts[row]!, starts[row + 1]! - NO_PUBLICATION_LENGTH), publication, CLOSE]
}

function piece(bytes: Buffer, { starts }: JsonSlab, row: number): Uint8Array {
  return bytes.subarray(starts[row]!, starts[row + 1]!)
}

function bufferOver({ bytes }: JsonSlab): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function rowsByText(texts: readonly string[]): ReadonlyMap<string, number> {
  return new Map(texts.map((text, row) => [text, row]))
}

function rowsOf({ starts, rows }: OwnerIndex, owner: number | undefined): Uint32Array {
  if (owner === undefined) return new Uint32Array(0)
  return rows.subarray(starts[owner]!, starts[owner + 1]!)
}
