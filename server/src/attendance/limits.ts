import rateLimit, {
  type CreateRateLimitOptions,
  type FastifyRateLimitStore,
  type FastifyRateLimitStoreCtor,
} from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { HOUR_MS, MINUTE_MS } from '../clock.ts'
import type { LimitsConfig } from '../config/config.ts'
import { AppError } from '../errors.ts'
import { clientAddress, clientSite } from '../http/client-address.ts'
import type { WorkerGroup } from '../http/worker-group.ts'
import { waitText } from './wait-text.ts'

/** Counts a request. As `onRequest` of a route it counts it before anything of it is read, so refused requests count too. */
export type LimitHook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** Counts a request of a player: a route calls it once it knows the address of the player. */
export type PlayerLimit = (request: FastifyRequest, reply: FastifyReply, address: string) => Promise<void>

/** Counts a grant of an event, after its signature was found right. */
export type EventGrantLimit = (request: FastifyRequest, reply: FastifyReply, eventId: number) => Promise<void>

/**
 * Limits of requests per minute or day. All routes that use the same member share its count. Beyond the limit each throws
 * {@link AppError} `too_many_requests`.
 */
export interface Limits {
  /** By network address: for `/captcha` and `/claim`. */
  readonly clientLimit: LimitHook
  /** By network address: for images of captchas, and for pictures of events and tokens. */
  readonly imageLimit: LimitHook
  /** By network address: for the calls with an edit code. */
  readonly organiserLimit: LimitHook
  /** By network address: for requests to make an event, right or wrong, ten times as many as `makerLimit`. */
  readonly makerRequestLimit: LimitHook
  /** By network address: the route calls it when the texts of an event are right. */
  readonly makerLimit: LimitHook
  /** By network address, for a day: the route calls it before an event is stored. */
  readonly makerDayLimit: LimitHook
  /** As `makerDayLimit`, for events that have to wait for the operator, and by /48 of IPv6 addresses. */
  readonly waitingDayLimit: LimitHook
  /** By network address: for pictures of links that have to be drawn. */
  readonly shareLimit: LimitHook
  /** By network address: for lists of tokens, and other pictures that have to be drawn. */
  readonly listLimit: LimitHook
  /** By player: the route calls it once it knows who signed. */
  readonly playerLimit: PlayerLimit
  /** By network address: for grants. */
  readonly grantLimit: LimitHook
  /** By event: for grants with a right signature. */
  readonly eventGrantLimit: EventGrantLimit
}

/** Requests to make an event for each event that may be made: people correct their texts. */
const REQUESTS_OF_AN_EVENT = 10

/** How many senders are counted, about 200 bytes each; beyond it the least recently used count is dropped. */
const MAX_SENDERS = 20_000

/**
 * Makes the limits of the attendance interface. Every answer of a limited route, errors included, has the headers
 * `RateLimit-Limit`, `-Remaining` and `-Reset` (seconds); with two limits, those of the limit with fewer requests left.
 * Over the limit: 429 `too_many_requests` with `Retry-After`. A limit of 0 counts nothing and sets no header.
 *
 * Processes of one group share their counts. A minute or day begins with the first request of a sender.
 *
 * @example
 * const limits = await registerLimits(app, config.limits)
 * app.post('/captcha', { onRequest: limits.clientLimit }, async (request, reply) => {
 *   const { address } = await verify(request)
 *   await limits.playerLimit(request, reply, address)
 *   return …
 * })
 */
export async function registerLimits(
  app: FastifyInstance,
  config: LimitsConfig,
  group?: WorkerGroup,
): Promise<Limits> {
  await app.register(rateLimit, { global: false, ...(group && { store: sharedStoreOf(group) }) })
  const byAddress = (name: string, max: number, others: Partial<LimitOptions> = {}) =>
    limitOf(app, { name, max, keyGenerator: clientAddress, sender: 'this network address', ...others })
  const player = limitByName(app, 'player', config.playerPerMinute, 'this player')
  const eventGrant = limitByName(app, 'eventGrant', config.eventGrantsPerMinute, 'the server of this event')
  return {
    clientLimit: byAddress('client', config.clientPerMinute),
    imageLimit: byAddress('image', config.imagePerMinute),
    organiserLimit: byAddress('organiser', config.organiserPerMinute),
    makerRequestLimit: byAddress('makerRequest', REQUESTS_OF_AN_EVENT * config.makerPerMinute),
    makerLimit: byAddress('maker', config.makerPerMinute),
    makerDayLimit: byAddress('makerDay', config.eventsPerDay, { window: DAY }),
    waitingDayLimit: byAddress('waitingDay', config.waitingEventsPerDay, {
      window: DAY,
      keyGenerator: clientSite,
      named: { limit: 'waiting_events' },
    }),
    listLimit: byAddress('list', config.tokenListsPerMinute),
    shareLimit: byAddress('share', config.sharePicturesPerMinute),
    playerLimit: (request, reply, address) => player(request, reply, address.toLowerCase()),
    grantLimit: byAddress('grant', config.grantsPerMinute),
    eventGrantLimit: (request, reply, eventId) => eventGrant(request, reply, String(eventId)),
  }
}

