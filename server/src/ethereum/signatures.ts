import { publicKeyOf, recoverPublicKey, signRecoverable } from './curve.ts'
import { keccak256 } from './keccak256.ts'

const SIGNATURE = /^0x([0-9a-f]{128})(00|01|1b|1c)$/i
/** Wallets write 27 and 28 for 0 and 1. */
const WALLET_RECOVERY_OFFSET = 27

/**
 * The address of a private key of 32 bytes, in lower case.
 *
 * @throws for 32 bytes that are not a key: zero, or not below the order of the curve
 * @example
 * addressOf(Buffer.from('01'.padStart(64, '0'), 'hex')) // '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf'
 */
export function addressOf(privateKey: Uint8Array): string {
  return addressOfPublicKey(publicKeyOf(privateKey))
}

/**
 * Signs a text as wallets do ("personal sign"): 65 bytes in hex, the last of them 27 or 28. The same text and key
 * always give the same signature.
 *
 * @throws for 32 bytes that are not a key
 * @example
 * signText('hello', key) // '0x…1b', 132 characters
 */
export function signText(text: string, privateKey: Uint8Array): string {
  const { compact, recoveryId } = signRecoverable(digestOfText(text), privateKey)
  const last = (recoveryId + WALLET_RECOVERY_OFFSET).toString(16)
  return `0x${Buffer.from(compact).toString('hex')}${last}`
}

/** A signature in parts; `r` and `s` are 32 bytes, `v` is 27 or 28. */
export interface SplitSignature {
  readonly r: Uint8Array
  readonly s: Uint8Array
  readonly v: number
}

/**
 * Signs 32 bytes as they are. The same digest and key always give the same signature, with the lower one of the two forms
 * of s. What is signed must be unable to be a transaction: the callers build it themselves (EIP-712).
 *
 * @throws for 32 bytes that are not a key
 * @example
 * signDigest(attestationDigest(MAINNET_DOMAIN, attestation), key).v // 27 or 28
 */
export function signDigest(digest: Uint8Array, privateKey: Uint8Array): SplitSignature {
  const { compact, recoveryId } = signRecoverable(digest, privateKey)
  return { r: compact.subarray(0, 32), s: compact.subarray(32), v: recoveryId + WALLET_RECOVERY_OFFSET }
}

/**
 * Recovers the address that signed a text, in lower case; undefined for a malformed signature. The signature of another
 * text gives some other address, so compare the result with the expected one. Each signature has a valid twin (with the
 * negative of s), so do not use a signature as an identifier.
 *
 * @example
 * recoverAddress('hello', signText('hello', key)) === addressOf(key) // true
 * recoverAddress('hello', '0x') // undefined
 */
export function recoverAddress(text: string, signatureHex: string): string | undefined {
  const [, compact, last] = SIGNATURE.exec(signatureHex) ?? []
  if (compact === undefined || last === undefined) return undefined
  const recoveryId = Number.parseInt(last, 16) % WALLET_RECOVERY_OFFSET === 0 ? 0 : 1
  const publicKey = recoverPublicKey({ compact: Buffer.from(compact, 'hex'), recoveryId }, digestOfText(text))
  return publicKey && addressOfPublicKey(publicKey)
}

const STRICT_SIGNATURE = /^0x([0-9a-f]{64})([0-9a-f]{64})(1b|1c)$/
/** Half the order of the curve's group: contracts refuse the twin of a signature, whose s is greater. */
const MAX_LOW_S = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0'

/**
 * Recovers the address that signed a digest, as contracts do it: the last byte is 27 or 28, and s the lower one of its two
 * forms. In lower case; undefined for any other signature.
 *
 * @param signatureHex `0x` and 130 hex digits in lower case
 * @example
 * recoverSigner(digest, '0x…1b') // '0x2c7536e3605d9c16a7a3d7b1898e529396a65c23'
 */
export function recoverSigner(digest: Uint8Array, signatureHex: string): string | undefined {
  const [, r, s, last] = STRICT_SIGNATURE.exec(signatureHex) ?? []
  if (r === undefined || s === undefined || s > MAX_LOW_S) return undefined
  const recoveryId = last === '1b' ? 0 : 1
  const publicKey = recoverPublicKey({ compact: Buffer.from(r + s, 'hex'), recoveryId }, digest)
  return publicKey && addressOfPublicKey(publicKey)
}

/** The hash that wallets sign. With the prefix, a signed text cannot be a transaction. The length is in bytes. */
export function digestOfText(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'utf8')
  return keccak256(Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`), bytes)
}

/** The first byte of an uncompressed key is only a marker, so it is not hashed. */
function addressOfPublicKey(publicKey: Uint8Array): string {
  const hash = keccak256(publicKey.subarray(1))
  return `0x${Buffer.from(hash.subarray(-20)).toString('hex')}`
}
