import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The log tells the route instead of the address that was asked for: somebody may have put a secret into it. */
    readonly isAddressPrivate?: boolean
  }
}

/** What the log tells of a request, at the levels at which each request has a line. */
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
 * The address with its query; of a private one the route, and of one that is no endpoint only the beginning.
 *
 * @example
 * loggedAddress(requestOf('/v1/parcels?limit=5')) // '/v1/parcels?limit=5'
 * loggedAddress(requestOf('/event/90001?editCode=012345')) // '/event/:event'
 * loggedAddress(requestOf('/event/90001/012345')) // '/event…'
 */
export function loggedAddress({
  url,
  routeOptions,
}: Pick<FastifyRequest, 'url'> & {
  readonly routeOptions: Pick<FastifyRequest['routeOptions'], 'url' | 'config'>
}): string {
  // Asking for methods (OPTIONS) has one route for all addresses.
  if (routeOptions.url === undefined || routeOptions.url === '*')
    return `${/^\/[^/?]*/.exec(url)?.[0] ?? ''}…`
  return routeOptions.config.isAddressPrivate ? routeOptions.url : url
}
