import type { DemoWorld } from '@landpass/simulators/demo/demo-world'
import type { AssetData } from '../../../src/land/records/assets.ts'
import type { BidRecord } from '../../../src/land/records/bid.ts'
import { ExactNumber } from '../../../src/land/records/exact-json.ts'
import type { MortgageRecord } from '../../../src/land/records/mortgage.ts'
import type { PublicationRecord } from '../../../src/land/records/publication.ts'
import type { LandChange } from './land-changes.ts'

/**
 * What the land data interface has to answer, worked out a second time and as plainly as possible: filters and sorts
 * over arrays of records, nothing kept, nothing shared with the server. Slow, and meant to be read beside docs/land.md.
 */
export class ReferenceLand {
  readonly parcels: Parcel[]
  readonly estates: Estate[]
  readonly publications: Publication[]
  readonly bids: Bid[]
  private readonly world: DemoWorld
  private readonly parcelById: ReadonlyMap<string, Parcel>

  constructor(world: DemoWorld) {
    this.world = world
    const places = new Map<string, number>()
    for (const { data } of world.estates) {
      for (const [i, { x, y }] of data.parcels.entries()) places.set(`${x},${y}`, i)
    }
    this.parcels = [...world.parcels].map(
      ({ token_id, auction_timestamp, created_at, updated_at, ...rest }) => ({
        ...rest,
        auction_price: rest.auction_price === null ? null : new ExactNumber(String(rest.auction_price)),
        estatePlace: places.get(rest.id) ?? -1,
      }),
    )
    this.parcelById = new Map(this.parcels.map((parcel) => [parcel.id, parcel]))
    this.estates = world.estates.map(({ created_at, updated_at, data: { parcels, ...data }, ...rest }) => ({
      ...rest,
      data,
    }))
    this.publications = world.publications.map(({ created_at, updated_at, ...rest }, i) => ({
      shown: rest,
      key: i + 1,
    }))
    this.bids = world.bids.map((bid) => ({
      shown: bid,
      tx_hash: null,
      log_index: null,
      contract_address: null,
    }))
  }

  get mortgages(): readonly MortgageRecord[] {
    return this.world.mortgages
  }

  parcel(id: string, nowMs: number): object {
    return this.withOffer(this.parcelById.get(id)!, nowMs)
  }

  estate(id: string, nowMs: number): object {
    const estate = this.estates.find((one) => one.id === id)!
    return { ...this.estateFields(estate), publication: this.offer('estate', id, nowMs) }
  }

  /** The newest publication that is open and not expired, or null. */
  offer(type: AssetType, id: string, nowMs: number): object | null {
    return this.newest(type, id, ['open'], nowMs)
  }

  /** The cheapest one, of equal ones the newest. */
  cheapestOffer(type: AssetType, id: string, nowMs: number): object | null {
    const all = this.publications.filter(({ shown }) => shown.asset_type === type && shown.asset_id === id)
    const open = newestPublications(all).filter((one) => hasStatus(one, ['open'], nowMs))
    const [cheapest] = open.toSorted((a, b) =>
      Number(atto(String(a.shown.price)) - atto(String(b.shown.price))),
    )
    return cheapest ? publicationFields(cheapest.shown) : null
  }

  /** `/parcels`, `/estates` and `/marketplace`. */
  list(name: 'parcels' | 'estates' | 'assets', query: ListQuery, nowMs: number): object {
    const { statuses = ['open'], sortBy = 'created_at', limit = 20, offset = 0 } = query
    const usual = {
      price: 'asc',
      created_at: 'desc',
      block_time_updated_at: 'desc',
      expires_at: 'asc',
    } as const
    const sign = (query.sortOrder ?? usual[sortBy]) === 'asc' ? 1 : -1
    const types = { parcels: ['parcel'], estates: ['estate'], assets: ['parcel', 'estate'] }[name]
    const rows = this.publications
      .filter(
        ({ shown }) => types.includes(shown.asset_type) && this.isThere(shown.asset_type, shown.asset_id),
      )
      .filter((one) => hasStatus(one, statuses, nowMs))
      .sort((a, b) => {
        const left = sortValue(a, sortBy)
        const right = sortValue(b, sortBy)
        if (left !== right) {
          if (left === null) return 1
          if (right === null) return -1
          return left < right ? -sign : sign
        }
        return textOrder(a.shown.tx_hash, b.shown.tx_hash) || a.key - b.key
      })
    const page = rows.slice(offset, offset + limit).map(({ shown }) => ({
      ...(shown.asset_type === 'parcel'
        ? parcelFields(this.parcelById.get(shown.asset_id)!)
        : this.estateFields(this.estates.find(({ id }) => id === shown.asset_id)!)),
      publication: publicationFields(shown),
    }))
    const last = rows[offset + limit - 1]
    const isEnd = limit === 0 || offset + limit >= rows.length
    const order = `${sortBy} ${sign > 0 ? 'asc' : 'desc'}`
    const cursor = isEnd || !last ? null : cursorText(last, sortBy, order)
    return { [name]: page, total: rows.length, limit, offset, cursor }
  }

