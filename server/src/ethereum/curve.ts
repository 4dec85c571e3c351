import { randomFillSync } from 'node:crypto'
import { CURVE_MODULE } from './curve-module.ts'

/** The part of WebAssembly that is used here: its types come with those of browsers only. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: object }
}

/** What server/wasm/curve.c exports: it says what stands where in input and output. */
interface CurveExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  input_at(): number
  output_at(): number
  input_bytes(): number
  begin(): void
  absorb(from: number, size: number): void
  finish(): void
  start(): void
  blind(): number
  recover(recoveryId: number): number
  sign(): number
  public_key(): number
}

const module = new WebAssembly.Module(Buffer.from(CURVE_MODULE, 'base64'))
const curve = new WebAssembly.Instance(module).exports as CurveExports
curve.start()
// The memory never grows, so these views stay valid
const input = new Uint8Array(curve.memory.buffer, curve.input_at(), curve.input_bytes())
const output = new Uint8Array(curve.memory.buffer, curve.output_at())
randomFillSync(input.subarray(0, 32))
curve.blind()
input.fill(0, 0, 32)

const WORD_BYTES = 32
const SIGNATURE_BYTES = 64
const PUBLIC_KEY_BYTES = 65

/** Ethereum's hash of bytes that stand one after the other. @throws {TypeError} for anything but bytes */
export function hashOf(...parts: readonly Uint8Array[]): Uint8Array {
  curve.begin()
  for (const part of parts) {
    assertBytes(part)
    for (let at = 0; at < part.length; at += input.length) {
      const piece = part.length <= input.length ? part : part.subarray(at, at + input.length)
      input.set(piece)
      curve.absorb(0, piece.length)
    }
  }
  curve.finish()
  return output.slice(0, WORD_BYTES)
}

/**
 * The key that signed a digest, uncompressed; undefined for a signature of no key.
 *
 * @param compact r and s, 64 bytes
 * @param recoveryId 0 to 3
 */
export function recoverPublicKey(
  { compact, recoveryId }: { readonly compact: Uint8Array; readonly recoveryId: number },
  digest: Uint8Array,
): Uint8Array | undefined {
  put(compact, 0, SIGNATURE_BYTES)
  put(digest, SIGNATURE_BYTES, WORD_BYTES)
  return curve.recover(recoveryId) === 1 ? output.slice(0, PUBLIC_KEY_BYTES) : undefined
}

/**
 * Signs a digest, with the lower one of the two forms of s. The same digest and key always give the same signature (RFC 6979).
 *
 * @throws {RangeError} for bytes that are not a key
 */
export function signRecoverable(
  digest: Uint8Array,
  privateKey: Uint8Array,
): { readonly compact: Uint8Array; readonly recoveryId: number } {
  put(digest, 0, WORD_BYTES)
  put(privateKey, WORD_BYTES, WORD_BYTES)
  const recoveryId = curve.sign()
  if (recoveryId < 0) throw new RangeError('not a private key')
  return { compact: output.slice(0, SIGNATURE_BYTES), recoveryId }
}

/**
 * The uncompressed public key of a private one.
 *
 * @throws {RangeError} for bytes that are not a key
 */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  put(privateKey, 0, WORD_BYTES)
  if (curve.public_key() !== 1) throw new RangeError('not a private key')
  return output.slice(0, PUBLIC_KEY_BYTES)
}

/** @throws {TypeError | RangeError} for anything but so many bytes */
function put(bytes: Uint8Array, at: number, length: number): void {
  assertBytes(bytes)
  if (bytes.length !== length) throw new RangeError(`${bytes.length} bytes, wanted ${length}`)
  input.set(bytes, at)
}

/** Texts and lists have lengths as well: they would give a wrong hash, or a key that nobody meant. */
function assertBytes(bytes: Uint8Array): void {
  if (!(bytes instanceof Uint8Array)) throw new TypeError('not a Uint8Array')
}
