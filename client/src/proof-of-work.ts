import type { LandpassError } from './errors.ts'

/** What a refusal with the code `too_many_guesses` asks for: docs/attendance/organisers.md. */
export interface ProofOfWork {
  readonly challenge: string
  /** How many zero bits the hash of the proof must begin with: 2^bits hashes on average. */
  readonly bits: number
  /** ISO 8601, UTC. */
  readonly expires_at: string
}

export interface SolveOptions {
  /** Stops the search: the promise rejects with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Called after each slice, with the number of hashes so far. */
  readonly onProgress?: ((hashes: number) => void) | undefined
}

/** Some milliseconds, so that pages and scenes stay responsive. */
const SLICE_HASHES = 5_000

/**
 * The challenge in a refused call of an organiser; undefined where the refusal has none.
 *
 * @example
 * const asked = proofOfWorkIn(error)
 * if (asked) await client.send(attendance.loadCodes(id, { editCode, proof: await solveProofOfWork(asked) }))
 */
export function proofOfWorkIn({ code, data }: Pick<LandpassError, 'code' | 'data'>): ProofOfWork | undefined {
  const asked = data.proof_of_work as Partial<ProofOfWork> | undefined
  if (code !== 'too_many_guesses' || typeof asked !== 'object' || asked === null) return undefined
  const { challenge, bits, expires_at } = asked
  if (typeof challenge !== 'string' || typeof bits !== 'number' || typeof expires_at !== 'string')
    return undefined
  return { challenge, bits, expires_at }
}

/**
 * Solves a challenge in slices, between which other code runs. In a page, a worker with {@link NonceSearch} is faster.
 *
 * @returns the proof, which counts once
 * @throws the reason of the signal
 */
export async function solveProofOfWork(
  { challenge, bits }: Pick<ProofOfWork, 'challenge' | 'bits'>,
  { signal, onProgress }: SolveOptions = {},
): Promise<string> {
  const search = new NonceSearch(challenge)
  for (let first = 0; ; first += SLICE_HASHES) {
    signal?.throwIfAborted()
    const nonce = search.find(bits, first, SLICE_HASHES)
    if (nonce !== undefined) return proofOf(challenge, nonce)
    onProgress?.(first + SLICE_HASHES)
    await new Promise((resolve) => setTimeout(resolve))
  }
}

/** The proof as requests carry it. */
export function proofOf(challenge: string, nonce: number): string {
  return `${challenge}:${nonce}`
}

const BLOCK_BYTES = 64
/** The end of a message: one bit, and its length in 64 bits. */
const END_BYTES = 9

/**
 * Searches the nonce of one challenge: `sha256("<challenge>:<nonce>")` must begin with enough zero bits. The blocks before
 * the nonce are hashed once.
 *
 * @example
 * new NonceSearch('20.abc').find(8, 0, 1_000) // a number below 1,000, or undefined
 */
export class NonceSearch {
  /** The state of the hash after the whole blocks of the challenge. */
  private readonly before: Int32Array
  /** The rest of the challenge, and the nonce. */
  private readonly block = new Uint8Array(2 * BLOCK_BYTES)
  private readonly restBytes: number
  private readonly wholeBytes: number
  private readonly state = new Int32Array(8)

  constructor(challenge: string) {
    const text = new TextEncoder().encode(`${challenge}:`)
    this.wholeBytes = text.length - (text.length % BLOCK_BYTES)
    this.restBytes = text.length - this.wholeBytes
    this.before = FIRST_STATE.slice()
    for (let at = 0; at < this.wholeBytes; at += BLOCK_BYTES) compress(this.before, text, at)
    this.block.set(text.subarray(this.wholeBytes))
  }

  /** The first fitting nonce of `count` from `first` on. */
  find(bits: number, first: number, count: number): number | undefined {
    for (let nonce = first; nonce < first + count; nonce++) {
      if (this.zeroBits(nonce) >= bits) return nonce
    }
    return undefined
  }

  private zeroBits(nonce: number): number {
    const { block, state } = this
    const digits = String(nonce)
    let at = this.restBytes
    for (let i = 0; i < digits.length; i++) block[at++] = digits.charCodeAt(i)
    const bytes = at + END_BYTES <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES
    const bitLength = 8 * (this.wholeBytes + at)
    block[at++] = 0x80
    block.fill(0, at, bytes)
    // Challenges are short: the upper half of the length is zero
    for (let i = 1; i <= 4; i++) block[bytes - i] = bitLength >>> (8 * (i - 1))
    state.set(this.before)
    for (let from = 0; from < bytes; from += BLOCK_BYTES) compress(state, block, from)
    return state[0] === 0 ? 32 + Math.clz32(state[1]!) : Math.clz32(state[0]!)
  }
}

/** The fractional parts of the square roots of the first eight primes. */
const FIRST_STATE = fractions(8, 1 / 2)
/** The fractional parts of the cube roots of the first 64 primes. */
const ROUNDS = fractions(64, 1 / 3)
const words = new Int32Array(64)

/** 32 bits of each. Doubles are exact enough: the largest root is below 19. */
function fractions(count: number, power: number): Int32Array {
  const found = new Int32Array(count)
  for (let number = 2, at = 0; at < count; number++) {
    if (isPrime(number)) found[at++] = (number ** power % 1) * 2 ** 32
  }
  return found
}

function isPrime(number: number): boolean {
  for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) return false
  return true
}

/** One block of SHA-256 (FIPS 180-4). The names of variables are those of the standard. */
function compress(state: Int32Array, bytes: Uint8Array, from: number): void {
  const w = words
  for (let t = 0; t < 16; t++) {
    const at = from + 4 * t
    w[t] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
  }
  for (let t = 16; t < 64; t++) {
    const x = w[t - 15]!
    const y = w[t - 2]!
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    w[t] = w[t - 16]! + s0 + w[t - 7]! + s1
  }
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  let f = state[5]!
  let g = state[6]!
  let h = state[7]!
  for (let t = 0; t < 64; t++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[t]! + w[t]!) | 0
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
  state[4]! += e
  state[5]! += f
  state[6]! += g
  state[7]! += h
}