  /** `/addresses/:address/parcels`: by x, then y. */
  parcelsOf(owner: string, nowMs: number, statuses?: readonly ListingStatus[]): object[] {
    return this.parcels
      .filter((parcel) => parcel.owner === owner)
      .sort((a, b) => a.x - b.x || a.y - b.y)
      .flatMap((parcel) => this.ifOffered(parcelFields(parcel), 'parcel', parcel.id, statuses, nowMs))
  }

  /** `/addresses/:address/estates`: by number. */
  estatesOf(owner: string, nowMs: number, statuses?: readonly ListingStatus[]): object[] {
    return this.estates
      .filter((estate) => estate.owner === owner)
      .sort((a, b) => Number(a.id) - Number(b.id))
      .flatMap((estate) => this.ifOffered(this.estateFields(estate), 'estate', estate.id, statuses, nowMs))
  }

  /** `/map`. */
  map(nw: readonly [number, number], se: readonly [number, number], nowMs: number): object {
    const inside = this.parcelsIn(nw, se)
    const estateIds = new Set(inside.map(({ estate_id }) => estate_id).filter((id) => id !== null))
    const estates = this.estates
      .filter(({ id }) => estateIds.has(id))
      .sort((a, b) => Number(a.id) - Number(b.id))
      .map(({ id }) => this.estate(id, nowMs))
    const parcels = inside.map((parcel) => this.withOffer(parcel, nowMs))
    return { assets: { parcels, estates }, total: parcels.length + estates.length }
  }

  /** `/parcels` with corners. */
  area(nw: readonly [number, number], se: readonly [number, number], nowMs: number): object {
    const parcels = this.parcelsIn(nw, se).map((parcel) => this.withOffer(parcel, nowMs))
    return { parcels, total: parcels.length }
  }

  bid(id: string): object {
    return this.bids.find(({ shown }) => shown.id === id)!.shown
  }

  bidsOfAddress(address: string, statuses: readonly string[] = ALL): object[] {
    return newestBids(this.bids.filter(({ shown }) => shown.bidder === address || shown.seller === address))
      .filter(({ shown }) => statuses.includes(shown.status))
      .map(({ shown }) => shown)
  }

  bidsOfAsset(type: AssetType, id: string, query: BidQuery = {}): object[] {
    const { statuses = ALL, bidder, sanitize = true } = query
    return newestBids(this.bids)
      .filter(({ shown }) => shown.asset_type === type && shown.asset_id === id)
      .filter(({ shown }) => statuses.includes(shown.status) && (bidder ?? shown.bidder) === shown.bidder)
      .map(({ shown, ...provenance }) => (sanitize ? shown : { ...shown, ...provenance }))
  }

  /** `/bids/:address/assets`: each once, the newest bid's first. */
  bidAssets(address: string, nowMs: number, statuses: readonly string[] = ALL): object[] {
    const bids = newestBids(this.bids)
      .map(({ shown }) => shown)
      .filter((bid) => bid.bidder === address || bid.seller === address)
      .filter((bid) => statuses.includes(bid.status) && this.isThere(bid.asset_type, bid.asset_id))
    const names = [...new Set(bids.map(({ asset_type, asset_id }) => `${asset_type} ${asset_id}`))]
    return names.map((name) => {
      const [type, id = ''] = name.split(' ')
      return type === 'parcel' ? this.parcel(id, nowMs) : this.estate(id, nowMs)
    })
  }

