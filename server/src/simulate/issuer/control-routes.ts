import type { FastifyInstance } from 'fastify'
import { MAX_CODES, PlanError, parsePlan, readWhole } from './event-plan.ts'
import { isApproved, type SimulatedEvent } from './issuer-world.ts'
import { SettingError } from './settings.ts'
import type { Simulator } from './simulator.ts'

type EventRequest = { Params: { id: string }; Body: unknown }

/**
 * What tests and the curious ask of the simulator itself, all below `/simulator`. None of it exists at the issuer.
 *
 * - `GET /simulator/ledger`: what was minted, for whom and when, and what was asked for
 * - `GET` and `PATCH /simulator/settings`: how it behaves, see settings.ts
 * - `PUT /simulator/events/:id` `{edit_code, codes, name?, approved_after_ms?, expiry_date?, …}`: makes or replaces an event
 * - `POST /simulator/events/:id/codes` `{count}`: more codes for it
 * - `POST /simulator/events/:id/use` `{count}`: its first free codes were used elsewhere
 * - `POST /simulator/revoke-tokens`: no access token works any longer
 * - `POST /simulator/reset`: as after a start
 */
export function addControlRoutes(app: FastifyInstance, simulator: Simulator): void {
  app.get('/simulator/ledger', async () => simulator.world.ledger.json())
  app.get('/simulator/settings', async () => simulator.settings)
  app.patch('/simulator/settings', async ({ body }) => simulator.change(body))
  app.put<EventRequest>('/simulator/events/:id', async ({ params, body }) => {
    const id = readWhole(Number(params.id), 'the number of an event', 2 ** 31 - 1) ?? 0
    simulator.world.put(parsePlan(id, body, simulator.nowMs), simulator.nowMs)
    return eventAnswer(simulator, simulator.world.event(id))
  })
  app.post<EventRequest>('/simulator/events/:id/codes', async ({ params, body }) => {
    const event = getEvent(simulator, params.id)
    simulator.world.addCodes(event, readCount(body))
    return eventAnswer(simulator, event)
  })
  app.post<EventRequest>('/simulator/events/:id/use', async ({ params, body }) => {
    const event = getEvent(simulator, params.id)
    simulator.world.useElsewhere(event, readCount(body), simulator.nowMs)
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

function getEvent({ world }: Simulator, id: string): SimulatedEvent {
  const event = world.event(Number(id))
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
