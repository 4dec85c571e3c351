import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify'
import { AppError } from '../errors.ts'
import { isPreflight, preflightHeaders } from './cross-origin.ts'
import { handleNotFound } from './error-handler.ts'

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'OPTIONS']

/**
 * Collects the methods of each address that is registered from now on.
 *
 * @returns a function to call after the last route is registered: it adds the answers to `OPTIONS` (204 with `Allow`)
 * and to all methods that an address does not have (405 with `Allow`)
 */
export function watchMethods(app: FastifyInstance): () => void {
  const addresses = new Map<string, Address>()
  let isWatching = true
  app.addHook('onRoute', (route) => {
    if (!isWatching || route.url === '*') return
    const address = addresses.get(route.url) ?? { methods: new Set<string>(), route }
    for (const one of [route.method].flat()) address.methods.add(one)
    addresses.set(route.url, address)
  })
  return () => {
    isWatching = false
    for (const [url, address] of addresses) answerOtherMethods(app, url, address)
  }
}

/** What a page may send to an address that is no endpoint. */
const METHODS_OF_UNKNOWN = 'GET, HEAD, POST, PATCH'

/**
 * Answers `OPTIONS` of an address that is no endpoint with 404. A CORS preflight gets 204, so that the page can send
 * its request and read the 404 itself.
 */
export function answerUnknownOptions(app: FastifyInstance): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!isPreflight(request)) handleNotFound()
    await sendNoContent(reply.headers(preflightHeaders(request, METHODS_OF_UNKNOWN)))
  }
  // Matches all addresses without a route of their own; answered before the body is read.
  app.options('*', { schema: { hide: true }, onRequest: answer }, answer)
}

interface Address {
  readonly methods: Set<string>
  /** The first route of the address. Hooks that run after ours may still change it. */
  readonly route: RouteOptions
}

/** Safari waits for a body if there is no `content-length`. */
function sendNoContent(reply: FastifyReply): FastifyReply {
  return reply.code(204).header('content-length', '0').send()
}

/** One route for all methods that the address does not have: each route makes the start longer. */
function answerOtherMethods(app: FastifyInstance, url: string, { methods, route }: Address): void {
  const allowed = [...methods, 'OPTIONS']
  const list = allowed.join(', ')
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.header('allow', list)
    if (request.method !== 'OPTIONS') {
      const sentence = `${request.method} is not possible at this address; allowed: ${list}.`
      throw new AppError('method_not_allowed', sentence, { allowed })
    }
    if (isPreflight(request)) reply.headers(preflightHeaders(request, list))
    await sendNoContent(reply)
  }
  app.route({
    url,
    method: METHODS.filter((method) => !methods.has(method)),
    schema: { hide: true },
    config: { isAddressPrivate: route.config?.isAddressPrivate ?? false },
    exposeHeadRoute: false,
    onRequest: answer, // before the body is read
    handler: answer,
  })
}
