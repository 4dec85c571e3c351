import type { Coord } from '@landpass/client/grid'
import type { AssetName, AssetType } from '../records/assets.ts'
import type { EstateRow, MortgageRow, ParcelRow, RightRow } from './land-rows.ts'
import { overwriteEstate, overwriteParcel } from './overwrite-rows.ts'
import { PackedRows } from './packed-rows.ts'

/** The rows of one table, with the indexes that it needs. A row is found by the columns that name it. */
export interface Store<Row> {
  find(named: Row): Row | undefined
  put(row: Row): void
  remove(named: Row): void
  /** In the order in which an import writes them. */
  all(): Iterable<Row>
}

/** Sets of items, found by a name. Empty sets are removed. */
class Groups<Item> {
  private readonly sets = new Map<string, Set<Item>>()

  /** In the order in which they came. */
  of(name: string): Iterable<Item> {
    return this.sets.get(name) ?? []
  }

  /** Null: in no group. */
  move(item: Item, from: string | null, to: string | null): void {
    if (from === to) return
    if (from !== null) {
      const set = this.sets.get(from)
      set?.delete(item)
      if (set?.size === 0) this.sets.delete(from)
    }
    if (to === null) return
    const set = this.sets.get(to)
    if (set) set.add(item)
    else this.sets.set(to, new Set([item]))
  }
}

export class ParcelStore implements Store<ParcelRow> {
  /** Columns of parcels: both numbers are then small, which makes the fastest keys. A row stays the same object. */
  private readonly columns = new Map<number, Map<number, ParcelRow>>()
  private readonly byOwner = new Groups<ParcelRow>()
  private readonly byEstate = new Groups<ParcelRow>()
  private lastFound: ParcelRow | undefined

  /** An event asks several times for the same parcel: the last answer is remembered. */
  find({ x, y }: Coord): ParcelRow | undefined {
    const { lastFound } = this
    if (lastFound?.x === x && lastFound.y === y) return lastFound
    const found = this.columns.get(x)?.get(y)
    if (found) this.lastFound = found
    return found
  }

  ofOwner(owner: string): ParcelRow[] {
    return [...this.byOwner.of(owner)]
  }

  /** In the order in which they joined. */
  ofEstate(estateId: string): ParcelRow[] {
    const rows = [...this.byEstate.of(estateId)]
    return rows.sort((one, other) => (one.estate_position ?? 0) - (other.estate_position ?? 0))
  }

  put(row: ParcelRow): void {
    const kept = this.find(row)
    this.index(kept ?? row, kept, row)
    if (kept) overwriteParcel(kept, row)
    else {
      const column = this.columns.get(row.x) ?? new Map<number, ParcelRow>()
      this.columns.set(row.x, column)
      column.set(row.y, row)
    }
  }

  remove({ x, y }: Coord): void {
    const kept = this.find({ x, y })
    if (!kept) return
    this.index(kept, kept, undefined)
    this.columns.get(x)?.delete(y)
    this.lastFound = undefined
  }

  all(): ParcelRow[] {
    const xs = [...this.columns.keys()].sort((one, other) => one - other)
    return xs.flatMap((x) => [...this.columns.get(x)!.values()].sort((one, other) => one.y - other.y))
  }

  private index(kept: ParcelRow, before: ParcelRow | undefined, after: ParcelRow | undefined): void {
    this.byOwner.move(kept, before?.owner ?? null, after?.owner ?? null)
    this.byEstate.move(kept, before?.estate_id ?? null, after?.estate_id ?? null)
  }
}

export class EstateStore implements Store<EstateRow> {
  private readonly rows = new Map<string, EstateRow>()
  private readonly byOwner = new Groups<string>()

  find({ id }: Pick<EstateRow, 'id'>): EstateRow | undefined {
    return this.rows.get(id)
  }

  ofOwner(owner: string): EstateRow[] {
    return Array.from(this.byOwner.of(owner), (id) => this.rows.get(id)!)
  }

  put(row: EstateRow): void {
    const kept = this.rows.get(row.id)
    this.byOwner.move(row.id, kept?.owner ?? null, row.owner)
    if (kept) overwriteEstate(kept, row)
    else this.rows.set(row.id, row)
  }

  remove({ id }: EstateRow): void {
    this.byOwner.move(id, this.rows.get(id)?.owner ?? null, null)
    this.rows.delete(id)
  }

  all(): EstateRow[] {
    return [...this.rows.values()].sort((one, other) => compareDigits(one.id, other.id))
  }
}

/** Compares numbers that are decimal digits. */
function compareDigits(one: string, other: string): number {
  return one.length - other.length || (one < other ? -1 : one > other ? 1 : 0)
}

interface RowOfAsset {
  readonly key: number
  readonly asset_id: string
  readonly asset_type: AssetType
  /** When the event was that changed it last. */
  readonly updated_at_ms: number
}

/**
 * Publications or bids. Those of an asset that events may still change are one array, which is replaced and never changed.
 * The others, which are most of a history, are packed.
 */
