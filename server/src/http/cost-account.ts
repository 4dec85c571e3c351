import type { FastifyInstance, FastifyReply } from 'fastify'
import { AppError } from '../errors.ts'
import { clientAddress } from './client-address.ts'
import { balanceHeaders, type CostBucket, type CostBudget } from './cost-budget.ts'
import { setHeaders } from './cross-origin.ts'
import type { LargeAnswers } from './large-answers.ts'

/**
 * What a read costs its client. The unit is the reading of one parcel, about 0.04 ms of CPU (docs/http.md has the
 * table). A request is charged in three steps: one unit when it arrives, the estimated cost of its body before it is
 * made, and the rest if the body was larger than the estimate allows. Limits by the number of requests would let one client ask for
 * the dearest answers only, or refuse pages that ask for many cheap ones.
 */

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined for requests that are not charged. */
    costAccount: CostAccount | undefined
  }
  interface FastifyContextConfig {
    /**
     * Charged for a read of the route when it arrives; {@link SMALL_ANSWER_UNITS} if left out. A `POST` that only reads has it. 0: it is never refused, because it
     * costs less than a refusal and balancers must hear the truth.
     */
    cost?: number
  }
}

/** Charged for each request when it arrives. It pays for a small answer, a 304 or a failure. */
export const SMALL_ANSWER_UNITS = 1
/** What an answer that is read from the database costs, with up to a few dozen rows. */
export const QUERY_UNITS = 4
/** Charged for a body that is in memory, ready to send without the framework. */
export const READY_ANSWER_UNITS = 0.25
/** Bytes of a body, uncompressed, that one unit pays for. A larger body costs more than its estimate. */
export const MADE_BYTES_PER_UNIT = 50_000
/** Bytes of a body that is made already that one unit pays for. */
export const SENT_BYTES_PER_UNIT = 200_000

export interface CostLimits {
  readonly budget: CostBudget
  readonly largeAnswers: LargeAnswers
}

/** The account of one request. */
export class CostAccount {
  readonly client: string
  readonly largeAnswers: LargeAnswers
  private readonly bucket: CostBucket | undefined
  private readonly budget: CostBudget
  private charged = 0

  constructor(client: string, { budget, largeAnswers }: CostLimits) {
    this.client = client
    this.largeAnswers = largeAnswers
    this.budget = budget
    this.bucket = budget.isLimited ? budget.bucketOf(client) : undefined
  }

  /** Units that this request was charged so far. */
  get units(): number {
    return this.charged
  }

  /**
   * Charges up to `units` for the whole request: what was charged before counts.
   *
   * @throws {AppError} `too_many_requests` if the client has not so many left
   */
  charge(reply: FastifyReply, units: number): void {
    const more = units - this.charged
    if (more <= 0) return
    if (this.bucket) this.takeFrom(this.bucket, reply, more, units)
    this.count(more)
  }

  /** Charges for work that is done, if it was more than was charged. Never refuses. */
  settle(units: number): void {
    const more = units - this.charged
    if (more <= 0) return
    this.bucket?.settle(more)
    this.count(more)
  }

  /** @throws {AppError} `too_many_requests` */
  private takeFrom(bucket: CostBucket, reply: FastifyReply, more: number, wholeRequest: number): void {
    const balance = bucket.take(more, wholeRequest)
    // A limit of requests, which the route has besides, is the stricter one
    const { perMinute } = this.budget
    const isOfAnother = Number(reply.getHeader('ratelimit-limit') ?? perMinute) !== perMinute
    if (balance.isTaken && isOfAnother) return
    setHeaders(reply, balanceHeaders(perMinute, balance))
    if (balance.isTaken) return
    this.budget.refused++
    throw refusal(balance.waitS)
  }

  private count(units: number): void {
    this.charged += units
    this.budget.charged += units
  }
}

function refusal(waitS: number): AppError {
  return new AppError(
    'too_many_requests',
    `This network address has used up its budget of reads. Wait ${waitS} ${waitS === 1 ? 'second' : 'seconds'}.`,
    { retry_after_s: waitS },
  )
}

/**
 * Charges all reads of routes that are registered in `app` from now on, and requests of addresses that are none; `http/send.ts`
 * and the routes charge for their bodies. Calls that write have limits of their own: reading must not use them up.
 *
 * @example
 * chargeRequests(server, { budget: new CostBudget(200_000), largeAnswers: new LargeAnswers() })
 * server.get('/parcels', …)
 */
export function chargeRequests(app: FastifyInstance, limits: CostLimits): void {
  app.decorateRequest('costAccount', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    const { method, is404, routeOptions } = request
    const { cost = SMALL_ANSWER_UNITS } = routeOptions.config
    const isRead = method === 'GET' || method === 'HEAD' || routeOptions.config.cost !== undefined
    if (!is404 && (!isRead || cost === 0)) return done()
    const account = new CostAccount(clientAddress(request), limits)
    request.costAccount = account
    account.charge(reply, cost)
    done()
  })
}
