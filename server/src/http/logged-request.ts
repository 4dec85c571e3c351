import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The log has the route instead of the requested address, which may contain a secret by mistake. */
    readonly isAddressPrivate?: boolean
  }
}

/** The fields of a request in the log, at the levels at which each request has a line. */
export function loggedRequest(request: FastifyRequest) {
  return {
    method: request.method,
    url: loggedAddress(request),
    host: request.host,
    remoteAddress: request.ip,
    remotePort: request.socket.remotePort ?? 0,
  }
}

/**
 * The address, with its query only where its endpoint has parameters there: links to pages have all kinds of texts in it. For
 * a private address only its route, and for one that is no endpoint only its beginning.
 *
 * @example
 * loggedAddress(requestOf('/v1/parcels?limit=5')) // '/v1/parcels?limit=5'
 * loggedAddress(requestOf('/organise?editCode=012345')) // '/organise'
 * loggedAddress(requestOf('/event/90001?editCode=012345')) // '/event/:event'
 * loggedAddress(requestOf('/event/90001/012345')) // '/event…'
 */
export function loggedAddress({
  url,
  routeOptions,
}: Pick<FastifyRequest, 'url'> & {
  readonly routeOptions: Pick<FastifyRequest['routeOptions'], 'url' | 'config' | 'schema'>
}): string {
  if (routeOptions.url === undefined) return `${/^\/[^/?]*/.exec(url)?.[0] ?? ''}…`
  if (routeOptions.config.isAddressPrivate) return routeOptions.url
  const hasParameters = routeOptions.schema?.querystring !== undefined
  return hasParameters ? url : url.split('?', 1)[0]!
}
