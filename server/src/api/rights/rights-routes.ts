import { type Coord, parseCoord } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../errors.ts'
import { DATA, streamed } from '../../http/answer.ts'
import { SMALL_ANSWER_UNITS } from '../../http/cost-account.ts'
import type { Routes } from '../../http/routes.ts'
import { freshSchema, HIDDEN, okSchema } from '../../http/schemas.ts'
import { send, sendUncached } from '../../http/send.ts'
import { invalidParameter } from '../../http/validation.ts'
import { estateIdOf } from '../../land/records/assets.ts'
import { GIVEN_ADDRESS } from '../../schema-parts.ts'
import type { AssetRow } from '../../state/state.ts'
import { WHOLE_ANSWER_ASSETS } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import { strictQuery } from '../common/land-filters.ts'
import {
  addressParams,
  assertKnownPlace,
  coordParams,
  coordTextParams,
  estateParams,
  lowerCase,
  readKnownPlace,
} from '../common/parameters.ts'
import { WorkSlice } from '../common/work-slice.ts'
import {
  ADDRESS_RIGHTS,
  addressRightsJson,
  assetIdOf,
  deployersOf,
  mayUpdate,
  RightsReader,
  rightsOfAddress,
} from './land-rights.ts'
import { addressRightsSchema, assetRightsSchema, placeRightsSchema } from './rights-shapes.ts'

/** Assets whose rights are read for one unit. */
const ASSETS_PER_UNIT = 25
const MAX_PLACES = 500
const PLACES_ALLOWED = `a list of 1 to ${MAX_PLACES} places x,y`
const ADDRESS = { title: 'RightsAddress', ...GIVEN_ADDRESS }

/** Who may build where: of an address, of an asset, and of up to 500 places at once (docs/rights.md). */
export const rightsRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  const tags = ['land']
  const addressQuery = strictQuery({
    address: Type.Optional(
      Type.String({ ...ADDRESS, description: 'Whether this address may deploy there.' }),
    ),
  })

  app.get(
    '/addresses/:address/rights',
    {
      schema: {
        tags,
        operationId: 'rightsOf',
        summary: 'Every right of an address over land, each with why',
        params: addressParams,
        querystring: strictQuery({}),
        responses: freshSchema(addressRightsSchema, ['invalid_parameter']),
      },
    },
    (request, reply) => {
      const address = lowerCase(request.params.address)
      const state = land.state()
      const nowMs = land.clock.nowMs()
      const assets = state.parcelsOf(address).length + state.parcelsOperatedBy(address).length
      const estates = state.estatesOf(address).length + state.estatesOperatedBy(address).length
      const cost = SMALL_ANSWER_UNITS + (assets + estates) / ASSETS_PER_UNIT
      const freshness = state.freshness(state.rentExpiry(nowMs))
      const body = async () => {
        const rights = await rightsOfAddress(state, address, nowMs)
        const count = ADDRESS_RIGHTS.reduce((sum, name) => sum + rights[name].length, 0)
        const pieces = () => addressRightsJson(state, rights)
        return count <= WHOLE_ANSWER_ASSETS ? pieces() : streamed(pieces, cost)
      }
      return send(request, reply, { freshness, format: DATA, cost, body })
    },
  )

  const answerAsset = (
    request: FastifyRequest,
    reply: FastifyReply,
    asset: AssetRow,
    address: string | undefined,
  ) => {
    const state = land.state()
    const nowMs = land.clock.nowMs()
    const body = () => {
      const reader = new RightsReader(state, nowMs)
      return JSON.stringify({
        asset_type: asset.type,
        asset_id: assetIdOf(state, asset),
        who: deployersOf(reader, asset),
        ...(address !== undefined && { address, ...mayUpdate(reader, asset, address) }),
      })
    }
    return send(request, reply, { freshness: state.freshness(state.rentExpiry(nowMs)), format: DATA, body })
  }

  const answerParcel = (
    request: FastifyRequest,
    reply: FastifyReply,
    place: Coord,
    address: string | undefined,
  ) => {
    const row = land.state().parcelRow(place)
    if (row < 0)
      throw new AppError('parcel_not_found', `There is no parcel at ${place.x},${place.y}.`, { ...place })
    return answerAsset(request, reply, { type: 'parcel', row }, address?.toLowerCase())
  }

  app.get(
    '/parcels/:x/:y/rights',
    {
      schema: {
        tags,
        operationId: 'parcelRights',
        summary: 'Who may deploy on a parcel, each with why; or whether one address may',
        params: coordParams(land.world),
        querystring: addressQuery,
        responses: freshSchema(assetRightsSchema, ['invalid_parameter', 'parcel_not_found']),
      },
    },
    (request, reply) =>
      answerParcel(request, reply, assertKnownPlace(land, request.params), request.query.address),
  )

  app.get(
    '/parcels/:place/rights',
    { schema: { ...HIDDEN, params: coordTextParams, querystring: addressQuery } },
    (request, reply) =>
      answerParcel(request, reply, readKnownPlace(land, request.params.place), request.query.address),
  )

  app.get(
    '/estates/:id/rights',
    {
      schema: {
        tags,
        operationId: 'estateRights',
        summary: 'Who may deploy on an estate, each with why; or whether one address may',
        params: estateParams,
        querystring: addressQuery,
        responses: freshSchema(assetRightsSchema, ['invalid_parameter', 'estate_not_found']),
      },
    },
    (request, reply) => {
      const id = estateIdOf(String(request.params.id))
      const row = land.state().estateRow(id)
      if (row < 0) throw new AppError('estate_not_found', `There is no estate ${id}.`, { id })
      return answerAsset(request, reply, { type: 'estate', row }, request.query.address?.toLowerCase())
    },
  )

  app.post(
    '/rights',
    {
      config: { cost: SMALL_ANSWER_UNITS },
      schema: {
        tags,
        operationId: 'rightsAt',
        summary: `Whether an address may deploy at each of up to ${MAX_PLACES} places, and why`,
        querystring: strictQuery({}),
        body: Type.Object(
          {
            address: Type.String({ ...ADDRESS, description: 'Whom it is about.' }),
            places: Type.Array(Type.String({ maxLength: 20, 'x-allowed': 'a place x,y' }), {
              minItems: 1,
              maxItems: MAX_PLACES,
              'x-allowed': PLACES_ALLOWED,
              description: 'Places x,y.',
            }),
          },
          { additionalProperties: false },
        ),
        responses: okSchema(placeRightsSchema, [
          'invalid_parameter',
          'invalid_body',
          'body_too_large',
          'world_not_loaded',
        ]),
      },
    },
    async (request, reply) => {
      const address = lowerCase(request.body.address)
      const { places } = request.body
      const coords = places.map((place) => {
        const coord = parseCoord(place)
        if (!coord) throw invalidParameter('places', place, PLACES_ALLOWED)
        return coord
      })
      request.costAccount?.charge(reply, SMALL_ANSWER_UNITS + places.length / ASSETS_PER_UNIT)
      const state = land.state()
      const reader = new RightsReader(state, land.clock.nowMs())
      const slice = new WorkSlice()
      const answers: object[] = []
      for (const [i, place] of places.entries()) {
        if (slice.isOver) await slice.next()
        const row = state.parcelRow(coords[i]!)
        const answer =
          row < 0
            ? { may_update: false, why: 'there is no parcel' }
            : mayUpdate(reader, { type: 'parcel', row }, address)
        answers.push({ place, ...answer })
      }
      return sendUncached(reply, [Buffer.from(JSON.stringify({ address, places: answers }))])
    },
  )
}
