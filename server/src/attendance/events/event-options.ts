import type { World } from '@landpass/client/grid'
import { invalidSecret } from '../../http/validation.ts'
import { coordinatesText, parseCoordinates } from './coordinates.ts'
import type { EventOptions } from './event-queries.ts'

const ISO_DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/
const MAX_OPTIONS = 20
const ALLOWED_OPTIONS =
  `a list of [name, value] pairs, 1 to ${MAX_OPTIONS} of them; names: coordinates, enabled, distribution_start_date, ` +
  'distribution_end_date, requires_captcha, requires_presence'

/**
 * Reads the options of `PATCH /event/:id` in the form in which the organiser page sends them. Of a name that occurs
 * twice the last value counts. What is refused is not shown: an edit code may have slipped into the list.
 *
 * @throws {AppError} `invalid_parameter` naming the option, `invalid_coordinates`
 * @example
 * parseOptions([['enabled', false]], world) // { enabled: false }
 */
export function parseOptions(options: unknown, world: World): EventOptions {
  if (!Array.isArray(options) || options.length < 1 || options.length > MAX_OPTIONS) {
    throw invalidSecret('options', options, ALLOWED_OPTIONS)
  }
  return Object.assign({}, ...options.map((pair) => parseOption(pair, world)))
}

function parseOption(pair: unknown, world: World): EventOptions {
  if (!Array.isArray(pair) || pair.length !== 2) throw invalidSecret('options', pair, ALLOWED_OPTIONS)
  const [name, value] = pair as [unknown, unknown]
  switch (name) {
    case 'coordinates':
      if (typeof value !== 'string') throw invalidSecret(name, value, 'x,y pairs separated by semicolons')
      return { coordinates: coordinatesText(parseCoordinates(value, world)) }
    case 'enabled':
    case 'requires_captcha':
    case 'requires_presence':
      if (typeof value !== 'boolean') throw invalidSecret(name, value, 'true or false')
      return { [name]: value }
    case 'distribution_start_date':
      return { distribution_start_at_ms: parseDate(name, value) }
    case 'distribution_end_date':
      return { distribution_end_at_ms: parseDate(name, value) }
    default:
      throw invalidSecret('options', name, ALLOWED_OPTIONS)
  }
}

function parseDate(name: string, value: unknown): number | null {
  if (value === null) return null
  const timeMs = typeof value === 'string' && ISO_DATE.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(timeMs)) throw invalidSecret(name, value, 'an ISO 8601 date with its time zone, or null')
  return timeMs
}
