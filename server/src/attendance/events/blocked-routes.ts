import Type from 'typebox'
import type { Routes } from '../../http/routes.ts'
import { okSchema } from '../../http/schemas.ts'
import { GIVEN_ADDRESS } from '../../schema-parts.ts'
import { blockedJson, blockedSchema } from './blocked-json.ts'
import { type BlockedPlayers, MAX_BLOCKED } from './blocked-players.ts'
import {
  credentialFields,
  eventOfOrganiser,
  eventParams,
  ORGANISER_ERRORS,
  type OrganiserCallOptions,
  passField,
  passIn,
} from './event-params.ts'

const addresses = (description: string) =>
  Type.Optional(
    Type.Array(
      Type.String({ pattern: GIVEN_ADDRESS.pattern, 'x-allowed': 'an address, 0x and 40 hex digits' }),
      {
        maxItems: MAX_BLOCKED,
        'x-allowed': `a list of at most ${MAX_BLOCKED} addresses, each 0x and 40 hex digits`,
        'x-withheld': true,
        description,
      },
    ),
  )

export interface BlockedRouteOptions extends OrganiserCallOptions {
  readonly blocked: Pick<BlockedPlayers, 'change'>
}

/** The players to whom an organiser gives no token. */
export const blockedRoutes: Routes<BlockedRouteOptions> = (
  app,
  { db, organisers, blocked, organiserLimit, assertConfigured },
) => {
  app.post(
    '/event/:event/blocked',
    {
      onRequest: organiserLimit,
      schema: {
        tags: ['events'],
        operationId: 'changeBlocked',
        summary: 'Block players, let others claim again, or list the blocked ones',
        description: `At most ${MAX_BLOCKED} are blocked for an event. Who has a token, or a claim that waits, keeps it. An address that waits for a token of a list gets none.`,
        params: eventParams,
        body: Type.Object(
          {
            ...credentialFields,
            add: addresses('Players to block.'),
            remove: addresses('Players who may claim again; they are removed before others are added.'),
          },
          { title: 'BlockedRequest' },
        ),
        responses: okSchema(
          Type.Object({ blocked: blockedSchema, ...passField }, { title: 'BlockedPlayers' }),
          [...ORGANISER_ERRORS, 'event_not_found'],
        ),
      },
    },
    async (request, reply) => {
      const { event, newPass } = await eventOfOrganiser(request, { db, organisers, assertConfigured })
      const { add = [], remove = [] } = request.body
      const players = await blocked.change(event.event_id, {
        add: add.map((address) => address.toLowerCase()),
        remove: remove.map((address) => address.toLowerCase()),
      })
      return { ok: true as const, data: { blocked: players.map(blockedJson), ...passIn(reply, newPass) } }
    },
  )
}