  publicationsOf(type: AssetType, id: string): object[] {
    return newestPublications(this.publications)
      .filter(({ shown }) => shown.asset_type === type && shown.asset_id === id)
      .map(({ shown }) => publicationFields(shown))
  }

  publication(txHash: string): object {
    const made = this.publications.filter(({ shown }) => shown.tx_hash === txHash)
    return publicationFields(made.sort((a, b) => a.key - b.key)[0]!.shown)
  }

  mortgagesOf(address: string, statuses?: readonly string[]): object[] {
    return this.newestMortgages(({ borrower }) => borrower === address, statuses)
  }

  mortgagesOn(parcelId: string, statuses?: readonly string[]): object[] {
    return this.newestMortgages(({ asset_id }) => asset_id === parcelId, statuses)
  }

  /** `/mortgages/:address/parcels`: each once, the newest mortgage's first. */
  mortgagedParcels(address: string, nowMs: number): object[] {
    const active = this.newestMortgages(({ borrower }) => borrower === address, ['pending', 'ongoing'])
    return [...new Set(active.map(({ asset_id }) => asset_id))].map((id) => this.parcel(id, nowMs))
  }

  /** The address of every single contribution. */
  contributors(): string[] {
    return this.world.contributions.map(({ address }) => address)
  }

  contributionsOf(address: string): object[] {
    const sums = new Map<string, number>()
    for (const row of this.world.contributions) {
      if (row.address !== address) continue
      sums.set(row.district_id, (sums.get(row.district_id) ?? 0) + row.land_count)
    }
    return [...sums]
      .sort(([a], [b]) => textOrder(a, b))
      .map(([district_id, count]) => ({ address, district_id, land_count: String(count) }))
  }

  districts(): object[] {
    return this.world.districts
      .filter(({ disabled }) => !disabled)
      .sort((a, b) => textOrder(a.name, b.name) || textOrder(a.id, b.id))
      .map(({ disabled, parcels, parcel_count, ...shown }) => ({
        ...shown,
        parcel_count: String(parcels.length),
      }))
  }

  /** Does to the records what `applyLandChanges` does to the tables. */
  apply(change: LandChange): void {
    switch (change.kind) {
      case 'change-parcel':
        this.changeParcel(change)
        break
      case 'create-estate': {
        const { data_version, name, description, ipns, last_transferred_at_ms, ...rest } = change.estate
        const { created_at_ms, updated_at_ms, ...same } = rest
        const { data } = changedData({ version: data_version }, change.estate)
        this.estates.push({ ...same, data, last_transferred_at: String(last_transferred_at_ms) })
        break
      }
      case 'change-estate': {
        const estate = this.estates.find(({ id }) => id === change.id)!
        const { data_version, name, description, ipns, last_transferred_at_ms, ...to } = change.to
        Object.assign(estate, to, changedData(estate.data, change.to))
        if (last_transferred_at_ms !== undefined) estate.last_transferred_at = String(last_transferred_at_ms)
        break
      }
      case 'open-publication':
        this.openPublication(change.publication)
        break
      case 'close-publication': {
        const { status, buyer, atMs } = change.to
        const publication = this.publications.find(({ key }) => key === change.key)!
        publication.shown = { ...publication.shown, status, buyer, block_time_updated_at: atMs }
        break
      }
      case 'remove-publication':
        removeWhere(this.publications, ({ key }) => key === change.key)
        break
      case 'remove-estate':
        removeWhere(this.estates, ({ id }) => id === change.id)
        break
      case 'place-bid':
        this.placeBid(change.bid)
        break
      case 'close-bid': {
        const bid = this.bids.find(({ shown }) => shown.id === change.id)!
        const { status, atMs } = change.to
        bid.shown = { ...bid.shown, status, block_time_updated_at: String(atMs), updated_at: isoText(atMs) }
      }
    }
  }

  private changeParcel({ x, y, to }: Extract<LandChange, { kind: 'change-parcel' }>): void {
    const parcel = this.parcelById.get(`${x},${y}`)!
    if (to.owner !== undefined) parcel.owner = to.owner
    if (to.operator !== undefined) parcel.operator = to.operator
    if (to.estate_id !== undefined) parcel.estate_id = to.estate_id
    if (to.estate_position !== undefined) parcel.estatePlace = to.estate_position ?? -1
    if (to.auction_price !== undefined)
      parcel.auction_price = to.auction_price === null ? null : new ExactNumber(to.auction_price)
    Object.assign(parcel, changedData(parcel.data, to))
  }

