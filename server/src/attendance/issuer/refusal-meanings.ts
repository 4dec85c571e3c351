/** What the issuer means by a refusal, whichever of its wordings it used. */
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
 * The wordings of the last years, as parts in lower case with blanks for underscores. The order matters: "already
 * claimed" is said of players and of codes, and the player's own token has to be recognised first; "invalid secret"
 * is a part of "invalid secret code".
 *
 * Sources: the issuer's documentation of its errors, its own client library, its old public server, and what its
 * other partners saw.
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
 * Finds what the body of a refusal means; undefined for a wording that we do not know, and for a body without one.
 *
 * @example
 * meaningOf({ statusCode: 400, error: 'Bad Request', message: 'QR Claim already claimed' }) // 'code_used'
 */
export function meaningOf(body: unknown): RefusalMeaning | undefined {
  const text = textOf(body)
  return WORDINGS.find(([, parts]) => parts.some((part) => text.includes(part)))?.[0]
}

/** Whether the issuer's server says that it has no such call: its address is wrong or its interface has changed. */
export function isMissingRoute(body: unknown): boolean {
  return /(^|\n)route \S+ not found/.test(textOf(body))
}

/** Where texts and code words were seen; other fields may hold what a person typed, such as the name of an event. */
const TEXT_FIELDS = ['message', 'error', 'code', 'error_code', 'errorCode', 'error_description']
const MAX_TEXT_LENGTH = 2_000

function textOf(body: unknown): string {
  return textsIn(body).join('\n').slice(0, MAX_TEXT_LENGTH).toLowerCase().replaceAll('_', ' ')
}

function textsIn(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return []
  return TEXT_FIELDS.flatMap((field) => [(body as Record<string, unknown>)[field]].flat()).filter(
    (value) => typeof value === 'string',
  )
}
