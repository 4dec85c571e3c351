import { isObject } from '../../../json-object.ts'
import type { OutboundAnswer } from '../../../outbound.ts'
import {
  type CodeAtIssuer,
  IssuerError,
  type IssuerEvent,
  type ListedCode,
  type MintAnswer,
} from '../issuer.ts'
import { publicRecord } from './event-record.ts'
import { isMissingRoute, meaningOf, type RefusalMeaning } from './refusal-meanings.ts'

/**
 * Parses the answers of the issuer. Every field is checked before it is used; an answer about another event, code or
 * player than the request is `unavailable`, and so is an answer that cannot be parsed.
 *
 * For every call: 429 and "limit exceeded" are `busy`; 401, 403 and the words for wrong credentials are `refused`, unless
 * the text is about the request; 5xx, 408 and 425 are `unavailable`. Any other 4xx that is not JSON, such as an error page
 * of a proxy, is `unavailable` too, but `rejected` for a mint.
 */

/** Parses the answer to `GET /events/id/{id}`; undefined for an event that the issuer does not know. @throws {IssuerError} */
export function readEventAnswer(answer: OutboundAnswer, eventId: number): IssuerEvent | undefined {
  const call = 'findEvent'
  if (!isSuccess(answer)) {
    meaningOfRefusal(call, answer)
    return isObject(answer.json) ? undefined : throwUnavailable(call, answer)
  }
  const record = publicRecord(answer.json)
  if (!record || record.id !== eventId || typeof record.name !== 'string')
    return throwUnavailable(call, answer)
  return { id: eventId, name: record.name, record }
}

/**
 * Parses the answer to `POST /event/validate`. A wrong edit code is a 200 with `valid: false`. These errors mean false as
 * well: an unknown event; the words for a wrong edit code with any status (400 and 403 are documented, the oldest issuer
 * answered 500); any other 4xx about the request, such as an edit code that is not six digits. A 401 or 403 without such
 * words is about the server's key or token: `refused`.
 *
 * @throws {IssuerError}
 */
export function readVerdict(answer: OutboundAnswer): boolean {
  const call = 'isEditCode'
  const { json } = answer
  if (isSuccess(answer)) {
    return isObject(json) && typeof json.valid === 'boolean' ? json.valid : throwUnavailable(call, answer)
  }
  if (meaningOf(json) === 'wrong_edit_code') return false
  meaningOfRefusal(call, answer)
  return isObject(json) ? false : throwUnavailable(call, answer)
}

/**
 * Parses the answer to `POST /event/{id}/qr-codes`. Before the approval the issuer answers with an empty or short list, or
 * with an error, which is an empty list here. The error for a wrong edit code is an empty list too: `isEditCode` has
 * checked the edit code before, and only that answer is reliable.
 *
 * @throws {IssuerError}
 */
export function readCodeList(answer: OutboundAnswer): readonly ListedCode[] {
  const call = 'listCodes'
  const { json } = answer
  if (isSuccess(answer)) return Array.isArray(json) ? uniqueCodes(json) : throwUnavailable(call, answer)
  if (meaningOf(json) === 'wrong_edit_code') return []
  meaningOfRefusal(call, answer)
  return isObject(json) ? [] : throwUnavailable(call, answer)
}

/**
 * Parses the answer to `GET /actions/claim-qr`; undefined for a code that the issuer does not know, which it answers with
 * a 404, or with a 400 that says so. Any other refusal is `unavailable`: it proves nothing about the code.
 *
 * @throws {IssuerError}
 */
export function readClaimAnswer(answer: OutboundAnswer, code: string): CodeAtIssuer | undefined {
  const call = 'readCode'
  const { json, status } = answer
  if (!isSuccess(answer)) {
    const meaning = meaningOfRefusal(call, answer)
    const isUnknown = meaning === 'no_such_code' || (!meaning && status === 404)
    return isObject(json) && isUnknown ? undefined : throwUnavailable(call, answer)
  }
  if (!isObject(json) || !isAbout(json, code) || typeof json.claimed !== 'boolean')
    return throwUnavailable(call, answer)
  return {
    isClaimed: json.claimed,
    beneficiary: readBeneficiary(json.beneficiary),
    isActive: json.is_active !== false,
    secret: typeof json.secret === 'string' ? json.secret : '',
    txStatus: TX_STATUSES.find((one) => one === json.tx_status) ?? '',
    txHash: readHash(json.tx_hash),
  }
}

