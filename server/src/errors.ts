/**
 * Every error code that an answer can have. `npm run generate` makes `docs/errors.md` from this table. A code is for
 * programs and never changes; `status` is the HTTP status; `meaning` and `next` (what to do about it) are for people.
 */
export const ERRORS = {
  invalid_parameter: {
    status: 400,
    meaning: 'A parameter has a value that is not accepted.',
    next: 'The error text names it, its value and what is allowed.',
  },
  bad_request: {
    status: 400,
    meaning: 'Malformed HTTP, or an undecodable address.',
    next: 'Percent-encode special characters in the path.',
  },
  invalid_body: {
    status: 400,
    meaning: 'The body is not a JSON object, or is nested too deeply.',
    next: 'Send one JSON object, at most 64 KiB and 32 levels deep.',
  },
  not_found: {
    status: 404,
    meaning: 'There is no endpoint at this address.',
    next: 'See /docs/interface for all endpoints.',
  },
  parcel_not_found: {
    status: 404,
    meaning: 'There is no such parcel in the world.',
    next: 'Check the coordinates or the token id.',
  },
  estate_not_found: {
    status: 404,
    meaning: 'There is no estate with this id.',
    next: 'List estates with /estates or /addresses/:address/estates.',
  },
  contract_not_found: {
    status: 404,
    meaning: 'This contract does not hold parcels or estates.',
    next: 'Use one of those that the error text names.',
  },
  district_not_found: {
    status: 404,
    meaning: 'There is no district with this id.',
    next: 'List all districts with /districts.',
  },
  bid_not_found: {
    status: 404,
    meaning: 'There is no bid with this id.',
    next: 'Check the id: 0x and 64 hex digits.',
  },
  publication_not_found: {
    status: 404,
    meaning: 'There is no publication with this transaction hash.',
    next: 'Check the hash: 0x and 64 hex digits.',
  },
  token_not_found: {
    status: 404,
    meaning: 'There is no attendance token with this id.',
    next: 'Ask for the tokens of an address: /addresses/:address/tokens.',
  },
  tile_not_found: {
    status: 404,
    meaning: 'There is no image tile at this zoom, column and row.',
    next: 'Use a zoom up to maxzoom of /tiles.json; zoom z has 2^z columns and rows.',
  },
  locale_not_found: {
    status: 404,
    meaning: 'There are no translations for this language.',
    next: 'Use one that the error text lists.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The endpoint exists, but does not accept this method.',
    next: 'The Allow header lists its methods.',
  },
  request_timeout: {
    status: 408,
    meaning: 'The request did not arrive in time.',
    next: 'Send it again, without pauses.',
  },
  body_too_large: {
    status: 413,
    meaning:
      'The body is larger than 64 KiB; 1.4 MiB with a picture, 796 KiB with a list of addresses, 1 KiB for a grant.',
    next: 'Send a smaller body.',
  },
  precondition_failed: {
    status: 412,
    meaning: 'The answer has another ETag than the header If-Match names.',
    next: 'Leave If-Match out.',
  },
  expectation_failed: {
    status: 417,
    meaning: 'The Expect header asks for something that the server does not do.',
    next: 'Leave it out, or send 100-continue.',
  },
  header_too_large: {
    status: 431,
    meaning: 'The address and headers of the request are larger than 16 KiB.',
    next: 'Shorten the query or the headers.',
  },
  internal_error: {
    status: 500,
    meaning: 'The server failed. Its log has the cause under the request id.',
    next: 'Try again, or send the x-request-id header to the operator.',
  },
  world_not_loaded: {
    status: 503,
    meaning: 'No world is loaded yet.',
    next: 'Wait, or import a world: landpass import <folder>.',
  },
  database_unavailable: {
    status: 503,
    meaning: 'The database did not answer in time.',
    next: 'Try again later.',
  },
  database_read_only: {
    status: 503,
    meaning: 'The database accepts no changes: it is a standby, or set to read-only. Nothing was changed.',
    next: 'The operator has to make the database writable.',
  },
  database_full: {
    status: 503,
    meaning: 'The database has no disk space or memory left. Nothing was changed.',
    next: 'The operator has to free or add space.',
  },
  server_stopping: {
    status: 503,
    meaning: 'This process is about to stop. Until it does, it answers all other requests.',
    next: 'Send requests to another process.',
  },
  server_busy: {
    status: 503,
    meaning: 'The server has more requests than it can answer: this one waited for five seconds.',
    next: 'Send fewer at a time.',
  },
  too_many_streams: {
    status: 503,
    meaning: 'The server has reached its limit of open streams.',
    next: 'Try again later, or poll /v2/feed?since=.',
  },
  too_many_large_answers: {
    status: 503,
    meaning: 'The server sends as many large answers as it can.',
    next: 'Try again later, or request less at a time.',
  },
  // Attendance
  invalid_coordinates: {
    status: 400,
    meaning: 'The coordinates are not a list of parcels in the world.',
    next: 'Send 1 to 500 pairs x,y of whole numbers, separated by semicolons. The error text names the first bad one.',
  },
  holders_hidden: {
    status: 403,
    meaning: 'The organiser does not show the list of the holders of this event.',
    next: 'Ask about one address: /events/:id/holders/:address.',
  },
  gifts_not_allowed: {
    status: 403,
    meaning: 'The operator of this server has not allowed tokens for a list at this event.',
    next: 'Ask the operator, then send the list again.',
  },
  event_making_disabled: {
    status: 403,
    meaning: 'No events are made on this server.',
    next: 'Ask the operator, who sets EVENT_MAKERS.',
  },
  operator_only: {
    status: 401,
    meaning: 'Only the operator of this server makes or approves events here and reads how it is.',
    next: 'The operator sends the header Operator-Key.',
  },
  wrong_edit_code: {
    status: 401,
    meaning: 'The issuer does not know this event id together with this edit code.',
    next: "Both are in the issuer's e-mail, or were shown when the event was made here.",
  },
  bad_grant: {
    status: 401,
    meaning: 'The signature does not belong to this grant and event, or the event takes no grants.',
    next: 'Check uuid, secret and signed bytes: docs/attendance/reference.md.',
  },
  not_signed: {
    status: 401,
    meaning: 'The request carries no signature of a player.',
    next: 'Send it with signedFetch. An unsigned claim needs the answer to a captcha that was requested with one.',
  },
  bad_signature: {
    status: 401,
    meaning: 'The signature does not belong to this request and player.',
    next: 'Sign method, path, time and metadata of this request, and do not change it afterwards.',
  },
  signature_expired: {
    status: 401,
    meaning:
      "The time of the signature is too far from the server's time, or the player's sign-in has expired.",
    next: "Check the computer's clock, or sign in again.",
  },
  signature_used: {
    status: 401,
    meaning: 'The same signed request was received before.',
    next: 'Sign a new request for each attempt.',
  },
  wrong_signer: {
    status: 401,
    meaning: 'The request was not signed for a scene.',
    next: 'Send it from a scene with signedFetch.',
  },
  contract_wallet_unsupported: {
    status: 401,
    meaning:
      'The wallet is a contract. This server has no Ethereum node that it could ask about its signature.',
    next: 'Claim with a wallet that has its own private key. The operator can set CHAIN_RPC_URLS.',
  },
  wallet_check_unavailable: {
    status: 503,
    meaning:
      'The wallet is a contract, and no Ethereum node answered whether its signature is right. Nothing was used up.',
    next: 'Sign the request again later.',
  },
  captcha_required: {
    status: 403,
    meaning: 'The claim needs the answer to a captcha, and this player has no open captcha.',
    next: 'Request one with POST /captcha (signed), show its image, and send what the player types.',
  },
  wrong_captcha: {
    status: 403,
    meaning: 'The answer does not match the image of the captcha.',
    next: 'Try again, data.tries_left more times. A captcha takes three answers of its player, and three unsigned ones of each network address.',
  },
  proof_of_work_required: {
    status: 403,
    meaning: 'The proof of work that this server requires is missing or wrong.',
    next: 'Get a challenge from POST /captcha and send its solution as proof.',
  },
  event_cancelled: {
    status: 403,
    meaning: 'The organiser has cancelled this event. Tokens that were given out before stay.',
    next: 'The organiser can take that back.',
  },
  event_disabled: {
    status: 403,
    meaning: 'The organiser has paused this event.',
    next: 'Try again later, or ask the organiser.',
  },
  event_not_open: {
    status: 403,
    meaning: 'Tokens of this event cannot be claimed yet.',
    next: 'Try again at the time in data.opens_at.',
  },
  event_closed: {
    status: 403,
    meaning: 'Tokens of this event can no longer be claimed.',
    next: 'Ask the organiser, who can set a later end time.',
  },
  event_expired: {
    status: 403,
    meaning:
      'The event has expired at the issuer, which makes no more tokens for it; one that was made here is over.',
    next: 'The organiser can move the expiry date there, and register the event again.',
  },
  not_at_event: {
    status: 403,
    meaning: 'The player is not on one of the coordinates of the event.',
    next: 'Go there and try again after a few seconds: the server learns positions with a delay.',
  },
  player_blocked: {
    status: 403,
    meaning: 'The organiser gives this player no token of this event.',
    next: 'The organiser can unblock with POST /event/:id/blocked.',
  },
  guest_refused: {
    status: 403,
    meaning: 'The player is a guest, who loses a token on leaving, and the event gives none to guests.',
    next: 'Sign in with a wallet, then claim again. The organiser can allow guests.',
  },
  grant_required: {
    status: 403,
    meaning: 'The event gives tokens to players who have a grant, and this player has none.',
    next: 'Earn the token. If that is done, try again in a minute, or ask the organiser.',
  },
  preview_realm: {
    status: 403,
    meaning: 'The scene runs in preview, so its players are not in the world.',
    next: 'Ask the organiser for a rehearsal (rehearsal_until), or deploy the scene.',
  },
  event_not_found: {
    status: 404,
    meaning: 'The event is not registered on this server.',
    next: 'Register it first: docs/attendance/organisers.md.',
  },
  captcha_not_found: {
    status: 404,
    meaning: 'The captcha is unknown, already used or expired.',
    next: 'Request a new one with POST /captcha.',
  },
  already_claimed: {
    status: 409,
    meaning: 'The address already holds a token of this event.',
    next: 'Look into the wallet, or at GET /addresses/:address/tokens.',
  },
  nonce_used: {
    status: 409,
    meaning: 'A grant of the event has this nonce, for another player or with another time.',
    next: 'Send the same grant unchanged, or choose a new nonce for a new grant.',
  },
  too_many_grants: {
    status: 409,
    meaning:
      'The event (limit in data is event), or all events of this server together (server), have as many unused grants as the server allows.',
    next: 'Wait. The operator can raise GRANTS_MAX.',
  },
  no_codes_left: {
    status: 409,
    meaning:
      'No claim code is free: all are used. For a list: fewer are free than it needs, and nothing was given.',
    next: 'The organiser can load more with POST /addcodes/:id, or raise the tokens of an event made here.',
  },
  no_codes_loaded: {
    status: 409,
    meaning:
      'The event has no claim codes yet: they were never loaded, or the issuer (for an event made here: the operator) has not approved them.',
    next: 'The organiser loads them with POST /addcodes/:id; of an event made here, wait for the operator.',
  },
  content_changed: {
    status: 409,
    meaning: 'The event was changed or answered since the operator read it. Nothing was stored.',
    next: 'Read it again in /events/waiting.',
  },
  first_code_only: {
    status: 403,
    meaning: 'The edit code is right, but it is one of a co-organiser, which may not do this.',
    next: 'Ask the organiser who made the event.',
  },
  too_many_codes: {
    status: 409,
    meaning: 'The event has as many valid codes for co-organisers as it may have.',
    next: 'Revoke one of them first.',
  },
  event_has_tokens: {
    status: 409,
    meaning: 'The event has tokens or claims, so it cannot be deleted.',
    next: 'Cancel it: PATCH /events/:event with cancelled true.',
  },
  event_refused: {
    status: 409,
    meaning: 'The operator of this server has refused the event, so it gives out no tokens.',
    next: 'The operator can still approve it. Players ask the organiser.',
  },
  claim_refused: {
    status: 409,
    meaning: 'The issuer refused to make this token. No claim code was used.',
    next: 'The error text has the reason. Try again later or ask the organiser.',
  },
  too_many_requests: {
    status: 429,
    meaning: 'Too many requests of this player or network address.',
    next: 'Wait. `limit` in data is waiting_events where it is that of events that wait for the operator.',
  },
  too_many_guesses: {
    status: 429,
    meaning: 'Too many wrong edit codes were sent, by anybody.',
    next: 'Send the pass of an earlier answer, or the solution of data.proof_of_work as proof; or wait. A refused proof stays valid.',
  },
  too_many_pictures: {
    status: 503,
    meaning: 'The server checks one picture at a time, and too many wait.',
    next: 'Try again later. No event was made.',
  },
  issuer_refused: {
    status: 502,
    meaning: 'The issuer does not accept the key or the credentials of this server.',
    next: 'The operator has to check the ISSUER_… settings. A new key can take a day to work.',
  },
  issuer_unavailable: {
    status: 503,
    meaning: 'The issuer did not answer, or sent an answer that the server cannot read.',
    next: 'Try again later. Nothing was lost.',
  },
  event_held: {
    status: 503,
    meaning:
      'The issuer gives contradictory answers about the codes of this event, so its claims are paused.',
    next: 'The organiser asks the issuer, then loads the codes again with POST /addcodes/:id.',
  },
  presence_unavailable: {
    status: 503,
    meaning: 'No presence provider could say where the player is. No claim code was used.',
    next: 'Try again later.',
  },
  attendance_not_configured: {
    status: 503,
    meaning: 'This server was started without settings that attendance needs.',
    next: 'The operator has to set what the error text names: docs/attendance/operators.md.',
  },
} as const satisfies Record<string, ErrorMeaning>

