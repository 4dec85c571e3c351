import { parse } from 'lossless-json'
import { ExactNumber } from '../../../src/land/records/exact-json.ts'

/**
 * JSON with its numbers as the digits that stand in the text: what a test compares when the eighteenth decimal matters.
 *
 * @example
 * exactly('{"price":1.000000000000000001}') // { price: 'number 1.000000000000000001' }
 */
export function exactly(json: string): unknown {
  return parse(json, null, numberName)
}

/** The same form of values that a test has at hand. */
export function inDigits(value: unknown): unknown {
  if (value instanceof ExactNumber) return numberName(value.text)
  if (typeof value === 'number') return numberName(String(value))
  if (Array.isArray(value)) return value.map(inDigits)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, inDigits(inner)]))
}

function numberName(digits: string): string {
  return `number ${digits}`
}
