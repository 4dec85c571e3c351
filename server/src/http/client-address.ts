import { isIP } from 'node:net'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'

/** One IPv6 customer has a network of 2^64 addresses, which counts as one address. */
const IPV6_PREFIX_BITS = 64

/**
 * The network address of the client, for limits. Behind a trusted proxy (`TRUSTED_PROXIES`) the address is text of a
 * header: if that is no IP address, the address of the proxy counts.
 */
export function clientAddress({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return normalizeIP(isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip, IPV6_PREFIX_BITS)
}
