import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandler } from 'fastify'
import type { Need } from './access.ts'
import type { Fault } from './faults.ts'
import { acceptedJson, claimJson, eventJson, requestJson, tokenJson } from './issuer-json.ts'
import { isApproved, isExpired, mintStateOf, type SimulatedEvent } from './issuer-store.ts'
import { type Refusal, refusalBody } from './refusal-texts.ts'
import type { Simulator } from './simulator.ts'

/** What a call answers: a body, or the reason of a refusal. */
type Outcome = { readonly body: unknown } | Refusal
type Perform = (request: FastifyRequest, fault: Fault) => Outcome

const HTML_PAGE =
  '<!DOCTYPE html><html><head><title>Error</title></head><body><h1>Something went wrong</h1></body></html>'

/** The calls of the issuer's own interface, as it documents them. */
export function addIssuerRoutes(app: FastifyInstance, simulator: Simulator, closing: AbortSignal): void {
  const call = (method: 'GET' | 'POST', url: string, need: Need, perform: Perform) =>
    app.route({ method, url, handler: handler(simulator, { need, perform, closing }) })

  call('GET', '/health-check', 'nothing', () => ({ body: { status: 'healthy' } }))
  call('GET', '/events/id/:id', 'key', ({ params }) => eventOutcome(simulator, eventOf(simulator, params)))
  call('GET', '/events/:fancy', 'key', ({ params }) =>
    eventOutcome(simulator, simulator.store.eventBySlug(textIn(params, 'fancy'))),
  )
  call('POST', '/event/validate', 'key and token', ({ body }) => validate(simulator, body))
  call('POST', '/event/:id/qr-codes', 'key and token', ({ params, body }) =>
    listCodes(simulator, params, body),
  )
  call('GET', '/actions/claim-qr', 'key and token', ({ query }, fault) => readClaim(simulator, query, fault))
  call('POST', '/actions/claim-qr', 'key and token', ({ body }, fault) => claim(simulator, body, fault))
  call('GET', '/transaction-requests/:id', 'key', ({ params }) => readRequest(simulator, params))
  call('GET', '/actions/scan/:address/:id', 'key', ({ params }) => scan(simulator, params))

  // The real issuer has this call at another address, so the faults do not apply to it
  app.post('/oauth/token', async ({ body }, reply) => {
    simulator.store.ledger.noteTokenRequest()
    const answer = simulator.access.issueToken(body, simulator.settings.token_life_s, simulator.nowMs)
    return reply.code(answer.status).send(answer.body)
  })
}

/** Handles a request with its faults: some apply before the call is performed, some after it. */
function handler(
  simulator: Simulator,
  { need, perform, closing }: { need: Need; perform: Perform; closing: AbortSignal },
): RouteHandler {
  return async (request, reply) => {
    const { settings, faults, nowMs } = simulator
    simulator.store.ledger.noteRequest()
    const waitS = faults.waitSeconds(settings.rate_limit_per_minute, nowMs)
    if (waitS !== undefined) return sendTooFast(simulator, reply, waitS)
    const fault = faults.next(settings)
    if (settings.delay_ms > 0) await pause(settings.delay_ms, closing)
    if (fault.kind === 'error') return sendError(simulator, reply, fault.errorStatus)
    if (fault.kind === 'drop' || closing.aborted) return drop(request, reply)

    const refusal = simulator.access.refusalOf(request.headers, need, simulator.nowMs)
    const isTwice = fault.isDuplicated && request.method === 'POST' && !refusal
    if (isTwice) perform(request, fault)
    const outcome = refusal ?? perform(request, fault)

    if (fault.kind === 'late') await pause(settings.late_ms, closing)
    if (fault.kind === 'error_after') return sendError(simulator, reply, fault.errorStatus)
    if (fault.kind === 'drop_after' || closing.aborted) return drop(request, reply)
    return sendOutcome(simulator, reply, outcome)
  }
}

function eventOutcome({ settings }: Simulator, event: SimulatedEvent | undefined): Outcome {
  return event ? { body: eventJson(event, settings) } : 'no_event'
}

