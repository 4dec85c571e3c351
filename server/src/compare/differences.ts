import { isNestedDeeperThan, MAX_JSON_DEPTH } from '../json-depth.ts'
import { isObject, type JsonObject } from '../json-object.ts'

/** What an answer is, as far as two of them are compared. */
export type Comparable =
  | { readonly kind: 'json'; readonly status: number; readonly json: unknown }
  | { readonly kind: 'image'; readonly status: number; readonly size: string }
  | { readonly kind: 'bytes'; readonly status: number; readonly bytes: Buffer }

/** One difference of two answers. */
export interface Difference {
  /** `status`, `kind` (JSON, an image or something else), `image size`, `bytes`, or a field: `data.*.price`. */
  readonly field: string
  /** What the first answer has there, cut to a few characters. */
  readonly there: string
  readonly here: string
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const MAX_SHOWN_CHARS = 60
/** Keys that are data: places, numbers, addresses and uuids. In a field they become `*`. */
const DATA_KEY = /^(?:-?\d+(?:,-?\d+)?|0x[\da-f]+|[\da-f]{8}-[\da-f-]{27})$/i

export function comparable(status: number, body: Buffer): Comparable {
  // Width and height stand at the same place of every PNG
  if (body.subarray(0, PNG.length).equals(PNG) && body.length >= 24)
    return { kind: 'image', status, size: `${body.readUInt32BE(16)} x ${body.readUInt32BE(20)}` }
  try {
    const text = body.toString('utf8')
    // The comparison calls itself at each level
    if (!isNestedDeeperThan(text, MAX_JSON_DEPTH)) return { kind: 'json', status, json: JSON.parse(text) }
  } catch {
    // No JSON
  }
  return { kind: 'bytes', status, bytes: body }
}

/**
 * How two answers to the same request differ: in their status, or else each field once, however many rows of the answer differ in it. Of images
 * the size counts, because two servers may draw them in other colours.
 *
 * @example
 * differencesOf(comparable(200, Buffer.from('{"a":1}')), comparable(200, Buffer.from('{"a":"1"}')))
 * // [{ field: 'a', there: '1', here: '"1"' }]
 */
export function differencesOf(there: Comparable, here: Comparable): readonly Difference[] {
  const found = new Map<string, Difference>()
  const note = (name: string, a: unknown, b: unknown) => {
    const field = cut(name)
    if (!found.has(field)) found.set(field, { field, there: shown(a), here: shown(b) })
  }
  // All else follows from that
  if (there.status !== here.status) note('status', there.status, here.status)
  else if (there.kind !== here.kind) note('kind', there.kind, here.kind)
  else if (there.kind === 'json' && here.kind === 'json') compareJson(there.json, here.json, '', note)
  else if (there.kind === 'image' && here.kind === 'image') {
    if (there.size !== here.size) note('image size', there.size, here.size)
  } else if (there.kind === 'bytes' && here.kind === 'bytes' && !there.bytes.equals(here.bytes))
    note('bytes', there.bytes.toString('latin1'), here.bytes.toString('latin1'))
  return [...found.values()]
}

type Note = (field: string, there: unknown, here: unknown) => void

function compareJson(there: unknown, here: unknown, field: string, note: Note): void {
  const at = (key: string) => (field === '' ? key : `${field}.${key}`)
  if (Array.isArray(there) && Array.isArray(here)) {
    if (there.length !== here.length) note(at('length'), there.length, here.length)
    const shared = Math.min(there.length, here.length)
    for (let i = 0; i < shared; i++) compareJson(there[i], here[i], at('*'), note)
  } else if (isObject(there) && isObject(here)) {
    for (const key of new Set([...Object.keys(there), ...Object.keys(here)])) {
      const name = at(DATA_KEY.test(key) ? '*' : key)
      compareJson(ownValue(there, key), ownValue(here, key), name, note)
    }
  } else if (!Object.is(there, here)) note(field || 'the whole answer', there, here)
}

function ownValue(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

function shown(value: unknown): string {
  return cut(value === undefined ? 'nothing' : JSON.stringify(value))
}

/** A name or a value, of which a server may have made any length. */
function cut(text: string): string {
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text
}
