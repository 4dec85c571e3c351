import type { World } from '@landpass/client/grid'
import { AppError } from '../../errors.ts'
import { aboveMaximum, invalidParameter, invalidSecret } from '../../http/validation.ts'
import { parseTimeOrNull } from '../request-time.ts'
import { coordinatesText, parseCoordinates } from './coordinates.ts'
import type { Event, EventOptions } from './event-queries.ts'

const MAX_OPTIONS = 20
/** Options that only events have that were made here. */
const OWN_OPTIONS = ['tokens', 'hide_holders', 'description']
/** The names of all options. */
export const OPTION_NAMES = [
  ...['coordinates', 'enabled', 'distribution_start_date', 'distribution_end_date'],
  ...['requires_captcha', 'requires_presence', 'requires_grant', 'allows_guests', 'rehearsal_until'],
  ...['revoke_passes', ...OWN_OPTIONS],
]
const NAMES = OPTION_NAMES.join(', ')
/** What the list of options may be, in words. */
export const ALLOWED_OPTIONS = `a list of [name, value] pairs, 1 to ${MAX_OPTIONS} of them; names: ${NAMES}`
/** A name as options have it. An edit code can be of letters alone, so this is not enough to show a text. */
const LIKE_NAME = /^[a-z_]{1,40}$/i
/** A misspelt or shortened name mostly begins as the right one does; an edit code hardly ever does. */
const SAME_LETTERS = 4
const BEGINNINGS = new Set(OPTION_NAMES.map((name) => name.slice(0, SAME_LETTERS)))

/** When an event is. */
export interface EventMove {
  /** First and last day as `YYYY-MM-DD`. */
  readonly startDate: string
  readonly endDate: string
  /** From when and until when tokens are given out; null for no limit. */
  readonly startAtMs: number | null
  readonly endAtMs: number | null
}

/** What an organiser may change of an event that was made here alone. */
export interface MadeEventChange {
  readonly name?: string | undefined
  /** An https address; empty for none. */
  readonly eventUrl?: string | undefined
  /** The file of a picture; `drawn`: the map of the places. */
  readonly picture?: Buffer | 'drawn' | undefined
  /** From when the event is before to when it is then. */
  readonly move?: ((before: Event) => EventMove) | undefined
  /** The IANA name of the zone of its times; empty for none. */
  readonly timeZone?: string | undefined
  readonly isCancelled?: boolean | undefined
  /** How many tokens it shall have. */
  readonly tokens?: number | undefined
  /** Whether the list of its holders is for the organiser alone. */
  readonly hidesHolders?: boolean | undefined
  readonly description?: string | undefined
  /** Its places, as `coordinatesText` writes them. */
  readonly coordinates?: string | undefined
}

/** Options of the event, and what is done besides. */
export type RequestedOptions = EventOptions & MadeEventChange & { readonly revokesPasses?: boolean }

/**
 * Reads the options of `PATCH /event/:id` in the form in which the organiser page sends them. What is
 * refused is only shown if it has an underscore, begins like the name of an option, or looks like a date: an edit code may
 * have slipped into the list.
 *
 * @throws {AppError} `invalid_parameter` naming the option, `invalid_coordinates`
 * @example
 * parseOptions([['enabled', false]], world) // { enabled: false }
 */
