import { recoverPublicKey } from '@noble/secp256k1'
import { sameAddress } from './address.ts'
import { attestationDigest, attestationUid, type Domain, MAINNET_DOMAIN } from './attestation.ts'
import { bytesNumber, concat, fromHex, keccak256, toHex } from './bytes.ts'
import { type Attendance, decodeAttendance, EVENT_ATTENDANCE_UID } from './event-attendance.ts'
import {
  type PackageFault,
  readPackage,
  type Signature,
  type SignedAttestation,
  sameDomain,
} from './package.ts'
import type { LogQuestion } from './token-log-file.ts'

/** A key of an issuer, as its list of keys publishes it. Times are in seconds since 1970. */
export interface IssuerKey {
  readonly address: string
  /** When it began to sign; undefined is no limit. */
  readonly from?: number | undefined
  /** When it stopped to sign; undefined is no limit. */
  readonly until?: number | undefined
  /** `compromised`: the key was stolen. A thief can sign any time, so the time in a token proves nothing. */
  readonly state: 'active' | 'retired' | 'compromised'
  /** Since when a compromised key counts as stolen. A token counts if a log had it before. Undefined: none of its tokens counts. */
  readonly withdrawn?: number | undefined
  /**
   * A name that you give to the owner of the key. A list of revocations that one key of an owner signed holds for the
   * tokens of all of them, so that it outlives a rotation. Undefined: the key is the only one of its owner.
   */
  readonly issuer?: string | undefined
}

/** What a token is compared with. */
export interface Trust {
  readonly issuers: readonly IssuerKey[]
  /** In milliseconds since 1970. */
  readonly nowMs: number
  /** {@link MAINNET_DOMAIN} where left out. */
  readonly domain?: Domain
  /** Names of the schemas that count; "Event Attendance" where left out. */
  readonly schemas?: readonly string[]
  /** Whether the issuer has revoked a token. Left out: nothing is known to be revoked. */
  readonly isRevoked?: (uid: string, signer: string) => boolean
  /** Whether a token is in a log from before its key was stolen: see `readTokenLog`. Left out: none is. */
  readonly isLogged?: (uid: string, question: LogQuestion) => boolean
}

/** The answers that a holder or a gate gets. */
export type Verdict = 'genuine' | 'expired' | 'revoked' | 'not ours' | 'damaged'

/**
 * What led to a verdict. `uid`, `high_s`, `signature`: the signature is not one of these fields. `signer`: a key that is not
 * in the list. `key_time`: outside of the time of the key. `compromised`: the key was stolen, and no log has the token.
 * `schema`: something else was attested, or the data are not those of the schema. `future`: made later than now, so one of the
 * two clocks is wrong.
 */
export type VerdictReason =
  | PackageFault
  | 'uid'
  | 'high_s'
  | 'signature'
  | 'signer'
  | 'key_time'
  | 'compromised'
  | 'schema'
  | 'future'

export interface Verification {
  readonly verdict: Verdict
  /** Undefined for `genuine`, `expired` and `revoked`. */
  readonly reason?: VerdictReason
  /** What the package says, where it can be read. Believe it only if {@link verdict} is not `damaged` or `not ours`. */
  readonly signed?: SignedAttestation
  /** What the token says; undefined where its schema is not "Event Attendance". */
  readonly attendance?: Attendance
}

/** The order of the curve's group. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
/** Clocks of issuer and verifier may differ by so much. */
const CLOCK_TOLERANCE_S = 300
const NOT_OURS: ReadonlySet<VerdictReason> = new Set([
  'legacy',
  'version',
  'domain',
  'signer',
  'key_time',
  'compromised',
  'schema',
])

/**
 * Checks a token without any server. The first rule that fails decides: form of the package, domain, uid, signature, key,
 * schema, time, revocation, expiry. Never throws.
 *
 * @param value the parsed JSON of a package
 * @example
 * const trust = { issuers: [{ address: '0x5026…29d0', state: 'active' }], nowMs: Date.now() }
 * verifyToken(JSON.parse(text), trust).verdict // 'genuine'
 */
