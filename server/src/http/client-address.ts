import { isIP } from 'node:net'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'

/** An IPv6 customer has a network of 2^64 addresses, and counts as one. */
const IPV6_PREFIX_BITS = 64

/**
 * The network address that limits count. Behind a trusted proxy (`TRUSTED_PROXIES`) it is the one that the proxy
 * names, which is text that came in a header: only an address is taken for one.
 */
export function clientAddress({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return normalizeIP(isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip, IPV6_PREFIX_BITS)
}