function validate(simulator: Simulator, body: unknown): Outcome {
  const eventId = fieldOf(body, 'event_id')
  const editCode = fieldOf(body, 'secret_code')
  if (typeof eventId !== 'number' || typeof editCode !== 'string') return 'bad_request'
  const event = simulator.store.event(eventId)
  return event ? { body: { valid: event.plan.editCode === editCode } } : 'no_event'
}

function listCodes(simulator: Simulator, params: unknown, body: unknown): Outcome {
  const event = eventOf(simulator, params)
  if (!event) return 'no_event'
  if (fieldOf(body, 'secret_code') !== event.plan.editCode) return 'wrong_edit_code'
  if (isApproved(event, simulator.nowMs)) {
    return { body: event.codes.map(({ hash, claim }) => ({ qr_hash: hash, claimed: claim !== undefined })) }
  }
  return simulator.settings.approval_errors ? 'not_approved' : { body: [] }
}

function readClaim({ store, settings, nowMs }: Simulator, query: unknown, { isReadUnknown }: Fault): Outcome {
  if (isReadUnknown) return 'unknown_words'
  const code = store.code(textIn(query, 'qr_hash'), nowMs)
  if (!code) return 'no_such_code'
  const isActive = code.claim !== undefined || !isExpired(code.event, nowMs)
  return { body: { ...claimJson(code, settings, nowMs), is_active: isActive } }
}

function claim({ store, settings, nowMs }: Simulator, body: unknown, fault: Fault): Outcome {
  const secret = fieldOf(body, 'secret')
  const request = {
    address: textIn(body, 'address'),
    hash: textIn(body, 'qr_hash'),
    secret: typeof secret === 'string' ? secret : undefined,
  }
  if (fault.isMintNotFound) return store.refuse(request, 'no_such_code')
  const { failsMint: fails, mintsForOther } = fault
  const taken = store.claim(request, { settings, nowMs, fails, mintsForOther })
  return typeof taken === 'string' ? taken : { body: acceptedJson(taken, settings) }
}

function readRequest({ store, settings, nowMs }: Simulator, params: unknown): Outcome {
  const id = Number(textIn(params, 'id'))
  const code = store.codeOfRequest(id)
  return code ? { body: requestJson(id, mintStateOf(code, settings.mint_ms, nowMs)) } : 'no_such_code'
}

function scan(simulator: Simulator, params: unknown): Outcome {
  const { settings, nowMs } = simulator
  const event = eventOf(simulator, params)
  if (!event) return 'no_event'
  const address = textIn(params, 'address').toLowerCase()
  const code = event.codes.find(
    (one) =>
      one.claim?.address.toLowerCase() === address &&
      mintStateOf(one, settings.mint_ms, nowMs).status === 'passed',
  )
  return code ? { body: tokenJson(code, settings) } : 'holds_none'
}

function sendOutcome({ settings }: Simulator, reply: FastifyReply, outcome: Outcome): FastifyReply {
  if (typeof outcome !== 'string') return reply.send(outcome.body)
  const body = refusalBody(outcome, settings.wording)
  return reply.code(body.statusCode).send(body)
}

function sendTooFast(simulator: Simulator, reply: FastifyReply, waitS: number): FastifyReply {
  reply.code(429).header('retry-after', waitS)
  if (simulator.settings.html_errors) return reply.type('text/html').send(HTML_PAGE)
  return reply.send(refusalBody('too_fast', simulator.settings.wording))
}

function sendError({ settings }: Simulator, reply: FastifyReply, status: number): FastifyReply {
  reply.code(status)
  if (settings.html_errors) return reply.type('text/html').send(HTML_PAGE)
  const message = 'There was a problem in token mint'
  return reply.send({ statusCode: status, error: 'Internal Server Error', message })
}

/** Waits; ends early when the simulator is closed. */
async function pause(durationMs: number, closing: AbortSignal): Promise<void> {
  await sleep(durationMs, undefined, { signal: closing }).catch((error: unknown) => {
    if (!closing.aborted) throw error
  })
}

function drop(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.raw.socket.destroy()
  return reply.hijack()
}

function eventOf({ store }: Simulator, params: unknown): SimulatedEvent | undefined {
  const id = textIn(params, 'id')
  return /^\d{1,10}$/.test(id) ? store.event(Number(id)) : undefined
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function textIn(value: unknown, name: string): string {
  const field = fieldOf(value, name)
  return typeof field === 'string' ? field : ''
}
