import { DATA, streamed } from '../../http/answer.ts'
import type { Routes } from '../../http/routes.ts'
import { freshSchema } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import { assetsCost } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import { offerPieces, shownOffers } from './offer-columns.ts'
import { offersSchema } from './offer-shapes.ts'

/** `GET /offers`: everything that is for sale, for the price layer of a map (docs/offers.md). */
export const offerRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  app.get(
    '/offers',
    {
      schema: {
        tags: ['publications'],
        operationId: 'offers',
        summary: 'The prices of all parcels and estates for sale, for a price layer of a map',
        description:
          'One list for each field, all of the same length: equal indexes belong to the same offer. Each asset has its cheapest \
open offer in MANA that has not expired: see docs/offers.md.',
        responses: freshSchema(offersSchema, ['too_many_large_answers']),
      },
    },
    (request, reply) =>
      send(request, reply, () => {
        const state = land.state()
        const shown = shownOffers(state, land.clock.nowMs())
        const freshness = state.freshness(shown.offers.lastExpiryMs)
        const pieces = () => offerPieces(shown)
        // Offers of the whole world: as many as it has assets at most.
        const cost = assetsCost(state.parts.publications.openKey.length)
        const body = () => streamed(pieces, cost, { bodies: land.bodies, name: 'offers' })
        return { freshness, format: DATA, body }
      }),
  )
}
