import Type from 'typebox'
import { DATA } from '../../http/answer.ts'
import { QUERY_UNITS } from '../../http/cost-account.ts'
import type { Routes } from '../../http/routes.ts'
import { freshSchema } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import { contributionsOf } from '../../land/queries/contribution-queries.ts'
import { stateAt } from '../../state/differences/state-version.ts'
import type { State } from '../../state/state.ts'
import { assetsAnswer, objectPieces } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import { addressParams, lowerCase } from '../common/parameters.ts'
import { addressTilePieces, countTiles, findAddressTypes } from './address-tiles.ts'
import { NewTiles } from './new-tiles.ts'
import { ALL_FIELDS, legacyTileForm } from './tile-forms.ts'
import { addressTileSchema, legacyTileSchema } from './tile-shapes.ts'
import { tileSource } from './tile-source.ts'
import { TileTexts } from './tile-texts.ts'

const tags = ['tiles']
/** Parcels whose type is found for one unit. */
const SCANNED_PER_UNIT = 10_000
const LEGACY_FORM = legacyTileForm(ALL_FIELDS)

/** Two endpoints of the older web client besides `/v1/tiles`: the tiles of an address, and changed tiles. */
export const olderTileRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  const newTiles = new NewTiles(land.db)

  app.get(
    '/tiles/:address',
    {
      schema: {
        tags,
        operationId: 'tilesOf',
        summary: 'The tiles that have another type for an address',
        description:
          'Parcels that the address owns, may operate or update, or whose district it contributed to. By x ascending, then y descending; keys are x,y.',
        params: addressParams,
        responses: freshSchema(Type.Object({}, { additionalProperties: addressTileSchema }), [
          'invalid_parameter',
          'database_unavailable',
          'too_many_large_answers',
        ]),
      },
    },
    (request, reply) => {
      const { state, openOffers } = stateAt(land.state(), land.clock.nowMs())
      const address = lowerCase(request.params.address)
      // The query, and a look at each parcel of the world
      const cost = QUERY_UNITS + state.parts.parcels.x.length / SCANNED_PER_UNIT
      const body = async () => {
        const districts = await contributionsOf(land.db, state.worldId, address)
        const districtIds = districts.map(({ district_id }) => district_id)
        const types = findAddressTypes(state, openOffers, address, districtIds)
        const source = tileSource(state.parts, openOffers, land.registries)
        // Streamed if large: one address, which holds the districts, owns half the world.
        const pieces = () => objectPieces(addressTilePieces(source, types))
        return assetsAnswer(countTiles(types), pieces).body()
      }
      const freshness = state.freshness(openOffers.lastExpiryMs)
      return send(request, reply, { freshness, format: DATA, cost, body })
    },
  )

  app.get(
    '/tiles/new',
    {
      schema: {
        tags,
        operationId: 'newTiles',
        summary: 'The tiles that changed since a time, in the form of /v1/tiles',
        description:
          'Tiles that changed with the land or because an offer expired. Some of them may be unchanged. If the server does not know what changed, the answer has all tiles.',
        querystring: Type.Object({
          from: Type.Number({
            description: 'Milliseconds since 1970-01-01 UTC; the search begins a minute before it.',
          }),
        }),
        responses: freshSchema(Type.Object({}, { additionalProperties: legacyTileSchema }), [
          'invalid_parameter',
          'database_unavailable',
          'too_many_large_answers',
        ]),
      },
    },
    (request, reply) => {
      const now = stateAt(land.state(), land.clock.nowMs())
      const { state, openOffers } = now
      const body = async () => {
        const runs = await newTiles.since(now, request.query.from)
        const texts = new TileTexts(tileSource(state.parts, openOffers, land.registries))
        const pieces = () => objectPieces(texts.largeAreaPieces(LEGACY_FORM, runs ?? [allRows(state)]))
        const found = runs ?? [allRows(state)]
        const count = found.reduce((sum, { from, to }) => sum + to - from, 0)
        const cachedAs = { bodies: land.bodies, name: `tiles ${LEGACY_FORM.version}` }
        return assetsAnswer(count, pieces, runs ? undefined : cachedAs).body()
      }
      const freshness = state.freshness(openOffers.lastExpiryMs)
      return send(request, reply, { freshness, format: DATA, cost: 2 * QUERY_UNITS, body })
    },
  )
}

function allRows({ parts }: State) {
  return { from: 0, to: parts.parcels.inWorld }
}