export class AssetRowStore<Row extends RowOfAsset> implements Store<Row> {
  private readonly rows: Record<AssetType, Map<string, readonly Row[]>> = {
    parcel: new Map(),
    estate: new Map(),
  }
  private readonly finished = new PackedRows<Row>()
  private readonly isFinished: (row: Row, nowMs: number) => boolean

  /** @param isFinished whether no event at that time or later changes the row, or asks for it */
  constructor(isFinished: (row: Row, nowMs: number) => boolean) {
    this.isFinished = isFinished
  }

  /** Those that are not finished, and those that have been finished since the last `put`. */
  of({ type, id }: AssetName): readonly Row[] {
    return this.rows[type].get(id) ?? []
  }

  find({ key, asset_id, asset_type }: Row): Row | undefined {
    return this.rows[asset_type].get(asset_id)?.findLast((row) => row.key === key) ?? this.finished.get(key)
  }

  put(row: Row): void {
    const { key, asset_id, asset_type, updated_at_ms: nowMs } = row
    this.finished.remove(key)
    const others = this.of({ type: asset_type, id: asset_id }).filter((one) => one.key !== key)
    // Rows that are loaded may come in any order of keys.
    const all = others.every((one) => one.key < key) ? [...others, row] : [...others, row].sort(byKey)
    for (const one of all) if (this.isFinished(one, nowMs)) this.finished.put(one)
    this.set(
      row,
      all.filter((one) => !this.finished.has(one.key)),
    )
  }

  remove(row: Row): void {
    const { key, asset_id, asset_type } = row
    this.finished.remove(key)
    this.set(
      row,
      this.of({ type: asset_type, id: asset_id }).filter((one) => one.key !== key),
    )
  }

  /** Packed rows are made one at a time. */
  *all(): Generator<Row> {
    const others = [...this.rows.parcel.values(), ...this.rows.estate.values()].flat().sort(byKey)
    let next = 0
    for (const key of this.finished.keys()) {
      for (; next < others.length && others[next]!.key < key; next++) yield others[next]!
      yield this.finished.get(key)!
    }
    yield* others.slice(next)
  }

  private set({ asset_id, asset_type }: Row, rows: readonly Row[]): void {
    if (rows.length > 0) this.rows[asset_type].set(asset_id, rows)
    else this.rows[asset_type].delete(asset_id)
  }
}

export class MortgageStore implements Store<MortgageRow> {
  private readonly rows = new Map<number, MortgageRow>()
  /** The numbers of the mortgages of a loan. */
  private readonly byLoan = new Groups<number>()

  find({ mortgage_id }: Pick<MortgageRow, 'mortgage_id'>): MortgageRow | undefined {
    return this.rows.get(mortgage_id)
  }

  /** The newest one that names the loan. */
  ofLoan(loanId: number): MortgageRow | undefined {
    return Array.from(this.byLoan.of(String(loanId)), (id) => this.rows.get(id)!)
      .sort(byKey)
      .at(-1)
  }

  put(row: MortgageRow): void {
    const before = this.rows.get(row.mortgage_id)
    this.byLoan.move(row.mortgage_id, loanName(before), loanName(row))
    this.rows.set(row.mortgage_id, row)
  }

  remove({ mortgage_id }: MortgageRow): void {
    this.byLoan.move(mortgage_id, loanName(this.rows.get(mortgage_id)), null)
    this.rows.delete(mortgage_id)
  }

  all(): MortgageRow[] {
    return [...this.rows.values()].sort(byKey)
  }
}

function loanName(row: MortgageRow | undefined): string | null {
  return row ? String(row.loan_id) : null
}

function byKey(one: { readonly key: number }, other: { readonly key: number }): number {
  return one.key - other.key
}

/** Rows by a text that names each of them, which is also their order. */
export class NamedRowStore<Row> implements Store<Row> {
  protected readonly rows = new Map<string, Row>()
  private readonly nameOf: (row: Row) => string

  constructor(nameOf: (row: Row) => string) {
    this.nameOf = nameOf
  }

  find(named: Row): Row | undefined {
    return this.rows.get(this.nameOf(named))
  }

  put(row: Row): void {
    this.rows.set(this.nameOf(row), row)
  }

  remove(named: Row): void {
    this.rows.delete(this.nameOf(named))
  }

  all(): Row[] {
    const names = [...this.rows.keys()].sort()
    return names.map((name) => this.rows.get(name)!)
  }
}

export class RightStore extends NamedRowStore<RightRow> {
  private readonly byOwner = { parcel: new Groups<RightRow>(), estate: new Groups<RightRow>() }

  ofOwner({ registry, owner }: Pick<RightRow, 'registry' | 'owner'>): readonly RightRow[] {
    return [...this.byOwner[registry].of(owner)]
  }

  override put(row: RightRow): void {
    this.remove(row)
    super.put(row)
    this.byOwner[row.registry].move(row, null, row.owner)
  }

  override remove(named: RightRow): void {
    const row = this.find(named)
    if (row) this.byOwner[row.registry].move(row, row.owner, null)
    super.remove(named)
  }
}
