import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../../../errors.ts'
import type { Routes } from '../../../../http/routes.ts'
import { okSchema } from '../../../../http/schemas.ts'
import { orNull } from '../../../../schema-parts.ts'
import {
  credentialsOf,
  editCodeField,
  eventParams,
  ORGANISER_ERRORS,
  type OrganiserCallOptions,
  parseEventName,
  parsePublicEventName,
} from '../../../events/event-params.ts'
import { getEvent } from '../../../events/event-queries.ts'
import { assertOwnEvent } from '../own-event-ids.ts'
import { OPERATOR_ERRORS } from './approval-routes.ts'
import { type EditCodes, MAX_CODES } from './edit-codes.ts'
import { MAX_CODE_NAME, readCodeName } from './event-texts.ts'

const nameField = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: MAX_CODE_NAME, 'x-withheld': true, description }))
const changeBody = Type.Object(
  {
    editCode: editCodeField,
    add: nameField('The name of a co-organiser, who gets a code.'),
    revoke: nameField('The name of the code that ends.'),
  },
  { title: 'EditCodesChange', additionalProperties: false },
)
const codesSchema = Type.Object(
  {
    codes: Type.Array(
      Type.Object({
        name: orNull(Type.String({ description: 'Null: a first code that the operator has issued anew.' })),
        made_at: Type.String({ description: 'ISO 8601, UTC.' }),
        ended_at: orNull(Type.String({ description: 'ISO 8601, UTC.' })),
      }),
      { description: 'Also codes that ended, the newest first.' },
    ),
    edit_code: Type.Optional(Type.String({ description: 'The code that was made. Shown this once.' })),
  },
  { title: 'EditCodes' },
)

export interface EditCodeRouteOptions extends OrganiserCallOptions {
  readonly editCodes: EditCodes
  readonly isOperator: (request: Pick<FastifyRequest, 'headers'>) => boolean
}

/** Edit codes for co-organisers, and a new first code for an organiser who has lost it. */
export const editCodeRoutes: Routes<EditCodeRouteOptions> = (app, options) => {
  const { db, editCodes, organisers, organiserLimit, assertConfigured, isOperator } = options
  app.post(
    '/events/:event/codes',
    {
      onRequest: organiserLimit,
      schema: {
        tags: ['events'],
        operationId: 'changeEditCodes',
        summary: `List the edit codes of co-organisers, make one, or revoke one: ${MAX_CODES} may be valid`,
        params: eventParams,
        body: changeBody,
        responses: okSchema(codesSchema, [
          ...ORGANISER_ERRORS,
          'event_not_found',
          'first_code_only',
          'too_many_codes',
        ]),
      },
    },
    async (request, reply) => {
      const { add, revoke } = request.body
      const added = add === undefined ? undefined : readCodeName(add)
      assertConfigured()
      const { event_id: eventId } = await getEvent(db, parseEventName(request.params.event))
      assertOwnEvent(eventId)
      await organisers.assertEditCode(eventId, credentialsOf(request))
      if (added !== undefined || revoke !== undefined)
        await editCodes.assertFirst(eventId, credentialsOf(request).editCode)
      if (revoke !== undefined) await editCodes.revoke(eventId, revoke.trim())
      const edit_code = added === undefined ? undefined : await editCodes.make(eventId, added)
      reply.header('cache-control', 'no-store')
      const codes = await editCodes.list(eventId)
      return { ok: true as const, data: { codes, ...(edit_code !== undefined && { edit_code }) } }
    },
  )

  app.post(
    '/events/:event/first-code',
    {
      onRequest: organiserLimit,
      schema: {
        tags: ['events'],
        operationId: 'replaceFirstCode',
        summary: 'The operator issues a new first edit code, which ends the one before',
        params: eventParams,
        responses: okSchema(codesSchema, [...OPERATOR_ERRORS, 'event_not_found', 'body_too_large']),
      },
    },
    async (request, reply) => {
      assertConfigured()
      if (!isOperator(request))
        throw new AppError(
          'operator_only',
          'Only the operator issues first edit codes: the header Operator-Key is missing or wrong.',
        )
      const { event_id: eventId } = await getEvent(db, parsePublicEventName(request.params.event))
      const edit_code = await editCodes.replaceFirst(eventId)
      reply.header('cache-control', 'no-store')
      return { ok: true as const, data: { codes: await editCodes.list(eventId), edit_code } }
    },
  )
}
