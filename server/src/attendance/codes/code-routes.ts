import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { okSchema } from '../../http/schemas.ts'
import type { AttendanceContext } from '../attendance-context.ts'
import { parseEventName } from '../events/event-name.ts'
import { getEvent } from '../events/event-queries.ts'
import { availabilityOf, eventParams } from '../events/event-routes.ts'
import { editCodeField, judgeEditCode, ORGANISER_ERRORS } from '../events/organiser.ts'
import { askIssuer } from '../issuer/ask-issuer.ts'
import type { Limits } from '../limits.ts'
import { mergeCodes } from './code-queries.ts'

const bodySchema = Type.Object({
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
})

/** Loading an event's claim codes from the issuer (interfaces.md, 4.1). */
export const codeRoutes: FastifyPluginCallbackTypebox<{
  attendance: AttendanceContext
  limits: Limits
}> = (app, { attendance, limits }, done) => {
  const { db, clock, issuer, vault } = attendance
  app.post(
    '/addcodes/:event',
    {
      onRequest: limits.organiserLimit,
      schema: {
        tags: ['events'],
        summary: "Load an event's claim codes from the issuer",
        params: eventParams,
        body: Type.Object({ editCode: editCodeField }),
        response: okSchema(Type.Object({ url: Type.String(), body: bodySchema }), [
          ...ORGANISER_ERRORS,
          'event_not_found',
        ]),
      },
    },
    async (request) => {
      attendance.assertConfigured()
      const event = await getEvent(db, parseEventName(request.params.event))
      const { editCode } = request.body
      await judgeEditCode(attendance, event.event_id, editCode)
      const about = { db, clock, eventId: event.event_id }
      const listed = await askIssuer(() => issuer.listCodes(event.event_id, editCode), about)
      const num = await mergeCodes(db, vault, { eventId: event.event_id, listed, nowMs: clock.nowMs() })
      attendance.codeCounts.forget(event.event_id)
      const { total, available, claimed } = await availabilityOf(attendance, event)
      const body = { num, total, available, claimed, ...(listed.length === 0 && total === 0 ? WAITING : {}) }
      return { ok: true as const, data: { url: `/addcodes/${event.event_id}`, body } }
    },
  )
  done()
}

/** Not an error: every event begins so. */
const WAITING = {
  waiting_for_issuer: true as const,
  message:
    'The issuer has no codes for this event yet. It approves events by hand, mostly within 24 to 72 hours, and sends an e-mail then: load the codes again after that.',
}
