import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import findMyWay from 'find-my-way'
import { AppError } from '../errors.ts'
import { isPreflight, preflightHeaders } from './cross-origin.ts'
import { handleNotFound } from './error-handler.ts'

/** What a page may send to an address that is no endpoint. */
const METHODS_OF_UNKNOWN = 'GET, HEAD, POST, PATCH'
/** All addresses stand in one tree of the router, under this method. */
const ANY = 'GET'

/**
 * Answers what addresses that are registered from now on do not have: `OPTIONS` with 204 and `Allow`, and each other method with
 * 405 and `Allow`, before the body is read. A router of its own finds the methods of an address: with a route for each address, the
 * framework would take twice as long to start.
 *
 * `OPTIONS` of an address that is no endpoint is 404. A CORS preflight gets 204, so that the page can send its request and
 * read the 404 itself.
 *
 * @param routerOptions those of the framework's router
 */
export function answerOtherMethods(
  app: FastifyInstance,
  routerOptions: { readonly maxParamLength: number; readonly ignoreTrailingSlash: boolean },
): void {
  const addresses = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const methods = addresses.get(url) ?? new Set<string>()
    for (const one of [method].flat()) methods.add(one)
    addresses.set(url, methods)
  })
  const router = findMyWay(routerOptions)
  // At the start: addresses that differ in the names of their parameters alone are an error
  app.addHook('onReady', (done) => {
    for (const [address, methods] of addresses)
      router.on(ANY, address, () => {}, { allowed: [...methods, 'OPTIONS'] })
    done()
  })
  app.addHook('onRequest', (request, reply, done) => {
    const allowed: readonly string[] | undefined = request.is404
      ? router.find(ANY, request.url)?.store.allowed
      : undefined
    if (allowed || (request.is404 && request.method === 'OPTIONS')) answerMethod(request, reply, allowed)
    else done()
  })
}

/** @param allowed undefined for an address that is no endpoint */
function answerMethod(
  request: FastifyRequest,
  reply: FastifyReply,
  allowed: readonly string[] | undefined,
): void {
  const list = allowed?.join(', ')
  if (list !== undefined) reply.header('allow', list)
  if (allowed && request.method !== 'OPTIONS') {
    const sentence = `${request.method} is not possible at this address; allowed: ${list}.`
    throw new AppError('method_not_allowed', sentence, { allowed })
  }
  if (isPreflight(request)) reply.headers(preflightHeaders(request, list ?? METHODS_OF_UNKNOWN))
  else if (!allowed) handleNotFound()
  reply.code(204).header('content-length', '0').send() // Safari waits for a body if there is no `content-length`
}
