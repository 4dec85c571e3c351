/** A value that came from outside, as an object with named fields. */
export type JsonObject = Readonly<Record<string, unknown>>

/**
 * Whether a value is an object with named fields: no list, and not null.
 *
 * @example
 * isObject(JSON.parse('{"ok":true}')) // true
 * isObject([1]) // false
 */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The same as a value: undefined for all else. */
export function asObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

/** Undefined for what is not JSON. */
export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
