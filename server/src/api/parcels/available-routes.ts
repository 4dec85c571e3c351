import { randomInt } from 'node:crypto'
import Type from 'typebox'
import { AppError } from '../../errors.ts'
import { DATA } from '../../http/answer.ts'
import type { Routes } from '../../http/routes.ts'
import { freshSchema, okSchema } from '../../http/schemas.ts'
import { send, sendUncached } from '../../http/send.ts'
import { unownedParcels } from '../../state/parts/unowned-parcels.ts'
import type { LandContext } from '../common/land-context.ts'
import { parcelSchema } from '../common/schemas.ts'

const tags = ['parcels']

/** The parcels without an owner and a district: their number, and a random one of them. */
export const availableRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  app.get(
    '/parcels/available',
    {
      schema: {
        tags,
        operationId: 'availableParcel',
        summary: 'A random parcel without an owner',
        description: 'Without parcels of districts, roads and plazas.',
        responses: okSchema(parcelSchema, ['parcel_not_found', 'world_not_loaded', 'too_many_requests']),
      },
    },
    (_request, reply) => {
      const state = land.state()
      const rows = unownedParcels(state.parts)
      if (rows.length === 0) throw new AppError('parcel_not_found', 'Every parcel of the world has an owner.')
      return sendUncached(reply, state.parcelPieces(rows[randomInt(rows.length)]!, land.clock.nowMs()))
    },
  )

  app.get(
    '/parcels/availableCount',
    {
      schema: {
        tags,
        operationId: 'availableParcelCount',
        summary: 'The number of parcels without an owner',
        description: 'Without parcels of districts, roads and plazas.',
        responses: freshSchema(Type.Integer({ minimum: 0 })),
      },
    },
    (request, reply) => {
      const state = land.state()
      const body = () => String(unownedParcels(state.parts).length)
      return send(request, reply, { freshness: state.freshness(), format: DATA, body })
    },
  )
}
