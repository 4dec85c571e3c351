import { AppError } from '../errors.ts'
import { invalidSecret } from '../http/validation.ts'
import { readTime } from '../time-text.ts'

const ALLOWED =
  'a date and time with its time zone in RFC 3339, for example 2027-03-05T18:00:00Z or 2027-03-05T19:00:00+01:00'
/** Begins like a date and has no letters but those of one: no edit code. */
const LIKE_DATE = /^\d{4}-\d{2}-\d{2}[\dTtZz:.+ -]{0,40}$/

/**
 * Reads a time in the body of a request. The refusal shows the value as it was sent, and says what is wrong with it. It shows no
 * value that may be a secret in the wrong place.
 *
 * @returns milliseconds since 1970
 * @throws {AppError} `invalid_parameter`
 */
export function parseRequestTime(name: string, value: unknown, allowed = ALLOWED): number {
  if (typeof value !== 'string' || !LIKE_DATE.test(value)) throw invalidSecret(name, value, allowed)
  const { timeMs, wrong } = readTime(value)
  if (timeMs !== undefined) return timeMs
  throw new AppError('invalid_parameter', `${name} is "${value}", ${wrong}. It must be ${allowed}.`, {
    parameter: name,
    value,
    allowed,
  })
}

/** Like {@link parseRequestTime}, for a field in which null means no limit. */
export function parseTimeOrNull(name: string, value: unknown): number | null {
  return value === null ? null : parseRequestTime(name, value, `${ALLOWED}, or null`)
}
