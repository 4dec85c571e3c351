import { timingSafeEqual } from 'node:crypto'
import type { SecretKind, Vault } from './vault.ts'

type Keys = Pick<Vault, 'fingerprint' | 'otherFingerprints'>

/** A hash of a text with the key for new values, as base64url: 43 characters. */
export function keyedHash(vault: Pick<Keys, 'fingerprint'>, kind: SecretKind, text: string): string {
  return vault.fingerprint(kind, text).toString('base64url')
}

/** Whether a hash is that of a text with any key of the vault: processes have several while `ATTENDANCE_KEY` is changed. */
export function isKeyedHash(vault: Keys, kind: SecretKind, text: string, hash: string): boolean {
  const given = Buffer.from(hash)
  return [vault.fingerprint(kind, text), ...vault.otherFingerprints(kind, text)].some((print) => {
    const made = Buffer.from(print.toString('base64url'))
    return given.length === made.length && timingSafeEqual(given, made)
  })
}