export function verifyToken(value: unknown, trust: Trust): Verification {
  const { signed, fault } = readPackage(value)
  if (!signed) return refused(fault)
  const reason = faultOf(signed, trust)
  if (reason) return refused(reason, signed)
  const { uid, signer, attestation } = signed
  const isAttendance = attestation.schema.toLowerCase() === EVENT_ATTENDANCE_UID
  const attendance = isAttendance ? decodeAttendance(attestation.data) : undefined
  if (isAttendance && !attendance) return refused('schema', signed)
  const checked = { signed, ...(attendance && { attendance }) }
  if (attestation.revocable && trust.isRevoked?.(uid.toLowerCase(), signer.toLowerCase()))
    return { verdict: 'revoked', ...checked }
  const { expirationTime } = attestation
  if (expirationTime !== 0n && expirationTime <= BigInt(Math.floor(trust.nowMs / 1000)))
    return { verdict: 'expired', ...checked }
  return { verdict: 'genuine', ...checked }
}

/**
 * The address that signed 32 bytes, in lower case.
 *
 * @returns undefined for a signature that is none, or has the high one of the two forms of s
 */
export function recoverSigner(digest: Uint8Array, { v, r, s }: Signature): string | undefined {
  if (isHighS(s)) return undefined
  try {
    const bytes = concat(new Uint8Array([v - 27]), fromHex(r), fromHex(s))
    const publicKey = recoverPublicKey(bytes, digest, { prehash: false, isCompressed: false })
    // The first byte of an uncompressed key is only a marker
    return toHex(keccak256(publicKey.subarray(1)).subarray(-20))
  } catch {
    return undefined
  }
}

function faultOf(signed: SignedAttestation, trust: Trust): VerdictReason | undefined {
  const { attestation, domain, signature, uid, signer } = signed
  if (!sameDomain(domain, trust.domain ?? MAINNET_DOMAIN)) return 'domain'
  if (attestationUid(attestation) !== uid.toLowerCase()) return 'uid'
  if (isHighS(signature.s)) return 'high_s'
  const recovered = recoverSigner(attestationDigest(domain, attestation), signature)
  if (recovered === undefined || !sameAddress(recovered, signer)) return 'signature'
  return keyFault(signed, trust) ?? contentFault(signed, trust)
}

/** Whether the key may have signed the token. */
function keyFault({ attestation, signer, uid }: SignedAttestation, trust: Trust): VerdictReason | undefined {
  const keys = trust.issuers.filter(({ address }) => sameAddress(address, signer))
  if (keys.length === 0) return 'signer'
  const time = Number(attestation.time)
  const inTime = keys.filter(({ from = 0, until = Number.POSITIVE_INFINITY }) => time >= from && time < until)
  if (inTime.length === 0) return 'key_time'
  const isBelieved = ({ state, withdrawn: before }: IssuerKey) =>
    state !== 'compromised' ||
    (before !== undefined && trust.isLogged?.(uid.toLowerCase(), { signer, before }) === true)
  return keys.every(isBelieved) ? undefined : 'compromised'
}

function contentFault(
  { attestation }: SignedAttestation,
  { schemas = [EVENT_ATTENDANCE_UID], nowMs }: Trust,
): VerdictReason | undefined {
  const schema = attestation.schema.toLowerCase()
  if (!schemas.some((known) => known.toLowerCase() === schema)) return 'schema'
  return Number(attestation.time) > nowMs / 1000 + CLOCK_TOLERANCE_S ? 'future' : undefined
}

function isHighS(s: string): boolean {
  return bytesNumber(fromHex(s)) > ORDER / 2n
}

function refused(reason: VerdictReason, signed?: SignedAttestation): Verification {
  const verdict = NOT_OURS.has(reason) ? 'not ours' : 'damaged'
  return { verdict, reason, ...(signed && { signed }) }
}
