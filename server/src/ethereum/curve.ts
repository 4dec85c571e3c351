import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'

/** r and s in 64 bytes, and which of the keys that fit them is the one that signed: 0 to 3. */
export interface RecoverableSignature {
  readonly compact: Uint8Array
  readonly recoveryId: number
}

/** What a library must do with values whose lengths have been checked; undefined where it refuses them. */
export interface Curve {
  recover(signature: RecoverableSignature, digest: Uint8Array): Uint8Array | undefined
  sign(digest: Uint8Array, privateKey: Uint8Array): RecoverableSignature | undefined
  publicKey(privateKey: Uint8Array): Uint8Array | undefined
}

/** The part of `secp256k1/bindings` that is used: the package has no types for it. */
interface Bindings {
  contextRandomize(seed: Uint8Array): void
  ecdsaRecover(compact: Uint8Array, recoveryId: number, digest: Uint8Array, compressed: false): Uint8Array
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array; recid: number }
  publicKeyCreate(privateKey: Uint8Array, compressed: false): Uint8Array
}

/** The library as native code; undefined on platforms for which its package has none. */
export function nativeCurve(): Curve | undefined {
  const bindings = loadBindings()
  if (!bindings) return undefined
  bindings.contextRandomize(randomBytes(WORD_BYTES))
  return {
    recover: ({ compact, recoveryId }, digest) =>
      unlessRefused(() => bindings.ecdsaRecover(compact, recoveryId, digest, false)),
    sign: (digest, privateKey) =>
      unlessRefused(() => {
        const { signature, recid } = bindings.ecdsaSign(digest, privateKey)
        return { compact: signature, recoveryId: recid }
      }),
    publicKey: (privateKey) => unlessRefused(() => bindings.publicKeyCreate(privateKey, false)),
  }
}

/** The library as WebAssembly, which takes two to three times as long. */
export async function portableCurve(): Promise<Curve> {
  // From the file that defines it: the package as a whole has some 700 exports, and takes longer to load than the server.
  const { instantiateSecp256k1 } = await import('@bitauth/libauth/build/lib/crypto/secp256k1.js')
  const library = await instantiateSecp256k1(randomBytes(WORD_BYTES))
  // What it refuses is answered with a text.
  return {
    recover({ compact, recoveryId }, digest) {
      const key = library.recoverPublicKeyUncompressed(compact, recoveryId as 0 | 1 | 2 | 3, digest)
      return typeof key === 'string' ? undefined : key
    },
    sign(digest, privateKey) {
      const signed = library.signMessageHashRecoverableCompact(privateKey, digest)
      return typeof signed === 'string'
        ? undefined
        : { compact: signed.signature, recoveryId: signed.recoveryId }
    },
    publicKey(privateKey) {
      const key = library.derivePublicKeyUncompressed(privateKey)
      return typeof key === 'string' ? undefined : key
    },
  }
}

const WORD_BYTES = 32
const SIGNATURE_BYTES = 64
const RECOVERY_IDS = [0, 1, 2, 3]

const ofPlatform = nativeCurve() ?? (await portableCurve())

/**
 * The key that signed a digest, uncompressed; undefined for a signature of no key.
 *
 * @throws {TypeError | RangeError} for other lengths, or what is not bytes
 */
export function recoverPublicKey(
  signature: RecoverableSignature,
  digest: Uint8Array,
  curve: Curve = ofPlatform,
): Uint8Array | undefined {
  assertBytes(signature.compact, SIGNATURE_BYTES)
  assertBytes(digest, WORD_BYTES)
  return RECOVERY_IDS.includes(signature.recoveryId) ? curve.recover(signature, digest) : undefined
}

/**
 * Signs a digest, with the lower one of the two forms of s. The same digest and key always give the same signature (RFC 6979).
 *
 * @throws {TypeError | RangeError} for bytes that are not a key, other lengths, or what is not bytes
 */
export function signRecoverable(
  digest: Uint8Array,
  privateKey: Uint8Array,
  curve: Curve = ofPlatform,
): RecoverableSignature {
  assertBytes(digest, WORD_BYTES)
  assertBytes(privateKey, WORD_BYTES)
  return curve.sign(digest, privateKey) ?? refuseKey()
}

/**
 * The uncompressed public key of a private one.
 *
 * @throws {TypeError | RangeError} for bytes that are not a key, other lengths, or what is not bytes
 */
export function publicKeyOf(privateKey: Uint8Array, curve: Curve = ofPlatform): Uint8Array {
  assertBytes(privateKey, WORD_BYTES)
  return curve.publicKey(privateKey) ?? refuseKey()
}

function loadBindings(): Bindings | undefined {
  try {
    return createRequire(import.meta.url)('secp256k1/bindings') as Bindings
  } catch {
    return undefined
  }
}

/** Undefined where the library refuses the values: then it throws. */
function unlessRefused<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function refuseKey(): never {
  throw new RangeError('not a private key')
}

/** A library may fill shorter values with zeros: they would give a key that nobody meant. */
function assertBytes(bytes: Uint8Array, length: number): void {
  if (!(bytes instanceof Uint8Array)) throw new TypeError('not a Uint8Array')
  if (bytes.length !== length) throw new RangeError(`${bytes.length} bytes, wanted ${length}`)
}
