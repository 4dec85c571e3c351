import type { AppError } from '../../../../errors.ts'
import { invalidParameter, invalidSecret } from '../../../../http/validation.ts'

export const MAX_NAME = 100
export const MAX_DESCRIPTION = 2_000
export const MAX_REASON = 500
export const MAX_CODE_NAME = 60
/** Characters that control output or turn the direction of text: without them a text reads the same for everybody. */
const UNPRINTABLE = /[\p{Cc}\p{Surrogate}\p{Bidi_Control}]/u
/** Line breaks and tabs are allowed in descriptions. */
const UNPRINTABLE_IN_LINES = /(?![\n\t])[\p{Cc}\p{Surrogate}\p{Bidi_Control}]/u

/** A character that can be seen: U+2800 is a Braille pattern without dots. */
const VISIBLE = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}\p{Cn}\p{Co}\u2800]/u

/** Whether a text is one line without characters that control output or turn the direction of text. */
export function isPlainLine(text: string): boolean {
  return !UNPRINTABLE.test(text)
}

/** @returns the name as it is signed @throws {AppError} `invalid_parameter` */
export function readName(text: string): string {
  const name = text.trim()
  if (VISIBLE.test(name) && isPlainLine(name)) return name
  throw invalidParameter('name', text, 'a text that can be seen, without control and direction characters')
}

/** @throws {AppError} `invalid_parameter` */
export function assertDescription(text: string): void {
  assertLines('description', text, MAX_DESCRIPTION)
}

/** @returns the operator's reason as it is stored; null for an empty one @throws {AppError} `invalid_parameter` */
export function readReason(text: string): string | null {
  assertLines('reason', text, MAX_REASON)
  return text.trim() || null
}

function assertLines(name: string, text: string, maxLength: number): void {
  if (text.length <= maxLength && !UNPRINTABLE_IN_LINES.test(text)) return
  throw invalidParameter(
    name,
    text.slice(0, 100),
    `a text without control and direction characters, of at most ${maxLength} characters`,
  )
}

/** The error for an event without a picture on a server that has no map. */
export function pictureMissing(): AppError {
  return invalidParameter('image', '', 'a picture, because this server has no map to draw one from')
}

const LIKE_EDIT_CODE = /[0-9a-f]{32}/i

/** @returns the name of a co-organiser's code as it is stored @throws {AppError} `invalid_parameter` */
export function readCodeName(text: string): string {
  const name = text.trim()
  // An edit code in the place of a name would be stored and shown
  if (VISIBLE.test(name) && isPlainLine(name) && !LIKE_EDIT_CODE.test(name)) return name
  throw invalidSecret(
    'add',
    text,
    'a name that can be seen, without control and direction characters, and no edit code',
  )
}

export function codeNameTaken(name: string): AppError {
  return invalidSecret('add', name, 'a name that no other valid code of the event has')
}

export function noSuchCode(name: string): AppError {
  return invalidSecret('revoke', name, 'the name of a valid code of the event')
}
