// Not the package's front door: that one compiles five more WebAssembly modules (65 ms and 18 MB at every start).
import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js'
import { keccak256 } from './keccak256.ts'

const secp256k1 = await instantiateSecp256k1()

const SIGNATURE = /^0x([0-9a-f]{128})(00|01|1b|1c)$/i
/** Wallets write 27 and 28 for 0 and 1. */
const WALLET_RECOVERY_OFFSET = 27

/**
 * The address of a private key of 32 bytes, in lower case.
 *
 * @throws for 32 bytes that are no key: zero, or beyond the curve's order
 * @example
 * addressOf(Buffer.from('01'.padStart(64, '0'), 'hex')) // '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf'
 */
export function addressOf(privateKey: Uint8Array): string {
  return addressOfPublicKey(succeeded(secp256k1.derivePublicKeyUncompressed(privateKey)))
}

/**
 * Signs a text as wallets do ("personal sign"): 65 bytes in hex, the last of them 27 or 28. The same text and key
 * always give the same signature.
 *
 * @throws for 32 bytes that are no key
 * @example
 * signText('hello', key) // '0x…1b', 132 characters
 */
export function signText(text: string, privateKey: Uint8Array): string {
  const { signature, recoveryId } = succeeded(
    secp256k1.signMessageHashRecoverableCompact(privateKey, digestOf(text)),
  )
  const last = (recoveryId + WALLET_RECOVERY_OFFSET).toString(16)
  return `0x${Buffer.from(signature).toString('hex')}${last}`
}

/**
 * Whose signature of a text it is, in lower case; undefined for what is no signature at all. A signature of another
 * text gives an address too, of nobody: compare it. Both forms that the curve allows (s and its negative) are
 * signatures, so never take the signature for the name of what was signed.
 *
 * @example
 * recoverAddress('hello', signText('hello', key)) === addressOf(key) // true
 * recoverAddress('hello', '0x') // undefined
 */
export function recoverAddress(text: string, signatureHex: string): string | undefined {
  const [, compact, last] = SIGNATURE.exec(signatureHex) ?? []
  if (compact === undefined || last === undefined) return undefined
  const recoveryId = Number.parseInt(last, 16) % WALLET_RECOVERY_OFFSET === 0 ? 0 : 1
  const publicKey = secp256k1.recoverPublicKeyUncompressed(
    Buffer.from(compact, 'hex'),
    recoveryId,
    digestOf(text),
  )
  return typeof publicKey === 'string' ? undefined : addressOfPublicKey(publicKey)
}

/** The prefix keeps a signed text from being a transaction; the length counts bytes, not characters. */
function digestOf(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'utf8')
  return keccak256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`), bytes]))
}

/** The first byte of an uncompressed key only says that it is one. */
function addressOfPublicKey(publicKey: Uint8Array): string {
  const hash = keccak256(publicKey.subarray(1))
  return `0x${Buffer.from(hash.subarray(-20)).toString('hex')}`
}

/** The library tells a failure as a text in place of the result. */
function succeeded<T>(result: T | string): T {
  if (typeof result === 'string') throw new Error(result)
  return result
}
