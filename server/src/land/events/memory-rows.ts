import type { Coord } from '@landpass/client/grid'
import type { AssetName } from '../records/assets.ts'
import { isBidFinished } from './bids.ts'
import type { Registry } from './land-event.ts'
import {
  type BidRow,
  type EstateRow,
  type EventRows,
  type EventTable,
  KEY_COLUMNS,
  type LandRows,
  type MortgageRow,
  type ParcelRow,
  type PublicationRow,
  type RightRow,
  type TradeIndexRow,
  type TradeSignatureRow,
} from './land-rows.ts'
import { isListingFinished } from './listings.ts'
import {
  AssetRowStore,
  EstateStore,
  MortgageStore,
  NamedRowStore,
  ParcelStore,
  RightStore,
  type Store,
} from './memory-stores.ts'

/**
 * All rows in memory: for the history of the chain, and for tests. Every question is answered from an index, in time of the
 * size of its answer. Addresses are kept once each, and no text holds on to a longer one that it was cut out of. Listings and
 * bids that no later event changes are packed.
 *
 * @example
 * const rows = new MemoryRows()
 * rows.put('parcel', emptyParcel({ x: 1, y: 2 }, 0))
 * rows.rowsOf('parcel').length // 1
 */
export class MemoryRows implements LandRows {
  private readonly stores = {
    parcel: new ParcelStore(),
    estate: new EstateStore(),
    publication: new AssetRowStore<PublicationRow>(isListingFinished),
    bid: new AssetRowStore<BidRow>(isBidFinished),
    mortgage: new MortgageStore(),
    land_right: new RightStore((row) => nameOf('land_right', row)),
    trade_signature: new NamedRowStore<TradeSignatureRow>((row) => nameOf('trade_signature', row)),
    trade_index: new NamedRowStore<TradeIndexRow>((row) => nameOf('trade_index', row)),
  }
  private readonly nextKeys = { publication: 1, bid: 1, mortgage: 1 }
  private readonly addresses = new Map<string, string>()

  parcel(at: Coord): ParcelRow | undefined {
    return this.stores.parcel.find(at)
  }

  estate(id: string): EstateRow | undefined {
    return this.stores.estate.find({ id })
  }

  parcelsOfEstate(id: string): readonly ParcelRow[] {
    return this.stores.parcel.ofEstate(id)
  }

  assetsOf(registry: 'parcel', owner: string): readonly ParcelRow[]
  assetsOf(registry: 'estate', owner: string): readonly EstateRow[]
  assetsOf(registry: Registry, owner: string): readonly (ParcelRow | EstateRow)[] {
    return this.stores[registry].ofOwner(owner)
  }

  rightsOf(registry: Registry, owner: string): readonly RightRow[] {
    return this.stores.land_right.ofOwner({ registry, owner })
  }

  publicationsOf(asset: AssetName): readonly PublicationRow[] {
    return this.stores.publication.of(asset)
  }

  bidsOf(asset: AssetName): readonly BidRow[] {
    return this.stores.bid.of(asset)
  }

  mortgage(by: { readonly mortgageId: number } | { readonly loanId: number }): MortgageRow | undefined {
    const { mortgage } = this.stores
    return 'loanId' in by ? mortgage.ofLoan(by.loanId) : mortgage.find({ mortgage_id: by.mortgageId })
  }

  tradeSignature(marketplace: string, signer: string, signature_key: string): TradeSignatureRow | undefined {
    const name = { marketplace, signer, signature_key, is_cancelled: false, uses: 0 }
    return this.stores.trade_signature.find(name)
  }

  tradeIndex(marketplace: string, signer: string): TradeIndexRow | undefined {
    return this.stores.trade_index.find({ marketplace, signer, value: '', is_paused: false })
  }

  nextKey(table: 'publication' | 'bid' | 'mortgage'): number {
    return this.nextKeys[table]++
  }

