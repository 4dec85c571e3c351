import { checksumAddress, isAddress, NO_ADDRESS, sameAddress } from './address.ts'
import {
  type Attestation,
  attestationUid,
  type Domain,
  FIELDS,
  NO_BYTES32,
  PRIMARY_TYPE,
  type TypedField,
} from './attestation.ts'
import { isHex } from './bytes.ts'
import { type Fields, fieldsOf } from './json.ts'

export interface Signature {
  /** 27 or 28. */
  readonly v: number
  /** 32 bytes in hex. */
  readonly r: string
  readonly s: string
}

/** An attestation with its signature, as a package names them. Nothing of it has been compared with anything else. */
export interface SignedAttestation {
  readonly uid: string
  readonly domain: Domain
  readonly attestation: Attestation
  readonly signature: Signature
  readonly signer: string
}

/**
 * Why a value is not a package that can be checked. `package`: not an object of the known form; `legacy`: an attestation of
 * version 0, the oldest form; `version`: a version of attestations that is not 0, 1 or 2; `domain`, `types`, `message`, `message_version`, `v`: the part with the fault.
 */
export type PackageFault =
  | 'package'
  | 'legacy'
  | 'version'
  | 'domain'
  | 'types'
  | 'message'
  | 'message_version'
  | 'v'

export type PackageReading =
  | { readonly signed: SignedAttestation; readonly fault?: never }
  | { readonly signed?: never; readonly fault: PackageFault }

const MAX_UINT64 = 2n ** 64n - 1n
const MAX_UINT256 = 2n ** 256n - 1n
const MESSAGE_KEYS: ReadonlySet<string> = new Set([
  ...FIELDS[2].map(({ name }) => name),
  'nonce', // older packages have it; it is not signed
])

/**
 * Reads the package that explorer and libraries of the Ethereum Attestation Service exchange. All fields must have their
 * JSON type and length: `"false"` is no boolean.
 *
 * @param value parsed JSON
 */
export function readPackage(value: unknown): PackageReading {
  const { sig: sigValue, signer } = fieldsOf(value) ?? {}
  const sig = fieldsOf(sigValue) ?? {}
  const { domain: domainFields, uid } = sig
  const [message, signature] = [fieldsOf(sig.message), fieldsOf(sig.signature)]
  if (!message || !signature || !isHex(uid, 32) || !isAddress(signer)) return { fault: 'package' }
  // Packages of the first libraries name the version in the message alone
  const version = sig.version === undefined ? message.version : sig.version
  // The oldest form has no version at all, or the number 0
  if (version === undefined || version === 0) return { fault: 'legacy' }
  if (version !== 1 && version !== 2) return { fault: 'version' }
  const domain = readDomain(domainFields)
  if (!domain) return { fault: 'domain' }
  if (sig.primaryType !== PRIMARY_TYPE || !areTypes(sig.types, FIELDS[version])) return { fault: 'types' }
  if (message.version !== version) return { fault: 'message_version' }
  const attestation = readMessage(message, version)
  if (!attestation) return { fault: 'message' }
  const { v, r, s } = signature
  if (v !== 27 && v !== 28) return { fault: 'v' }
  if (!isHex(r, 32) || !isHex(s, 32)) return { fault: 'package' }
  return { signed: { uid, domain, attestation, signature: { v, r, s }, signer } }
}

/**
 * Reads a domain: name, version, chainId (a number or decimal text) and verifyingContract, and no other field.
 *
 * @returns undefined for another value
 */
export function readDomain(value: unknown): Domain | undefined {
  const fields = fieldsOf(value)
  if (!fields || Object.keys(fields).length !== 4) return undefined
  const { name, version, verifyingContract } = fields
  const chainId = readNumber(fields.chainId, MAX_UINT256)
  if (typeof name !== 'string' || typeof version !== 'string') return undefined
  if (chainId === undefined || !isAddress(verifyingContract)) return undefined
  return { name, version, chainId, verifyingContract }
}

export function sameDomain(a: Domain, b: Domain): boolean {
  return (
    a.name === b.name &&
    a.version === b.version &&
    a.chainId === b.chainId &&
    sameAddress(a.verifyingContract, b.verifyingContract)
  )
}

