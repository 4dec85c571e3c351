import type { FastifyRequest } from 'fastify'

/** A name or an address, IPv6 in brackets, and a port: nothing that could begin a path. */
const SANE_HOST = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/**
 * The address under which the caller reaches this server, without a slash at its end: the setting `PUBLIC_URL`, or
 * the host that the request itself names. For answers that carry whole addresses; paths are added by the caller.
 *
 * A proxy that ends TLS is seen from here only when it is a trusted one: behind others, `PUBLIC_URL` says `https`.
 *
 * @example
 * publicBase(request, 'https://land.example.org') // 'https://land.example.org'
 * publicBase(request, undefined) // 'http://localhost:3000' for `Host: localhost:3000`
 */
export function publicBase(request: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl
  const { host } = request.headers
  const isSane = host !== undefined && SANE_HOST.test(host) && URL.canParse(`http://${host}`)
  // Behind a trusted proxy the protocol is text that came in a header
  const scheme = request.protocol === 'https' ? 'https' : 'http'
  return `${scheme}://${isSane ? host.toLowerCase() : localHost(request)}`
}

/** Where the request came in, for one that does not say so in a form that may stand in an address. */
function localHost({ socket }: FastifyRequest): string {
  return socket.localPort === undefined ? 'localhost' : `localhost:${socket.localPort}`
}