  put<Table extends EventTable>(table: Table, row: EventRows[Table]): void {
    const store = this.storeOf(table)
    const before = store.find(row)
    this.compact(table, row, before)
    store.put(row)
    if (isKeyed(table) && 'key' in row) this.nextKeys[table] = Math.max(this.nextKeys[table], row.key + 1)
  }

  remove<Table extends EventTable>(table: Table, row: EventRows[Table]): void {
    const store = this.storeOf(table)
    if (store.find(row)) store.remove(row)
  }

  /**
   * The rows of a table in the order in which an import writes them: parcels by x and y, estates by their number, what has
   * a key by that, and the others by their names.
   */
  rowsOf<Table extends EventTable>(table: Table): readonly EventRows[Table][] {
    return [...this.eachRow(table)]
  }

  /** The same, one at a time. */
  eachRow<Table extends EventTable>(table: Table): Iterable<EventRows[Table]> {
    return this.storeOf(table).all()
  }

  private storeOf<Table extends EventTable>(table: Table): Store<EventRows[Table]> {
    const stores: { readonly [Name in EventTable]: Store<EventRows[Name]> } = this.stores
    return stores[table]
  }

  /**
   * Replaces texts of the row by equal ones that take less memory. It does so in place, which no reader can notice: a copy of
   * each row would take as long as all the rest.
   */
  private compact<Table extends EventTable>(
    table: Table,
    row: EventRows[Table],
    before: EventRows[Table] | undefined,
  ): void {
    // A row that replaces another one is a copy of it, and most of its texts are the same objects.
    for (const column of ADDRESSES[table]) {
      const value = row[column]
      if (typeof value === 'string' && value !== before?.[column]) setText(row, column, this.address(value))
    }
    if (before) return
    for (const column of UNIQUE_TEXTS[table]) {
      const value = row[column]
      if (typeof value === 'string') setText(row, column, ownText(value))
    }
  }

  private address(text: string): string {
    const known = this.addresses.get(text)
    if (known !== undefined) return known
    const own = ownText(text)
    this.addresses.set(own, own)
    return own
  }
}

function isKeyed(table: EventTable): table is 'publication' | 'bid' | 'mortgage' {
  return table === 'publication' || table === 'bid' || table === 'mortgage'
}

/** A row's name in its table. */
function nameOf<Table extends EventTable>(table: Table, row: EventRows[Table]): string {
  const columns: readonly (keyof EventRows[Table])[] = KEY_COLUMNS[table]
  return columns.map((column) => row[column]).join(' ')
}

/** Columns with addresses: few different ones in many rows. */
const ADDRESSES: { readonly [Table in EventTable]: readonly (keyof EventRows[Table] & string)[] } = {
  parcel: ['owner', 'operator', 'update_operator', 'auction_owner', 'holder', 'tenant', 'estate_id'],
  estate: ['owner', 'operator', 'update_operator', 'holder', 'tenant'],
  publication: ['owner', 'buyer', 'marketplace_address', 'asset_id'],
  bid: ['token_address', 'bidder', 'seller', 'contract_address', 'asset_id', 'token_id'],
  mortgage: ['borrower', 'lender', 'asset_id'],
  land_right: ['owner', 'operator'],
  trade_signature: ['marketplace', 'signer'],
  trade_index: ['marketplace', 'signer'],
}

/** Columns with texts that are another one in nearly every row, and never change. */
const UNIQUE_TEXTS: { readonly [Table in EventTable]: readonly (keyof EventRows[Table] & string)[] } = {
  parcel: [],
  estate: ['tx_hash'],
  publication: ['tx_hash', 'contract_id'],
  bid: ['tx_hash', 'id', 'fingerprint'],
  mortgage: ['tx_hash'],
  land_right: [],
  trade_signature: ['signature_key'],
  trade_index: [],
}

function setText(row: object, column: string, text: string): void {
  ;(row as Record<string, string>)[column] = text
}

/** A copy in ASCII: V8 keeps a text from which another one was cut for as long as the shorter one lives. */
function ownText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