  private openPublication(row: Extract<LandChange, { kind: 'open-publication' }>['publication']): void {
    const { price, expires_at_ms, block_time_created_at_ms, block_time_updated_at_ms, ...rest } = row
    const { created_at_ms, updated_at_ms, log_index, closed_by, closed_tx_hash, trade_id, ...unsold } = rest
    const { sold_size, sold_source, sold_block_number, sold_log_index, ...same } = unsold
    this.publications.push({
      shown: {
        ...same,
        price: new ExactNumber(price),
        expires_at: expires_at_ms,
        block_time_created_at: block_time_created_at_ms,
        block_time_updated_at: block_time_updated_at_ms,
      },
      key: Math.max(...this.publications.map(({ key }) => key)) + 1,
    })
  }

  private placeBid(row: Extract<LandChange, { kind: 'place-bid' }>['bid']): void {
    const { price, expires_at_ms, block_time_created_at_ms, block_time_updated_at_ms, ...rest } = row
    const {
      created_at_ms,
      updated_at_ms,
      tx_hash,
      log_index,
      contract_address,
      closed_by,
      closed_tx_hash,
      sold_size,
      sold_log_index,
      ...same
    } = rest
    this.bids.push({
      shown: {
        ...same,
        price: new ExactNumber(price),
        expires_at: String(expires_at_ms),
        block_time_created_at: String(block_time_created_at_ms),
        block_time_updated_at: String(block_time_updated_at_ms),
        created_at: isoText(created_at_ms),
        updated_at: isoText(updated_at_ms),
      },
      tx_hash,
      log_index,
      contract_address,
    })
  }

  private withOffer(parcel: Parcel, nowMs: number): object {
    return { ...parcelFields(parcel), publication: this.offer('parcel', parcel.id, nowMs) }
  }

  private estateFields({ id, data, ...rest }: Estate): object {
    const parcels = this.parcels
      .filter(({ estate_id }) => estate_id === id)
      .sort((a, b) => a.estatePlace - b.estatePlace)
      .map(({ x, y }) => ({ x, y }))
    return { id, ...NO_RIGHTS, ...rest, data: { ...data, parcels } }
  }

  private isThere(type: AssetType, id: string): boolean {
    return this.parcels.some((parcel) => (type === 'parcel' ? parcel.id : parcel.estate_id) === id)
  }

  /** What is no longer open is listed of estates without parcels, too. */
  private newest(
    type: AssetType,
    id: string,
    statuses: readonly ListingStatus[],
    nowMs: number,
  ): object | null {
    const all = this.publications.filter(({ shown }) => shown.asset_type === type && shown.asset_id === id)
    const found = newestPublications(all).find((one) => hasStatus(one, statuses, nowMs))
    return found ? publicationFields(found.shown) : null
  }

  private ifOffered(
    fields: object,
    type: AssetType,
    id: string,
    statuses: readonly ListingStatus[] | undefined,
    nowMs: number,
  ): object[] {
    const publication = this.newest(type, id, statuses ?? ['open'], nowMs)
    return statuses && !publication ? [] : [{ ...fields, publication }]
  }

  private parcelsIn(
    [west, north]: readonly [number, number],
    [east, south]: readonly [number, number],
  ): Parcel[] {
    return this.parcels
      .filter(({ x, y }) => x >= west && x <= east && y >= south && y <= north)
      .sort((a, b) => a.x - b.x || b.y - a.y)
  }

  private newestMortgages(
    isMeant: (mortgage: MortgageRecord) => boolean,
    statuses?: readonly string[],
  ): MortgageRecord[] {
    return [...this.world.mortgages]
      .reverse()
      .sort((a, b) => Number(b.block_time_created_at) - Number(a.block_time_created_at))
      .filter((mortgage) => isMeant(mortgage) && (statuses?.includes(mortgage.status) ?? true))
  }
}

export type AssetType = 'parcel' | 'estate'
export type ListingStatus = 'open' | 'cancelled' | 'sold'
export type SortColumn = 'price' | 'created_at' | 'block_time_updated_at' | 'expires_at'

