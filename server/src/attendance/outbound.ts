import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { SECOND_MS } from '../clock.ts'

/** Calls to one configured address and what lies below it, and to nowhere else. */
export interface OutboundOptions {
  /** Origin and perhaps a path, without a slash at its end: never made of anything that a client sent. */
  readonly baseUrl: string
  readonly timeoutMs: number
  readonly maxBytes: number
}

export interface OutboundRequest {
  readonly method: 'GET' | 'POST'
  /** Below the base address: begins with `/`, or is empty. Whatever is not ours in it is percent-encoded. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
}

export interface OutboundAnswer {
  readonly status: number
  /** Undefined where the body is not JSON: an error page, most likely. */
  readonly json: unknown
  /** How long we were asked to wait, from `Retry-After`. */
  readonly retryAfterMs: number | undefined
}

export type OutboundFailure = 'timeout' | 'unreachable' | 'too_large' | 'redirect'

/** Nobody knows whether the other side did what it was asked to do. Carries no address, header or body. */
export class OutboundError extends Error {
  readonly failure: OutboundFailure
  constructor(failure: OutboundFailure) {
    super(`the other side did not answer properly: ${failure}`)
    this.name = 'OutboundError'
    this.failure = failure
  }
}

/** Connections are kept: a crowd's claims would otherwise spend most of their time on making them. */
const AGENTS = {
  'http:': new http.Agent({ keepAlive: true, maxSockets: 128 }),
  'https:': new https.Agent({ keepAlive: true, maxSockets: 128 }),
}

/**
 * Asks a configured party: no redirects, a limit on time (of the whole answer) and on size. With node:http rather than
 * fetch, which costs this process three times as much, and a claim asks twice.
 *
 * @throws {OutboundError} when there is no whole answer
 */
export async function ask(options: OutboundOptions, request: OutboundRequest): Promise<OutboundAnswer> {
  const url = addressBelow(options.baseUrl, request.path)
  const body = request.json === undefined ? undefined : JSON.stringify(request.json)
  const sent = send(url, { ...request, body })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    sent.destroy(new OutboundError('timeout'))
  }, options.timeoutMs)
  try {
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
    const status = response.statusCode ?? 0
    if (status >= 300 && status < 400) throw new OutboundError('redirect')
    const text = await readText(response, options.maxBytes)
    return {
      status,
      json: parseOrUndefined(text),
      retryAfterMs: parseRetryAfter(response.headers['retry-after']),
    }
  } catch (error) {
    sent.destroy()
    throw error instanceof OutboundError ? error : new OutboundError(isLate ? 'timeout' : 'unreachable')
  } finally {
    clearTimeout(timer)
  }
}

function send(url: URL, { method, headers, body }: OutboundRequest & { body: string | undefined }) {
  const { request } = url.protocol === 'https:' ? https : http
  const sent = request(url, {
    method,
    agent: AGENTS[url.protocol as keyof typeof AGENTS],
    headers: {
      accept: 'application/json',
      'user-agent': 'landpass',
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      ...headers,
    },
  })
  // Whoever waits hears of a failure by the events that they wait for; one that comes later concerns nobody.
  sent.on('error', () => undefined)
  sent.end(body)
  return sent
}

/** @throws when the path would lead away from the base address: a fault of ours, not of the other side */
function addressBelow(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl + path)
  const base = new URL(baseUrl)
  const isBelow = url.origin === base.origin && url.pathname.startsWith(base.pathname.replace(/\/$/, ''))
  if (!isBelow || url.username !== '' || url.password !== '')
    throw new Error('an outbound path left its base')
  return url
}

async function readText(response: http.IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new OutboundError('too_large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const MAX_RETRY_AFTER_S = 3600

/** Seconds, or a date; an hour at most. */
function parseRetryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / SECOND_MS
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_S) * SECOND_MS : undefined
}
