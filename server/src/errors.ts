/**
 * Every way in which a request can fail, and nothing else: `docs/errors.md` is made from this table and a test
 * holds the two together. `code` is for programs and never changes; `status` is the HTTP status; `meaning` and
 * `next` are for people; `where` says which endpoints can answer so.
 */
export const ERRORS = {
  invalid_parameter: {
    status: 400,
    where: 'every endpoint with parameters',
    meaning: 'A path or query parameter is not what the endpoint takes.',
    next: 'The sentence names the parameter, the value received and what is allowed.',
  },
  bad_request: {
    status: 400,
    where: 'every endpoint',
    meaning: 'The request is not well-formed HTTP, has no Host header, or its address cannot be decoded.',
    next: 'Correct the request; percent-encode special characters in the path.',
  },
  invalid_body: {
    status: 400,
    where: 'every endpoint that reads a body',
    meaning: 'The body is not a JSON object, or is nested too deeply.',
    next: 'Send one JSON object, at most 64 KiB and 32 levels deep.',
  },
  not_found: {
    status: 404,
    where: 'every address that is no endpoint',
    meaning: 'There is no endpoint at this address.',
    next: 'See /docs for all endpoints.',
  },
  parcel_not_found: {
    status: 404,
    where:
      '/parcels/:x/:y, /parcels/:tokenId, /parcels/available, /v2/parcels/:x/:y, /v2/contracts/:address/tokens/:id',
    meaning: 'The world has no such parcel.',
    next: 'Check the coordinates or the token id.',
  },
  estate_not_found: {
    status: 404,
    where: '/estates/:id, /estates/:id/map.png, /v2/estates/:id, /v2/contracts/:address/tokens/:id',
    meaning: 'There is no estate with this id.',
    next: 'List estates with /estates, or those of an owner with /addresses/:address/estates.',
  },
  contract_not_found: {
    status: 404,
    where: '/v2/contracts/:address/tokens/:id',
    meaning: 'The contract is not one that holds land.',
    next: 'The sentence names the two that do.',
  },
  district_not_found: {
    status: 404,
    where: '/districts/:id',
    meaning: 'There is no district with this id.',
    next: 'List them all with /districts.',
  },
  bid_not_found: {
    status: 404,
    where: '/bids/:id',
    meaning: 'There is no bid with this id.',
    next: 'A bid id is a hash: 0x and 64 hex digits.',
  },
  publication_not_found: {
    status: 404,
    where: '/publications/:txHash',
    meaning: 'No publication was made by this transaction.',
    next: 'A transaction hash is 0x and 64 hex digits.',
  },
  tile_not_found: {
    status: 404,
    where: '/tiles/:z/:x/:y.png',
    meaning: 'The pyramid has no such tile.',
    next: 'Stay below the maxzoom of /tiles.json; zoom z has 2^z columns and rows, counted from 0.',
  },
  locale_not_found: {
    status: 404,
    where: '/translations/:locale',
    meaning: 'There are no translations for this language.',
    next: 'Use one of the languages that the sentence lists.',
  },
  method_not_allowed: {
    status: 405,
    where: 'every endpoint',
    meaning: 'The endpoint exists, but not for this method.',
    next: 'The Allow header lists the methods.',
  },
  request_timeout: {
    status: 408,
    where: 'every endpoint',
    meaning: 'The request did not arrive in time.',
    next: 'Send the whole request at once.',
  },
  body_too_large: {
    status: 413,
    where: 'every endpoint that reads a body',
    meaning: 'The body is larger than 64 KiB.',
    next: 'Send less.',
  },
  expectation_failed: {
    status: 417,
    where: 'every endpoint',
    meaning: 'The Expect header asks for something that the server does not do.',
    next: 'Leave the header out, or send 100-continue.',
  },
  header_too_large: {
    status: 431,
    where: 'every endpoint',
    meaning: 'The address and headers of the request are larger than 16 KiB.',
    next: 'Shorten the query or the headers.',
  },
  internal_error: {
    status: 500,
    where: 'every endpoint',
    meaning: 'Something went wrong on our side; the log has it under the request id.',
    next: 'Try again; report the x-request-id header if it stays.',
  },
  world_not_loaded: {
    status: 503,
    where: 'every land endpoint',
    meaning: 'The server runs but holds no world yet.',
    next: 'Wait until /health/ready answers 200, or load a world: landpass import <folder>.',
  },
  database_unavailable: {
    status: 503,
    where: 'endpoints answered from the database',
    meaning: 'The database did not answer in time.',
    next: 'Try again after the seconds in Retry-After.',
  },
  too_many_streams: {
    status: 503,
    where: '/v2/changes',
    meaning: 'The server has as many streams open as it may.',
    next: 'Try again after the seconds in Retry-After; /v2/feed?since= tells the same to those who ask.',
  },
  // Attendance
  invalid_coordinates: {
    status: 400,
    where: 'POST /event/:id, PATCH /event/:id',
    meaning: 'The coordinates are not a list of places in the world.',
    next: 'Send x,y pairs of whole numbers separated by semicolons, 1 to 500 of them; the sentence names the first bad one.',
  },
  wrong_edit_code: {
    status: 401,
    where: 'POST /event/:id, PATCH /event/:id, POST /addcodes/:id, POST /event/:id/report',
    meaning: 'The issuer does not know this event id together with this edit code.',
    next: "Copy both from the issuer's e-mail: the event id is a number, the edit code usually six digits.",
  },
  not_signed: {
    status: 401,
    where: 'POST /captcha, POST /claim/:uuid',
    meaning: 'The request carries no signature of a player.',
    next: 'Send it with signedFetch; the old booth signs POST /captcha and solves the image.',
  },
  bad_signature: {
    status: 401,
    where: 'POST /captcha, POST /claim/:uuid',
    meaning: 'The signature does not belong to this request and player.',
    next: 'Sign method, path, time and metadata of this very request, and send it as it was signed.',
  },
  signature_expired: {
    status: 401,
    where: 'POST /captcha, POST /claim/:uuid',
    meaning: 'The time of the signature is too far from ours, or the sign-in behind it has expired.',
    next: "Check the computer's clock; sign in again if it is right.",
  },
  signature_used: {
    status: 401,
    where: 'POST /captcha, POST /claim/:uuid',
    meaning: 'This very signed request was received before.',
    next: 'Sign a new request for each try.',
  },
  wrong_signer: {
    status: 401,
    where: 'POST /captcha, POST /claim/:uuid',
    meaning: 'The request was not signed for a scene.',
    next: 'Send it from a scene with signedFetch: its metadata says signer decentraland-kernel-scene.',
  },
  contract_wallet_unsupported: {
    status: 401,
    where: 'POST /captcha, POST /claim/:uuid',
    meaning: 'The wallet is a contract, whose signatures only the chain can judge.',
    next: 'Claim with a wallet that has a key of its own.',
  },
  captcha_required: {
    status: 403,
    where: 'POST /claim/:uuid',
    meaning: 'The claim needs the answer to a captcha, and there is none pending for this player.',
    next: 'Ask for one with POST /captcha (signed), show its image, and send what the player reads.',
  },
  wrong_captcha: {
    status: 403,
    where: 'POST /claim/:uuid',
    meaning: 'The answer is not what the image shows.',
    next: 'Look again: three tries are possible, then a new captcha is needed.',
  },
  proof_of_work_required: {
    status: 403,
    where: 'POST /claim/:uuid',
    meaning: 'The claim lacks the proof of work that this server asks for, or the proof is wrong.',
    next: 'Take a challenge from POST /captcha and send the nonce that solves it as proof.',
  },
  event_disabled: {
    status: 403,
    where: 'POST /claim/:uuid',
    meaning: 'The organiser has paused this event.',
    next: 'Try again later, or ask the organiser.',
  },
  event_not_open: {
    status: 403,
    where: 'POST /claim/:uuid',
    meaning: 'Tokens of this event are not given out yet.',
    next: 'Come back at the time that data.opens_at names.',
  },
  event_closed: {
    status: 403,
    where: 'POST /claim/:uuid',
    meaning: 'Tokens of this event are no longer given out.',
    next: 'Ask the organiser; they can set another end of the distribution.',
  },
  event_expired: {
    status: 403,
    where: 'POST /claim/:uuid',
    meaning: 'The event has expired at the issuer, which makes no more tokens of it.',
    next: 'The organiser can move the expiry date at the issuer and register the event again.',
  },
  not_at_event: {
    status: 403,
    where: 'POST /claim/:uuid',
    meaning: 'The player does not stand on one of the coordinates of the event.',
    next: 'Go there and try again after a few seconds: positions arrive with a delay.',
  },
  preview_realm: {
    status: 403,
    where: 'POST /claim/:uuid',
    meaning: 'The scene runs in preview, where nobody can tell that a player is in the world.',
    next: 'Deploy the scene: only a deployed scene can claim.',
  },
  event_not_found: {
    status: 404,
    where: 'every endpoint of an event',
    meaning: 'The event is not registered here.',
    next: 'Register it first: with the form at /organise, or with POST /event/:id, its edit code and coordinates (docs/attendance/organisers.md).',
  },
  captcha_not_found: {
    status: 404,
    where: '/captcha/:uuid',
    meaning: 'The captcha is unknown, used or expired.',
    next: 'Ask for a new one with POST /captcha.',
  },
  already_claimed: {
    status: 409,
    where: 'POST /claim/:uuid',
    meaning: 'The address already holds a token of this event.',
    next: 'Look into the wallet; making the token takes a while after the claim.',
  },
  no_codes_left: {
    status: 409,
    where: 'POST /claim/:uuid',
    meaning: 'No claim code is free: all are used, or none are loaded yet.',
    next: 'The organiser can ask the issuer for more, and load them with POST /addcodes/:id.',
  },
  claim_refused: {
    status: 409,
    where: 'POST /claim/:uuid',
    meaning: 'The issuer refused to make this token. Nothing was used up.',
    next: 'The sentence says why; try again later or ask the organiser.',
  },
  too_many_requests: {
    status: 429,
    where: 'every endpoint of the attendance interface, /v2/changes',
    meaning:
      'More requests than this player or network address may send, or more streams than it may have open.',
    next: 'Wait for the seconds in Retry-After.',
  },
  too_many_guesses: {
    status: 429,
    where: 'POST /event/:id, PATCH /event/:id, POST /addcodes/:id, POST /event/:id/report',
    meaning: 'Too many wrong edit codes were sent for this event.',
    next: "Wait for the seconds in Retry-After, then copy the code from the issuer's e-mail.",
  },
  issuer_refused: {
    status: 502,
    where: 'every endpoint that asks the issuer',
    meaning: 'The issuer refuses this server: its key or credentials are not accepted.',
    next: 'The operator has to check the ISSUER_… settings; a new key can take a day to work.',
  },
  issuer_unavailable: {
    status: 503,
    where: 'every endpoint that asks the issuer',
    meaning: 'The issuer did not answer, or not in a way that we understand.',
    next: 'Nothing was lost: try again after the seconds in Retry-After.',
  },
  presence_unavailable: {
    status: 503,
    where: 'POST /claim/:uuid',
    meaning: 'Nobody could tell where the player is. It costs the player nothing.',
    next: 'Try again after the seconds in Retry-After.',
  },
  attendance_not_configured: {
    status: 503,
    where: 'every endpoint of the attendance interface that needs the issuer or the codes',
    meaning: 'This server was started without the settings that attendance needs.',
    next: 'The operator has to set what the sentence names: docs/attendance/operators.md.',
  },
} as const satisfies Record<string, ErrorMeaning>

export interface ErrorMeaning {
  readonly status: number
  readonly where: string
  readonly meaning: string
  readonly next: string
}

export type ErrorCode = keyof typeof ERRORS

/**
 * A failure that the caller may see: a code of the table above, a sentence for a person, facts for a program.
 * Whatever else is thrown is answered as `internal_error`, without its text.
 *
 * @example
 * new AppError('parcel_not_found', 'There is no parcel at 151,0.', { x: 151, y: 0 }).status // 404
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly data: Readonly<Record<string, unknown>>
  constructor(code: ErrorCode, sentence: string, data: Readonly<Record<string, unknown>> = {}) {
    super(sentence)
    this.name = 'AppError'
    this.code = code
    this.data = data
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

/** A failure of a command: shown to the operator as its sentence alone, exit code 1. */
export class CommandError extends Error {
  constructor(sentence: string) {
    super(sentence)
    this.name = 'CommandError'
  }
}
