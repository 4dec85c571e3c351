import {
  readIssuerList,
  readRevocationList,
  readTokenLog,
  sameAddress,
  uuidOfBytes32,
  type Verdict,
  type Verification,
  verifyToken,
} from '@landpass/client/tokens'
import type { ShownToken } from '../api/tokens.ts'

/** What the server answered about a token: parsed JSON, of which nothing is believed. */
export interface Proofs {
  readonly attestation: unknown
  readonly issuers: unknown
  /** Undefined where the list could not be read. */
  readonly revocations: unknown
  /** Answers of the public log from its first entry on; left out: no token is known to be in it. */
  readonly log?: readonly unknown[]
}

export interface CheckedToken {
  readonly verdict: Verdict
  /** Why the verdict is `not ours`: the key was stolen, and the signature alone proves nothing. */
  readonly isKeyStolen: boolean
  /** Whether a signed list says that the token was taken back or not. */
  readonly isRevocationKnown: boolean
}

/**
 * Checks a token in the browser: the signature, the key, the list of revocations, and that the page shows what was
 * signed. A server that shows another name or holder than it signed gets the verdict `damaged`.
 *
 * @param nowMs milliseconds since 1970
 */
export function checkToken(shown: ShownToken, proofs: Proofs, nowMs: number): CheckedToken {
  const issuers = readIssuerList(proofs.issuers) ?? []
  const list = readRevocationList(proofs.revocations, { issuers, nowMs })
  const log = readTokenLog(proofs.log ?? [])
  const trust = {
    issuers,
    nowMs,
    ...(list && { isRevoked: list.isRevoked }),
    ...(log && { isLogged: log.isLogged }),
  }
  const checked = verifyToken(proofs.attestation, trust)
  const isGood = checked.verdict !== 'damaged' && checked.verdict !== 'not ours'
  return {
    verdict: isGood ? verdictOf(checked, shown) : checked.verdict,
    isKeyStolen: checked.reason === 'compromised',
    isRevocationKnown: list !== undefined || shown.revoked !== null,
  }
}

function verdictOf(checked: Verification, shown: ShownToken): Verdict {
  if (!saysTheSame(checked, shown)) return 'damaged'
  // The server can say it earlier than its signed list
  return checked.verdict === 'genuine' && shown.revoked !== null ? 'revoked' : checked.verdict
}

/** Whether everything that the page shows is what was signed. */
function saysTheSame({ signed, attendance }: Verification, { id, event, holder, issuer, time }: ShownToken) {
  return (
    signed !== undefined &&
    attendance !== undefined &&
    uuidOfBytes32(attendance.ticketID) === id &&
    uuidOfBytes32(attendance.eventID) === event.uuid &&
    attendance.eventName === event.name &&
    attendance.eventLocation === event.place &&
    Number(attendance.checkInTime) * 1000 === Date.parse(time) &&
    sameAddress(signed.attestation.recipient, holder) &&
    sameAddress(signed.signer, issuer)
  )
}
