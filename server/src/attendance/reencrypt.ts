import type { Clock } from '../clock.ts'
import type { Db } from '../db/engine.ts'
import { storedToken } from './issuers/poap/access-token-queries.ts'
import {
  type CodePlace,
  countOutdatedCodes,
  type EncryptedCode,
  grantSecrets,
  outdatedCodes,
  pendingCaptchas,
  replaceCodes,
  replaceEncryptedCaptcha,
  replaceEncryptedEditCode,
  replaceEncryptedToken,
  replaceGrantSecret,
  TOKEN_BINDING,
  waitingEditCodes,
} from './secrets/encryption-queries.ts'
import type { SecretKind, Vault } from './secrets/vault.ts'

/** Codes of one statement: it locks them for some milliseconds. */
const BATCH_CODES = 200

export interface ReencryptOptions {
  /** With the key for new values first, and the keys of all stored values besides. */
  readonly vault: Vault
  readonly clock: Clock
  readonly onProgress?: (done: number, total: number) => void
  readonly signal?: AbortSignal
}

export interface Reencrypted {
  /** Codes that are encrypted anew. */
  readonly codes: number
  /** Codes that are not: those that no key of the vault decrypts, and the others after an interruption. */
  readonly left: number
  /** Edit codes that wait for an approval and that no key of the vault decrypts; those that have ended are not counted. */
  readonly editCodesLeft: number
  /** Secrets of grants that no key of the vault decrypts; those that have ended are not counted. */
  readonly secretsLeft: number
  /** Whether the signal ended the work early. */
  readonly isInterrupted: boolean
}

/**
 * Encrypts everything anew with the key of the vault: codes with their keyed hashes, pending captchas, edit codes that wait for
 * an approval, secrets of grants, and the access token of the issuer.
 *
 * It works in small statements while servers run, and it can be stopped and started again at any time: what has the key
 * already is left out. Servers may add codes meanwhile, also behind the place where it is: so it goes through the codes again
 * until all have the key, or no more of them can get it.
 */
export async function reencrypt(
  db: Db,
  { vault, clock, onProgress, signal }: ReencryptOptions,
): Promise<Reencrypted> {
  const total = await countOutdatedCodes(db, vault.currentPrefix)
  let codes = 0
  for (let left = total, before = left + 1; left > 0 && left !== before && !signal?.aborted; ) {
    before = left
    codes += await reencryptOnce(db, vault, { signal, onBatch: (more) => onProgress?.(codes + more, total) })
    left = await countOutdatedCodes(db, vault.currentPrefix)
  }
  await reencryptCaptchas(db, vault)
  const nowMs = clock.nowMs()
  const editCodesLeft = await reencryptEditCodes(db, vault, nowMs)
  const secretsLeft = await reencryptGrantSecrets(db, vault, nowMs)
  await reencryptToken(db, vault)
  return {
    codes,
    left: await countOutdatedCodes(db, vault.currentPrefix),
    editCodesLeft,
    secretsLeft,
    isInterrupted: signal?.aborted ?? false,
  }
}

interface Pass {
  readonly signal: AbortSignal | undefined
  readonly onBatch: (done: number) => void
}

/** Goes through the codes once. @returns how many are encrypted anew */
async function reencryptOnce(db: Db, vault: Vault, { signal, onBatch }: Pass): Promise<number> {
  let codes = 0
  let after: CodePlace = { event_id: -1, id: 0 }
  while (!signal?.aborted) {
    const batch = await outdatedCodes(db, { prefix: vault.currentPrefix, after, limit: BATCH_CODES })
    const last = batch.at(-1)
    if (!last) break
    after = last
    const reencrypted = batch.flatMap((code) => reencryptCode(vault, code) ?? [])
    codes += await replaceCodes(db, reencrypted)
    onBatch(codes)
  }
  return codes
}

function reencryptCode(vault: Vault, { id, event_id, encrypted: old }: EncryptedCode) {
  const event = String(event_id)
  if (!vault.canDecrypt('claim-code', old, event)) return undefined
  const code = vault.decrypt('claim-code', old, event)
  const encrypted = vault.encrypt('claim-code', code, event)
  return { event_id, id, old, encrypted, fingerprint: vault.fingerprint('claim-code', code) }
}

/** The same secret with the key of the vault; undefined where no key decrypts it. */
function reencrypted(vault: Vault, kind: SecretKind, encrypted: Buffer, binding: string): Buffer | undefined {
  if (!vault.canDecrypt(kind, encrypted, binding)) return undefined
  return vault.encrypt(kind, vault.decrypt(kind, encrypted, binding), binding)
}

/** Captchas live for two minutes: one that cannot be decrypted is left alone. */
async function reencryptCaptchas(db: Db, vault: Vault): Promise<void> {
  for (const { uuid, encrypted: old } of await pendingCaptchas(db, vault.currentPrefix)) {
    const encrypted = reencrypted(vault, 'captcha', old, uuid)
    if (encrypted) await replaceEncryptedCaptcha(db, { uuid, old, encrypted })
  }
}

/** An edit code that cannot be decrypted is left alone: servers delete it after 14 days. @returns how many are left alone */
async function reencryptEditCodes(db: Db, vault: Vault, nowMs: number): Promise<number> {
  let left = 0
  const stored = await waitingEditCodes(db, vault.currentPrefix)
  for (const { event_id: eventId, encrypted: old, until_ms } of stored) {
    const encrypted = reencrypted(vault, 'edit-code', old, String(eventId))
    if (encrypted) await replaceEncryptedEditCode(db, { eventId, old, encrypted })
    else if (until_ms > nowMs) left += 1
  }
  return left
}

/** One that cannot be decrypted is left alone: the organiser makes a new one. @returns how many are left alone */
async function reencryptGrantSecrets(db: Db, vault: Vault, nowMs: number): Promise<number> {
  let left = 0
  const stored = await grantSecrets(db, vault.currentPrefix)
  for (const { id, event_id, encrypted: old, valid_until_ms } of stored) {
    const encrypted = reencrypted(vault, 'grant-secret', old, String(event_id))
    if (encrypted) await replaceGrantSecret(db, { event_id, id, old, encrypted })
    else if (valid_until_ms === null || valid_until_ms > nowMs) left += 1
  }
  return left
}

/** A token that cannot be decrypted is requested anew by the servers. */
async function reencryptToken(db: Db, vault: Vault): Promise<void> {
  const { encrypted: old } = await storedToken(db)
  const encrypted = old && reencrypted(vault, 'issuer-token', old, TOKEN_BINDING)
  if (encrypted) await replaceEncryptedToken(db, old, encrypted)
}
