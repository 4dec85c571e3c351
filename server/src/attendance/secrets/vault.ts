import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomFillSync } from 'node:crypto'

/** What a secret is for. Each kind has its own key, so one kind cannot be decrypted as another. */
export type SecretKind =
  | 'claim-code'
  | 'edit-code'
  | 'captcha'
  | 'issuer-token'
  | 'organiser-pass'
  | 'guess-challenge'
  | 'grant-secret'

const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_ID_BYTES = 4

export interface VaultOptions {
  /** Keys that stored values may have been encrypted with, besides the key for new values. */
  readonly otherKeys?: readonly Buffer[]
}

interface VaultKey {
  /** How every value with this key begins. */
  readonly prefix: Buffer
  /** The key for a purpose. */
  derive(purpose: string): Buffer
}

/**
 * Encrypts secrets for the database: AES-256-GCM with a random nonce for each secret, and keys that are derived from
 * `ATTENDANCE_KEY`. An encrypted ("encrypted") secret is four bytes that identify the key, nonce, tag and ciphertext, which is
 * as long as the secret. It is authenticated together with what it belongs to (the event of a code, the uuid of a captcha),
 * so a copy of it in another row cannot be decrypted.
 *
 * Values of all keys of the vault are decrypted. New values have the first key.
 *
 * @example
 * const vault = new Vault(randomBytes(32))
 * vault.decrypt('claim-code', vault.encrypt('claim-code', 'k3v9zq', '90001'), '90001') // 'k3v9zq'
 */
export class Vault {
  private readonly keys: readonly [VaultKey, ...VaultKey[]]

  /** @param key 32 bytes, for new values */
  constructor(key: Buffer, { otherKeys = [] }: VaultOptions = {}) {
    this.keys = [vaultKey(key), ...otherKeys.map(vaultKey)]
  }

  /** Whether there are keys besides the one for new values. */
  get hasOtherKeys(): boolean {
    return this.keys.length > 1
  }

  /** How every value with the key for new values begins. */
  get currentPrefix(): Buffer {
    return this.keys[0].prefix
  }

  /** @param boundTo what the secret belongs to, as {@link open} gets it later */
  encrypt(kind: SecretKind, secret: string, boundTo: string): Buffer {
    const [key] = this.keys
    const nonce = newNonce()
    const cipher = createCipheriv('aes-256-gcm', key.derive(kind), nonce)
    cipher.setAAD(context(kind, boundTo))
    const hidden = [cipher.update(secret, 'utf8'), cipher.final()]
    return Buffer.concat([key.prefix, nonce, cipher.getAuthTag(), ...hidden])
  }

  /**
   * @throws {UnreadableSecretError} when the bytes were changed, or encrypted with a key that the vault does not have, for
   * another kind, or for something else
   */
  decrypt(kind: SecretKind, encrypted: Buffer, boundTo: string): string {
    for (const { prefix, derive } of this.keys) {
      if (!encrypted.subarray(0, KEY_ID_BYTES).equals(prefix)) continue
      const secret = decrypt(derive(kind), encrypted.subarray(KEY_ID_BYTES), context(kind, boundTo))
      if (secret !== undefined) return secret
    }
    throw new UnreadableSecretError(kind)
  }

  canDecrypt(kind: SecretKind, encrypted: Buffer, boundTo: string): boolean {
    try {
      this.decrypt(kind, encrypted, boundTo)
      return true
    } catch (error) {
      if (error instanceof UnreadableSecretError) return false
      throw error
    }
  }

  /** A keyed hash (HMAC-SHA256) of a secret: equal for equal secrets, so a stored secret is found without decryption. */
  fingerprint(kind: SecretKind, secret: string): Buffer {
    return fingerprintWith(this.keys[0], kind, secret)
  }

  /** The keyed hashes of a secret with all other keys, to find what was stored with them. */
  otherFingerprints(kind: SecretKind, secret: string): readonly Buffer[] {
    return this.keys.slice(1).map((key) => fingerprintWith(key, kind, secret))
  }
}

/** Its message holds the kind of the secret and nothing else of it. */
export class UnreadableSecretError extends Error {
  constructor(kind: SecretKind) {
    super(`a stored ${kind} cannot be decrypted: check that ATTENDANCE_KEY is the key it was stored with`)
    this.name = 'UnreadableSecretError'
  }
}

/** Random bytes for many nonces: each call of the generator takes as long as encrypting a code. */
const nonces = Buffer.alloc(256 * NONCE_BYTES)
let nextNonceAt = nonces.length

function newNonce(): Buffer {
  if (nextNonceAt === nonces.length) {
    randomFillSync(nonces)
    nextNonceAt = 0
  }
  const from = nextNonceAt
  nextNonceAt += NONCE_BYTES
  return nonces.subarray(from, nextNonceAt)
}

function vaultKey(key: Buffer): VaultKey {
  if (key.length !== 32) throw new Error('a vault needs a key of 32 bytes')
  const derived = new Map<string, Buffer>()
  const derive = (purpose: string) => {
    const known = derived.get(purpose)
    if (known) return known
    const made = Buffer.from(hkdfSync('sha256', key, '', `landpass ${purpose}`, 32))
    derived.set(purpose, made)
    return made
  }
  return { prefix: derive('key id').subarray(0, KEY_ID_BYTES), derive }
}

function fingerprintWith(key: VaultKey, kind: SecretKind, secret: string): Buffer {
  return createHmac('sha256', key.derive(`${kind} fingerprint`))
    .update(secret)
    .digest()
}

function decrypt(key: Buffer, encrypted: Buffer, context: Buffer): string | undefined {
  const nonce = encrypted.subarray(0, NONCE_BYTES)
  const tag = encrypted.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(context)
    decipher.setAuthTag(tag)
    const hidden = encrypted.subarray(NONCE_BYTES + TAG_BYTES)
    return Buffer.concat([decipher.update(hidden), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

function context(kind: SecretKind, boundTo: string): Buffer {
  return Buffer.from(`${kind}:${boundTo}`)
}
