import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { ownText } from '../own-memory.ts'

/** One IPv6 customer has a network of 2^64 addresses, which counts as one address. */
const IPV6_PREFIX_BITS = 64
/** Providers give an organisation up to 2^16 of those networks. */
const IPV6_SITE_BITS = 48

/** Networks of the last addresses: parsing an IPv6 address takes several microseconds. Limits keep them, as their own text. */
const networks = new LRUCache<string, string>({ max: 10_000 })

/** An IPv4 address with a port, or an IPv6 address in brackets with or without one. */
const WITH_PORT = /^(?:([\d.]{7,15}):\d{1,5}|\[([\da-f:.]{2,45})\](?::\d{1,5})?)$/i

/**
 * The IP address in an entry of `X-Forwarded-For`, to which some proxies add a port and brackets; undefined for all other text.
 *
 * @example
 * forwardedAddress('192.0.2.1:4711') // '192.0.2.1'
 * forwardedAddress('[2001:db8::5]') // '2001:db8::5'
 * forwardedAddress('unknown') // undefined
 */
function forwardedAddress(text: string): string | undefined {
  if (isIP(text) !== 0) return text
  const [, v4, v6] = WITH_PORT.exec(text) ?? []
  const address = v4 ?? v6 ?? ''
  return isIP(address) === 0 ? undefined : address
}

/**
 * The network address of the client, for limits. Behind a trusted proxy (`TRUSTED_PROXIES`) the address is text of a
 * header: if that is no IP address, the address of the proxy counts.
 */
export function clientAddress({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  const known = networks.get(ip)
  if (known !== undefined) return known
  const address = forwardedAddress(ip)
  if (address === undefined) return networkOf(socket.remoteAddress ?? '')
  const network = ownText(networkOf(address))
  networks.set(ownText(ip), network)
  return network
}

/** As {@link clientAddress}, with all IPv6 networks of one organisation as one: for limits of what few may do in a day. */
export function clientSite(request: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  return normalizeIP(clientAddress(request), IPV6_SITE_BITS)
}

function networkOf(ip: string): string {
  return normalizeIP(ip, IPV6_PREFIX_BITS)
}

/** Whether the sender of a request, or an entry of its `X-Forwarded-For`, is a trusted proxy. */
export type IsTrusted = (address: string) => boolean

/** @param trustedProxies addresses or ranges of proxies whose `X-Forwarded-For` is used */
export function trustIn(trustedProxies: readonly string[]): IsTrusted {
  const isTrusted = proxyAddr.compile([...trustedProxies])
  return (address) => isTrusted(forwardedAddress(address) ?? address, 0)
}

/**
 * Logs the first `X-Forwarded-For` of a sender that is no trusted proxy, and the first one of a trusted proxy that has no
 * address where that of the client should be: all clients behind it share the limits of one.
 */
export function watchForwarded(app: FastifyInstance, isTrusted: IsTrusted): void {
  let hasWarnedOfStranger = false
  let hasWarnedOfForm = false
  app.addHook('onRequest', ({ headers, ip, socket, log }, _reply, done) => {
    if (!headers['x-forwarded-for'] || (hasWarnedOfStranger && hasWarnedOfForm)) return done()
    const sender = socket.remoteAddress ?? ''
    if (!isTrusted(sender)) {
      if (!hasWarnedOfStranger) log.warn({ sender }, `${OF_STRANGER}: ${SHARED}`)
      hasWarnedOfStranger = true
    } else if (forwardedAddress(ip) === undefined) {
      if (!hasWarnedOfForm)
        log.warn({ sender, entry: ip.slice(0, SHOWN_CHARACTERS) }, `${NOT_UNDERSTOOD}: ${SHARED}`)
      hasWarnedOfForm = true
    }
    done()
  })
}

const SHOWN_CHARACTERS = 60
const OF_STRANGER = 'X-Forwarded-For of a proxy that is not in TRUSTED_PROXIES is ignored'
const NOT_UNDERSTOOD = 'X-Forwarded-For of a trusted proxy has no IP address for its client'
const SHARED = 'all clients behind it share one limit'

/**
 * Makes {@link clientAddress} for requests that do not pass the framework.
 *
 * @param trustedProxies addresses or ranges of proxies whose `X-Forwarded-For` is used
 */
export function rawClientAddress(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const isTrusted = trustIn(trustedProxies)
  return (request) => {
    const { socket } = request
    const isForwarded = trustedProxies.length > 0 && request.headers['x-forwarded-for'] !== undefined
    const ip = isForwarded ? proxyAddr(request, isTrusted) : (socket.remoteAddress ?? '')
    return clientAddress({ ip, socket })
  }
}
