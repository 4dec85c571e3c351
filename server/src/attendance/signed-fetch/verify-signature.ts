import { hash } from 'node:crypto'
import { SECOND_MS } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import type { ContractWallets } from './contract-wallets.ts'
import { type Delegation, parseDelegation } from './delegation.ts'
import { ProvenDelegations } from './proven-delegations.ts'
import { readSceneMetadata } from './scene-metadata.ts'
import { type Link, readSignatureHeaders, type SignatureHeaders } from './signature-headers.ts'
import type { IncomingRequest, SignedRequest } from './signed-request.ts'
import { areSignedAsNamed, type CheckSigners } from './signer-check.ts'

export interface VerifyOptions {
  readonly nowMs: number
  /** How far the time of a request may be from the server's time, in the past or future. */
  readonly windowMs: number
  /** Prefix that a proxy removes from the path: clients sign the path with it. */
  readonly publicPrefix?: string
  /** Checks the signatures; on the calling thread if left out. */
  readonly checkSigners?: CheckSigners | undefined
  /** Undefined where there is no node that could be asked: then wallets that are contracts are refused. */
  readonly contractWallets?: ContractWallets | undefined
}

const provenDelegations = new ProvenDelegations(10_000)

/**
 * Verifies who sent a request ("signed fetch"): a wallet delegated to a temporary key, and that key signed method, path,
 * time and metadata. Cheap checks come first and the signatures last, so that forged requests cost little CPU time.
 * A wallet that is a contract is asked at an Ethereum node, and may sign a request without such a key.
 * It does not check whether the request was used before: see {@link SignedRequest.hash}.
 *
 * @throws {AppError} `not_signed`, `bad_signature`, `signature_expired`, `wrong_signer`; for contracts also
 * `contract_wallet_unsupported`, `wallet_check_unavailable`, `too_many_requests`; nothing else, whatever the headers hold
 * @example
 * const request = { method: 'POST', path: '/captcha', headers, body: Buffer.alloc(0) }
 * const { address } = await verifySignature(request, { nowMs, windowMs: MINUTE_MS })
 * // '0xe05fcc23807536bee418f142d19fa0d21bb0cff7'
 */
export async function verifySignature(
  request: IncomingRequest,
  options: VerifyOptions,
): Promise<SignedRequest> {
  const headers = readSignatureHeaders(request.headers)
  if (headers.isContract && !options.contractWallets) throw unsupportedContract()
  refuseFarTime(headers.timestampMs, options)
  assertSignedText(request, headers, options.publicPrefix ?? '')
  const metadata = readSceneMetadata(headers.metadata)
  const isBodySigned = checkBody(request.body, metadata.hashPayload)
  const delegation = headers.delegation && readDelegation(headers.delegation, options.nowMs)
  if (!(await areSignaturesRight(headers, delegation, options)))
    throw new AppError('bad_signature', 'The signatures were not made by this player.')
  return {
    address: headers.owner,
    hash: hashOf(headers, delegation),
    expiresAtMs: headers.timestampMs + options.windowMs,
    isBodySigned,
    isPreview: metadata.isPreview,
    isGuest: metadata.isGuest,
  }
}

/** A time too far in the future is refused too: that signature would be valid until then. */
function refuseFarTime(timestampMs: number, { nowMs, windowMs }: VerifyOptions): void {
  const offMs = timestampMs - nowMs
  if (Math.abs(offMs) <= windowMs) return
  const seconds = Math.ceil(Math.abs(offMs) / SECOND_MS)
  throw new AppError(
    'signature_expired',
    `The signature is from ${seconds} seconds ${offMs < 0 ? 'ago' : 'ahead'}; at most ` +
      `${Math.floor(windowMs / SECOND_MS)} are allowed. Please check your computer's clock and try again.`,
    { now_ms: nowMs, signed_at_ms: timestampMs },
  )
}

/**
 * Compares the signed text with the request: in the newer form the metadata is as it was sent, in the older form the
 * whole text is in lower case.
 *
 * @throws {AppError} `bad_signature`
 */
function assertSignedText(
  { method, path }: IncomingRequest,
  { timestamp, metadata, request }: SignatureHeaders,
  publicPrefix: string,
): void {
  for (const called of publicPrefix === '' ? [path] : [path, publicPrefix + path]) {
    const newer = `${`${method}:${called}`.toLowerCase()}:${timestamp}:${metadata}`
    if (request.payload === newer || request.payload === newer.toLowerCase()) return
  }
  throw new AppError(
    'bad_signature',
    'The signed text does not match this request: method, path, time or metadata differ.',
  )
}

/**
 * @param hashPayload empty: the client signed that there is no body; undefined: it signs nothing about bodies
 * @returns whether the signature covers the body
 */
function checkBody(body: Buffer, hashPayload: string | undefined): boolean {
  if (hashPayload === undefined) return body.length === 0
  if (hashPayload === '' ? body.length === 0 : hashPayload === hash('sha256', body)) return true
  throw new AppError('bad_signature', 'The body is not the one that was signed.')
}

function readDelegation({ payload }: Link, nowMs: number): Delegation {
  const read = parseDelegation(payload)
  if (!read)
    throw new AppError(
      'bad_signature',
      'The delegation of the signing key is malformed. Please sign in again.',
    )
  if (read.expiresAtMs > nowMs) return read
  throw new AppError('signature_expired', 'Your sign-in has expired. Please sign in again.', {
    now_ms: nowMs,
    expired_at_ms: read.expiresAtMs,
  })
}

async function areSignaturesRight(
  { owner, isContract, delegation: link, request }: SignatureHeaders,
  delegation: Delegation | undefined,
  { checkSigners = areSignedAsNamed, contractWallets }: VerifyOptions,
): Promise<boolean> {
  if (!link || !delegation) return contractWallets!.hasSigned(owner, request.payload, request.signature)
  const { ephemeralAddress, text } = delegation
  // The signature of the request first: a delegation can be copied from a request of another player
  const ofRequest = { text: request.payload, signature: request.signature, signer: ephemeralAddress }
  if (isContract)
    return (await checkSigners([ofRequest])) && contractWallets!.hasSigned(owner, text, link.signature)
  const ofDelegation = { text, signature: link.signature, signer: owner }
  if (provenDelegations.has(owner, delegation, link.signature)) return checkSigners([ofRequest])
  const areRight = await checkSigners([ofRequest, ofDelegation])
  if (areRight) provenDelegations.add(owner, delegation, link.signature)
  return areRight
}

function unsupportedContract(): AppError {
  return new AppError(
    'contract_wallet_unsupported',
    'This wallet is a contract, whose signatures cannot be checked here. Please use a wallet that has its own key.',
  )
}

/** Without the signature: a second valid signature can be computed from each, and each has several spellings. */
function hashOf({ owner, request }: SignatureHeaders, delegation: Delegation | undefined): Buffer {
  return hash('sha256', `${owner}\n${delegation?.ephemeralAddress ?? owner}\n${request.payload}`, 'buffer')
}
