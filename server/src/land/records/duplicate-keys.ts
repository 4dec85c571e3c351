import { ExactNumber } from './exact-json.ts'

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Finds a key that stands twice in one object, which `JSON.parse` accepts silently: it keeps the last value.
 *
 * A text has at least as many colons behind a quote as it has keys, and each of its keys is in the parsed value unless
 * it stands twice. So equal counts mean that no key stands twice; only a text where the counts differ is scanned. A string can
 * hold a quote and a colon, so that they may differ without a duplicate. In a world of 201,686 records 8 do.
 *
 * @param text valid JSON
 * @param value the same text as parsed by `parseExactJson` or `JSON.parse`
 * @returns the path of the second of the two keys; undefined when every key stands once
 * @example
 * findDuplicateKey('{"a":1,"b":[{"c":2,"c":2}]}', { a: 1, b: [{ c: 2 }] }) // 'b[0].c'
 * findDuplicateKey('{"a":1}', { a: 1 }) // undefined
 */
export function findDuplicateKey(text: string, value: unknown): string | undefined {
  return quotedColons(text) === keysIn(value) ? undefined : scanForDuplicate(text)
}

/** Colons behind a quote, with or without white space between. */
function quotedColons(text: string): number {
  let count = 0
  for (let colon = text.indexOf(':'); colon !== -1; colon = text.indexOf(':', colon + 1)) {
    let before = colon - 1
    while (isSpace(text.charCodeAt(before))) before--
    if (text.charCodeAt(before) === QUOTE) count++
  }
  return count
}

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB || code === RETURN || code === NEWLINE
}

/** Keys of a value and of all objects inside it. */
function keysIn(root: unknown): number {
  let count = 0
  // A list instead of recursion: JSON may be nested more deeply than the call stack allows.
  const unread = [root]
  for (let value = unread.pop(); value !== undefined; value = unread.pop()) {
    if (Array.isArray(value)) {
      for (const item of value) if (isParent(item)) unread.push(item)
    } else if (isParent(value)) {
      for (const key in value) {
        count++
        const item = value[key]
        if (isParent(item)) unread.push(item)
      }
    }
  }
  return count
}

function isParent(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber)
}

/** An object or an array that the scan is inside of. */
interface Level {
  /** Undefined in an array. */
  readonly keys: Set<string> | undefined
  /** The key or the index of the value that is being scanned. */
  at: string | number
}

/** Looks at every key. The text is valid JSON, so a string before a colon is a key and nothing else is. */
function scanForDuplicate(text: string): string | undefined {
  const levels: Level[] = []
  for (let index = 0; index < text.length; index++) {
    const level = levels.at(-1)
    const character = text[index]
    if (character === '{') levels.push({ keys: new Set(), at: '' })
    else if (character === '[') levels.push({ keys: undefined, at: 0 })
    else if (character === '}' || character === ']') levels.pop()
    else if (character === ',' && typeof level?.at === 'number') level.at++
    else if (character === '"') {
      const end = endOfString(text, index)
      if (level?.keys && isBeforeColon(text, end)) {
        const key = JSON.parse(text.slice(index, end)) as string
        level.at = key
        if (level.keys.has(key)) return pathOf(levels)
        level.keys.add(key)
      }
      index = end - 1
    }
  }
  return undefined
}

/** The index behind the closing quote of the string that starts here. */
function endOfString(text: string, start: number): number {
  let index = start + 1
  while (text.charCodeAt(index) !== QUOTE) index += text.charCodeAt(index) === BACKSLASH ? 2 : 1
  return index + 1
}

function isBeforeColon(text: string, from: number): boolean {
  let index = from
  while (isSpace(text.charCodeAt(index))) index++
  return text[index] === ':'
}

function pathOf(levels: readonly Level[]): string {
  return levels
    .map(({ at }, depth) => (typeof at === 'number' ? `[${at}]` : depth === 0 ? at : `.${at}`))
    .join('')
}
