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
    meaning: 'The request is not well-formed HTTP, or its address cannot be decoded.',
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
    where: '/parcels/:x/:y, /parcels/:tokenId, /v2/parcels/:x/:y, /v2/contracts/:address/tokens/:id',
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
