import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ContractReads } from './contract-reads.ts'
import { type Dialect, envelopeInDialect, inDialect } from './dialects.ts'
import { answerCall } from './methods.ts'
import { RpcError } from './range-refusals.ts'
import type { NodeSettings } from './settings.ts'
import type { SimulatedNode } from './simulated-node.ts'

interface RpcRequest {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
  /** The faults that this call meets. */
  readonly faults: NodeSettings
}

const CODE = { parse: -32700, invalid: -32600, limit: -32005 } as const

/**
 * JSON-RPC over HTTP: one call, or a batch of them. Faults of the transport (status 429, no answer, a redirect) are those
 * of the first call of a batch that meets them.
 */
export async function answerRpc(
  parts: { node: SimulatedNode; reads: ContractReads; closing: AbortSignal },
  body: unknown,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { node, reads, closing } = parts
  node.requests += 1
  const { batch_limit } = node.settings
  if (Array.isArray(body) && batch_limit > 0 && body.length > batch_limit) {
    return send(reply, errorJson(null, new RpcError(CODE.invalid, `batch too large: at most ${batch_limit}`)))
  }
  const list: readonly unknown[] = Array.isArray(body) ? body : [body]
  const requests = list.map((one) => readRequest(node, one))
  const faults = requests.find((one) => one && hasTransportFault(one.faults))?.faults
  if (faults && (await failTransport(faults, reply, closing))) return reply
  const answers = requests.map((one) =>
    one ? answer(one, node, reads) : errorJson(null, new RpcError(CODE.invalid, 'invalid request')),
  )
  return send(reply, Array.isArray(body) ? answers : answers[0]!, faults, node.settings.dialect)
}

/** Reads every body as JSON, whatever its type says; one that is no JSON is answered as nodes do. */
export function refuseBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text === '' ? null : JSON.parse(text as string))
    } catch {
      done(null, undefined)
    }
  })
}

function readRequest(node: SimulatedNode, value: unknown): RpcRequest | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { id = null, method, params = [] } = value as Readonly<Record<string, unknown>>
  if (typeof method !== 'string' || !Array.isArray(params)) return undefined
  return { id, method, params, faults: node.countCall(method) }
}

function answer(request: RpcRequest, node: SimulatedNode, reads: ContractReads): object {
  const { id, method, params, faults } = request
  const { dialect } = node.settings
  try {
    if (faults.rate_limit === 'json') throw new RpcError(CODE.limit, 'rate limit exceeded')
    if (faults.rate_limit === 'quota') {
      throw new RpcError(429, 'Your app has exceeded its compute units per second capacity')
    }
    const result = inDialect(dialect, method, answerCall(method, { node, faults, reads, params }))
    return envelopeInDialect(dialect, { jsonrpc: '2.0', id, result })
  } catch (error) {
    if (error instanceof RpcError) return errorJson(id, error)
    throw error
  }
}

function errorJson(id: unknown, { code, message, data }: RpcError): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } }
}

function hasTransportFault(faults: NodeSettings): boolean {
  const { delay_ms, down, hang, drop, redirect_to, rate_limit, broken_json, pad_bytes } = faults
  const isCut = broken_json || pad_bytes > 0
  const isLimited = rate_limit.startsWith('http') || rate_limit === 'bare'
  return delay_ms > 0 || down || hang || drop || redirect_to !== '' || isLimited || isCut
}

/** @returns whether there is nothing left to answer */
async function failTransport(
  faults: NodeSettings,
  reply: FastifyReply,
  closing: AbortSignal,
): Promise<boolean> {
  const { delay_ms: delayMs, down, hang, drop, redirect_to: redirectTo, rate_limit: rateLimit } = faults
  if (delayMs > 0) await sleep(delayMs, undefined, { signal: closing, ref: false }).catch(() => undefined)
  if (drop || hang) {
    // Fastify then leaves the connection to us: a client that waits is cut off when the simulator closes.
    reply.hijack()
    if (drop) reply.raw.destroy()
    return true
  }
  if (down) {
    await reply.code(503).type('text/html').send('<html><body><h1>503 Service Unavailable</h1></body></html>')
    return true
  }
  if (redirectTo !== '') {
    await reply.redirect(redirectTo, 307)
    return true
  }
  if (rateLimit === 'bare') {
    await reply.send({ status: 429, message: 'Credits limit exceeded' })
    return true
  }
  if (!rateLimit.startsWith('http')) return false
  if (rateLimit === 'http_retry_after') reply.header('retry-after', String(faults.retry_after_s))
  await reply.code(429).send(errorJson(null, new RpcError(CODE.limit, 'Too Many Requests')))
  return true
}

function send(
  reply: FastifyReply,
  answer: object,
  faults?: NodeSettings,
  dialect: Dialect = 'usual',
): FastifyReply {
  const text = JSON.stringify(answer)
  const cut = faults?.broken_json ? text.slice(0, Math.ceil(text.length / 2)) : text
  reply.type('application/json')
  if (dialect === 'byte_order_mark') return reply.send(`\ufeff${cut}`)
  if (dialect === 'gzip') return reply.header('content-encoding', 'GZIP').send(gzipSync(cut))
  return reply.send(cut + ' '.repeat(faults?.pad_bytes ?? 0))
}
