import Type from 'typebox'
import type { Routes } from '../../http/routes.ts'
import { okSchema } from '../../http/schemas.ts'
import { codeTotals } from '../events/availability.ts'
import {
  credentialFields,
  credentialsOf,
  eventOfOrganiser,
  eventParams,
  ORGANISER_ERRORS,
  type OrganiserCallOptions,
  passField,
  passIn,
} from '../events/event-params.ts'
import { isOwnEvent } from '../issuers/own/own-event-ids.ts'
import type { CodeLoader, LoadedCodes } from './code-loader.ts'
import type { PendingLoads } from './pending-loads.ts'

const requestSchema = Type.Object(
  {
    ...credentialFields,
    load_when_approved: Type.Optional(
      Type.Boolean({
        description:
          'true: the edit code is stored, encrypted, for 14 days at most, and the codes are loaded once the issuer approves them. false: it is deleted.',
      }),
    ),
  },
  { title: 'LoadCodesRequest' },
)
const bodySchema = Type.Object(
  {
    num: Type.Integer({ description: 'Codes that are new.' }),
    total: Type.Integer(),
    available: Type.Integer(),
    claimed: Type.Integer(),
    waiting_for_issuer: Type.Optional(
      Type.Literal(true, {
        description: 'The issuer, or the operator for an event made here, has not approved the event yet.',
      }),
    ),
    loads_until: Type.Optional(
      Type.String({
        description: 'Until when the server waits for the issuer to load the codes: ISO 8601, UTC.',
      }),
    ),
    message: Type.Optional(Type.String({ description: 'What to do next, for a person.' })),
  },
  { title: 'LoadedCodes' },
)

export interface CodeRouteOptions extends OrganiserCallOptions {
  readonly codes: Pick<CodeLoader, 'load'>
  readonly loads: Pick<PendingLoads, 'keep' | 'drop' | 'findUntilMs'>
}

/** Loads an event's claim codes from the issuer. */
export const codeRoutes: Routes<CodeRouteOptions> = (
  app,
  { db, organisers, codes, loads, organiserLimit, assertConfigured },
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
        body: requestSchema,
        responses: okSchema(Type.Object({ url: Type.String(), body: bodySchema, ...passField }), [
          ...ORGANISER_ERRORS,
          'event_not_found',
        ]),
      },
    },
    async (request, reply) => {
      const { event, newPass } = await eventOfOrganiser(request, { db, organisers, assertConfigured })
      const { load_when_approved: loadsLater } = request.body
      const { editCode } = credentialsOf(request)
      const id = event.event_id
      if (loadsLater === false) await loads.drop(id)
      const loaded = await codes.load(event, editCode)
      if (loaded.listed > 0) await loads.drop(id)
      const keepsCode = loadsLater === true && isWaiting(loaded) && !isOwnEvent(id)
      const untilMs = keepsCode ? await loads.keep(id, editCode) : await loads.findUntilMs(id)
      return {
        ok: true as const,
        data: { url: `/addcodes/${id}`, body: loadedJson(id, loaded, untilMs), ...passIn(reply, newPass) },
      }
    },
  )
}

function loadedJson(eventId: number, loaded: LoadedCodes, untilMs: number | undefined) {
  const { total, available, claimed } = codeTotals(loaded.counts)
  const counts = { num: loaded.added, total, available, claimed }
  if (loaded.isRefused) return { ...counts, message: REFUSED }
  if (!isWaiting(loaded)) return counts
  return untilMs === undefined
    ? { ...counts, ...waiting(eventId) }
    : { ...counts, ...WAITING_BY_ITSELF, loads_until: new Date(untilMs).toISOString() }
}

/** The issuer has not approved the event. */
function isWaiting({ listed, counts }: LoadedCodes): boolean {
  return listed === 0 && codeTotals(counts).total === 0
}

const REFUSED =
  'The operator of this server has refused this event, so it gives out no tokens. Ask the operator, who can still approve it.'

/** Not an error: an event is approved some time after it was made. */
function waiting(eventId: number) {
  return {
    waiting_for_issuer: true as const,
    message: isOwnEvent(eventId)
      ? 'The operator of this server has not approved this event. Its tokens can be claimed as soon as that is done.'
      : 'The issuer has no codes for this event yet. Wait for its e-mail (24 to 72 hours), then load again.',
  }
}
const WAITING_BY_ITSELF = {
  waiting_for_issuer: true as const,
  message:
    'The issuer has no codes for this event yet. This server loads them by itself when the issuer has approved them.',
}
