import type { Clock } from '../../clock.ts'
import { DELETE_BATCH_ROWS } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import type { ContractWallets } from './contract-wallets.ts'
import { hasSignatureHeaders } from './signature-headers.ts'
import { deleteExpiredRequests, insertSeenRequest } from './signed-fetch-queries.ts'
import type { IncomingRequest, SignedRequest, SingleUse } from './signed-request.ts'
import type { CheckSigners } from './signer-check.ts'
import { verifySignature } from './verify-signature.ts'

export interface SignedFetchOptions {
  readonly db: Db
  readonly clock: Clock
  /** How far the time of a request may be from the server's time, in the past or future. */
  readonly windowMs: number
  /** The setting `PUBLIC_URL`. If it has a path, clients sign that path too, and a proxy removes it. */
  readonly publicUrl?: string | undefined
  /** Checks the signatures; on the calling thread if left out. */
  readonly checkSigners?: CheckSigners | undefined
  /** Asks wallets that are contracts; undefined where there is no node for it. */
  readonly contractWallets?: ContractWallets | undefined
  /** Called once for every request with `accepted` or the error code. */
  readonly onResult?: (result: SignedFetchResult) => void
}

/** In place of an event, for requests that name none. */
const NO_EVENT = 0

export type SignedFetchResult = 'accepted' | ErrorCode

/** Verifies signed requests, and lets each be used once in all processes together. */
export class SignedFetch {
  private readonly options: SignedFetchOptions
  private readonly publicPrefix: string
  constructor(options: SignedFetchOptions) {
    this.options = options
    const { publicUrl } = options
    this.publicPrefix = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '')
  }

  /** Whether a request has signature headers; {@link verify} checks them. */
  isSigned({ headers }: Pick<IncomingRequest, 'headers'>): boolean {
    return hasSignatureHeaders(headers)
  }

  /**
   * Verifies who sent a request that names no event, and uses it up.
   *
   * @throws {AppError} what {@link check} and {@link useUp} throw
   */
  async verify(request: IncomingRequest): Promise<SignedRequest> {
    const signed = await this.check(request)
    await this.useUp(signed, NO_EVENT)
    return signed
  }

  /**
   * Verifies who sent the request. Until {@link useUp} the same request can be sent again, also by an attacker.
   *
   * @throws {AppError} what {@link verifySignature} throws
   */
  async check(request: IncomingRequest): Promise<SignedRequest> {
    const { clock } = this.options
    const { publicPrefix } = this
    try {
      return await verifySignature(request, { ...this.options, nowMs: clock.nowMs(), publicPrefix })
    } catch (error) {
      throw this.reported(error)
    }
  }

  /**
   * Marks a request as used.
   *
   * @param eventId the event that its signed path names
   * @throws {AppError} `signature_used` when it was used before
   */
  async useUp(unused: SingleUse, eventId: number): Promise<void> {
    this.assertFirstUse(await insertSeenRequest(this.options.db, unused, eventId))
  }

  /** For callers whose own statement uses the request up. @throws {AppError} `signature_used` */
  assertFirstUse(isFirst: boolean): void {
    if (!isFirst) {
      throw this.reported(
        new AppError('signature_used', 'This signed request was sent before. Please try again.'),
      )
    }
    this.options.onResult?.('accepted')
  }

  /** Deletes used requests that have expired: their time alone makes the server refuse them. */
  async deleteExpired(): Promise<void> {
    const { db, clock } = this.options
    await deleteExpiredRequests(db, { nowMs: clock.nowMs(), batchRows: DELETE_BATCH_ROWS })
  }

  /** Reports a refusal for metrics. @returns the same error */
  private reported(error: unknown): unknown {
    if (error instanceof AppError) this.options.onResult?.(error.code)
    return error
  }
}
