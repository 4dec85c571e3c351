import { ExactNumber } from '@landpass/server/land/records/exact-json'

/**
 * A record as one line of JSON, raw numbers digit for digit.
 *
 * @example
 * recordJson({ id: 'a', price: new ExactNumber('1.000000000000000001') }) // '{"id":"a","price":1.000000000000000001}'
 */
export function recordJson(record: object): string {
  const fields = Object.entries(record).map(([name, value]) => `${JSON.stringify(name)}:${valueJson(value)}`)
  return `{${fields.join(',')}}`
}

// Raw numbers stand only at the top of a record, so what lies deeper is JSON.stringify's.
function valueJson(value: unknown): string {
  return value instanceof ExactNumber ? value.text : JSON.stringify(value)
}