/** Counts the requests of all processes of a group, with the interface of the plugin. */
function sharedStoreOf(group: WorkerGroup): FastifyRateLimitStoreCtor {
  return class SharedStore {
    private readonly limit: string

    /** The name of a limit is an option of ours, which the plugin passes on. */
    constructor(options: object) {
      this.limit = (options as { readonly limit?: string }).limit ?? ''
    }

    incr(sender: string, done: FastifyRateLimitStoreCallback, windowMs = MINUTE.durationMs): void {
      group.count(this.limit, sender, windowMs).then((count) => done(null, count), done)
    }

    child(options: object): SharedStore {
      return new SharedStore(options)
    }
  }
}

type FastifyRateLimitStoreCallback = Parameters<FastifyRateLimitStore['incr']>[1]

/** A limit of senders whose name the route learns while it reads the request. */
function limitByName(app: FastifyInstance, name: string, max: number, sender: string) {
  const names = new WeakMap<FastifyRequest, string>()
  const count = limitOf(app, { name, max, keyGenerator: (request) => names.get(request) ?? '', sender })
  return async (request: FastifyRequest, reply: FastifyReply, sent: string): Promise<void> => {
    names.set(request, sent)
    await count(request, reply)
  }
}

interface Count {
  readonly max: number
  readonly remaining: number
  readonly resetS: number
}

interface Window {
  readonly durationMs: number
  readonly name: string
}

const MINUTE: Window = { durationMs: MINUTE_MS, name: 'minute' }
const DAY: Window = { durationMs: 24 * HOUR_MS, name: 'day' }

/** The count in the headers of each answer. */
const countsInHeaders = new WeakMap<FastifyReply, Count>()

interface LimitOptions {
  readonly name: string
  readonly max: number
  readonly keyGenerator: (request: FastifyRequest) => string
  /** As the refusal calls it. */
  readonly sender: string
  readonly window?: Window
  /** Names the limit in the refusal, for clients that show another text for it. */
  readonly named?: { readonly limit: 'waiting_events' }
}

function limitOf(
  app: FastifyInstance,
  { name, max, keyGenerator, sender, window = MINUTE, named }: LimitOptions,
): LimitHook {
  if (max === 0) return async () => {}
  // `cache` is missing in the types of the plugin; its default is 5,000 senders
  const options: CreateRateLimitOptions & { cache: number; limit: string } = {
    limit: name,
    max,
    timeWindow: window.durationMs,
    keyGenerator,
    cache: MAX_SENDERS,
  }
  const count = app.createRateLimit(options)
  return async (request, reply) => {
    const counted = await count(request)
    if (counted.isAllowed) return
    const resetS = Math.max(counted.ttlInSeconds, 1)
    setHeaders(reply, { max, remaining: counted.remaining, resetS }, counted.isExceeded)
    if (!counted.isExceeded) return
    throw new AppError(
      'too_many_requests',
      `Too many requests from ${sender}: ${max} a ${window.name} are allowed. Wait ${waitText(resetS)}.`,
      { retry_after_s: resetS, ...named },
    )
  }
}

/** Sets the headers of the stricter count, or of the count that refuses the request. */
function setHeaders(reply: FastifyReply, count: Count, isRefusing: boolean): void {
  const other = countsInHeaders.get(reply)
  if (other && !isRefusing && !isStricter(count, other)) return
  countsInHeaders.set(reply, count)
  reply
    .header('ratelimit-limit', count.max)
    .header('ratelimit-remaining', count.remaining)
    .header('ratelimit-reset', count.resetS)
}

/** Fewer requests are left, or equally few for longer. */
function isStricter(count: Count, other: Count): boolean {
  if (count.remaining !== other.remaining) return count.remaining < other.remaining
  return count.resetS > other.resetS
}
