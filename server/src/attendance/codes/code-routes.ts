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
import { getEvent } from '../events/event-queries.ts'
import type { CodeLoader, LoadedCodes } from './code-loader.ts'

const bodySchema = Type.Object(
  {
    num: Type.Integer({ description: 'Codes that are new.' }),
    total: Type.Integer(),
    available: Type.Integer(),
    claimed: Type.Integer(),
    waiting_for_issuer: Type.Optional(
      Type.Literal(true, {
        description: 'The issuer has no codes for the event yet: it approves events by hand.',
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
        data: { url: `/addcodes/${event.event_id}`, body: loadedJson(loaded), ...passIn(reply, newPass) },
      }
    },
  )
  done()
}

function loadedJson({ listed, added, counts }: LoadedCodes) {
  const { total, available, claimed } = codeTotals(counts)
  const isWaiting = listed === 0 && total === 0
  return { num: added, total, available, claimed, ...(isWaiting ? WAITING : {}) }
}

/** Not an error: the issuer approves an event some days after it was made. */
const WAITING = {
  waiting_for_issuer: true as const,
  message:
    'The issuer has no codes for this event yet. Wait for its e-mail (24 to 72 hours), then load again.',
}
