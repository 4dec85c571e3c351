import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { okSchema } from '../../http/schemas.ts'
import { codeTotals } from '../events/availability.ts'
import {
  credentialsOf,
  editCodeBody,
  eventParams,
  ORGANISER_ERRORS,
  type OrganiserCallOptions,
  parseEventName,
  passField,
  passIn,
} from '../events/event-params.ts'
import { type Event, getEvent } from '../events/event-queries.ts'
import { isOwnEvent } from '../issuer/own-event-ids.ts'
import type { CodeLoader, LoadedCodes } from './code-loader.ts'

const bodySchema = Type.Object(
  {
    num: Type.Integer({ description: 'Codes that are new.' }),
    total: Type.Integer(),
    available: Type.Integer(),
    claimed: Type.Integer(),
    waiting_for_issuer: Type.Optional(
      Type.Literal(true, {
        description:
          'The issuer has no codes for the event yet: it approves events by hand. For an event made here, the operator of this server does.',
      }),
    ),
    message: Type.Optional(Type.String({ description: 'What to do next, for a person.' })),
  },
  { title: 'LoadedCodes' },
)

export interface CodeRouteOptions extends OrganiserCallOptions {
  readonly codes: Pick<CodeLoader, 'load'>
}

/** Loads an event's claim codes from the issuer. */
export const codeRoutes: FastifyPluginCallbackTypebox<CodeRouteOptions> = (
  app,
  { db, organisers, codes, organiserLimit, assertConfigured },
  done,
) => {
  app.post(
    '/addcodes/:event',
    {
      onRequest: organiserLimit,
      // The older organiser page reads data.body.num of every answer, and shows a failure of the script without it
      config: { failureData: { body: { num: 0 } } },
      schema: {
        tags: ['events'],
        operationId: 'loadCodes',
        summary: "Load an event's claim codes from the issuer",
        params: eventParams,
        body: editCodeBody,
        response: okSchema(Type.Object({ url: Type.String(), body: bodySchema, ...passField }), [
          ...ORGANISER_ERRORS,
          'event_not_found',
        ]),
      },
    },
    async (request, reply) => {
      assertConfigured()
      const event = await getEvent(db, parseEventName(request.params.event))
      const { editCode } = request.body
      const newPass = await organisers.assertEditCode(event.event_id, credentialsOf(request))
      const loaded = await codes.load(event, editCode)
      return {
        ok: true as const,
        data: {
          url: `/addcodes/${event.event_id}`,
          body: loadedJson(event, loaded),
          ...passIn(reply, newPass),
        },
      }
    },
  )
  done()
}

function loadedJson({ event_id: eventId }: Event, { listed, added, counts }: LoadedCodes) {
  const { total, available, claimed } = codeTotals(counts)
  const isWaiting = listed === 0 && total === 0
  return { num: added, total, available, claimed, ...(isWaiting ? waiting(eventId) : {}) }
}

/** Not an error: an event is approved some time after it was made. */
function waiting(eventId: number) {
  return {
    waiting_for_issuer: true as const,
    message: isOwnEvent(eventId)
      ? 'The operator of this server has not approved this event. Its tokens can be claimed as soon as that is done.'
      : 'The issuer has no codes for this event yet. Wait for its e-mail (24 to 72 hours), then load again.',
  }
}
