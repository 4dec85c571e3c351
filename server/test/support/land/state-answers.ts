import { coordText } from '@landpass/client/grid'
import type { ListingStatus } from '../../../src/land/records/statuses.ts'
import { valueAt } from '../../../src/state/parts/columns.ts'
import { SALE_SOURCES, SALE_TABLES, type SaleParts, SORT_COLUMNS } from '../../../src/state/parts/parts.ts'
import type { SaleFacts } from '../../../src/state/parts/sales.ts'
import type { State } from '../../../src/state/state.ts'

const STATUSES: readonly (readonly ListingStatus[])[] = [
  ['open'],
  ['sold'],
  ['cancelled', 'sold'],
  ['open', 'cancelled', 'sold'],
]

/**
 * Everything that a state answers, in a form that says nothing of how it lies in memory: two states that give
 * the same are the same to every reader.
 */
export function answersOf(state: State, timesMs: readonly number[]): Record<string, unknown> {
  return {
    tag: state.freshness(),
    parcels: parcelsOf(state),
    estates: estatesOf(state),
    ownedParcels: ownedParcels(state),
    ownedEstates: ownedEstates(state),
    operatedParcels: operatedParcels(state),
    operatedEstates: operatedEstates(state),
    districts: [
      text(state.parts.districts.listJson),
      state.parts.districts.ids,
      state.parts.districts.names,
      [...state.parts.districts.kinds],
    ],
    sales: salesOf(state.parts.sales),
    cells: Buffer.from(state.parts.cells).toString('hex'),
    orphans: [...state.parts.parcels.orphans].sort((a, b) => a.row - b.row),
    moments: timesMs.map((nowMs) => stateAt(state, nowMs)),
  }
}

/** The sales as facts, without the numbers of texts in lists. */
export function salesOf(sales: SaleParts): readonly SaleFacts[] {
  return Array.from(sales.key, (key, row) => {
    const estate = sales.estate[row]!
    return {
      ...{ timeMs: sales.timeMs[row]!, table: SALE_TABLES[sales.table[row]!]!, key },
      logIndex: sales.logIndex[row]!,
      ...{ source: SALE_SOURCES[sales.source[row]!]!, price: sales.price[row]!, size: sales.size[row]! },
      assetType: estate < 0 ? 'parcel' : 'estate',
      assetId: estate < 0 ? coordText({ x: sales.x[row]!, y: sales.y[row]! }) : sales.estateIds[estate]!,
      buyer: sales.addresses[sales.buyer[row]!]!,
      seller: sales.addresses[sales.seller[row]!]!,
    }
  })
}

function parcelsOf({ parts }: State): unknown[] {
  const { parcels, estates, districts } = parts
  return Array.from(parcels.x, (x, row) => [
    coordText({ x, y: parcels.y[row]! }),
    estates.ids[parcels.estate[row]!],
    districts.ids[parcels.district[row]!],
    parcels.owners.addresses[valueAt(parcels.owner, row)!],
    parcels.names[row],
    valueAt(parcels.updatedAtS, row),
    parcels.plazaDistance[row],
    parcels.roadDistance[row],
  ])
}

function estatesOf({ parts }: State): unknown[] {
  const { estates } = parts
  return estates.ids.map((id, row) => [
    id,
    estates.size[row],
    estates.owners.addresses[valueAt(estates.owner, row)!],
    estates.names[row],
    valueAt(estates.updatedAtS, row),
  ])
}

function ownedParcels(state: State): unknown {
  const { x, y, owners } = state.parts.parcels
  return listsOf(owners.addresses, (address) =>
    Array.from(state.parcelsOf(address), (row) => `${x[row]},${y[row]}`),
  )
}

function ownedEstates(state: State): unknown {
  const { ids, owners } = state.parts.estates
  return listsOf(owners.addresses, (address) => Array.from(state.estatesOf(address), (row) => ids[row]))
}

function operatedParcels(state: State): unknown {
  const { x, y, operators } = state.parts.parcels
  return listsOf(operators.addresses, (address) =>
    Array.from(state.parcelsOperatedBy(address), (row) => `${x[row]},${y[row]}`),
  )
}

function operatedEstates(state: State): unknown {
  const { ids, operators } = state.parts.estates
  return listsOf(operators.addresses, (address) =>
    Array.from(state.estatesOperatedBy(address), (row) => ids[row]),
  )
}

/** An address that owns nothing any more may be known or not. */
function listsOf<Asset>(addresses: readonly string[], read: (address: string) => Asset[]): unknown {
  const lists = addresses.map((address) => [address, read(address)] as const)
  return Object.fromEntries(lists.filter(([, assets]) => assets.length > 0).sort())
}

function stateAt(state: State, nowMs: number): unknown {
  const { parts } = state
  const { bounds, parcels, estates, publications } = parts
  const runs = state.rowsIn(bounds)
  const sales = state.openOffers(nowMs)
  const keyOf = (offer: number) => (offer < 0 ? null : publications.openKey[offer])
  return {
    parcels: Array.from(parcels.x, (_, row) => [
      text(...state.parcelPieces(row, nowMs)),
      state.parcelExpiry(row, nowMs),
    ]),
    estates: estates.ids.map((_, row) => [
      text(...state.estatePieces(row, nowMs)),
      state.estateExpiry(row, nowMs),
    ]),
    map: text(...state.parcelRunPieces(runs, nowMs)),
    expiry: [true, false].map((withEstates) => state.areaExpiry(runs, nowMs, { withEstates })),
    sales: [Array.from(sales.offers, keyOf), sales.lastExpiryMs, sales.nextExpiryMs],
    nextExpiry: state.nextExpiry(nowMs),
    prices: Array.from(sales.offers, (offer) => publications.openPrice[offer]),
    lists: listAnswers(state, nowMs),
  }
}

function listAnswers(state: State, nowMs: number): unknown[] {
  const { parcels, estates, publications } = state.parts
  const { key, open, asset, assetType } = publications
  const assetOf = (row: number) =>
    assetType[row] === 0
      ? coordText({ x: parcels.x[asset[row]!]!, y: parcels.y[asset[row]!]! })
      : estates.ids[asset[row]!]
  const shown = (row: number) => [
    key[row],
    assetOf(row),
    open[row]! < 0 ? null : text(state.offerJson(open[row]!)),
  ]
  const answers: unknown[] = []
  for (const assetType of [undefined, 'parcel', 'estate'] as const) {
    for (const statuses of STATUSES) {
      for (const sortBy of SORT_COLUMNS) {
        for (const sortOrder of ['asc', 'desc'] as const) {
          const list = state.lists.find({ assetType, statuses, sortBy, sortOrder }, nowMs)
          answers.push([Array.from(list.rows, shown), list.lastExpiryMs])
        }
      }
    }
  }
  return answers
}

function text(...pieces: Uint8Array[]): string {
  return Buffer.concat(pieces).toString()
}
