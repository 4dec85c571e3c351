import { tokenIdText } from '@landpass/client/grid'
import { parcelsOfEstate } from '../../state/parts/estate-members.ts'
import { ownerAt } from '../../state/parts/owner-index.ts'
import { findRent } from '../../state/parts/rents.ts'
import { rentalPeriodsJson } from '../common/rental-periods.ts'
import { type LandView, sourceOf } from './land-view.ts'

/** A row of `/v2/land`: its schema is `LandRow` (land-row-shapes.ts). */
export type LandRow = ReturnType<typeof landRow>

/** @param asset its number: see `LandAssets` */
export function landRow(view: LandView, asset: number) {
  const { assets, offers, parcels, estates, registries } = view
  const isEstate = asset < assets.estates
  const row = asset - assets.estates
  const holder = isEstate ? asset : parcels.estate[row]!
  const place = { x: assets.x[asset]!, y: assets.y[asset]! }
  const offerPlace = offers.placeOf[asset]!
  const id = isEstate ? estates.ids[asset]! : `${place.x},${place.y}`
  return {
    asset_type: isEstate ? ('estate' as const) : ('parcel' as const),
    asset_id: id,
    ...place,
    estate_id: holder < 0 ? null : estates.ids[holder]!,
    name: (isEstate ? estates.names[asset] : parcels.names[row]) ?? null,
    owner: (holder < 0 ? ownerAt(parcels, row) : ownerAt(estates, holder)) ?? null,
    size: assets.size[asset]!,
    width: assets.width[asset]!,
    height: assets.height[asset]!,
    district_id: view.districtIds[districtOf(view, asset)] ?? null,
    plaza: assets.plaza[asset]! < 0 ? null : assets.plaza[asset]!,
    road: assets.road[asset]! < 0 ? null : assets.road[asset]!,
    offer: offerPlace < 0 ? dollarOfferOf(view, asset) : offerOf(view, offerPlace),
    rental_offer: rentalOfferOf(view, asset),
    rent: rentOf(view, asset, holder),
    last_sale: lastSaleOf(view, asset),
    price_per_parcel: offerPlace < 0 ? null : offers.pricesPerParcel[offers.pricePerParcel[offerPlace]!]!,
    token_id: isEstate ? id : tokenIdText(place),
    contract: isEstate ? registries.estate : registries.land,
  }
}

/** The parcels in the world of an asset. */
export function parcelsOf({ assets, parcels }: LandView, asset: number) {
  if (asset >= assets.estates) return [{ x: assets.x[asset]!, y: assets.y[asset]! }]
  return parcelsOfEstate(parcels, asset).slice(0, assets.size[asset])
}

/** Index of the district of a parcel, of an estate that of the parcel at its x and y; -1 where there is none. */
function districtOf({ assets, parcels, bounds }: LandView, asset: number): number {
  if (asset >= assets.estates) return parcels.district[asset - assets.estates]!
  const height = bounds.maxY - bounds.minY + 1
  const cell = (assets.x[asset]! - bounds.minX) * height + bounds.maxY - assets.y[asset]!
  return parcels.district[parcels.rowAt[cell]!]!
}

const HASH_BYTES = 32

function offerOf({ offers, publications }: LandView, place: number) {
  const row = offers.publication[place]!
  const hash = publications.txHash.subarray(row * HASH_BYTES, (row + 1) * HASH_BYTES)
  return {
    source: sourceOf({ publications }, row),
    price: offers.prices[offers.price[place]!]!,
    currency: 'mana' as const,
    price_usd: null,
    listed_at: publications.madeAtMs[row]!,
    expires_at: offers.expiresAtMs[place]!,
    tx_hash: `0x${Buffer.from(hash).toString('hex')}`,
  }
}

/** The price in MANA is not known: it is 0. */
function dollarOfferOf({ unlisted }: LandView, asset: number) {
  const offer = unlisted.dollars.get(asset)
  return offer
    ? {
        ...{ source: 'trade' as const, price: '0', currency: 'usd' as const, price_usd: offer.price },
        ...{ listed_at: offer.madeAtMs, expires_at: offer.expiresAtMs, tx_hash: offer.hash },
      }
    : null
}

function rentalOfferOf({ unlisted }: LandView, asset: number) {
  const offer = unlisted.rentals.get(asset)
  return offer
    ? {
        ...{ price_per_day: offer.price, listed_at: offer.madeAtMs, expires_at: offer.expiresAtMs },
        periods: rentalPeriodsJson(offer.periods),
      }
    : null
}

/** A parcel in a rented estate has the rent of the estate. */
function rentOf({ assets, parcels, estates, nowMs }: LandView, asset: number, holder: number) {
  const rent = holder < 0 ? findRent(parcels.rents, asset - assets.estates) : findRent(estates.rents, holder)
  return rent && rent.untilMs > nowMs ? { tenant: rent.tenant, rented_until: rent.untilMs } : null
}

function lastSaleOf({ lastSales }: LandView, asset: number) {
  const time = lastSales.timeMs[asset]!
  return time < 0 ? null : { price: lastSales.priceOf(asset), time }
}
