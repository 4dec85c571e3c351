import { isDeepStrictEqual } from 'node:util'
import { type Coord, parseCoord } from '@landpass/client/grid'
import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../../db/transaction.ts'
import type { LandEvent, Registry } from '../events/land-event.ts'
import type {
  BidRow,
  EstateRow,
  EventRows,
  EventTable,
  LandRows,
  MortgageRow,
  ParcelRow,
  PublicationRow,
  RightRow,
  TradeIndexRow,
  TradeSignatureRow,
} from '../events/land-rows.ts'
import { KEY_COLUMNS } from '../events/land-rows.ts'
import type { SignedOffer } from '../events/signed-offers.ts'
import { assetIndexKey } from '../events/trades.ts'
import type { AssetName } from '../records/assets.ts'
import {
  EVENT_COLUMNS,
  EVENT_TABLES,
  keyOf,
  keyOfText,
  keyText,
  type RowChange,
  type RowKey,
} from './event-tables.ts'
import { exactRows, jsonRows } from './json-rows.ts'
import { namedBy, newOwnersIn } from './named-rows.ts'
import {
  GRANTED_BY,
  type Groups,
  groupsOf,
  OF_ASSET,
  OF_ESTATE,
  OF_LOAN,
  OF_MORTGAGE,
  OF_OWNER,
} from './row-groups.ts'

/** A row as a block found it, which is what undoing the block brings back. */
export interface BlockImage {
  readonly blockNumber: number
  readonly table: EventTable
  readonly key: RowKey
  /** Null where there was no row. */
  readonly before: object | null
}

type AnyRow = EventRows[EventTable]
type KeyedTable = 'publication' | 'bid' | 'mortgage'

/** A row as it is in the table, and as it is after what was put and removed since. */
interface Entry {
  stored: AnyRow | undefined
  now: AnyRow | undefined
  /** Whether it was put or removed before it was read: what is stored is not known yet. */
  isUnread: boolean
  isSet: boolean
  /** Made when it was put or removed for the first time, before it was read: what is stored is added to it. */
  firstImage: Writable<BlockImage> | undefined
}

/** An offer to rent an asset out is judged by the index of the asset. */
function signatureOf(offer: SignedOffer) {
  const { asset_index, asset_type: type, asset_id: id } = offer
  return asset_index === null ? offer : { ...offer, signature_key: assetIndexKey({ type, id }) }
}

/** Rows that are to be read. */
interface Reading {
  readonly table: EventTable
  readonly where: RawBuilder<unknown>
  /** Called with all of them in memory. */
  readonly noteRead: () => void
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/**
 * The rows of one world in one transaction. A row is read from its table when it is first needed. What is put or removed
 * is collected, and seen by every later read; `writeChange` writes it.
 */
export class TableRows implements LandRows {
  readonly worldId: number
  private readonly tx: Tx
  private readonly entries: { readonly [Table in EventTable]: Map<string, Entry> }
  /** The keys of the rows that are in a group now, by the table and the name of the group (row-groups.ts). */
  private readonly groups = new Map<string, Set<string>>()
  /** The groups whose rows have all been read. */
  private readonly readGroups = new Set<string>()
  private readonly nextKeys = new Map<KeyedTable, number>()
  private readonly imagesOf = new Map<string, BlockImage>()
  private block: number | undefined

  constructor(tx: Tx, worldId: number) {
    this.tx = tx
    this.worldId = worldId
    // The compiler types keys of an object made of entries as any text
    this.entries = Object.fromEntries(EVENT_TABLES.map((table) => [table, new Map()])) as never
  }

  parcel(at: Coord): Promise<ParcelRow | undefined> {
    return this.find('parcel', at)
  }

  estate(id: string): Promise<EstateRow | undefined> {
    return this.find('estate', { id })
  }

  async parcelsOfEstate(id: string): Promise<readonly ParcelRow[]> {
    const parcels = await this.group('parcel', OF_ESTATE, id)
    return parcels.sort(
      (a, b) => (a.estate_position ?? 0) - (b.estate_position ?? 0) || a.x - b.x || a.y - b.y,
    )
  }

