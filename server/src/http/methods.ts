import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify'
import { AppError } from '../errors.ts'
import { handleNotFound } from './error-handler.ts'

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']

/**
 * Watches which methods each address gets, from now on. The function that comes back adds the answers to `OPTIONS`,
 * 204 with `Allow`, and to all other methods, 405 with `Allow`; call it when the last route is there.
 */
export function watchMethods(app: FastifyInstance): () => void {
  const addresses = new Map<string, Address>()
  let watching = true
  app.addHook('onRoute', (route) => {
    if (!watching || route.url === '*') return
    const address = addresses.get(route.url) ?? { methods: new Set<string>(), route }
    for (const one of [route.method].flat()) address.methods.add(one)
    addresses.set(route.url, address)
  })
  return () => {
    watching = false
    for (const [url, address] of addresses) {
      answerOptions(app, url, address)
      refuseOthers(app, url, address)
    }
  }
}

/**
 * Answers `OPTIONS` of an address that is no endpoint: 404. A browser that asks on behalf of a page of another origin
 * gets 204 all the same, so that the page can send its request and read the 404 itself. A hook for the `OPTIONS *`
 * route of @fastify/cors, which stands for all addresses without a route of their own.
 */
export async function answerUnknownOptions(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (isPreflight(request)) await sendNothing(reply)
  else handleNotFound()
}

interface Address {
  readonly methods: Set<string>
  /** The first that was there: hooks that run after ours may still change it. */
  readonly route: RouteOptions
}

function answerOptions(app: FastifyInstance, url: string, { methods, route }: Address): void {
  const allowed = allowedMethods(methods).join(', ')
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.header('allow', allowed)
    if (isPreflight(request)) reply.header('access-control-allow-methods', allowed)
    await sendNothing(reply)
  }
  app.route({
    url,
    method: 'OPTIONS',
    schema: { hide: true },
    config: { isAddressPrivate: route.config?.isAddressPrivate ?? false },
    onRequest: answer, // before a body is read that nobody wants
    handler: answer,
  })
}

/** Whether a browser asks what a page of another origin may send. */
function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}

/** Safari waits for a body where the length is not said. */
function sendNothing(reply: FastifyReply): FastifyReply {
  return reply.code(204).header('content-length', '0').send()
}

function allowedMethods(methods: ReadonlySet<string>): readonly string[] {
  return [...methods, 'OPTIONS']
}

function refuseOthers(app: FastifyInstance, url: string, { methods, route }: Address): void {
  const allowed = allowedMethods(methods)
  const refuse = (request: FastifyRequest, reply: FastifyReply): never => {
    reply.header('allow', allowed.join(', '))
    const sentence = `${request.method} is not possible at this address; allowed: ${allowed.join(', ')}.`
    throw new AppError('method_not_allowed', sentence, { allowed })
  }
  app.route({
    url,
    method: METHODS.filter((method) => !methods.has(method)),
    schema: { hide: true },
    config: { isAddressPrivate: route.config?.isAddressPrivate ?? false },
    exposeHeadRoute: false,
    onRequest: async (request, reply) => refuse(request, reply), // before a body is read that nobody wants
    handler: refuse,
  })
}
