import Type from 'typebox'
import type { Db } from '../../db/engine.ts'
import type { Routes } from '../../http/routes.ts'
import { okSchema } from '../../http/schemas.ts'
import { isOwnEvent } from '../issuers/own/own-event-ids.ts'
import type { Credentials, Organisers } from '../organisers/organisers.ts'
import { eventName } from './event-json.ts'
import {
  credentialsOf,
  editCodeBody,
  eventParams,
  ORGANISER_ERRORS,
  type OrganiserCallOptions,
  parseEventName,
  passField,
  passIn,
} from './event-params.ts'
import { findEvent, getEventId } from './event-queries.ts'

const checkedSchema = Type.Object(
  {
    id: Type.Integer({ description: "The issuer's number of the event." }),
    uuid: Type.Union([Type.String(), Type.Null()], {
      description: 'Ours; null before it is registered here.',
    }),
    name: Type.String(),
    registered: Type.Boolean({ description: 'Whether the event is registered on this server.' }),
    made_here: Type.Boolean({ description: 'Whether this server signs the tokens of the event.' }),
    ...passField,
  },
  { title: 'CheckedEvent' },
)

export interface CheckRouteOptions extends OrganiserCallOptions {
  readonly organisers: Pick<Organisers, 'assertEditCode' | 'getIssuerEvent'>
}

/** Checks an edit code before anything is done with it. */
export const checkRoutes: Routes<CheckRouteOptions> = (
  app,
  { db, organisers, organiserLimit, assertConfigured },
) => {
  app.post(
    '/event/:event/check',
    {
      onRequest: organiserLimit,
      schema: {
        tags: ['events'],
        operationId: 'checkEditCode',
        summary: 'Whether an edit code belongs to an event, registered here or not',
        params: eventParams,
        body: editCodeBody,
        responses: okSchema(checkedSchema, [...ORGANISER_ERRORS, 'event_not_found']),
      },
    },
    async (request, reply) => {
      assertConfigured()
      const id = await getEventId(db, parseEventName(request.params.event))
      const { newPass, ...about } = await checkedEvent(db, organisers, id, credentialsOf(request))
      return {
        ok: true as const,
        data: { id, ...about, made_here: isOwnEvent(id), ...passIn(reply, newPass) },
      }
    },
  )
}

/** A registered event needs one call to the issuer, another one two: the second reads its name. */
async function checkedEvent(
  db: Db,
  organisers: CheckRouteOptions['organisers'],
  eventId: number,
  credentials: Credentials,
) {
  const event = await findEvent(db, { eventId })
  if (event) {
    const newPass = await organisers.assertEditCode(eventId, credentials)
    return { uuid: event.uuid, name: eventName(event), registered: true, newPass }
  }
  const { found, newPass } = await organisers.getIssuerEvent(eventId, credentials)
  return { uuid: null, name: found.name, registered: false, newPass }
}
