import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import { waitText } from '../wait-text.ts'
import { addFailure } from './failure-queries.ts'
import { IssuerError } from './issuer.ts'

const DEFAULT_RETRY_AFTER_S = 5

/** A registered event: failures of the issuer are stored for the report to its organiser. */
export interface AboutEvent {
  readonly db: Db
  readonly clock: Clock
  readonly eventId: number
  /** Whether to leave out `busy`, asked after the failure: what strangers send too often must not fill the report. */
  readonly withoutBusy?: () => boolean
}

/**
 * Asks the issuer for a request that waits for the answer.
 *
 * @param about left out for an event that is not registered yet
 * @throws {AppError} `issuer_refused` or `issuer_unavailable` instead of an {@link IssuerError}
 */
export async function askIssuer<T>(question: () => Promise<T>, about?: AboutEvent): Promise<T> {
  try {
    return await question()
  } catch (error) {
    if (!(error instanceof IssuerError)) throw error
    if (about && !(about.withoutBusy?.() && error.kind === 'busy'))
      await addFailure(about.db, about.eventId, error, about.clock.nowMs())
    throw asAppError(error)
  }
}

function asAppError(error: IssuerError): AppError {
  if (error.kind === 'refused') {
    return new AppError(
      'issuer_refused',
      "The token issuer does not accept this server's key or credentials. Ask the operator of the server to check them.",
    )
  }
  const waitS = Math.ceil((error.retryAfterMs ?? DEFAULT_RETRY_AFTER_S * 1000) / 1000)
  const sentence =
    error.kind === 'busy'
      ? `The token issuer gets too many requests now. Nothing was lost; please try again in ${waitText(waitS)}.`
      : `The token issuer does not answer now. Nothing was lost; please try again in ${waitText(waitS)}.`
  return new AppError('issuer_unavailable', sentence, { retry_after_s: waitS })
}