  assetsOf(registry: 'parcel', owner: string): Promise<readonly ParcelRow[]>
  assetsOf(registry: 'estate', owner: string): Promise<readonly EstateRow[]>
  async assetsOf(registry: Registry, owner: string): Promise<readonly (ParcelRow | EstateRow)[]> {
    if (registry === 'estate')
      return (await this.group('estate', OF_OWNER, owner)).sort(
        (a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1),
      )
    const parcels = await this.group('parcel', OF_OWNER, owner)
    return parcels.sort((a, b) => a.x - b.x || a.y - b.y)
  }

  async rightsOf(registry: Registry, owner: string): Promise<readonly RightRow[]> {
    const rights = await this.group('land_right', GRANTED_BY, { registry, owner })
    return rights.sort((a, b) => (`${a.kind} ${a.operator}` < `${b.kind} ${b.operator}` ? -1 : 1))
  }

  async publicationsOf(asset: AssetName): Promise<readonly PublicationRow[]> {
    const all = await this.group('publication', OF_ASSET, asset)
    return all.filter(({ trade_id }) => trade_id === null).sort(byKey)
  }

  /** Those that were signed off the chain: no event changes them. */
  async signedPublicationsOf(asset: AssetName): Promise<readonly PublicationRow[]> {
    const all = await this.group('publication', OF_ASSET, asset)
    return all.filter(({ trade_id }) => trade_id !== null)
  }

  async bidsOf(asset: AssetName): Promise<readonly BidRow[]> {
    return (await this.group('bid', OF_ASSET, asset)).sort(byKey)
  }

  async mortgage(
    by: { readonly mortgageId: number } | { readonly loanId: number },
  ): Promise<MortgageRow | undefined> {
    const found = await ('mortgageId' in by
      ? this.group('mortgage', OF_MORTGAGE, by.mortgageId)
      : this.group('mortgage', OF_LOAN, by.loanId))
    return found.sort(byKey).at(-1)
  }

  tradeSignature(marketplace: string, signer: string, key: string): Promise<TradeSignatureRow | undefined> {
    return this.find('trade_signature', { marketplace, signer, signature_key: key })
  }

  tradeIndex(marketplace: string, signer: string): Promise<TradeIndexRow | undefined> {
    return this.find('trade_index', { marketplace, signer })
  }

  async nextKey(table: KeyedTable): Promise<number> {
    const key = this.nextKeys.get(table) ?? (await this.readNextKey(table))
    this.nextKeys.set(table, key + 1)
    return key
  }

  put<Table extends EventTable>(table: Table, row: EventRows[Table]): void {
    this.set(table, keyText(table, row), row)
  }

  remove<Table extends EventTable>(table: Table, row: EventRows[Table]): void {
    this.set(table, keyText(table, row), undefined)
  }

  /** Brings a row back to how it was before a block; null where there was none. The row must have been read. */
  restore(table: EventTable, key: RowKey, before: object | null): void {
    this.set(table, keyText(table, key), (before ?? undefined) as AnyRow | undefined)
    this.nextKeys.clear()
  }

  /** From now on each row is kept as this block found it; undefined where the block is never undone. */
  beginBlock(blockNumber: number | undefined): void {
    this.block = blockNumber
  }

  /** The rows that differ from their tables. */
  async changes(): Promise<RowChange[]> {
    await this.readUnread()
    return EVENT_TABLES.flatMap((table) =>
      [...this.entries[table].values()]
        .filter(({ stored, now }) => !isDeepStrictEqual(stored, now))
        .map(({ stored, now }): RowChange => ({ table, before: stored, now })),
    )
  }

  async images(): Promise<BlockImage[]> {
    await this.readUnread()
    return [...this.imagesOf.values()]
  }

  /** Reads what these events will most likely need, with one statement, instead of with one for each row. */
  async readAhead(events: readonly LandEvent[]): Promise<void> {
    const { parcels, estates, assets } = namedBy(events)
    const estateKeys = estates.map((id) => ({ id }))
    await this.read([
      ...this.unreadRows('parcel', parcels),
      ...this.unreadRows('estate', estateKeys),
      ...this.unreadGroups('parcel', OF_ESTATE, estates),
      ...this.unreadGroups('publication', OF_ASSET, assets),
      ...this.unreadGroups('bid', OF_ASSET, assets),
      ...this.unreadGroups('land_right', GRANTED_BY, newOwnersIn(events)),
    ])
  }

