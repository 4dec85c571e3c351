import { isObject, type JsonObject } from '../../../json-object.ts'

const SECRET_FIELDS: ReadonlySet<string> = new Set(['secret_code', 'email'])
/** The issuer's objects have three levels. */
const MAX_DEPTH = 16

/**
 * A copy of the issuer's record of an event that may be stored and shown: without `secret_code` and `email` at any
 * depth, and without characters that a database refuses in JSON (NUL, half surrogate pairs).
 *
 * @returns undefined for a value that is not an object, or has more than 16 levels
 * @example
 * publicRecord({ id: 90001, name: 'Opening', secret_code: '012345' }) // { id: 90001, name: 'Opening' }
 */
export function publicRecord(value: unknown): JsonObject | undefined {
  if (!isObject(value) || isDeeperThan(value, MAX_DEPTH)) return undefined
  return publicObject(value)
}

function publicValue(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(publicValue)
  return isObject(value) ? publicObject(value) : value
}

function publicObject(value: JsonObject): Record<string, unknown> {
  // fromEntries defines a field "__proto__"; an assignment would change the prototype
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !SECRET_FIELDS.has(key.toLowerCase()))
      .map(([key, field]) => [storableText(key), publicValue(field)]),
  )
}

function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}

function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return limit === 0 || Object.values(value).some((field) => isDeeperThan(field, limit - 1))
}