export interface ListQuery {
  readonly statuses?: readonly ListingStatus[] | undefined
  readonly sortBy?: SortColumn | undefined
  readonly sortOrder?: 'asc' | 'desc' | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

export interface BidQuery {
  readonly statuses?: readonly ListingStatus[]
  readonly bidder?: string
  readonly sanitize?: boolean
}

interface Parcel {
  readonly id: string
  readonly x: number
  readonly y: number
  owner: string | null
  operator: string | null
  readonly update_operator: string | null
  data: AssetData
  readonly district_id: string | null
  estate_id: string | null
  readonly tags: object
  auction_price: ExactNumber | null
  readonly auction_owner: string | null
  readonly last_transferred_at: string | null
  estatePlace: number
}

interface Estate {
  readonly id: string
  owner: string
  data: AssetData
  last_transferred_at: string
}

interface Publication {
  shown: Omit<PublicationRecord, 'created_at' | 'updated_at'>
  readonly key: number
}

interface Bid {
  shown: BidRecord
  readonly tx_hash: string | null
  readonly log_index: number | null
  readonly contract_address: string | null
}

const ALL: readonly string[] = ['open', 'cancelled', 'sold']

/** The demo world has none. */
const NO_RIGHTS = { approvals_for_all: [], update_managers: [], tenant: null, rented_until: null }

function parcelFields({ estatePlace, ...parcel }: Parcel): object {
  return { ...NO_RIGHTS, ...parcel, in_estate: parcel.estate_id !== null, auction_timestamp: null }
}

/** With both names of the renamed pair. */
function publicationFields(shown: Publication['shown']): object {
  return { ...shown, type: shown.asset_type, marketplace_id: shown.marketplace_address }
}

function hasStatus({ shown }: Publication, statuses: readonly string[], nowMs: number): boolean {
  return statuses.includes(shown.status) && (shown.status !== 'open' || shown.expires_at > nowMs)
}

function sortValue({ shown }: Publication, column: SortColumn): number | bigint | null {
  if (column === 'created_at') return shown.block_time_created_at
  return column === 'price' ? atto(String(shown.price)) : shown[column]
}

/** The cursor behind a row: order, value, transaction and key. */
function cursorText({ shown, key }: Publication, column: SortColumn, order: string): string {
  const value = column === 'created_at' ? shown.block_time_created_at : shown[column]
  const text =
    column === 'price'
      ? String(value)
          .replace(/(\.\d*?)0+$/, '$1')
          .replace(/\.$/, '')
      : String(value)
  return Buffer.from(`${order} ${text} ${shown.tx_hash} ${key}`).toString('base64url')
}

/** A sum in its smallest unit, the eighteenth decimal. */
function atto(price: string): bigint {
  const [whole = '', decimals = ''] = price.split('.')
  return BigInt(whole + decimals.padEnd(18, '0'))
}

function newestPublications(publications: readonly Publication[]): Publication[] {
  const newer = (a: Publication, b: Publication) =>
    b.shown.block_time_created_at - a.shown.block_time_created_at || b.key - a.key
  return [...publications].sort(newer)
}

function newestBids(bids: readonly Bid[]): Bid[] {
  const newer = ({ shown: a }: Bid, { shown: b }: Bid) =>
    Number(b.block_time_created_at) - Number(a.block_time_created_at) || textOrder(a.id, b.id)
  return [...bids].sort(newer)
}

interface ChangedData {
  readonly data_version?: number
  readonly name?: string | null
  readonly description?: string | null
  readonly ipns?: string | null
}

function changedData(data: AssetData, to: ChangedData): { data: AssetData } {
  const changed: Record<string, unknown> = { ...data }
  if (to.data_version !== undefined) changed.version = to.data_version
  for (const name of ['name', 'description', 'ipns'] as const) {
    if (to[name] === null) delete changed[name]
    else if (to[name] !== undefined) changed[name] = to[name]
  }
  // The compiler does not see which fields are set
  return { data: changed as unknown as AssetData }
}

function isoText(timeMs: number): string {
  return new Date(timeMs).toISOString()
}

function textOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function removeWhere<T>(list: T[], isGone: (one: T) => boolean): void {
  const place = list.findIndex(isGone)
  if (place >= 0) list.splice(place, 1)
}
