import { randomInt } from 'node:crypto'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { AppError } from '../../errors.ts'
import { DATA, send, sendUnkept } from '../../http/answer.ts'
import { freshSchema, okSchema } from '../../http/schemas.ts'
import { unownedParcels } from '../../state/parts/unowned-parcels.ts'
import type { LandContext } from '../common/land-context.ts'
import { parcelSchema } from '../common/schemas.ts'

const tags = ['parcels']

/** The parcels that nobody owns and no district has: how many there are, and one of them. */
export const availableRoutes: FastifyPluginCallbackTypebox<{ land: LandContext }> = (app, { land }, done) => {
  app.get(
    '/parcels/available',
    {
      schema: {
        tags,
        operationId: 'availableParcel',
        summary: 'A parcel that nobody owns: another one each time',
        description: 'Parcels of districts, roads and plazas are not among them.',
        response: okSchema(parcelSchema, ['parcel_not_found', 'world_not_loaded']),
      },
    },
    (_request, reply) => {
      const state = land.state()
      const rows = unownedParcels(state.parts)
      if (rows.length === 0) throw new AppError('parcel_not_found', 'Every parcel of the world has an owner.')
      return sendUnkept(reply, state.parcelPieces(rows[randomInt(rows.length)]!, land.clock.nowMs()))
    },
  )

  app.get(
    '/parcels/availableCount',
    {
      schema: {
        tags,
        operationId: 'availableParcelCount',
        summary: 'How many parcels nobody owns',
        description: 'Parcels of districts, roads and plazas are not among them.',
        response: freshSchema(Type.Integer({ minimum: 0 })),
      },
    },
    (request, reply) => {
      const state = land.state()
      const body = () => String(unownedParcels(state.parts).length)
      return send(request, reply, { freshness: state.freshness(), format: DATA, body })
    },
  )
  done()
}
