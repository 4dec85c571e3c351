import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Db } from '../../../../db/engine.ts'
import { AppError } from '../../../../errors.ts'
import type { BaseOf } from '../../../../http/public-base.ts'
import type { Routes } from '../../../../http/routes.ts'
import { okSchema } from '../../../../http/schemas.ts'
import { oneOf, orNull } from '../../../../schema-parts.ts'
import { approvalSchema, eventApprovalJson, eventApprovalSchema } from '../../../events/approval-json.ts'
import { eventInfoJson, eventInfoSchema } from '../../../events/event-json.ts'
import { eventParams, MAX_EVENT_ID, parsePublicEventName } from '../../../events/event-params.ts'
import { type Event, getEvent } from '../../../events/event-queries.ts'
import type { LimitHook } from '../../../limits.ts'
import type { Approvals } from './approvals.ts'
import { MAX_REASON } from './event-texts.ts'

const waitingSchema = Type.Object(
  {
    total: Type.Integer({ description: 'How many events wait in all, or have a change that waits.' }),
    next: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The `after` of the next page; null where this is the last one.',
    }),
    events: Type.Array(
      Type.Object({
        event: eventInfoSchema,
        tokens: Type.Integer({ description: 'How many there can be.' }),
        approval: eventApprovalSchema,
        may_give: Type.Boolean({ description: 'Whether its organiser may give tokens to a list.' }),
        content: Type.Integer({
          description: 'Send it with the answer: then it counts for what was read alone.',
        }),
      }),
    ),
  },
  { title: 'WaitingEvents' },
)

const approvalBody = Type.Object(
  {
    approval: oneOf(['approved', 'refused']),
    reason: Type.Optional(
      Type.String({ maxLength: MAX_REASON, description: 'The organiser reads it in the report.' }),
    ),
    tokens: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Only with an approval: fewer than the organiser wants, but not fewer than were given out.',
      }),
    ),
    may_give: Type.Optional(
      Type.Boolean({
        description:
          'Whether its organiser may give tokens to a list of addresses. Left out: as before, at first false.',
      }),
    ),
    content: Type.Optional(
      Type.Integer({
        description:
          'The content in the list of events that wait: `content_changed` is answered where the event has changed since.',
      }),
    ),
  },
  { title: 'ApprovalRequest', additionalProperties: false },
)

const answeredSchema = Type.Object(
  {
    approval: approvalSchema,
    change: orNull(
      oneOf(['approved', 'refused'], {
        description: 'What became of the change that waited.',
      }),
    ),
  },
  { title: 'Answered' },
)

export const OPERATOR_ERRORS = [
  'invalid_parameter',
  'operator_only',
  'too_many_requests',
  'attendance_not_configured',
  'database_unavailable',
] as const

export interface ApprovalRouteOptions {
  readonly db: Db
  readonly approvals: Pick<Approvals, 'answer' | 'waiting'>
  /** The picture of the event may be another one. */
  readonly forgetPicture: (event: Event) => void
  readonly isOperator: (request: Pick<FastifyRequest, 'headers'>) => boolean
  readonly organiserLimit: LimitHook
  readonly baseOf: BaseOf
  /** @throws {AppError} `attendance_not_configured` */
  readonly assertConfigured: () => void
}

/** What the operator does with events that were made here. */
export const approvalRoutes: Routes<ApprovalRouteOptions> = (app, options) => {
  const { db, approvals, forgetPicture, isOperator, organiserLimit, baseOf, assertConfigured } = options

  /** @throws {AppError} `operator_only` */
  const assertOperator = (request: Pick<FastifyRequest, 'headers'>) => {
    if (isOperator(request)) return
    throw new AppError(
      'operator_only',
      'Only the operator approves events: the header Operator-Key is missing or wrong.',
    )
  }

  app.get(
    '/events/waiting',
    {
      onRequest: organiserLimit,
      schema: {
        tags: ['events'],
        operationId: 'waitingEvents',
        summary:
          'For the operator: the events that wait for approval, and those with a change that does, the oldest first',
        querystring: Type.Object({
          after: Type.Integer({
            minimum: 0,
            maximum: MAX_EVENT_ID,
            default: 0,
            description: 'Only events with later numbers: `next` of the page before.',
          }),
          limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
        }),
        responses: okSchema(waitingSchema, OPERATOR_ERRORS),
      },
    },
    async (request, reply) => {
      assertConfigured()
      assertOperator(request)
      const { total, events, next = null } = await approvals.waiting(request.query)
      reply.header('cache-control', 'no-store')
      const base = baseOf(request)
      const listed = events.map(({ change, version, mayGive, ...waiting }) => ({
        event: eventInfoJson(waiting.event, base),
        tokens: waiting.supply,
        approval: eventApprovalJson(waiting, change),
        may_give: mayGive,
        content: version,
      }))
      return { ok: true as const, data: { total, next, events: listed } }
    },
  )

  app.post(
    '/events/:event/approval',
    {
      onRequest: organiserLimit,
      schema: {
        tags: ['events'],
        operationId: 'approveEvent',
        summary: 'The operator approves or refuses an event that was made here, or its waiting change',
        params: eventParams,
        body: approvalBody,
        responses: okSchema(answeredSchema, [
          ...OPERATOR_ERRORS,
          'invalid_body',
          'body_too_large',
          'event_not_found',
          'content_changed',
        ]),
      },
    },
    async (request) => {
      assertConfigured()
      assertOperator(request)
      const event = await getEvent(db, parsePublicEventName(request.params.event))
      const { may_give: mayGive, ...answer } = request.body
      const data = await approvals.answer(event, { ...answer, mayGive })
      forgetPicture(event)
      return { ok: true as const, data }
    },
  )
}
