import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Routes } from '../../http/routes.ts'
import { okSchema } from '../../http/schemas.ts'
import { addressText } from '../../schema-parts.ts'
import {
  credentialFields,
  eventOfOrganiser,
  eventParams,
  ORGANISER_ERRORS,
  type OrganiserCallOptions,
  passField,
  passIn,
} from '../events/event-params.ts'
import { MAX_ADDRESSES, MAX_LIST_CHARACTERS } from './address-list.ts'
import type { Gifts } from './gifts.ts'

/** A character of an address is one byte; a line break is two in JSON. */
const BODY_LIMIT_BYTES = MAX_LIST_CHARACTERS + 64 * 1024

export interface GiftRouteOptions extends OrganiserCallOptions {
  readonly gifts: Pick<Gifts, 'give'>
  readonly isOperator: (request: Pick<FastifyRequest, 'headers'>) => boolean
}

/** Tokens that an organiser gives to a list of addresses. */
export const giftRoutes: Routes<GiftRouteOptions> = (
  app,
  { db, organisers, gifts, isOperator, organiserLimit, assertConfigured },
) => {
  app.post(
    '/event/:event/gifts',
    {
      onRequest: organiserLimit,
      bodyLimit: BODY_LIMIT_BYTES,
      schema: {
        tags: ['events'],
        operationId: 'giveTokens',
        summary: 'Give tokens of an event that was made here to a list of addresses',
        description:
          'The whole list is taken, or nothing. The tokens are made in the background: `gifts` of the report counts them.',
        params: eventParams,
        body: Type.Object(
          {
            ...credentialFields,
            list: Type.String({
              maxLength: MAX_LIST_CHARACTERS,
              'x-allowed': `a list of at most ${MAX_ADDRESSES} addresses, in at most ${MAX_LIST_CHARACTERS} characters`,
              'x-withheld': true,
              description: `One address a line, or a table with one address in each line; at most ${MAX_ADDRESSES}.`,
            }),
          },
          { title: 'GiftRequest' },
        ),
        responses: okSchema(
          Type.Object(
            {
              addresses: Type.Integer({ description: 'Different ones in the list.' }),
              accepted: Type.Integer({ description: 'How many of them get a token now.' }),
              had: Type.Array(addressText(), {
                description: 'Those that have a token of the event already, and keep it.',
              }),
              ...passField,
            },
            { title: 'GivenList' },
          ),
          [
            ...ORGANISER_ERRORS,
            'event_not_found',
            'gifts_not_allowed',
            'event_cancelled',
            'event_refused',
            'no_codes_loaded',
            'no_codes_left',
          ],
        ),
      },
    },
    async (request, reply) => {
      const { event, newPass } = await eventOfOrganiser(request, { db, organisers, assertConfigured })
      const given = await gifts.give(event, request.body.list, { isOperator: isOperator(request) })
      return { ok: true as const, data: { ...given, ...passIn(reply, newPass) } }
    },
  )
}
