import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { AppError } from '../errors.ts'

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']

/**
 * Watches which methods each address gets, from now on. The function that comes back adds, for all the others,
 * an answer of 405 with `Allow`; call it when the last route is there.
 */
export function watchMethods(app: FastifyInstance): () => void {
  const methodsOf = new Map<string, Set<string>>()
  let watching = true
  app.addHook('onRoute', ({ url, method }) => {
    if (!watching || url === '*') return
    const methods = methodsOf.get(url) ?? new Set<string>()
    for (const one of [method].flat()) methods.add(one)
    methodsOf.set(url, methods)
  })
  return () => {
    watching = false
    for (const [url, methods] of methodsOf) refuseOthers(app, url, methods)
  }
}

function refuseOthers(app: FastifyInstance, url: string, methods: ReadonlySet<string>): void {
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
    exposeHeadRoute: false,
    onRequest: async (request, reply) => refuse(request, reply), // before a body is read that nobody wants
    handler: refuse,
  })
}
