import type { FastifyInstance } from 'fastify'
import { MAX_CODES, PlanError, parsePlan, readWhole } from './event-plan.ts'
import { isApproved, type SimulatedEvent } from './issuer-store.ts'
import { SettingError } from './settings.ts'
import type { Simulator } from './simulator.ts'

type EventRequest = { Params: { id: string }; Body: unknown }

/**
 * Calls that control the simulator, for tests and for trying out, all below `/simulator`. The real issuer has none of
 * them.
 *
 * - `GET /simulator/ledger`: what was minted, for whom and when, and how many requests there were
 * - `GET` and `PATCH /simulator/settings`: how it behaves, see settings.ts
 * - `PUT /simulator/events/:id` `{edit_code, codes, name?, approved_after_ms?, expiry_date?, …}`: makes or replaces an event
 * - `POST /simulator/events/:id/codes` `{count}`: adds codes to the event
 * - `POST /simulator/events/:id/use` `{count}`: marks its first free codes as used, as if outside of this server
 * - `POST /simulator/revoke-tokens`: makes all access tokens invalid
 * - `POST /simulator/reset`: resets everything to the state after a start
 */
export function addControlRoutes(app: FastifyInstance, simulator: Simulator): void {
  app.get('/simulator/ledger', async () => simulator.store.ledger.json())
  app.get('/simulator/settings', async () => simulator.settings)
  app.patch('/simulator/settings', async ({ body }) => simulator.change(body))
  app.put<EventRequest>('/simulator/events/:id', async ({ params, body }) => {
    const id = readWhole(Number(params.id), 'the number of an event', 2 ** 31 - 1) ?? 0
    simulator.store.put(parsePlan(id, body, simulator.nowMs), simulator.nowMs)
    return eventAnswer(simulator, simulator.store.event(id))
  })
  app.post<EventRequest>('/simulator/events/:id/codes', async ({ params, body }) => {
    const event = getEvent(simulator, params.id)
    simulator.store.addCodes(event, readCount(body))
    return eventAnswer(simulator, event)
  })
  app.post<EventRequest>('/simulator/events/:id/use', async ({ params, body }) => {
    const event = getEvent(simulator, params.id)
    simulator.store.useElsewhere(event, readCount(body), simulator.nowMs)
    return eventAnswer(simulator, event)
  })
  app.post('/simulator/revoke-tokens', async () => {
    simulator.access.revokeTokens()
    return { ok: true }
  })
  app.post('/simulator/reset', async () => {
    simulator.reset()
    return { ok: true }
  })
  app.setErrorHandler((error, _request, reply) => {
    const isOurs = error instanceof PlanError || error instanceof SettingError
    return isOurs
      ? reply.code(400).send({ statusCode: 400, error: 'Bad Request', message: error.message })
      : reply.send(error)
  })
}

function getEvent({ store }: Simulator, id: string): SimulatedEvent {
  const event = store.event(Number(id))
  if (!event) throw new PlanError(`there is no event ${id}`)
  return event
}

function readCount(body: unknown): number {
  const count = (body as { count?: unknown } | null)?.count
  const whole = readWhole(count, 'count', MAX_CODES)
  if (whole === undefined) throw new PlanError('count is missing: how many?')
  return whole
}

function eventAnswer({ nowMs }: Simulator, event: SimulatedEvent | undefined) {
  return (
    event && {
      id: event.plan.id,
      name: event.plan.name,
      approved: isApproved(event, nowMs),
      codes: event.codes.length,
      claimed: event.codes.filter(({ claim }) => claim).length,
    }
  )
}
