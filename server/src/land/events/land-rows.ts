import type { Coord } from '@landpass/client/grid'
import type { AssetName } from '../records/assets.ts'
import type { BidTable } from '../records/bid.ts'
import type { EstateTable } from '../records/estate.ts'
import type { MortgageTable } from '../records/mortgage.ts'
import type { ParcelTable } from '../records/parcel.ts'
import type { PublicationTable } from '../records/publication.ts'
import type { Registry } from './land-event.ts'

type OfAnyWorld<Row> = Omit<Row, 'world_id'>
export type ParcelRow = OfAnyWorld<ParcelTable>
export type EstateRow = OfAnyWorld<EstateTable>
export type PublicationRow = OfAnyWorld<PublicationTable>
export type BidRow = OfAnyWorld<BidTable>
export type MortgageRow = OfAnyWorld<MortgageTable>

/** A right over all land of an owner. There is a row while it is granted. */
export interface RightRow {
  readonly kind: 'approval' | 'manager'
  readonly registry: Registry
  readonly owner: string
  readonly operator: string
}

/** What the chain says of signed trades, for a feed that judges them. */
export interface TradeSignatureRow {
  readonly marketplace: string
  /** Who cancelled, or the signer whose trade was used. */
  readonly signer: string
  readonly signature_key: string
  readonly is_cancelled: boolean
  readonly uses: number
}
export interface TradeIndexRow {
  readonly marketplace: string
  /** '' for the index of the whole contract. */
  readonly signer: string
  /** Decimal digits, up to 256 bits. */
  readonly value: string
  /** Only for the whole contract: it settles no trade then. */
  readonly is_paused: boolean
}

/** The rows that events write, by their tables. */
export interface EventRows {
  readonly parcel: ParcelRow
  readonly estate: EstateRow
  readonly publication: PublicationRow
  readonly bid: BidRow
  readonly mortgage: MortgageRow
  readonly land_right: RightRow
  readonly trade_signature: TradeSignatureRow
  readonly trade_index: TradeIndexRow
}
export type EventTable = keyof EventRows

/** The columns that name a row, besides the number of its world. */
export const KEY_COLUMNS: { readonly [Table in EventTable]: readonly (keyof EventRows[Table] & string)[] } = {
  parcel: ['x', 'y'],
  estate: ['id'],
  publication: ['key'],
  bid: ['key'],
  mortgage: ['key'],
  land_right: ['kind', 'registry', 'owner', 'operator'],
  trade_signature: ['marketplace', 'signer', 'signature_key'],
  trade_index: ['marketplace', 'signer'],
}

/** A value, or the promise of one: rows in memory answer at once, which spares a promise for each row that rules read. */
export type Awaitable<Value> = Value | Promise<Value>

/**
 * Goes on with a value: at once where it is there. A history asks for some ten rows for each event, and with `await` each of
 * them would cost a promise and a turn.
 *
 * @example
 * whenRead(rows.parcel({ x: 3, y: 4 }), (parcel) => parcel?.owner)
 */
export function whenRead<Value, Result>(
  value: Awaitable<Value>,
  work: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return value instanceof Promise ? value.then(work) : work(value)
}

/**
 * The rows that events are applied to: in memory (history, tests), or read from the tables when they are needed (near
 * the head of the chain). What was put is seen by every later read, and a row that was read may change when its successor is
 * put: a rule reads what it needs before. Rules never change a row in place.
 */
export interface LandRows {
  parcel(at: Coord): Awaitable<ParcelRow | undefined>
  estate(id: string): Awaitable<EstateRow | undefined>
  /** In the order in which they joined. */
  parcelsOfEstate(id: string): Awaitable<readonly ParcelRow[]>
  /** All parcels or estates of an owner, for rights over all of them. */
  assetsOf(registry: 'parcel', owner: string): Awaitable<readonly ParcelRow[]>
  assetsOf(registry: 'estate', owner: string): Awaitable<readonly EstateRow[]>
  rightsOf(registry: Registry, owner: string): Awaitable<readonly RightRow[]>
  /** At least those that an event may change, oldest first. */
  publicationsOf(asset: AssetName): Awaitable<readonly PublicationRow[]>
  /** At least those that an event may change, oldest first. */
  bidsOf(asset: AssetName): Awaitable<readonly BidRow[]>
  mortgage(
    by: { readonly mortgageId: number } | { readonly loanId: number },
  ): Awaitable<MortgageRow | undefined>
  tradeSignature(marketplace: string, signer: string, key: string): Awaitable<TradeSignatureRow | undefined>
  tradeIndex(marketplace: string, signer: string): Awaitable<TradeIndexRow | undefined>
  /** The number of the next row of a table; each call gives another. */
  nextKey(table: 'publication' | 'bid' | 'mortgage'): Awaitable<number>
  put<Table extends EventTable>(table: Table, row: EventRows[Table]): void
  remove<Table extends EventTable>(table: Table, row: EventRows[Table]): void
}