  /** Reads what judging these offers will need, with one statement. */
  async readAheadOffers(offers: readonly SignedOffer[]): Promise<void> {
    const assets = offers.map(({ asset_type: type, asset_id: id }) => ({ type, id }))
    const estates = assets.flatMap(({ type, id }) => (type === 'estate' ? [id] : []))
    const parcels = assets.flatMap(({ type, id }) => (type === 'parcel' ? (parseCoord(id) ?? []) : []))
    await this.read([
      ...this.unreadRows('parcel', parcels),
      ...this.unreadRows(
        'estate',
        estates.map((id) => ({ id })),
      ),
      ...this.unreadRows(
        'trade_signature',
        offers.map((offer) => keyOf('trade_signature', signatureOf(offer))),
      ),
      ...this.unreadRows('trade_index', [
        ...offers.map(({ marketplace, signer }) => ({ marketplace, signer })),
        ...offers.map(({ marketplace }) => ({ marketplace, signer: '' })),
      ]),
      ...this.unreadGroups('parcel', OF_ESTATE, estates),
      ...this.unreadGroups('publication', OF_ASSET, assets),
      ...this.unreadGroups(
        'land_right',
        GRANTED_BY,
        offers.map(({ asset_type, signer }) => ({ registry: asset_type, owner: signer })),
      ),
    ])
  }

  /** Reads rows by their tables and keys, with one statement. */
  async readRows(keysOf: ReadonlyMap<EventTable, readonly object[]>): Promise<void> {
    await this.read([...keysOf].flatMap(([table, keys]) => this.unreadRows(table, keys)))
  }

  /** What has to be read so that these rows are known. */
  private unreadRows(table: EventTable, keys: readonly object[]): Reading[] {
    const unread = keys.filter((key) => this.entries[table].get(keyText(table, key))?.isUnread ?? true)
    if (unread.length === 0) return []
    const columns = sql.join(KEY_COLUMNS[table].map((column) => sql.ref(column)))
    const where = sql`(${columns}) in (select ${columns}
        from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(unread)}::json))`
    const noteRead = () => {
      for (const key of unread) this.entry(table, keyText(table, key)).isUnread = false
    }
    return [{ table, where, noteRead }]
  }

  /** What has to be read so that all rows of these groups are known. */
  private unreadGroups<Member>(
    table: EventTable,
    { name, where }: Groups<Member>,
    members: readonly Member[],
  ): Reading[] {
    const groupOf = (member: Member) => `${table} ${name(member)}`
    const unread = members.filter((member) => !this.readGroups.has(groupOf(member)))
    if (unread.length === 0) return []
    const noteRead = () => {
      for (const member of unread) this.readGroups.add(groupOf(member))
    }
    return [{ table, where: where(unread), noteRead }]
  }

  /** A row by the columns that name it; undefined where there is none. */
  async find<Table extends EventTable>(table: Table, key: object): Promise<EventRows[Table] | undefined> {
    await this.read(this.unreadRows(table, [keyOf(table, key)]))
    return this.entries[table].get(keyText(table, key))!.now as EventRows[Table] | undefined
  }

  private async group<Table extends EventTable, Member>(
    table: Table,
    groups: Groups<Member>,
    member: Member,
  ): Promise<EventRows[Table][]> {
    await this.read(this.unreadGroups(table, groups, [member]))
    const keys = this.groups.get(`${table} ${groups.name(member)}`) ?? []
    return [...keys].map((key) => this.entries[table].get(key)!.now as EventRows[Table])
  }

  /** In one statement. */
  private async read(readings: readonly Reading[]): Promise<void> {
    const [first, ...others] = readings
    if (!first) return
    const read = others.length === 0 ? [await this.readTable(first)] : await this.readTables(readings)
    for (const [at, { table, noteRead }] of readings.entries()) {
      this.noteStored(table, read[at]!)
      noteRead()
    }
  }