export function parseOptions(options: unknown, world: World): RequestedOptions {
  if (!Array.isArray(options) || options.length < 1 || options.length > MAX_OPTIONS) {
    throw invalidSecret('options', options, ALLOWED_OPTIONS)
  }
  const parsed = options.map((pair) => parseOption(pair, world))
  const names = options.map(([name]) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw refusedOption(twice, 'given once', `The option ${twice} is given twice.`)
  return Object.assign({}, ...parsed)
}

/**
 * Refuses what only events that were made here have, for an event of the issuer.
 *
 * @throws {AppError} `invalid_parameter` naming the option
 */
export function assertNoOwnOptions(options: unknown): void {
  const name = OWN_OPTIONS.find((option) => sentOption(options, option) !== undefined)
  if (name === undefined) return
  throw refusedOption(name, 'left out', `Only events that were made on this server have the option ${name}.`)
}

function refusedOption(name: string, allowed: string, sentence: string): AppError {
  return new AppError('invalid_parameter', sentence, { parameter: name, value: null, allowed })
}

function parseOption(pair: unknown, world: World): RequestedOptions {
  if (!Array.isArray(pair) || pair.length !== 2) throw invalidSecret('options', pair, ALLOWED_OPTIONS)
  const [name, value] = pair as [unknown, unknown]
  switch (name) {
    case 'coordinates':
      if (typeof value !== 'string') throw invalidSecret(name, value, 'x,y pairs separated by semicolons')
      return { coordinates: coordinatesText(parseCoordinates(value, world)) }
    case 'enabled':
    case 'requires_captcha':
    case 'requires_presence':
    case 'requires_grant':
    case 'allows_guests':
      if (typeof value !== 'boolean') throw invalidSecret(name, value, 'true or false')
      return { [name]: value }
    case 'revoke_passes':
      if (typeof value !== 'boolean') throw invalidSecret(name, value, 'true or false')
      return { revokesPasses: value }
    case 'hide_holders':
      if (typeof value !== 'boolean') throw invalidSecret(name, value, 'true or false')
      return { hidesHolders: value }
    case 'description':
      if (typeof value !== 'string') throw invalidSecret(name, value, 'a text')
      return { description: value }
    case 'tokens':
      if (!Number.isSafeInteger(value) || (value as number) < 1)
        throw invalidSecret(name, value, 'a whole number, 1 or more')
      return { tokens: value as number }
    case 'distribution_start_date':
      return { distribution_start_at_ms: parseTimeOrNull(name, value) }
    case 'distribution_end_date':
      return { distribution_end_at_ms: parseTimeOrNull(name, value) }
    case 'rehearsal_until':
      return { rehearsal_until_ms: parseTimeOrNull(name, value) }
    default:
      throw unknownOption(name)
  }
}

/** The value of an option as it was sent; undefined where it was not. */
export function sentOption(options: unknown, name: string): unknown {
  return (options as readonly (readonly [unknown, unknown])[]).find((pair) => pair[0] === name)?.[1]
}

function unknownOption(name: unknown): AppError {
  if (typeof name !== 'string' || !isShown(name)) return invalidSecret('options', name, ALLOWED_OPTIONS)
  return new AppError('invalid_parameter', `There is no option "${name}". The options are ${NAMES}.`, {
    parameter: 'options',
    value: name,
    allowed: ALLOWED_OPTIONS,
  })
}

/** Whether an unknown name is surely a name. */
function isShown(name: string): boolean {
  const beginning = name.slice(0, SAME_LETTERS).toLowerCase()
  return LIKE_NAME.test(name) && (name.includes('_') || BEGINNINGS.has(beginning))
}

/** The most tokens of an event that is made here. A token costs nothing before it is claimed. */
const MAX_TOKENS = 1_000_000

/** @throws {AppError} `invalid_parameter` for more tokens than an event may have; `data.maximum` is how many that is */
export function assertTokens(tokens: number | undefined): void {
  if (tokens !== undefined && tokens > MAX_TOKENS) throw aboveMaximum('tokens', tokens, MAX_TOKENS)
}

/** The error for fewer tokens than an event has, which may be given out. `data.minimum` is how many it has. */
export function fewerTokens(tokens: number, supply: number): AppError {
  const allowed = `${supply} or more, because the event has so many`
  return invalidParameter('tokens', tokens, allowed, { minimum: supply })
}

/**
 * Refuses a time from which on tokens could never be claimed, because the last day of the event is over then.
 *
 * @param lastMs end of the last day
 * @param given the time as it was sent, for the error
 * @throws {AppError} `invalid_parameter`
 */
export function assertStartsBefore(lastMs: number, startAtMs: number, given: unknown): void {
  if (startAtMs < lastMs) return
  const allowed = `before ${new Date(lastMs).toISOString()}, when the last day of the event is over`
  throw invalidParameter('distribution_start_date', given, allowed)
}
