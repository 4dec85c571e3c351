import { isDeepStrictEqual } from 'node:util'
import type { Coord } from '@landpass/client/grid'
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
import type { AssetName } from '../records/assets.ts'
import { EVENT_TABLES, keyOf, keyOfText, keyText, type RowChange, type RowKey } from './event-tables.ts'
import { type JsonRows, jsonRows } from './json-rows.ts'
import { assetGroup, namedBy, newOwnersIn, type Owner, ownerGroup } from './named-rows.ts'

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

/** Rows that are to be read. */
interface Reading {
  readonly table: EventTable
  readonly where: RawBuilder<unknown>
  /** Called with all of them in memory. */
  readonly noteRead: () => void
}

/** How groups of rows are named, by which `groupsOf` finds their rows, and how they are selected. */
interface Groups<Member> {
  readonly name: (member: Member) => string
  readonly where: (members: readonly Member[]) => RawBuilder<unknown>
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
  /** The keys of the rows that are in a group now, by the table and name of the group. */
  private readonly groups = new Map<string, Set<string>>()
  /** The groups whose rows have all been read. */
  private readonly readGroups = new Set<string>()
  private readonly nextKeys = new Map<KeyedTable, number>()
  private readonly imagesOf = new Map<string, BlockImage>()
  private block: number | undefined

  constructor(tx: Tx, worldId: number) {
    this.tx = tx
    this.worldId = worldId
    this.entries = Object.fromEntries(EVENT_TABLES.map((table) => [table, new Map()])) as never
  }

  parcel(at: Coord): Promise<ParcelRow | undefined> {
    return this.find('parcel', at)
  }

  estate(id: string): Promise<EstateRow | undefined> {
    return this.find('estate', { id })
  }

  async parcelsOfEstate(id: string): Promise<readonly ParcelRow[]> {
    const parcels = await this.group('parcel', `estate ${id}`, sql`estate_id = ${id}`)
    return parcels.sort(
      (a, b) => (a.estate_position ?? 0) - (b.estate_position ?? 0) || a.x - b.x || a.y - b.y,
    )
  }

  assetsOf(registry: 'parcel', owner: string): Promise<readonly ParcelRow[]>
  assetsOf(registry: 'estate', owner: string): Promise<readonly EstateRow[]>
  async assetsOf(registry: Registry, owner: string): Promise<readonly (ParcelRow | EstateRow)[]> {
    const where = sql`owner = ${owner}`
    if (registry === 'estate')
      return (await this.group('estate', `owner ${owner}`, where)).sort(
        (a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1),
      )
    const parcels = await this.group('parcel', `owner ${owner}`, where)
    return parcels.sort((a, b) => a.x - b.x || a.y - b.y)
  }

  async rightsOf(registry: Registry, owner: string): Promise<readonly RightRow[]> {
    const where = sql`registry = ${registry} and owner = ${owner}`
    const rights = await this.group('land_right', ownerGroup({ registry, owner }), where)
    return rights.sort((a, b) => (`${a.kind} ${a.operator}` < `${b.kind} ${b.operator}` ? -1 : 1))
  }

  async publicationsOf(asset: AssetName): Promise<readonly PublicationRow[]> {
    return (await this.group('publication', assetGroup(asset), whereAsset(asset))).sort(byKey)
  }

  async bidsOf(asset: AssetName): Promise<readonly BidRow[]> {
    return (await this.group('bid', assetGroup(asset), whereAsset(asset))).sort(byKey)
  }

  async mortgage(
    by: { readonly mortgageId: number } | { readonly loanId: number },
  ): Promise<MortgageRow | undefined> {
    const found = await ('mortgageId' in by
      ? this.group('mortgage', `mortgage ${by.mortgageId}`, sql`mortgage_id = ${by.mortgageId}`)
      : this.group('mortgage', `loan ${by.loanId}`, sql`loan_id = ${by.loanId}`))
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
      ...this.unreadGroups('parcel', estates, {
        name: (id) => `estate ${id}`,
        where: (ids) => sql`estate_id = any(${ids}::text[])`,
      }),
      ...(['publication', 'bid'] as const).flatMap((table) =>
        this.unreadGroups(table, assets, { name: assetGroup, where: whereAssets }),
      ),
      ...this.unreadGroups('land_right', newOwnersIn(events), { name: ownerGroup, where: whereOwners }),
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
    members: readonly Member[],
    { name, where }: Groups<Member>,
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

  /** @param name of the group, by which `groupsOf` finds its rows @param where the same condition in SQL */
  private async group<Table extends EventTable>(
    table: Table,
    name: string,
    where: RawBuilder<unknown>,
  ): Promise<EventRows[Table][]> {
    const group = `${table} ${name}`
    await this.read(this.unreadGroups(table, [name], { name: () => name, where: () => where }))
    const entries = this.entries[table]
    return [...(this.groups.get(group) ?? [])].map((key) => entries.get(key)!.now as EventRows[Table])
  }

  /** In one statement. */
  private async read(readings: readonly Reading[]): Promise<void> {
    if (readings.length === 0) return
    const parts = readings.map(({ table, where }) =>
      jsonRows({ table, where: sql`world_id = ${this.worldId} and ${where}` }),
    )
    const { rows } = await sql<{ readonly read: readonly JsonRows[] }>`
      select json_build_array(${sql.join(parts)}) as read`.execute(this.tx)
    for (const [at, { table, noteRead }] of readings.entries()) {
      this.noteStored(table, rows[0]!.read[at]!)
      noteRead()
    }
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

/** The groups of rows that are asked for together. */
function groupsOf(table: EventTable, row: AnyRow): readonly string[] {
  return (GROUPS[table] as (row: AnyRow) => readonly string[])(row)
}

const GROUPS: { readonly [Table in EventTable]: (row: EventRows[Table]) => readonly string[] } = {
  parcel: ({ estate_id, owner }) => [
    ...(estate_id === null ? [] : [`estate ${estate_id}`]),
    ...(owner === null ? [] : [`owner ${owner}`]),
  ],
  estate: ({ owner }) => [`owner ${owner}`],
  publication: ({ asset_type, asset_id }) => [assetGroup({ type: asset_type, id: asset_id })],
  bid: ({ asset_type, asset_id }) => [assetGroup({ type: asset_type, id: asset_id })],
  mortgage: ({ mortgage_id, loan_id }) => [`mortgage ${mortgage_id}`, `loan ${loan_id}`],
  land_right: (right) => [ownerGroup(right)],
  trade_signature: () => [],
  trade_index: () => [],
}

function whereAsset({ type, id }: AssetName): RawBuilder<unknown> {
  return sql`asset_id = ${id} and asset_type = ${type}`
}

function whereAssets(assets: readonly AssetName[]): RawBuilder<unknown> {
  const [ids, types] = [assets.map(({ id }) => id), assets.map(({ type }) => type)]
  return sql`(asset_id, asset_type) in (select * from unnest(${ids}::text[], ${types}::text[]))`
}

function whereOwners(owners: readonly Owner[]): RawBuilder<unknown> {
  const [registries, addresses] = [owners.map(({ registry }) => registry), owners.map(({ owner }) => owner)]
  return sql`(registry, owner) in (select * from unnest(${registries}::text[], ${addresses}::text[]))`
}

function byKey(a: { readonly key: number }, b: { readonly key: number }): number {
  return a.key - b.key
}
