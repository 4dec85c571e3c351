import type { ListingStatus } from '../../src/db/schema.ts'
import { SORT_COLUMNS } from '../../src/land/present/parts.ts'
import type { Present } from '../../src/land/present/present.ts'
import { coordText } from '../../src/world/coord.ts'

const STATUSES: readonly (readonly ListingStatus[])[] = [
  ['open'],
  ['sold'],
  ['cancelled', 'sold'],
  ['open', 'cancelled', 'sold'],
]

/**
 * Everything that a present state answers, in a form that says nothing of how it lies in memory: two states that give
 * the same are the same to every reader.
 */
export function answersOf(present: Present, timesMs: readonly number[]): Record<string, unknown> {
  return {
    tag: present.freshness(),
    parcels: parcelsOf(present),
    estates: estatesOf(present),
    ownedParcels: ownedParcels(present),
    ownedEstates: ownedEstates(present),
    districts: [
      text(present.parts.districts.listJson),
      present.parts.districts.ids,
      [...present.parts.districts.kinds],
    ],
    cells: Buffer.from(present.parts.cells).toString('hex'),
    strays: [...present.parts.parcels.strays].sort((a, b) => a.row - b.row),
    moments: timesMs.map((nowMs) => momentOf(present, nowMs)),
  }
}

function parcelsOf({ parts }: Present): unknown[] {
  const { parcels, estates, districts } = parts
  return Array.from(parcels.x, (x, row) => [
    coordText({ x, y: parcels.y[row]! }),
    estates.ids[parcels.estate[row]!],
    districts.ids[parcels.district[row]!],
    parcels.owners.addresses[parcels.owner[row]!],
    parcels.names[row],
    parcels.updatedAtS[row],
    parcels.plazaDistance[row],
    parcels.roadDistance[row],
  ])
}

function estatesOf({ parts }: Present): unknown[] {
  const { estates } = parts
  return estates.ids.map((id, row) => [
    id,
    estates.size[row],
    estates.owners.addresses[estates.owner[row]!],
    estates.names[row],
    estates.updatedAtS[row],
  ])
}

function ownedParcels(present: Present): unknown {
  const { x, y, owners } = present.parts.parcels
  return listsOf(owners.addresses, (address) =>
    Array.from(present.parcelsOf(address), (row) => `${x[row]},${y[row]}`),
  )
}

function ownedEstates(present: Present): unknown {
  const { ids, owners } = present.parts.estates
  return listsOf(owners.addresses, (address) => Array.from(present.estatesOf(address), (row) => ids[row]))
}

/** An address that owns nothing any more may be known or not. */
function listsOf<Asset>(addresses: readonly string[], read: (address: string) => Asset[]): unknown {
  const lists = addresses.map((address) => [address, read(address)] as const)
  return Object.fromEntries(lists.filter(([, assets]) => assets.length > 0).sort())
}

function momentOf(present: Present, nowMs: number): unknown {
  const { parts } = present
  const { bounds, parcels, estates, publications } = parts
  const runs = present.rowsIn(bounds)
  const sales = present.sales(nowMs)
  const keyOf = (offer: number) => (offer < 0 ? null : publications.openKey[offer])
  return {
    parcels: Array.from(parcels.x, (_, row) => [
      text(...present.parcelPieces(row, nowMs)),
      present.parcelExpiry(row, nowMs),
    ]),
    estates: estates.ids.map((_, row) => [
      text(...present.estatePieces(row, nowMs)),
      present.estateExpiry(row, nowMs),
    ]),
    map: runs.map((run) => text(...present.parcelRunPieces(run, nowMs))),
    expiry: [true, false].map((withEstates) => present.areaExpiry(runs, nowMs, { withEstates })),
    sales: [Array.from(sales.offers, keyOf), sales.lastExpiryMs, sales.nextExpiryMs],
    prices: Array.from(sales.offers, (offer) => publications.openPrice[offer]),
    lists: listAnswers(present, nowMs),
  }
}

function listAnswers(present: Present, nowMs: number): unknown[] {
  const { parcels, estates, publications } = present.parts
  const { key, open, asset, assetType } = publications
  const assetOf = (row: number) =>
    assetType[row] === 0
      ? coordText({ x: parcels.x[asset[row]!]!, y: parcels.y[asset[row]!]! })
      : estates.ids[asset[row]!]
  const shown = (row: number) => [
    key[row],
    assetOf(row),
    open[row]! < 0 ? null : text(present.offerJson(open[row]!)),
  ]
  const answers: unknown[] = []
  for (const assetType of [undefined, 'parcel', 'estate'] as const) {
    for (const statuses of STATUSES) {
      for (const sortBy of SORT_COLUMNS) {
        for (const sortOrder of ['asc', 'desc'] as const) {
          const list = present.lists.find({ assetType, statuses, sortBy, sortOrder }, nowMs)
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
