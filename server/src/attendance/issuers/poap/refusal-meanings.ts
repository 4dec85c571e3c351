import { asObject } from '../../../json-object.ts'
/** The meaning of a refusal of the issuer, independent of its wording. */
export type RefusalMeaning =
  | 'player_has_one'
  | 'code_used'
  | 'expired'
  | 'bad_address'
  | 'no_such_code'
  | 'wrong_edit_code'
  | 'wrong_secret'
  | 'no_event'
  | 'bad_credentials'
  | 'too_much'

/**
 * Wordings of the last years, as parts of the text in lower case with blanks for underscores. The order matters: "already
 * claimed" occurs for players and for codes, and the player's own token must match first; "invalid secret" is a part of
 * "invalid secret code".
 *
 * Sources: the issuer's documentation of its errors, its client library, its old public server, and reports of partners.
 */
const WORDINGS: readonly (readonly [RefusalMeaning, readonly string[]])[] = [
  ['player_has_one', ['already minted a poap', 'already claimed a code', 'already has this poap']],
  ['code_used', ['qr claim already claimed', 'qr is already claimed']],
  ['expired', ['qr claim expired', 'event expired']],
  ['bad_address', ['address is not valid']],
  ['no_such_code', ['qr claim not found']],
  ['wrong_edit_code', ['invalid secret code', 'secret code missing', 'incorrect edit code']],
  ['wrong_secret', ['invalid secret']],
  ['no_event', ['invalid event']],
  ['bad_credentials', ['invalid credentials', 'unauthorized', 'forbidden']],
  ['too_much', ['limit exceeded']],
]

/**
 * Finds the meaning of the body of a refusal; undefined for an unknown wording, and for a body without text.
 *
 * @example
 * meaningOf({ statusCode: 400, error: 'Bad Request', message: 'QR Claim already claimed' }) // 'code_used'
 */
export function meaningOf(body: unknown): RefusalMeaning | undefined {
  const text = textOf(body)
  return WORDINGS.find(([, parts]) => parts.some((part) => text.includes(part)))?.[0]
}

/** Whether the issuer has no such route: the configured address is wrong, or the interface has changed. */
export function isMissingRoute(body: unknown): boolean {
  return /(^|\n)route \S+ not found/.test(textOf(body))
}

/** Fields with texts of the issuer; other fields may hold user input, such as the name of an event. */
const TEXT_FIELDS = ['message', 'error', 'code', 'error_code', 'errorCode', 'error_description']
const MAX_TEXT_LENGTH = 2_000

function textOf(body: unknown): string {
  return textsIn(body).join('\n').slice(0, MAX_TEXT_LENGTH).toLowerCase().replaceAll('_', ' ')
}

function textsIn(body: unknown): string[] {
  const fields = asObject(body) ?? {}
  return TEXT_FIELDS.flatMap((field) => [fields[field]].flat()).filter((value) => typeof value === 'string')
}