/**
 * Parses the answer to `POST /actions/claim-qr`. The text decides, not the status: for a player who has a token and for a
 * used code the status is 400. An unknown 4xx is `rejected`.
 *
 * @throws {IssuerError}
 */
export function readMintAnswer(
  answer: OutboundAnswer,
  { code, address }: { code: string; address: string },
): MintAnswer {
  const call = 'mint'
  const { json } = answer
  if (!isSuccess(answer)) {
    const meaning = meaningOfRefusal(call, answer)
    return (meaning && MINT_ANSWERS[meaning]) ?? 'rejected'
  }
  const isForRequest = isObject(json) && isAbout(json, code) && json.claimed !== false && isFor(json, address)
  return isForRequest ? 'accepted' : throwUnavailable(call, answer)
}

/** Meanings about the player or the code; with any other meaning the answer is `rejected`. */
const MINT_ANSWERS: Readonly<Partial<Record<RefusalMeaning, MintAnswer>>> = {
  player_has_one: 'player_has_one',
  code_used: 'code_used',
  expired: 'expired',
  no_such_code: 'no_such_code',
  bad_address: 'bad_address',
}

const TX_STATUSES = ['waiting_tx', 'pending', 'passed', 'failed', 'bumped'] as const
/** All known codes are six letters or digits; longer ones are accepted. */
const CODE = /^[A-Za-z0-9_-]{1,64}$/
/** The longest e-mail address. */
const MAX_BENEFICIARY_LENGTH = 320

/** A code that is listed twice counts once, and as claimed if one of the two entries is claimed. */
function uniqueCodes(entries: readonly unknown[]): ListedCode[] {
  const claimed = new Map<string, boolean>()
  for (const entry of entries) {
    if (!isObject(entry) || typeof entry.qr_hash !== 'string' || !CODE.test(entry.qr_hash)) continue
    claimed.set(entry.qr_hash, entry.claimed === true || claimed.get(entry.qr_hash) === true)
  }
  return [...claimed].map(([code, isClaimed]) => ({ code, isClaimed }))
}

/**
 * What a refusal says about the request; undefined for unknown words.
 *
 * @throws {IssuerError} for a refusal that is not about the request
 */
function meaningOfRefusal(call: string, answer: OutboundAnswer): RefusalMeaning | undefined {
  const { status, json } = answer
  const meaning = meaningOf(json)
  const facts = { call, status, retryAfterMs: answer.retryAfterMs }
  if (status === 429) throw new IssuerError('busy', facts)
  if (status < 400 || status >= 500 || status === 408 || status === 425 || isMissingRoute(json))
    throw new IssuerError('unavailable', facts)
  if (meaning === 'too_much') throw new IssuerError('busy', facts)
  const isAboutServer = meaning === undefined && (status === 401 || status === 403)
  if (isAboutServer || meaning === 'bad_credentials') throw new IssuerError('refused', facts)
  return meaning
}

function throwUnavailable(call: string, { status, retryAfterMs }: OutboundAnswer): never {
  throw new IssuerError('unavailable', { call, status, retryAfterMs })
}

function isSuccess({ status }: OutboundAnswer): boolean {
  return status >= 200 && status < 300
}

/** Whether the answer names the code of the request, in any letter case. */
function isAbout(claim: Readonly<Record<string, unknown>>, code: string): boolean {
  return typeof claim.qr_hash === 'string' && claim.qr_hash.toLowerCase() === code.toLowerCase()
}

/** Whether the answer names the player, in any letter case, or no address. */
function isFor(claim: Readonly<Record<string, unknown>>, address: string): boolean {
  const beneficiary = readBeneficiary(claim.beneficiary)
  return beneficiary === undefined || beneficiary === address.toLowerCase()
}

function readBeneficiary(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  return value.slice(0, MAX_BENEFICIARY_LENGTH).toLowerCase()
}

function readHash(value: unknown): string | undefined {
  return typeof value === 'string' && /^0x[\da-fA-F]{64}$/.test(value) ? value.toLowerCase() : undefined
}
