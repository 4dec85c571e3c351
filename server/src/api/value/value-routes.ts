import { coordText } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { DATA } from '../../http/answer.ts'
import { QUERY_UNITS } from '../../http/cost-account.ts'
import type { Routes } from '../../http/routes.ts'
import { freshSchema, HIDDEN } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import { manaText, weiOf } from '../../land/events/amounts.ts'
import { type AssetName, estateIdOf } from '../../land/records/assets.ts'
import type { LandContext } from '../common/land-context.ts'
import { strictQuery } from '../common/land-filters.ts'
import {
  assertInWorld,
  coordParams,
  coordTextParams,
  estateParams,
  readCoordinates,
} from '../common/parameters.ts'
import { assetNumber } from '../land/asset-numbers.ts'
import { type LandView, landViewOf } from '../land/land-view.ts'
import { type SaleColumns, saleColumnsOf } from '../sales/sale-matches.ts'
import { saleRows } from '../sales/sale-rows.ts'
import { firstInOrder } from '../sales/sales-order.ts'
import {
  aboveRange,
  type ComparableSale,
  comparableSales,
  distanceOf,
  METHOD,
  priceRange,
  startOfDay,
} from './comparable-sales.ts'
import { valueSchema } from './value-shapes.ts'

/** Cost of comparing the sales of a full world, in units of one parcel read. */
const COMPARE_UNITS = 10
const SALES_PER_UNIT = 10_000
const NEAR_OFFERS = 10

/** `GET /parcels/:x/:y/value` and `GET /estates/:id/value`: what an asset may be worth (docs/sales.md). */
export const valueRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  const common = { tags: ['land'], querystring: strictQuery({}) }
  const answer = (request: FastifyRequest, reply: FastifyReply, name: AssetName) => {
    const state = land.state()
    const nowMs = land.clock.nowMs()
    const view = landViewOf(state, land.registries, nowMs)
    const asset = assetNumber(view, name)
    if (asset < 0) {
      const code = name.type === 'parcel' ? 'parcel_not_found' : 'estate_not_found'
      throw new AppError(code, `There is no ${name.type} ${name.id} with land on the map.`, { id: name.id })
    }
    const body = async () => {
      const columns = saleColumnsOf(state.parts, view.assets)
      const comparable = comparableSales(
        view.assets,
        columns,
        { asset, size: view.assets.size[asset]! },
        nowMs,
      )
      const numbers = comparable.map(({ sale }) => sale)
      const rows = await saleRows({ db: land.db, worldId: state.worldId }, view, columns, numbers)
      const sales = rows.map((row, i) => {
        const { sale, weight, why } = comparable[i]!
        return { ...row, weight: Number(weight.toFixed(4)), is_own: columns.asset[sale] === asset, why }
      })
      return JSON.stringify(valueAnswer(view, columns, asset, { comparable, sales }))
    }
    const cost = QUERY_UNITS + COMPARE_UNITS + state.parts.sales.key.length / SALES_PER_UNIT
    // Sales grow older between two revisions: a copy is good for the day that it was made on.
    const freshness = state.freshness(Math.max(view.offers.lastExpiryMs, startOfDay(nowMs)))
    return send(request, reply, { freshness, format: DATA, cost, body })
  }

  app.get(
    '/parcels/:x/:y/value',
    {
      schema: {
        ...common,
        operationId: 'parcelValue',
        summary: 'What a parcel may be worth, by comparable sales',
        params: coordParams(land.world),
        responses: freshSchema(valueSchema, [
          'invalid_parameter',
          'parcel_not_found',
          'database_unavailable',
        ]),
      },
    },
    (request, reply) => {
      const place = assertInWorld(land.world, request.params)
      return answer(request, reply, { type: 'parcel', id: coordText(place) })
    },
  )
  app.get(
    '/parcels/:place/value',
    { schema: { ...common, ...HIDDEN, params: coordTextParams } },
    (request, reply) => {
      const place = readCoordinates(land.world, 'x,y', request.params.place)
      return answer(request, reply, { type: 'parcel', id: coordText(place) })
    },
  )
  app.get(
    '/estates/:id/value',
    {
      schema: {
        ...common,
        operationId: 'estateValue',
        summary: 'What an estate may be worth, by comparable sales',
        params: estateParams,
        responses: freshSchema(valueSchema, [
          'invalid_parameter',
          'estate_not_found',
          'database_unavailable',
        ]),
      },
    },
    (request, reply) => answer(request, reply, { type: 'estate', id: estateIdOf(String(request.params.id)) }),
  )
}

function valueAnswer(
  view: LandView,
  columns: SaleColumns,
  asset: number,
  {
    comparable,
    sales,
  }: { readonly comparable: readonly ComparableSale[]; readonly sales: readonly object[] },
) {
  const size = BigInt(view.assets.size[asset]!)
  const range = priceRange(columns, comparable)
  const numbers = (parcels: bigint) => ({
    low: range ? manaText(range.low * parcels) : null,
    middle: range ? manaText(range.middle * parcels) : null,
    high: range ? manaText(range.high * parcels) : null,
  })
  const place = view.offers.placeOf[asset]!
  const price = place < 0 ? undefined : view.offers.prices[view.offers.price[place]!]!
  const whole = range && { low: range.low * size, high: range.high * size }
  return {
    ...numbers(size),
    per_parcel: numbers(1n),
    basis: { sales, offers: nearOffers(view, asset) },
    method: METHOD,
    offer:
      price === undefined ? null : { price, above_range: whole ? aboveRange(weiOf(price), whole) : null },
  }
}

function nearOffers({ assets, offers, estates }: LandView, asset: number) {
  const distance = (other: number) => distanceOf(assets, asset, other)
  const others = offers.assets.filter((other) => other !== asset)
  const nearest = firstInOrder(others, (a, b) => distance(a) - distance(b) || a - b, NEAR_OFFERS)
  return nearest.map((other) => {
    const place = offers.placeOf[other]!
    const isEstate = other < assets.estates
    const [x, y] = [assets.x[other]!, assets.y[other]!]
    return {
      asset_type: isEstate ? ('estate' as const) : ('parcel' as const),
      asset_id: isEstate ? estates.ids[other]! : coordText({ x, y }),
      ...{ x, y, size: assets.size[other]! },
      price: offers.prices[offers.price[place]!]!,
      price_per_parcel: offers.pricesPerParcel[offers.pricePerParcel[place]!]!,
      distance: Number(distance(other).toFixed(1)),
      why: 'for sale now, and among the nearest',
    }
  })
}
