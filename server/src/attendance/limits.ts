import rateLimit, { type CreateRateLimitOptions } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { MINUTE_MS } from '../clock.ts'
import type { LimitsConfig } from '../config.ts'
import { AppError } from '../errors.ts'
import { clientAddress } from '../http/client-address.ts'

/** For `onRequest` of a route: the request is counted before anything of it is read, so refusals count as well. */
export type LimitHook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** For a route to call once it knows who the player is. */
export type PlayerLimit = (request: FastifyRequest, reply: FastifyReply, address: string) => Promise<void>

/** Who may ask how often in a minute. Every use of the same member counts together. */
export interface Limits {
  /** By network address: for `/captcha` and `/claim`. @throws {AppError} `too_many_requests` */
  readonly clientLimit: LimitHook
  /** By network address: for the calls with an edit code. @throws {AppError} `too_many_requests` */
  readonly organiserLimit: LimitHook
  /** By player, for the route itself to call once it knows who signed. @throws {AppError} `too_many_requests` */
  readonly playerLimit: PlayerLimit
}

/** How many are remembered, about 200 bytes each; beyond, those go that were not heard of for the longest time. */
const MAX_COUNTED = 20_000

/**
 * Makes the limits of the attendance interface. Every answer of a route that has one, refusals too, says in
 * `RateLimit-Limit`, `-Remaining` and `-Reset` (seconds) how many requests are left; with two limits, the one that
 * leaves fewer. Over the limit: 429 `too_many_requests` with `Retry-After`. A limit of 0 counts nothing and says nothing.
 *
 * The counts are this process's own, of the minute that began with the sender's first request.
 *
 * @example
 * const limits = await registerLimits(app, config.limits)
 * app.post('/captcha', { onRequest: limits.clientLimit }, async (request, reply) => {
 *   const { address } = await verify(request)
 *   await limits.playerLimit(request, reply, address)
 *   return …
 * })
 */
export async function registerLimits(app: FastifyInstance, config: LimitsConfig): Promise<Limits> {
  await app.register(rateLimit, { global: false })
  const players = new WeakMap<FastifyRequest, string>()
  const client = limitOf(app, config.clientPerMinute, clientAddress, 'this network address')
  const organiser = limitOf(app, config.organiserPerMinute, clientAddress, 'this network address')
  const player = limitOf(app, config.playerPerMinute, (request) => players.get(request) ?? '', 'this player')
  return {
    clientLimit: client,
    organiserLimit: organiser,
    playerLimit: async (request, reply, address) => {
      players.set(request, address.toLowerCase())
      await player(request, reply)
    },
  }
}

interface Count {
  readonly max: number
  readonly remaining: number
  readonly resetS: number
}

/** What an answer says so far. */
const told = new WeakMap<FastifyReply, Count>()

function limitOf(
  app: FastifyInstance,
  max: number,
  keyGenerator: (request: FastifyRequest) => string,
  sender: string,
): LimitHook {
  if (max === 0) return async () => {}
  // `cache` is missing in the types of the plugin: without it, 5,000 senders are remembered
  const options: CreateRateLimitOptions & { cache: number } = {
    max,
    timeWindow: MINUTE_MS,
    keyGenerator,
    cache: MAX_COUNTED,
  }
  const count = app.createRateLimit(options)
  return async (request, reply) => {
    const counted = await count(request)
    if (counted.isAllowed) return
    const resetS = Math.max(counted.ttlInSeconds, 1)
    tell(reply, { max, remaining: counted.remaining, resetS }, counted.isExceeded)
    if (!counted.isExceeded) return
    throw new AppError(
      'too_many_requests',
      `Too many requests from ${sender}: ${max} a minute are possible. Wait ${resetS} seconds.`,
      { retry_after_s: resetS },
    )
  }
}

/** The stricter count speaks: fewer requests left, or as few for longer. The one that refuses always does. */
function tell(reply: FastifyReply, count: Count, isRefusing: boolean): void {
  const other = told.get(reply)
  if (other && !isRefusing && !isStricter(count, other)) return
  told.set(reply, count)
  reply
    .header('ratelimit-limit', count.max)
    .header('ratelimit-remaining', count.remaining)
    .header('ratelimit-reset', count.resetS)
}

function isStricter(count: Count, other: Count): boolean {
  if (count.remaining !== other.remaining) return count.remaining < other.remaining
  return count.resetS > other.resetS
}
