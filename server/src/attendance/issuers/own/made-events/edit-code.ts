import { createHash, randomBytes } from 'node:crypto'

/** Length of an edit code in bytes. 128 random bits cannot be guessed, so wrong edit codes are not limited. */
const EDIT_CODE_BYTES = 16

/** A new edit code: 32 hex digits. Only {@link hashOfEditCode} of it is stored. */
export function newEditCode(): string {
  return randomBytes(EDIT_CODE_BYTES).toString('hex')
}

/** A plain hash is enough for a text with 128 random bits. Upper case makes no difference. */
export function hashOfEditCode(editCode: string): Buffer {
  return createHash('sha256').update(editCode.toLowerCase()).digest()
}
