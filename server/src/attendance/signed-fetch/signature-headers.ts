import { AppError } from '../../errors.ts'
import { asObject, parseOrUndefined } from '../../json-object.ts'
import type { IncomingRequest } from './signed-request.ts'

type Headers = IncomingRequest['headers']

const CHAIN_PREFIX = 'x-identity-auth-chain-'
const TIMESTAMP = 'x-identity-timestamp'
const METADATA = 'x-identity-metadata'
const LINK_HEADERS = [`${CHAIN_PREFIX}0`, `${CHAIN_PREFIX}1`, `${CHAIN_PREFIX}2`] as const

/** The headers of a signed request, as openapi.json names them. */
export const SIGNED_FETCH_HEADERS = {
  signedFetchSigner: apiKeyHeader(LINK_HEADERS[0], "First link, JSON: the player's address."),
  signedFetchDelegation: apiKeyHeader(LINK_HEADERS[1], 'Second link, JSON: the wallet delegates to a key.'),
  signedFetchRequest: apiKeyHeader(
    LINK_HEADERS[2],
    'Third link, JSON: that key signs method, path, time and metadata of this request.',
  ),
  signedFetchTimestamp: apiKeyHeader(TIMESTAMP, 'When it was signed: milliseconds since 1970, as digits.'),
  signedFetchMetadata: apiKeyHeader(METADATA, 'JSON text that names the scene, as it was signed.'),
}

/** For `security` of a route: all of these headers belong together. */
export const SIGNED_FETCH = Object.fromEntries(
  Object.keys(SIGNED_FETCH_HEADERS).map((name): [string, string[]] => [name, []]),
)

function apiKeyHeader(name: string, description: string) {
  return { type: 'apiKey', in: 'header', name, description } as const
}

/** Typical metadata has 400 characters; the last link repeats it with escaped quotes. */
const MAX_METADATA_CHARS = 4 * 1024
const MAX_LINK_CHARS = 8 * 1024
/** Milliseconds in decimal digits: no sign, no leading zero, no exponent. */
const TIMESTAMP_TEXT = /^[1-9]\d{0,15}$/
const ADDRESS = /^0x[0-9a-f]{40}$/i
/** The two last are of contracts: of their delegation to a key, and of a request that they sign themselves. */
const SECOND_LINK_TYPES = [
  'ECDSA_EPHEMERAL',
  'ECDSA_EIP_1654_EPHEMERAL',
  'ECDSA_EIP_1654_SIGNED_ENTITY',
] as const

export interface Link {
  readonly payload: string
  readonly signature: string
}

/** The parsed headers of a signed request; nothing of it is verified yet. */
export interface SignatureHeaders {
  /** The address of the wallet that claims to have sent the request, in lower case. */
  readonly owner: string
  /** Whether the owner is a contract, which has no key: it says itself what counts as its signature. */
  readonly isContract: boolean
  /** The delegation of the wallet to a temporary key; undefined where a contract signed the request without one. */
  readonly delegation: Link | undefined
  /** The signature of the request, by that key or by the contract. */
  readonly request: Link
  readonly timestamp: string
  readonly timestampMs: number
  /** The unparsed text, because the signature covers the text. */
  readonly metadata: string
}

/** Whether a request has any header of a signature, valid or not. */
export function hasSignatureHeaders(headers: Headers): boolean {
  return Object.entries(headers).some(([name, value]) => value !== undefined && isSignatureHeader(name))
}

/**
 * Reads the headers of a signed request: three links of the right types in the right order (two, where a contract signed
 * the request itself), a time, and metadata.
 *
 * @throws {AppError} `not_signed` when there is no such header, `bad_signature` when one is missing, repeated, too long
 * or malformed, or when there are more links
 */
export function readSignatureHeaders(headers: Headers): SignatureHeaders {
  if (!hasSignatureHeaders(headers)) {
    throw new AppError('not_signed', 'The request is not signed. Send it from a scene with signedFetch.')
  }
  refuseMoreLinks(headers)
  const timestamp = textOf(headers, TIMESTAMP, 16)
  if (!TIMESTAMP_TEXT.test(timestamp)) throw malformed(TIMESTAMP)
  const metadata = textOf(headers, METADATA, MAX_METADATA_CHARS)
  const signer = readLink(headers, LINK_HEADERS[0], ['SIGNER'])
  const second = readLink(headers, LINK_HEADERS[1], SECOND_LINK_TYPES)
  const isLast = second.type === 'ECDSA_EIP_1654_SIGNED_ENTITY'
  if (isLast && headers[LINK_HEADERS[2]] !== undefined) throw malformed(LINK_HEADERS[2])
  if (!ADDRESS.test(signer.payload) || signer.signature !== '') throw malformed(LINK_HEADERS[0])
  return {
    owner: signer.payload.toLowerCase(),
    isContract: second.type !== 'ECDSA_EPHEMERAL',
    delegation: isLast ? undefined : second,
    request: isLast ? second : readLink(headers, LINK_HEADERS[2], ['ECDSA_SIGNED_ENTITY']),
    timestamp,
    timestampMs: Number(timestamp),
    metadata,
  }
}

function isSignatureHeader(name: string): boolean {
  return name === TIMESTAMP || name === METADATA || name.startsWith(CHAIN_PREFIX)
}

/** Refuses a fourth link, which could hold another signed text, and headers such as `x-identity-auth-chain-00`. */
function refuseMoreLinks(headers: Headers): void {
  for (const name in headers) {
    if (name.startsWith(CHAIN_PREFIX) && !LINK_HEADERS.some((known) => known === name)) {
      throw new AppError('bad_signature', 'The chain of signatures must have exactly three links.')
    }
  }
}

function readLink<Type extends string>(
  headers: Headers,
  name: (typeof LINK_HEADERS)[number],
  types: readonly Type[],
): Link & { readonly type: Type } {
  const link = asObject(parseOrUndefined(textOf(headers, name, MAX_LINK_CHARS)))
  if (!link) throw malformed(name)
  const { type: actualType, payload, signature } = link
  const type = types.find((each) => each === actualType)
  if (type === undefined || typeof payload !== 'string' || typeof signature !== 'string')
    throw malformed(name)
  return { type, payload, signature }
}

/** A repeated header arrives joined with commas or as a list; both are malformed. */
function textOf(headers: Headers, name: string, maxChars: number): string {
  const value = headers[name]
  if (typeof value !== 'string' || value === '' || value.length > maxChars) throw malformed(name)
  return decodeUtf8(value)
}

/** Node.js decodes header bytes as Latin-1, but clients write UTF-8 and sign that text. */
function decodeUtf8(value: string): string {
  if (/^[\x20-\x7e]*$/.test(value)) return value
  const text = Buffer.from(value, 'latin1').toString('utf8')
  return text.includes('\ufffd') ? value : text
}

function malformed(name: string): AppError {
  return new AppError('bad_signature', `The header ${name} is missing or malformed.`, { header: name })
}
