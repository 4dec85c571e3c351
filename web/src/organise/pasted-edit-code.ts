import { readEditCode } from './edit-code.ts'
import { isInGroups } from './event-id.ts'
import { plainText } from './pasted-text.ts'

/** A text that was put into the field of the event, without the edit code in it. */
export interface WithoutEditCode {
  readonly rest: string
  /** Undefined where the words "edit code" stand before something that is none. */
  readonly editCode: string | undefined
}

const LABEL = /(?:^|[^a-z])(?:poap\s)?edit\s?-?code(?:\s?\(secret\))?(?:\s?(?:is\s|[:=#]))?\s*/i
const CODE = /^(?:\d(?:[ -]?\d){5}(?! ?-?\d)|[0-9a-f](?:[ -]{0,3}[0-9a-f]){31}(?![0-9a-f]))/i
/**
 * The number or uuid of an event, after words such as "Event ID:", and six digits or an edit code of this server.
 * With a dash or a slash before them six digits may be a part of a number or of a date.
 */
const PAIR =
  /^[\p{L}\s:#]*(([0-9a-f-]{36}|\d{1,10}(?:[ .,'\u2019]\d{3})*)(?:[\s,;:|]+(\d{6}|\d{3}[ -]\d{3})|[\s,;:|/-]+([0-9a-f]{32})))\s*$/iu

/**
 * Takes the edit code out of a text, as organisers copy it from the issuer's e-mail, or from their notes without the words.
 * Fields of one line lose the line breaks of what is pasted, so nothing may stand between number and words.
 *
 * @param held the edit code that is held, or an empty text. Six digits without words may be an event id: they do not replace it
 * @returns undefined for a text without an edit code
 * @example
 * withoutEditCode('Event ID: 90001 Edit code: 012345', '') // { rest: 'Event ID: 90001', editCode: '012345' }
 * withoutEditCode('90001 012345', '') // { rest: '90001', editCode: '012345' }
 */
export function withoutEditCode(pasted: string, held: string): WithoutEditCode | undefined {
  const text = plainText(pasted)
  const label = LABEL.exec(text)
  if (!label) return withoutUnnamedCode(text, held)
  const at = label.index + (/^edit|^poap/i.test(label[0]) ? 0 : 1)
  const after = text.slice(label.index + label[0].length)
  if (after.trim() === '') return undefined
  const code = CODE.exec(after)?.[0]
  // After what is no edit code, the rest of its line goes, up to the words for the event
  const end = code?.length ?? after.search(/\n|event/i)
  const rest = `${text.slice(0, at)}\n${end < 0 ? '' : after.slice(end)}`
  return { rest: rest.replace(/^[\s,;.-]+|[\s,;.-]+$/g, ''), editCode: code && readEditCode(code) }
}

function withoutUnnamedCode(text: string, held: string): WithoutEditCode | undefined {
  const [, pair = '', rest = '', digits = '', code = digits] = PAIR.exec(text) ?? []
  if (pair === '' || isInGroups(pair)) return undefined
  const editCode = readEditCode(code)
  return digits && held && held !== editCode ? undefined : { rest, editCode }
}
