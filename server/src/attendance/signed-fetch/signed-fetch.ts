import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import { hasSignatureHeaders } from './signature-headers.ts'
import { deleteExpiredRequests, insertSeenRequest } from './signed-fetch-queries.ts'
import type { IncomingRequest, SignedRequest, SingleUse } from './signed-request.ts'
import { verifySignature } from './verify-signature.ts'

export interface SignedFetchOptions {
  readonly db: Db
  readonly clock: Clock
  /** How far the time of a request may be from ours, either way. */
  readonly windowMs: number
  /** The setting `PUBLIC_URL`: where it has a path, clients sign that path too, and a proxy takes it away. */
  readonly publicUrl?: string | undefined
  /** Told of every request once: `accepted`, or the code of the error. */
  readonly onResult?: (result: SignedFetchResult) => void
}

/** In one statement: others have their turn between two. */
const DELETE_BATCH_ROWS = 1_000

export type SignedFetchResult = 'accepted' | ErrorCode

/** Tells who sent a request, and lets each signed request be used once, whichever process gets it. */
export class SignedFetch {
  private readonly options: SignedFetchOptions
  private readonly publicPrefix: string
  constructor(options: SignedFetchOptions) {
    this.options = options
    const { publicUrl } = options
    this.publicPrefix = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '')
  }

  /** Whether a request says that it is signed; whether it is, {@link verify} tells. */
  isSigned({ headers }: Pick<IncomingRequest, 'headers'>): boolean {
    return hasSignatureHeaders(headers)
  }

  /**
   * Who sent the request; from now on it is used up.
   *
   * @throws {AppError} what {@link check} and {@link useUp} throw
   */
  async verify(request: IncomingRequest): Promise<SignedRequest> {
    const signed = this.check(request)
    await this.useUp(signed)
    return signed
  }

  /**
   * Who sent the request. Without {@link useUp} whoever gets hold of it can send it again.
   *
   * @throws {AppError} `not_signed`, `bad_signature`, `signature_expired`, `wrong_signer`, `contract_wallet_unsupported`
   */
  check(request: IncomingRequest): SignedRequest {
    const { clock, windowMs } = this.options
    try {
      return verifySignature(request, { nowMs: clock.nowMs(), windowMs, publicPrefix: this.publicPrefix })
    } catch (error) {
      throw this.told(error)
    }
  }

  /** Makes a second use impossible. @throws {AppError} `signature_used` when this is the second */
  async useUp(unused: SingleUse): Promise<void> {
    this.assertFirstUse(await insertSeenRequest(this.options.db, unused))
  }

  /** For those who use a request up in a statement of their own. @throws {AppError} `signature_used` */
  assertFirstUse(isFirst: boolean): void {
    if (!isFirst) {
      throw this.told(
        new AppError('signature_used', 'This signed request was sent before. Please try again.'),
      )
    }
    this.options.onResult?.('accepted')
  }

  /** Forgets requests whose time is over: they are refused for that alone. */
  async deleteExpired(): Promise<void> {
    const { db, clock } = this.options
    await deleteExpiredRequests(db, { nowMs: clock.nowMs(), batchRows: DELETE_BATCH_ROWS })
  }

  private told(error: unknown): unknown {
    if (error instanceof AppError) this.options.onResult?.(error.code)
    return error
  }
}
