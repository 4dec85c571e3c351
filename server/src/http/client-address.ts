import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'

/** One IPv6 customer has a network of 2^64 addresses, which counts as one address. */
const IPV6_PREFIX_BITS = 64
/** Providers give an organisation up to 2^16 of those networks. */
const IPV6_SITE_BITS = 48

/** Networks of the last addresses: parsing an IPv6 address takes several microseconds. */
const networks = new LRUCache<string, string>({ max: 10_000 })

/**
 * The network address of the client, for limits. Behind a trusted proxy (`TRUSTED_PROXIES`) the address is text of a
 * header: if that is no IP address, the address of the proxy counts.
 */
export function clientAddress({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  const known = networks.get(ip)
  if (known !== undefined) return known
  if (isIP(ip) === 0) return networkOf(socket.remoteAddress ?? '')
  const network = networkOf(ip)
  networks.set(ip, network)
  return network
}

/** As {@link clientAddress}, with all IPv6 networks of one organisation as one: for limits of what few may do in a day. */
export function clientSite(request: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return normalizeIP(clientAddress(request), IPV6_SITE_BITS)
}

function networkOf(ip: string): string {
  return normalizeIP(ip, IPV6_PREFIX_BITS)
}

/**
 * Makes {@link clientAddress} for requests that do not pass the framework.
 *
 * @param trustedProxies addresses or ranges of proxies whose `X-Forwarded-For` is used
 */
export function rawClientAddress(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile([...trustedProxies])
  return (request) => {
    const { socket } = request
    const isForwarded = trustedProxies.length > 0 && request.headers['x-forwarded-for'] !== undefined
    const ip = isForwarded ? proxyAddr(request, isTrusted) : (socket.remoteAddress ?? '')
    return clientAddress({ ip, socket })
  }
}
