import { randomBytes } from 'node:crypto'
import { type Clock, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import { isNonceOf, PROOF_ALGORITHM } from '../captcha/proof-of-work.ts'
import { isKeyedHash, keyedHash } from '../secrets/keyed-hash.ts'
import type { Vault } from '../secrets/vault.ts'

/** How long a challenge can be solved. Shorter than guesses are stored: each challenge is used once. */
export const CHALLENGE_TTL_MS = 10 * MINUTE_MS
const RANDOM_BYTES = 16

/** A proof of work that a client has to do for one more guess, as a refusal carries it. */
export interface ProofOfWork {
  /** Opaque. */
  readonly challenge: string
  /** How many zero bits `sha256("<challenge>:<nonce>")` must begin with. */
  readonly bits: number
  readonly algorithm: string
  /** ISO 8601, UTC. */
  readonly expires_at: string
}

export interface SolvedChallenge {
  /** Different in every challenge. */
  readonly id: string
  /** How many zero bits the challenge asked for. */
  readonly bits: number
}

/**
 * Challenges for guesses of edit codes. The server stores none: a challenge carries its difficulty and its last second,
 * and a keyed hash of both and the event.
 *
 *   <bits>.<last second, base 36>.<random>.<hash>
 *
 * The proof is `<challenge>:<nonce>`.
 */
export class GuessChallenges {
  private readonly vault: Pick<Vault, 'fingerprint' | 'otherFingerprints'>
  private readonly clock: Clock

  constructor({
    vault,
    clock,
  }: { readonly vault: Pick<Vault, 'fingerprint' | 'otherFingerprints'>; readonly clock: Clock }) {
    this.vault = vault
    this.clock = clock
  }

  make(eventId: number, bits: number): ProofOfWork {
    const untilS = Math.floor((this.clock.nowMs() + CHALLENGE_TTL_MS) / SECOND_MS)
    const content = `${bits}.${untilS.toString(36)}.${randomBytes(RANDOM_BYTES).toString('base64url')}`
    return {
      challenge: `${content}.${keyedHash(this.vault, 'guess-challenge', `${eventId}.${content}`)}`,
      bits,
      algorithm: PROOF_ALGORITHM,
      expires_at: new Date(untilS * SECOND_MS).toISOString(),
    }
  }

  /** @returns undefined for a proof that is wrong, expired, of another event, or no proof at all */
  check(eventId: number, proof: string): SolvedChallenge | undefined {
    const [, challenge = '', content = '', bitsText = '', untilText = '', id = '', hash = '', nonce = ''] =
      PROOF.exec(proof) ?? []
    if (!isKeyedHash(this.vault, 'guess-challenge', `${eventId}.${content}`, hash)) return undefined
    const bits = Number(bitsText)
    const isInTime = Number.parseInt(untilText, 36) * SECOND_MS > this.clock.nowMs()
    return isInTime && isNonceOf(challenge, nonce, bits) ? { id, bits } : undefined
  }
}

/** The challenge; in it the part before the hash, the bits, the last second, the random part and the hash; the nonce. */
const PROOF = /^(((\d{1,2})\.([\da-z]{1,8})\.([\w-]{22}))\.([\w-]{43})):(\d{1,64})$/