export interface ErrorMeaning {
  readonly status: number
  readonly meaning: string
  readonly next: string
}

export type ErrorCode = keyof typeof ERRORS

/**
 * An error that the client sees: a code of {@link ERRORS}, a text for people, data for programs.
 * Any other error that a handler throws is answered as `internal_error`, without its text.
 *
 * @example
 * new AppError('parcel_not_found', 'There is no parcel at 151,0.', { x: 151, y: 0 }).status // 404
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly data: Readonly<Record<string, unknown>>
  constructor(code: ErrorCode, message: string, data: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.name = 'AppError'
    this.code = code
    this.data = data
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

/** What a client hears of a failure that is not its own; the log has the cause. */
export function internalError(): AppError {
  return new AppError('internal_error', 'Something went wrong on our side.')
}

/** A failure of a command: the operator sees only its text, without a stack; the exit code is 1. */
export class CommandError extends Error {
  /**
   * What everyone may read of it, at `/v2/chain` and `/health/ready`: no path, no address of a service, no text of another
   * program. Undefined where only the operator may read of it.
   */
  readonly publicText: string | undefined

  constructor(message: string, publicText?: string) {
    super(message)
    this.name = 'CommandError'
    this.publicText = publicText
  }
}

/** A failure of a command whose whole text everyone may read: see {@link CommandError.publicText}. */
export class PublicCommandError extends CommandError {
  constructor(message: string) {
    super(message, message)
    this.name = 'PublicCommandError'
  }
}
