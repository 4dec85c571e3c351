import { ByteWriter } from './byte-writer.ts'
import { fromHex, keccak256, toHex, utf8 } from './bytes.ts'

/** The EIP-712 domain of off-chain attestations: the contract that would revoke or timestamp them. */
export interface Domain {
  readonly name: string
  /** Version of the contract, not of the attestation. */
  readonly version: string
  readonly chainId: bigint
  readonly verifyingContract: string
}

/** The name of the domain on every chain. */
export const DOMAIN_NAME = 'EAS Attestation'

/** Ethereum mainnet: the domain of the tokens that this server signs. */
export const MAINNET_DOMAIN: Domain = {
  name: DOMAIN_NAME,
  version: '0.26',
  chainId: 1n,
  verifyingContract: '0xA1207F3BBa224E2c9c3c6D5aF63D0eb1582Ce587',
}

/** The signed fields of an off-chain attestation; bytes in hex. */
export interface Attestation {
  readonly version: 1 | 2
  readonly schema: string
  readonly recipient: string
  /** Seconds since 1970. */
  readonly time: bigint
  /** Seconds since 1970; 0 is never. */
  readonly expirationTime: bigint
  readonly revocable: boolean
  readonly refUID: string
  readonly data: string
  /** 32 bytes in version 2, absent in version 1. */
  readonly salt?: string
}

export interface TypedField {
  readonly name: string
  readonly type: string
}

const FIELDS_1: readonly TypedField[] = [
  { name: 'version', type: 'uint16' },
  { name: 'schema', type: 'bytes32' },
  { name: 'recipient', type: 'address' },
  { name: 'time', type: 'uint64' },
  { name: 'expirationTime', type: 'uint64' },
  { name: 'revocable', type: 'bool' },
  { name: 'refUID', type: 'bytes32' },
  { name: 'data', type: 'bytes' },
]
/** The fields of each version, in the order in which they are signed. */
export const FIELDS: Readonly<Record<1 | 2, readonly TypedField[]>> = {
  1: FIELDS_1,
  2: [...FIELDS_1, { name: 'salt', type: 'bytes32' }],
}
export const PRIMARY_TYPE = 'Attest'
/** The type of version 0, which is not signed here and not checked. */
export const LEGACY_TYPE = 'Attestation'

export const NO_BYTES32 = `0x${'0'.repeat(64)}`

const DOMAIN_TYPE = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'
const TYPES = {
  1: `${PRIMARY_TYPE}(${fieldsText(FIELDS[1])})`,
  2: `${PRIMARY_TYPE}(${fieldsText(FIELDS[2])})`,
}

/** What does not depend on the attestation is hashed once: it would be half of the work. */
const TYPE_HASHES = { 1: textHash(TYPES[1]), 2: textHash(TYPES[2]) }
const MAINNET_SEPARATOR = hashDomain(MAINNET_DOMAIN)

/** Ethereum's hash, Keccak-256: 32 new bytes. */
export type Keccak = (bytes: Uint8Array) => Uint8Array

export interface HashOptions {
  /** Another implementation of Keccak-256, for a server that has a faster one. Verifying never takes one. */
  readonly hash?: Keccak
}

/** The 32 bytes that the issuer signs (EIP-712). */
export function attestationDigest(
  domain: Domain,
  attestation: Attestation,
  { hash = keccak256 }: HashOptions = {},
): Uint8Array {
  const writer = new ByteWriter().number(0x1901, 2).put(domainSeparator(domain))
  return hash(writer.put(structHash(attestation, { hash })).written())
}

/**
 * The name of an attestation. It is not the signed digest, and names neither signer nor domain. The schema counts as
 * text, in the letter case in which it is written.
 */
export function attestationUid(attestation: Attestation, { hash = keccak256 }: HashOptions = {}): string {
  const { version, schema, recipient, time, expirationTime, revocable, refUID, data, salt } = attestation
  const writer = new ByteWriter()
    .number(version, 2)
    .text(schema)
    .hex(recipient)
    .zeros(20) // in place of the attester, whom off-chain attestations leave out
    .number(time, 8)
    .number(expirationTime, 8)
    .number(revocable ? 1 : 0, 1)
    .hex(refUID)
    .hex(data)
  if (salt !== undefined) writer.hex(salt)
  return toHex(hash(writer.zeros(4).written()))
}

/**
 * The name of a schema.
 *
 * @example
 * schemaUid(EVENT_ATTENDANCE_SCHEMA, NO_ADDRESS, true) // EVENT_ATTENDANCE_UID
 */
export function schemaUid(schema: string, resolver: string, revocable: boolean): string {
  const writer = new ByteWriter().text(schema).hex(resolver)
  return toHex(keccak256(writer.number(revocable ? 1 : 0, 1).written()))
}

export function domainSeparator(domain: Domain): Uint8Array {
  return domain === MAINNET_DOMAIN ? MAINNET_SEPARATOR : hashDomain(domain)
}

function hashDomain({ name, version, chainId, verifyingContract }: Domain): Uint8Array {
  const writer = new ByteWriter().put(textHash(DOMAIN_TYPE)).put(textHash(name)).put(textHash(version))
  return keccak256(writer.number(chainId).hexWord(verifyingContract).written())
}

export function structHash(attestation: Attestation, { hash = keccak256 }: HashOptions = {}): Uint8Array {
  const { version, schema, recipient, time, expirationTime, revocable, refUID, data, salt } = attestation
  const writer = new ByteWriter()
    .put(TYPE_HASHES[version])
    .number(version)
    .hex(schema)
    .hexWord(recipient)
    .number(time)
    .number(expirationTime)
    .number(revocable ? 1 : 0)
    .hex(refUID)
    .put(hash(fromHex(data)))
  if (salt !== undefined) writer.hex(salt)
  return hash(writer.written())
}

function textHash(text: string): Uint8Array {
  return keccak256(utf8(text))
}

function fieldsText(fields: readonly TypedField[]): string {
  return fields.map(({ type, name }) => `${type} ${name}`).join(',')
}
