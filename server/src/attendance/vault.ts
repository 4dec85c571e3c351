import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** What a secret is for. Each kind has its own key, so one kind cannot be decrypted as another. */
export type SecretKind = 'claim-code' | 'captcha' | 'issuer-token' | 'organiser-pass' | 'guess-challenge'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts secrets for the database: AES-256-GCM with a random nonce for each secret, and keys that are derived from
 * `ATTENDANCE_KEY`. An encrypted ("sealed") secret is nonce, tag and ciphertext; the ciphertext is as long as the secret.
 *
 * @example
 * const vault = new Vault(randomBytes(32))
 * vault.open('claim-code', vault.seal('claim-code', 'k3v9zq')) // 'k3v9zq'
 */
export class Vault {
  private readonly key: Buffer
  private readonly derived = new Map<string, Buffer>()
  /** @param key 32 bytes */
  constructor(key: Buffer) {
    if (key.length !== 32) throw new Error('a vault needs a key of 32 bytes')
    this.key = key
  }

  seal(kind: SecretKind, secret: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.keyFor(kind), nonce)
    const hidden = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), hidden])
  }

  /** @throws {UnreadableSecretError} when the bytes were changed, or sealed with another key or for another kind */
  open(kind: SecretKind, sealed: Buffer): string {
    const nonce = sealed.subarray(0, NONCE_BYTES)
    const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.keyFor(kind), nonce, { authTagLength: TAG_BYTES })
      decipher.setAuthTag(tag)
      const hidden = sealed.subarray(NONCE_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(hidden), decipher.final()]).toString('utf8')
    } catch {
      throw new UnreadableSecretError(kind)
    }
  }

  canOpen(kind: SecretKind, sealed: Buffer): boolean {
    try {
      this.open(kind, sealed)
      return true
    } catch (error) {
      if (error instanceof UnreadableSecretError) return false
      throw error
    }
  }

  /** A keyed hash (HMAC-SHA256) of a secret: equal for equal secrets, so a stored secret is found without decryption. */
  fingerprint(kind: SecretKind, secret: string): Buffer {
    return createHmac('sha256', this.keyFor(`${kind} fingerprint`))
      .update(secret)
      .digest()
  }

  private keyFor(purpose: string): Buffer {
    const known = this.derived.get(purpose)
    if (known) return known
    const key = Buffer.from(hkdfSync('sha256', this.key, '', `landpass ${purpose}`, 32))
    this.derived.set(purpose, key)
    return key
  }
}

/** Its message holds the kind of the secret and nothing else of it. */
export class UnreadableSecretError extends Error {
  constructor(kind: SecretKind) {
    super(`a stored ${kind} cannot be decrypted: check that ATTENDANCE_KEY is the key it was stored with`)
    this.name = 'UnreadableSecretError'
  }
}
