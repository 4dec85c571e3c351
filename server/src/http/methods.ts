import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify'
import { AppError } from '../errors.ts'

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']

/**
 * Watches which methods each address gets, from now on. The function that comes back adds, for all the others,
 * an answer of 405 with `Allow`; call it when the last route is there.
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
    for (const [url, address] of addresses) refuseOthers(app, url, address)
  }
}

interface Address {
  readonly methods: Set<string>
  /** The first that was there: hooks that run after ours may still change it. */
  readonly route: RouteOptions
}

function refuseOthers(app: FastifyInstance, url: string, { methods, route }: Address): void {
  const allowed = [...methods, 'OPTIONS']
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
