import { createHash, randomBytes } from 'node:crypto'

/** Bytes of an edit code. So many cannot be guessed, so wrong ones need no limit. */
const EDIT_CODE_BYTES = 16

/** A new edit code: 32 hex digits. Only {@link hashOfEditCode} of it is stored. */
export function newEditCode(): string {
  return randomBytes(EDIT_CODE_BYTES).toString('hex')
}

/** A plain hash is enough for a text with 128 random bits. */
export function hashOfEditCode(editCode: string): Buffer {
  return createHash('sha256').update(editCode).digest()
}
