import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type Answer, BARE_JSON, DATA } from '../../http/answer.ts'
import type { Routes } from '../../http/routes.ts'
import { bareSchema, freshSchema } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import type { RowRange } from '../../state/state.ts'
import { assetsAnswer, objectPieces } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import { legacyTileForm, type TileForm, tileForm } from './tile-forms.ts'
import {
  filterCost,
  filteredRows,
  readTileArea,
  readTileFields,
  readTileFilter,
  type TileQuery,
  tileQuery,
} from './tile-query.ts'
import { legacyTileSchema, tileSchema } from './tile-shapes.ts'
import { TileTextsCache } from './tile-texts.ts'

const tags = ['tiles']
const ORDER = 'By x ascending, then y descending; keys are x,y. Coordinates outside the world are left out.'

/**
 * Tile data: `/v2/tiles` and, in the older form, `/v1/tiles`, also without the version. The paths have their version here, because
 * these are two different endpoints, not one endpoint with two addresses.
 */
export const tileRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  const textsCache = new TileTextsCache(land.registries)

  const answerTiles = (request: FastifyRequest, reply: FastifyReply, query: TileQuery, form: TileForm) =>
    send(request, reply, () => tilesAnswer(land, textsCache, { query, form }))

  app.get(
    '/v2/tiles',
    {
      schema: {
        tags,
        operationId: 'tiles',
        summary: 'Tile data: a few fields of each parcel, and which neighbours it joins',
        description: ORDER,
        querystring: tileQuery,
        responses: freshSchema(Type.Object({}, { additionalProperties: tileSchema }), [
          'invalid_parameter',
          'too_many_large_answers',
        ]),
      },
    },
    (request, reply) => answerTiles(request, reply, request.query, tileForm(readTileFields(request.query))),
  )

  for (const path of ['/tiles', '/v1/tiles'])
    app.get(
      path,
      {
        schema: {
          tags,
          operationId: 'legacyTiles',
          summary: 'Tile data in the older form, with numbers for types',
          description: `${ORDER} include and exclude take the names of /v2/tiles; type is 10 (on sale) only if the fields contain price.`,
          querystring: tileQuery,
          responses: freshSchema(Type.Object({}, { additionalProperties: legacyTileSchema }), [
            'invalid_parameter',
            'too_many_large_answers',
          ]),
        },
      },
      (request, reply) =>
        answerTiles(request, reply, request.query, legacyTileForm(readTileFields(request.query))),
    )

  app.get(
    '/v2/tiles/info',
    {
      schema: {
        tags,
        operationId: 'tilesInfo',
        summary: 'When the tiles changed last',
        responses: bareSchema(
          Type.Object({
            lastUpdatedAt: Type.Integer({ description: 'Milliseconds since 1970-01-01 UTC.' }),
          }),
        ),
      },
    },
    (request, reply) => {
      const state = land.state()
      const freshness = state.freshness(state.openOffers(land.clock.nowMs()).lastExpiryMs)
      const body = () => `{"lastUpdatedAt":${freshness.changedAtMs}}`
      return send(request, reply, { freshness, format: BARE_JSON, body })
    },
  )
}

function tilesAnswer(
  land: LandContext,
  textsCache: TileTextsCache,
  { query, form }: { readonly query: TileQuery; readonly form: TileForm },
): Answer {
  const moment = land.moment()
  const { state, nowMs } = moment
  const openOffers = state.openOffers(nowMs)
  const freshness = {
    ...state.freshness(form.showsOffers ? openOffers.lastExpiryMs : 0),
    cacheControl: land.mapCacheControl,
  }
  const area = readTileArea(query, state.parts.bounds)
  const filter = readTileFilter(query)
  // Found anew for the body: the answer may be held, and they take memory.
  const rowsOfArea = () => state.rowsIn(area)
  const countOfArea = countRows(rowsOfArea())
  const texts = () => textsCache.textsOf(state, openOffers)
  const large = (rows: readonly RowRange[]) => objectPieces(texts().largeAreaPieces(form, rows))
  if (filter) {
    const body = () => {
      const rows = filteredRows(state, area, filter)
      return assetsAnswer(countRows(rows), () => large(rows)).body()
    }
    return { freshness, format: DATA, cost: filterCost(countOfArea), body, moment }
  }
  const isWorld = form.isWhole && countOfArea === state.parts.parcels.inWorld
  const cachedAs = isWorld ? { bodies: land.bodies, name: `tiles ${form.version}` } : undefined
  const pieces = () => large(rowsOfArea())
  const atOnce = () => objectPieces(texts().smallAreaPieces(form, rowsOfArea()))
  return { freshness, format: DATA, ...assetsAnswer(countOfArea, pieces, cachedAs, atOnce), moment }
}

function countRows(rows: readonly RowRange[]): number {
  return rows.reduce((sum, { from, to }) => sum + to - from, 0)
}
