import Type from 'typebox'
import { type Answer, DATA } from '../../http/answer.ts'
import { QUERY_UNITS } from '../../http/cost-account.ts'
import type { Routes } from '../../http/routes.ts'
import { freshSchema } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import { oneOf } from '../../schema-parts.ts'
import type { LandContext } from '../common/land-context.ts'
import { QUERY_BYTES, strictQuery } from '../common/land-filters.ts'
import type { LandMoment } from '../common/land-moment.ts'
import { cursorQuery } from '../common/list-cursor.ts'
import { landViewOf } from '../land/land-view.ts'
import { saleCells } from './sale-cells.ts'
import { matchingOffers, matchingSales, saleColumnsOf } from './sale-matches.ts'
import { saleRows } from './sale-rows.ts'
import { statGroups } from './sale-stats.ts'
import { readSaleCursor, saleCursorText } from './sales-cursor.ts'
import { firstInOrder, isBehindSale, placeOfSale, saleOrder } from './sales-order.ts'
import { GROUPINGS, readSaleFilter, saleFilterQuery, saleSortQuery } from './sales-query.ts'
import { saleCellsSchema, salesPageSchema, statsSchema } from './sales-shapes.ts'

/** Cost of a filter over places in a full world, in units of one parcel read. */
const PLACE_UNITS = 6
/** Sales that are compared with a filter, or counted in groups, for one unit. */
const FOUND_PER_UNIT = 20_000
const COUNTED_PER_UNIT = 3_000
/** Groups that are counted and written for one unit. */
const GROUPS_PER_UNIT = 10
/** Runs of cells that are written, compressed and sent for one unit. */
const RUNS_PER_UNIT = 500
/** Rows of a page that are read, written, compressed and sent for one unit. */
const ROWS_PER_UNIT = 25
const MAX_LIMIT = 1000

/** `GET /sales`, `GET /sales/cells` and `GET /stats`: what was sold, and for how much (docs/sales.md). */
export const salesRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  app.get(
    '/sales',
    {
      schema: {
        tags: ['land'],
        operationId: 'sales',
        summary: 'What was sold, newest first, in pages',
        description:
          'Offers that were bought and bids that were accepted. A parameter that is not listed here is refused: see docs/sales.md.',
        querystring: strictQuery({
          ...saleFilterQuery,
          ...saleSortQuery,
          limit: Type.Integer({
            title: 'SaleLimit',
            minimum: 1,
            maximum: MAX_LIMIT,
            default: 20,
            description: 'Rows on a page.',
          }),
          cursor: cursorQuery('SaleCursor'),
        }),
        responses: freshSchema(salesPageSchema, ['invalid_parameter', 'database_unavailable']),
      },
    },
    (request, reply) => {
      const { limit, cursor, ...given } = request.query
      const { query, place } =
        cursor === undefined ? { query: given, place: undefined } : readSaleCursor(cursor, given)
      const filter = readSaleFilter(query)
      const by = query.sort_by ?? 'time'
      const order = { by, order: query.sort_order ?? (by === 'time' ? 'desc' : 'asc') } as const
      const pageOf = async ({ state, nowMs }: LandMoment) => {
        const { sales } = state.parts
        const view = landViewOf(state, land.registries, nowMs)
        const columns = saleColumnsOf(state.parts, view.assets)
        const found = matchingSales(view, columns, filter)
        const behind = place ? found.filter(isBehindSale(sales, order, place)) : found
        const numbers = firstInOrder(behind, saleOrder(sales, order), limit)
        const last = numbers.length < behind.length ? numbers.at(-1) : undefined
        return JSON.stringify({
          sales: await saleRows({ db: land.db, worldId: state.worldId }, view, columns, numbers),
          total: found.length,
          limit,
          cursor: last === undefined ? null : saleCursorText(query, placeOfSale(sales, last)),
        })
      }
      const answer = (): Answer => {
        const moment = land.moment()
        const { state } = moment
        const cost =
          QUERY_UNITS + PLACE_UNITS + state.parts.sales.key.length / FOUND_PER_UNIT + limit / ROWS_PER_UNIT
        return { freshness: state.freshness(), format: DATA, cost, body: () => pageOf(moment), moment }
      }
      return send(request, reply, answer, QUERY_BYTES)
    },
  )

  app.get(
    '/sales/cells',
    {
      schema: {
        tags: ['land'],
        operationId: 'saleCells',
        summary: 'What was paid for each cell, for maps',
        description:
          'Medians of the price for each parcel. Cells are numbered as in the feed: see docs/sales.md.',
        querystring: strictQuery(saleFilterQuery),
        responses: freshSchema(saleCellsSchema, ['invalid_parameter']),
      },
    },
    (request, reply) => {
      const filter = readSaleFilter(request.query)
      const state = land.state()
      const cost = 2 * PLACE_UNITS + state.parts.sales.key.length / COUNTED_PER_UNIT
      const body = () => {
        const view = landViewOf(state, land.registries, land.clock.nowMs())
        const columns = saleColumnsOf(state.parts, view.assets)
        const cells = saleCells(view, columns, matchingSales(view, columns, filter))
        request.costAccount?.settle(cost + cells.prices.length / RUNS_PER_UNIT)
        return JSON.stringify(cells)
      }
      return send(request, reply, { freshness: state.freshness(), format: DATA, cost, body })
    },
  )

  app.get(
    '/stats',
    {
      schema: {
        tags: ['land'],
        operationId: 'stats',
        summary: 'Prices of sales and of open offers: quartiles, volume and floor, in groups',
        description:
          'Quantiles are of the price for each parcel, exact. Open offers are those of now, whatever from and to say: see docs/sales.md.',
        querystring: strictQuery({
          ...saleFilterQuery,
          by: oneOf(GROUPINGS, {
            title: 'StatGrouping',
            default: 'total',
            description: 'What the groups are. Weeks are those of ISO 8601; all times are UTC.',
          }),
        }),
        responses: freshSchema(statsSchema, ['invalid_parameter']),
      },
    },
    (request, reply) => {
      const { by, ...given } = request.query
      const filter = readSaleFilter(given)
      const state = land.state()
      const view = landViewOf(state, land.registries, land.clock.nowMs())
      const cost = 2 * PLACE_UNITS + state.parts.sales.key.length / COUNTED_PER_UNIT
      const body = () => {
        const columns = saleColumnsOf(state.parts, view.assets)
        const counted = {
          sales: matchingSales(view, columns, filter),
          offers: matchingOffers(view, filter),
        }
        const groups = statGroups(view, columns, counted, by, filter)
        request.costAccount?.settle(cost + groups.length / GROUPS_PER_UNIT)
        return JSON.stringify({ by, groups })
      }
      const freshness = state.freshness(view.offers.lastExpiryMs)
      return send(request, reply, { freshness, format: DATA, cost, body })
    },
  )
}
