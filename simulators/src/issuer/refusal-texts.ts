import type { Wording } from './settings.ts'

/** Why the issuer refuses a request. */
export type Refusal =
  | 'player_has_one'
  | 'code_used'
  | 'expired'
  | 'bad_address'
  | 'no_such_code'
  | 'wrong_secret'
  | 'wrong_edit_code'
  | 'not_approved'
  | 'no_event'
  | 'holds_none'
  | 'bad_key'
  | 'bad_token'
  | 'bad_request'
  | 'too_fast'
  | 'unknown_words'

export interface ErrorBody {
  readonly statusCode: number
  readonly error: string
  readonly message: string
}

type Text = readonly [status: number, message: string]

/** The issuer's statuses and messages, by year where they changed: from its documentation and from real answers. */
const TEXTS: Readonly<Record<Refusal, Text | Readonly<Record<Wording, Text>>>> = {
  player_has_one: {
    current: [400, 'You already minted a POAP for this drop.'],
    '2022': [400, 'Collector already claimed a code for this Event'],
    oldest: [400, 'Address already claimed a code for this event'],
  },
  code_used: {
    current: [400, 'QR Claim already claimed'],
    '2022': [400, 'QR Claim already claimed'],
    oldest: [400, 'QR is already Claimed'],
  },
  expired: {
    current: [400, 'QR Claim expired'],
    '2022': [400, 'EVENT_EXPIRED'],
    oldest: [400, 'QR Claim expired'],
  },
  bad_address: [400, 'Address is not valid'],
  no_such_code: {
    current: [404, 'Qr Claim not found'],
    '2022': [400, 'QR Claim not found'],
    oldest: [404, 'QR Claim not found'],
  },
  wrong_secret: {
    current: [404, 'INVALID_SECRET'],
    '2022': [404, 'INVALID_SECRET'],
    oldest: [404, 'Invalid secret'],
  },
  wrong_edit_code: {
    current: [403, 'INVALID_SECRET_CODE'],
    '2022': [400, 'INVALID_SECRET_CODE'],
    oldest: [500, 'Incorrect Edit Code'],
  },
  not_approved: [400, 'The event is waiting for approval'],
  no_event: [404, 'Invalid Event'],
  holds_none: [404, 'The address holds no token of this event'],
  bad_key: [403, 'FORBIDDEN'],
  bad_token: [401, 'UNAUTHORIZED'],
  bad_request: [400, 'The request is not well-formed'],
  too_fast: [429, 'Too many requests'],
  unknown_words: [400, 'Something is not as it should be'],
}

const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
}

export function refusalBody(refusal: Refusal, wording: Wording): ErrorBody {
  const text = TEXTS[refusal]
  const [statusCode, message] = isText(text) ? text : text[wording]
  return { statusCode, error: PHRASES[statusCode] ?? 'Error', message }
}

function isText(text: Text | Readonly<Record<Wording, Text>>): text is Text {
  return Array.isArray(text)
}
