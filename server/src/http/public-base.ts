import type { FastifyRequest } from 'fastify'

/** The base of this server's addresses as the client of a request sees it: see {@link publicBase}. */
export type BaseOf = (request: FastifyRequest) => string

/** A host name or IP address (IPv6 in brackets) and a port. No character that could begin a path. */
const SAFE_HOST = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

/**
 * The base of this server's addresses as the client sees it, without a slash at the end: the setting `PUBLIC_URL`, or
 * the host that the request names. For answers that contain whole addresses. It is never stored: the client chooses the host.
 *
 * TLS that ends at a proxy is recognised only behind a trusted proxy. Behind others, `PUBLIC_URL` must say `https`.
 *
 * @example
 * publicBase(request, 'https://land.example.org') // 'https://land.example.org'
 * publicBase(request, undefined) // 'http://localhost:3000' for `Host: localhost:3000`
 */
export function publicBase(request: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl
  const { host } = request.headers
  const isSafe = host !== undefined && SAFE_HOST.test(host) && URL.canParse(`http://${host}`)
  // Behind a trusted proxy the protocol is text of a header.
  const scheme = request.protocol === 'https' ? 'https' : 'http'
  return `${scheme}://${isSafe ? host.toLowerCase() : localHost(request)}`
}

/** The address for a request whose `Host` header is missing or malformed. */
function localHost({ socket }: FastifyRequest): string {
  return socket.localPort === undefined ? 'localhost' : `localhost:${socket.localPort}`
}
