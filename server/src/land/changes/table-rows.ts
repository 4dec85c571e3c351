import { isDeepStrictEqual } from 'node:util'
import { type Coord, coordText, parseCoord } from '@landpass/client/grid'
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

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/**
 * The rows of one world in one transaction. A row is read from its table when it is first needed. What is put or removed
 * is collected, and seen by every later read; `writeRows` writes it.
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

  /** Reads what these events will most likely need, with one query for each table, instead of with one for each row. */
  async readAhead(events: readonly LandEvent[]): Promise<void> {
    const { parcels, estates, assets } = namedBy(events)
    await this.readRows('parcel', parcels)
    await this.readRows(
      'estate',
      estates.map((id) => ({ id })),
    )
    await this.readParcelsOfEstates(estates)
    for (const table of ['publication', 'bid'] as const) await this.readOfAssets(table, assets)
    await this.readRightsOf(newOwnersIn(events))
  }

  /** Reads rows by their keys, with one query. */
  async readRows(table: EventTable, keys: readonly object[]): Promise<void> {
    const unread = keys.filter((key) => this.entries[table].get(keyText(table, key))?.isUnread ?? true)
    if (unread.length === 0) return
    const columns = sql.join(KEY_COLUMNS[table].map((column) => sql.ref(column)))
    const rows = await this.select(
      table,
      sql`(${columns}) in (select ${columns}
        from json_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(unread)}::json))`,
    )
    this.noteStored(table, rows)
    for (const key of unread) this.entry(table, keyText(table, key)).isUnread = false
  }

  private async readParcelsOfEstates(ids: readonly string[]): Promise<void> {
    const unread = ids.filter((id) => !this.readGroups.has(`parcel estate ${id}`))
    if (unread.length === 0) return
    this.noteStored('parcel', await this.select('parcel', sql`estate_id = any(${unread}::text[])`))
    for (const id of unread) this.readGroups.add(`parcel estate ${id}`)
  }

  private async readOfAssets(table: 'publication' | 'bid', assets: readonly AssetName[]): Promise<void> {
    const unread = assets.filter((asset) => !this.readGroups.has(`${table} ${assetGroup(asset)}`))
    if (unread.length === 0) return
    const [ids, types] = [unread.map(({ id }) => id), unread.map(({ type }) => type)]
    const where = sql`(asset_id, asset_type) in (select * from unnest(${ids}::text[], ${types}::text[]))`
    this.noteStored(table, await this.select(table, where))
    for (const asset of unread) this.readGroups.add(`${table} ${assetGroup(asset)}`)
  }

  private async readRightsOf(owners: readonly Owner[]): Promise<void> {
    const unread = owners.filter((owner) => !this.readGroups.has(`land_right ${ownerGroup(owner)}`))
    if (unread.length === 0) return
    const [registries, addresses] = [unread.map(({ registry }) => registry), unread.map(({ owner }) => owner)]
    const where = sql`(registry, owner) in (select * from unnest(${registries}::text[], ${addresses}::text[]))`
    this.noteStored('land_right', await this.select('land_right', where))
    for (const owner of unread) this.readGroups.add(`land_right ${ownerGroup(owner)}`)
  }

  /** A row by the columns that name it; undefined where there is none. */
  async find<Table extends EventTable>(table: Table, key: object): Promise<EventRows[Table] | undefined> {
    await this.readRows(table, [keyOf(table, key)])
    return this.entries[table].get(keyText(table, key))!.now as EventRows[Table] | undefined
  }

  /** @param name of the group, by which `groupsOf` finds its rows @param where the same condition in SQL */
  private async group<Table extends EventTable>(
    table: Table,
    name: string,
    where: RawBuilder<unknown>,
  ): Promise<EventRows[Table][]> {
    const group = `${table} ${name}`
    if (!this.readGroups.has(group)) {
      this.noteStored(table, await this.select(table, where))
      this.readGroups.add(group)
    }
    const entries = this.entries[table]
    return [...(this.groups.get(group) ?? [])].map((key) => entries.get(key)!.now as EventRows[Table])
  }

  private async select<Table extends EventTable>(
    table: Table,
    where: RawBuilder<unknown>,
  ): Promise<EventRows[Table][]> {
    const { rows } = await sql<EventRows[Table] & { readonly world_id: number }>`
      select * from ${sql.table(table)} where world_id = ${this.worldId} and ${where}`.execute(this.tx)
    return rows.map(({ world_id, ...row }) => row as unknown as EventRows[Table])
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
    for (const table of EVENT_TABLES) {
      const unread = [...this.entries[table]].filter(([, { isUnread }]) => isUnread)
      await this.readRows(
        table,
        unread.map(([key]) => keyOfText(table, key)),
      )
    }
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

type Owner = Pick<RightRow, 'registry' | 'owner'>

function ownerGroup({ registry, owner }: Owner): string {
  return `owner ${registry} ${owner}`
}

function assetGroup({ type, id }: AssetName): string {
  return `${type} ${id}`
}

function whereAsset({ type, id }: AssetName): RawBuilder<unknown> {
  return sql`asset_id = ${id} and asset_type = ${type}`
}

function byKey(a: { readonly key: number }, b: { readonly key: number }): number {
  return a.key - b.key
}

/** The owners that tokens are transferred to: their rights stand on these tokens. */
function newOwnersIn(events: readonly LandEvent[]): readonly Owner[] {
  return events.flatMap((event) =>
    event.kind === 'asset-transferred' && event.to !== null
      ? [{ registry: event.asset.type, owner: event.to }]
      : [],
  )
}

interface Named {
  readonly parcels: readonly Coord[]
  readonly estates: readonly string[]
  readonly assets: readonly AssetName[]
}

/** The assets that events name, each once. */
function namedBy(events: readonly LandEvent[]): Named {
  const assets = new Map<string, AssetName>()
  const add = (asset: AssetName) => assets.set(assetGroup(asset), asset)
  for (const event of events) {
    if ('asset' in event) add(event.asset)
    if ('estateId' in event) add({ type: 'estate', id: event.estateId })
    if ('parcel' in event) add({ type: 'parcel', id: coordText(event.parcel) })
    if ('parcels' in event) for (const parcel of event.parcels) add({ type: 'parcel', id: coordText(parcel) })
  }
  const all = [...assets.values()]
  const parcels = all.filter(({ type }) => type === 'parcel').map(({ id }) => parseCoord(id))
  return {
    parcels: parcels.filter((coord) => coord !== undefined),
    estates: all.filter(({ type }) => type === 'estate').map(({ id }) => id),
    assets: all,
  }
}
