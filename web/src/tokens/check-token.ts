import {
  isExplorerLink,
  isGift,
  type Revocation,
  readExplorerLink,
  readIssuerList,
  readLogAnswer,
  readRevocationList,
  sameAddress,
  uuidOfBytes32,
  type Verdict,
  type VerdictReason,
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
  /** The answer of the public log with the entry of the token; left out: the token is not known to be in it. */
  readonly log?: unknown
}

export interface CheckedToken {
  readonly verdict: Verdict
  /** Why the verdict is `not ours` or `damaged`. */
  readonly reason: VerdictReason | 'shown' | undefined
  /** A signed list says that the token was not taken back up to this time; undefined where no recent list was read. */
  readonly notRevokedAsOfMs: number | undefined
  /** Whether it says that the organiser gave it to its holder. */
  readonly isGiven: boolean
}

/** A list that is older says nothing about today: the server signs a new one each minute. */
const MAX_LIST_AGE_MS = 86_400_000

/**
 * Checks a token in the browser: the signature, the key, the list of revocations, and that the page shows what was
 * signed. A server that shows another name or holder than it signed gets the verdict `damaged` with the reason `shown`. The
 * number, the picture and the description are not signed.
 *
 * @param nowMs milliseconds since 1970
 */
export function checkToken(shown: ShownToken, proofs: Proofs, nowMs: number): CheckedToken {
  const { verification, notRevokedAsOfMs, isGiven } = checkPackage(proofs, nowMs)
  return { ...verdictOf(verification, shown), notRevokedAsOfMs, isGiven }
}

/** A token that was brought from elsewhere, and why it was taken back. */
export interface CheckedPackage {
  readonly verification: Verification
  readonly notRevokedAsOfMs: number | undefined
  readonly revocation: Revocation | undefined
  readonly isGiven: boolean
  /** The id of its page, where it has one. */
  readonly id: string | undefined
}

/**
 * Checks a token with the keys and lists of this server, whoever gave it: the signature, the key, and the list of revocations.
 *
 * @param nowMs milliseconds since 1970
 */
export function checkPackage(proofs: Proofs, nowMs: number): CheckedPackage {
  const issuers = readIssuerList(proofs.issuers, 'this server') ?? []
  const list = readRevocationList(proofs.revocations, { issuers, nowMs })
  const log = readLogAnswer(proofs.log)
  const trust = {
    issuers,
    nowMs,
    ...(list && { isRevoked: list.isRevoked }),
    ...(log && { isLogged: log.isLogged }),
  }
  const verification = verifyToken(proofs.attestation, trust)
  const { signed, attendance } = verification
  const asOfMs = list && list.asOf * 1000
  const isRecent = asOfMs !== undefined && nowMs - asOfMs <= MAX_LIST_AGE_MS
  return {
    verification,
    notRevokedAsOfMs: isRecent ? asOfMs : undefined,
    id: attendance && uuidOfBytes32(attendance.ticketID),
    revocation: signed && list?.find(signed.uid, signed.signer),
    isGiven: attendance !== undefined && isGift(attendance),
  }
}

function verdictOf(checked: Verification, shown: ShownToken): Pick<CheckedToken, 'verdict' | 'reason'> {
  const { verdict, reason } = checked
  if (verdict === 'damaged' || verdict === 'not ours') return { verdict, reason }
  if (!saysTheSame(checked, shown)) return { verdict: 'damaged', reason: 'shown' }
  // The server can say it earlier than its signed list
  return { verdict: verdict === 'genuine' && shown.revoked !== null ? 'revoked' : verdict, reason }
}

/** Whether the page shows the name, place, time, holder and ids that were signed. */
function saysTheSame({ signed, attendance }: Verification, shown: ShownToken): boolean {
  const { id, uid, event, given, holder, issuer, time } = shown
  return (
    signed !== undefined &&
    attendance !== undefined &&
    signed.uid.toLowerCase() === uid.toLowerCase() &&
    uuidOfBytes32(attendance.ticketID) === id &&
    uuidOfBytes32(attendance.eventID) === event.uuid &&
    attendance.eventName === event.name &&
    attendance.eventLocation === event.place &&
    isGift(attendance) === given &&
    Number(attendance.checkInTime) * 1000 === Date.parse(time) &&
    sameAddress(signed.attestation.recipient, holder) &&
    sameAddress(signed.signer, issuer)
  )
}

/** The package in a link of the public explorer, or in the text of a file. @returns undefined for another text */
export function readBroughtToken(text: string): Promise<unknown> {
  return isExplorerLink(text) ? readExplorerLink(text) : Promise.resolve(parsed(text))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
