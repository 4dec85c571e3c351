import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** What a secret is for: each has a key of its own, so that one kind can never be read as another. */
export type SecretKind = 'claim-code' | 'captcha' | 'issuer-token'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Keeps secrets that have to lie in the database: AES-256-GCM, a random nonce for each, under keys that are derived
 * from `ATTENDANCE_KEY`. Sealed: nonce, tag, then as many bytes as the secret has.
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

  /** @throws {UnreadableSecretError} for what was changed, or sealed with another key or for another purpose */
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

  /** The same for the same secret, and no way back: tells whether a secret is known without reading any. */
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

/** Says nothing of the secret but what kind it is. */
export class UnreadableSecretError extends Error {
  constructor(kind: SecretKind) {
    super(`a stored ${kind} cannot be read: is ATTENDANCE_KEY the one that it was stored with?`)
    this.name = 'UnreadableSecretError'
  }
}
