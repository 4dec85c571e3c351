import { isAddress, NO_ADDRESS, sameAddress } from './address.ts'
import { type Attestation, NO_BYTES32, schemaUid } from './attestation.ts'
import { concat, isHex, keccak256, numberBytes, toHex, utf8 } from './bytes.ts'
import { fieldsOf } from './json.ts'
import { type IssuerKey, type Trust, verifyToken } from './verify.ts'

/** What an issuer attests about its list of revoked tokens. A schema of our own, which needs no registration. */
export const REVOCATION_LIST_SCHEMA = 'bytes32 revocationListHash,uint64 entries'
export const REVOCATION_LIST_UID = schemaUid(REVOCATION_LIST_SCHEMA, NO_ADDRESS, true)

/** A token that was taken back. */
export interface Revocation {
  /** Both in lower case. */
  readonly uid: string
  readonly signer: string
  /** Seconds since 1970. */
  readonly since: number
  /** What the organiser says. */
  readonly reason: string
}

/** The list as it is published, in parsed JSON. */
export interface RevocationList {
  readonly revoked: readonly Revocation[]
  /** The package of an attestation about {@link revocationListAttestation}. */
  readonly proof: unknown
}

/** A list whose proof is right. */
export interface CheckedRevocations {
  /** As of when nothing else was revoked, in seconds since 1970. */
  readonly asOf: number
  readonly isRevoked: (uid: string, signer: string) => boolean
  /** The entry of a token; undefined where it is not revoked. */
  readonly find: (uid: string, signer: string) => Revocation | undefined
}

/**
 * The attestation that an issuer signs about its list. The same list and time always give the same one.
 *
 * @param timeS as of when the list is complete, in seconds
 */
export function revocationListAttestation(revoked: readonly Revocation[], timeS: number): Attestation {
  const hash = listHash(revoked)
  return {
    version: 2,
    schema: REVOCATION_LIST_UID,
    recipient: NO_ADDRESS,
    time: BigInt(timeS),
    expirationTime: 0n,
    revocable: true,
    refUID: NO_BYTES32,
    data: toHex(concat(hash, numberBytes(revoked.length))),
    salt: toHex(hash),
  }
}

/**
 * Checks the list of an issuer. It says nothing about tokens of other issuers: see {@link IssuerKey.issuer}.
 *
 * @param value parsed JSON
 * @returns undefined for another value, or where none of the issuers has signed it
 */
export function readRevocationList(
  value: unknown,
  { issuers, nowMs, domain }: Pick<Trust, 'issuers' | 'nowMs' | 'domain'>,
): CheckedRevocations | undefined {
  if (!isList(value)) return undefined
  const { revoked, proof } = value
  const trust = { issuers, nowMs, ...(domain && { domain }), schemas: [REVOCATION_LIST_UID] }
  const { verdict, signed } = verifyToken(proof, trust)
  if (verdict !== 'genuine' || !signed) return undefined
  const { data, time } = signed.attestation
  if (data.toLowerCase() !== revocationListAttestation(revoked, 0).data) return undefined
  const entries = new Map(
    revoked
      .filter((entry) => isSameIssuer(issuers, entry.signer, signed.signer))
      .map((entry) => [`${entry.signer} ${entry.uid}`, entry]),
  )
  const find = (uid: string, signer: string) => entries.get(`${signer.toLowerCase()} ${uid.toLowerCase()}`)
  return { asOf: Number(time), find, isRevoked: (uid, signer) => find(uid, signer) !== undefined }
}

/** Whether every trusted key of one address belongs to an issuer that the other address has a key of. */
function isSameIssuer(issuers: readonly IssuerKey[], address: string, other: string): boolean {
  if (sameAddress(address, other)) return true
  const namesOf = (owner: string) =>
    issuers.filter((key) => sameAddress(key.address, owner)).map(({ issuer }) => issuer)
  const names = namesOf(other)
  const owned = namesOf(address)
  return owned.length > 0 && owned.every((issuer) => issuer !== undefined && names.includes(issuer))
}

/** The hash of all entries, each as a line of text. */
function listHash(revoked: readonly Revocation[]): Uint8Array {
  const lines = revoked.map(
    ({ uid, signer, since, reason }) => `${uid} ${signer} ${since} ${JSON.stringify(reason)}\n`,
  )
  return keccak256(utf8(lines.join('')))
}

function isList(value: unknown): value is RevocationList {
  const { revoked, proof } = fieldsOf(value) ?? {}
  return proof !== undefined && Array.isArray(revoked) && revoked.every(isRevocation)
}

function isRevocation(value: unknown): value is Revocation {
  const { uid, signer, since, reason } = fieldsOf(value) ?? {}
  const isLower = (text: string) => text === text.toLowerCase()
  return (
    isHex(uid, 32) &&
    isAddress(signer) &&
    [uid, signer].every(isLower) &&
    Number.isSafeInteger(since) &&
    typeof reason === 'string'
  )
}