/**
 * The package of a signed attestation: JSON that {@link readPackage}, the public explorer and the public libraries read.
 * Large numbers are decimal text, addresses have their checksum.
 */
export function packageJson(signed: Omit<SignedAttestation, 'uid'>) {
  const { domain, attestation, signature, signer } = signed
  const { version, schema, recipient, time, expirationTime, revocable, refUID, data, salt } = attestation
  return {
    sig: {
      version,
      uid: attestationUid(attestation),
      domain: {
        name: domain.name,
        version: domain.version,
        chainId: String(domain.chainId),
        verifyingContract: checksumAddress(domain.verifyingContract),
      },
      primaryType: PRIMARY_TYPE,
      types: { [PRIMARY_TYPE]: FIELDS[version] },
      message: {
        version,
        schema,
        recipient: checksumAddress(recipient),
        time: String(time),
        expirationTime: String(expirationTime),
        revocable,
        refUID,
        data,
        ...(salt === undefined ? {} : { salt }),
      },
      signature,
    },
    signer: checksumAddress(signer),
  }
}

/**
 * The address of the public explorer's page for a signed attestation on mainnet. All of it is behind `#`, which browsers
 * do not send.
 */
export async function explorerLink(signed: SignedAttestation): Promise<string> {
  const packed = await zlib(new TextEncoder().encode(JSON.stringify(compactJson(signed))))
  let binary = ''
  for (const byte of packed) binary += String.fromCharCode(byte)
  return `https://easscan.org/offchain/url/#attestation=${encodeURIComponent(btoa(binary))}`
}

/** The short form in links: an array. Times are numbers, so they must be below 2^53. */
function compactJson({ uid, domain, attestation, signature, signer }: SignedAttestation) {
  const { version, schema, recipient, time, expirationTime, revocable, refUID, data, salt } = attestation
  return [
    ...[domain.version, String(domain.chainId), checksumAddress(domain.verifyingContract)],
    ...[signature.r, signature.s, signature.v, checksumAddress(signer), uid, schema],
    recipient === NO_ADDRESS ? '0' : checksumAddress(recipient),
    ...[Number(time), Number(expirationTime), refUID === NO_BYTES32 ? '0' : refUID],
    ...[revocable, data, 0, version, salt],
  ]
}

async function zlib(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new CompressionStream('deflate'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

function readMessage(message: Fields, version: 1 | 2): Attestation | undefined {
  const { schema, recipient, revocable, refUID, data, salt } = message
  const time = readNumber(message.time, MAX_UINT64)
  const expirationTime = readNumber(message.expirationTime, MAX_UINT64)
  if (!Object.keys(message).every((key) => MESSAGE_KEYS.has(key))) return undefined
  if (!isHex(schema, 32) || !isAddress(recipient) || !isHex(refUID, 32) || !isHex(data)) return undefined
  if (time === undefined || expirationTime === undefined || typeof revocable !== 'boolean') return undefined
  const signed = { schema, recipient, time, expirationTime, revocable, refUID, data }
  if (version === 1) return salt === undefined ? { version, ...signed } : undefined
  return isHex(salt, 32) ? { version, ...signed, salt } : undefined
}

/** A JSON number or decimal text without sign and leading zeros, up to a largest one. */
function readNumber(value: unknown, most: bigint): bigint | undefined {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  const isText = typeof value === 'string' && value.length <= 78 && /^(?:0|[1-9]\d*)$/.test(value)
  if (!isNumber && !isText) return undefined
  const read = BigInt(value as number | string)
  return read <= most ? read : undefined
}

function areTypes(value: unknown, fields: readonly TypedField[]): boolean {
  const types = fieldsOf(value)
  if (!types || Object.keys(types).length !== 1) return false
  const given = types[PRIMARY_TYPE]
  if (!Array.isArray(given) || given.length !== fields.length) return false
  return fields.every(({ name, type }, at) => {
    const field = fieldsOf(given[at]) ?? {}
    return field.name === name && field.type === type && Object.keys(field).length === 2
  })
}