  /** As rows: an owner can have so many of them that JSON would need more time and memory. */
  private async readTable({ table, where }: Reading): Promise<readonly AnyRow[]> {
    const columns = sql.join(EVENT_COLUMNS[table].map((column) => sql.ref(column)))
    const { rows } = await sql<AnyRow>`
      select ${columns} from ${sql.table(table)} where world_id = ${this.worldId} and ${where}`.execute(
      this.tx,
    )
    return rows
  }

  private async readTables(readings: readonly Reading[]): Promise<readonly (readonly AnyRow[])[]> {
    const parts = readings.map(({ table, where }) =>
      jsonRows({ table, where: sql`world_id = ${this.worldId} and ${where}` }),
    )
    const { rows } = await sql<{ readonly read: readonly (readonly AnyRow[])[] }>`
      select json_build_array(${sql.join(parts)}) as read`.execute(this.tx)
    return rows[0]!.read.map(exactRows)
  }

  /** A row that was read before may have been changed since: it stays as it is. */
  private noteStored<Table extends EventTable>(table: Table, rows: readonly EventRows[Table][]): void {
    for (const row of rows) {
      const key = keyText(table, row)
      const isNew = !this.entries[table].has(key)
      const entry = this.entry(table, key)
      if (!entry.isUnread) continue
      entry.stored = row
      entry.isUnread = false
      if (entry.firstImage) entry.firstImage.before = row
      if (!isNew) continue
      entry.now = row
      this.regroup(table, key, undefined, row)
    }
  }

  private entry(table: EventTable, key: string): Entry {
    const known = this.entries[table].get(key)
    if (known) return known
    const entry = { stored: undefined, now: undefined, isUnread: true, isSet: false, firstImage: undefined }
    this.entries[table].set(key, entry)
    return entry
  }

  private async readUnread(): Promise<void> {
    const unreadOf = (table: EventTable) =>
      [...this.entries[table]].flatMap(([key, { isUnread }]) => (isUnread ? [keyOfText(table, key)] : []))
    await this.readRows(new Map(EVENT_TABLES.map((table) => [table, unreadOf(table)])))
  }

  private set(table: EventTable, key: string, row: AnyRow | undefined): void {
    const entry = this.entry(table, key)
    this.keepImage(table, key, entry)
    this.regroup(table, key, entry.now, row)
    entry.now = row
    entry.isSet = true
  }

  private keepImage(table: EventTable, key: string, entry: Entry): void {
    if (this.block === undefined) return
    const name = `${this.block} ${table} ${key}`
    if (this.imagesOf.has(name)) return
    const image = {
      blockNumber: this.block,
      table,
      key: keyOfText(table, key),
      before: entry.now ?? null,
    }
    this.imagesOf.set(name, image)
    if (entry.isUnread && !entry.isSet) entry.firstImage = image
  }

  private regroup(table: EventTable, key: string, before: AnyRow | undefined, now: AnyRow | undefined): void {
    for (const name of before ? groupsOf(table, before) : []) this.groups.get(`${table} ${name}`)?.delete(key)
    for (const name of now ? groupsOf(table, now) : []) {
      const group = `${table} ${name}`
      const keys = this.groups.get(group)
      if (keys) keys.add(key)
      else this.groups.set(group, new Set([key]))
    }
  }

  /** One more than the last key. A row that is removed does not count: undone blocks must leave no gap. */
  private async readNextKey(table: KeyedTable): Promise<number> {
    const [kept, removed]: [number[], number[]] = [[], []]
    for (const { stored, now } of this.entries[table].values()) {
      if (now) kept.push((now as EventRows[KeyedTable]).key)
      else if (stored) removed.push((stored as EventRows[KeyedTable]).key)
    }
    const { rows } = await sql<{ last: number | null }>`
      select max(key) as last from ${sql.table(table)}
      where world_id = ${this.worldId} and key <> all(${`{${removed.join(',')}}`}::bigint[])`.execute(this.tx)
    return kept.reduce((last, key) => Math.max(last, key), rows[0]?.last ?? 0) + 1
  }
}

function byKey(a: { readonly key: number }, b: { readonly key: number }): number {
  return a.key - b.key
}
