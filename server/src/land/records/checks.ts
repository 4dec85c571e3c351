import { parseCoord, parseTokenId } from '@landpass/client/grid'
import { isObject } from '../../json-object.ts'
import { moneyText } from './decimal.ts'
import { ExactNumber } from './exact-json.ts'

/** Notes that a field is wrong. Answers false, so that a check can end with it. */
export type Blame = (field: string, value: unknown, reason: string) => false

/**
 * Whether a value is what its field takes; whatever is wrong went to `blame`, fields inside it under their path.
 * The type says what a value is that passed: the types of records are made of those of their checks.
 */
export type Check<T> = (value: unknown, field: string, blame: Blame) => value is T

export type Checked<C> = C extends Check<infer T> ? T : never

export type Checks = Readonly<Record<string, Check<unknown>>>

/** What an object is that has the fields of these checks. */
export type CheckedFields<Required extends Checks, Optional extends Checks> = Flat<
  { [Name in keyof Required]: Checked<Required[Name]> } & {
    [Name in keyof Optional]?: Checked<Optional[Name]>
  }
>

/** An intersection written out as one object. */
export type Flat<T> = { [Name in keyof T]: T[Name] }

/** A JSON number that is money: a double where that is exact. */
export type JsonMoney = number | ExactNumber

/** The longest text taken, in UTF-16 units: 10,000 characters outside the basic plane. */
export const MAX_TEXT_LENGTH = 20_000
/** The last millisecond of the year 9999, which ISO dates with four digits can still say. */
export const MAX_TIME_MS = 253_402_300_799_999
const MAX_INT4 = 2_147_483_647

function holds<T>(reason: string, isGood: (value: unknown) => boolean): Check<T> {
  return (value, field, blame): value is T => isGood(value) || blame(field, value, reason)
}

function matches(reason: string, pattern: RegExp): Check<string> {
  return holds(reason, (value) => typeof value === 'string' && pattern.test(value))
}

/** An object with exactly these fields; the optional ones may be missing. */
export function object<R extends Checks, O extends Checks = Record<never, never>>(
  required: R,
  optional?: O,
): Check<CheckedFields<R, O>> {
  const all = [
    ...Object.entries(required).map(([name, check]) => ({ name, check, needed: true })),
    ...Object.entries(optional ?? {}).map(([name, check]) => ({ name, check, needed: false })),
  ]
  const known = new Set(all.map(({ name }) => name))
  return (value, path, blame): value is CheckedFields<R, O> => {
    if (!isObject(value) || value instanceof ExactNumber) return blame(path, value, 'must be an object')
    const prefix = path === '' ? '' : `${path}.`
    let good = true
    for (const { name, check, needed } of all) {
      const item = value[name]
      if (item !== undefined) good = check(item, prefix + name, blame) && good
      else if (needed) good = blame(prefix + name, undefined, 'is missing')
    }
    for (const name of Object.keys(value)) {
      if (!known.has(name)) good = blame(prefix + name, value[name], 'is no field of the format')
    }
    return good
  }
}

export function arrayOf<T>(check: Check<T>): Check<T[]> {
  return (value, path, blame): value is T[] => {
    if (!Array.isArray(value)) return blame(path, value, 'must be an array')
    let good = true
    for (let index = 0; index < value.length; index++) {
      good = check(value[index], `${path}[${index}]`, blame) && good
    }
    return good
  }
}

export function orNull<T>(check: Check<T>): Check<T | null> {
  return (value, field, blame): value is T | null => value === null || check(value, field, blame)
}

export const isNull = holds<null>('must be null', (value) => value === null)
export const isBoolean = holds<boolean>('must be true or false', (value) => typeof value === 'boolean')

export function oneOf<T extends string>(...allowed: readonly T[]): Check<T> {
  const set = new Set<unknown>(allowed)
  return holds(`must be ${allowed.map((one) => `"${one}"`).join(' or ')}`, (value) => set.has(value))
}

/** A text of the format. The checks run in this order, so that the reason names the first rule that is broken. */
/** An estate has some thousand parcels at most. */
const MAX_COORD_LIST_LENGTH = 1_000_000
const COORD_LIST = /^-?\d{1,6},-?\d{1,6}(?: -?\d{1,6},-?\d{1,6})*$/

/** Coordinates with blanks between them. */
export const isCoordList: Check<string> = (value, field, blame): value is string =>
  (typeof value === 'string' && value.length <= MAX_COORD_LIST_LENGTH && COORD_LIST.test(value)) ||
  blame(field, value, 'must be coordinates with blanks between them, like 1,2 -3,4')

export const isText: Check<string> = (value, field, blame): value is string => {
  if (typeof value !== 'string') return blame(field, value, 'must be a string')
  if (value.length > MAX_TEXT_LENGTH)
    return blame(field, value, `must have at most ${MAX_TEXT_LENGTH} characters`)
  if (value.includes('\0')) return blame(field, value, 'must not contain NUL')
  if (!value.isWellFormed())
    return blame(field, value, 'must not contain half a character (a lone surrogate)')
  return true
}

export const isLink = holds<string>(
  'must be an http or https address of at most 20000 characters',
  (value) =>
    typeof value === 'string' &&
    value.length <= MAX_TEXT_LENGTH &&
    /^https?:\/\/[^\s\0]+$/.test(value) &&
    value.isWellFormed() &&
    URL.canParse(value),
)

export const isAddress = matches('must be an address: 0x and 40 lower-case hex digits', /^0x[0-9a-f]{40}$/)
export const isHash = matches('must be a hash: 0x and 64 lower-case hex digits', /^0x[0-9a-f]{64}$/)
/** At most 128 KiB: no block of the chain has the gas to store a longer text. */
export const isBytes = holds<string>(
  'must be 0x and an even number of lower-case hex digits, of at most 131072 bytes',
  (value) =>
    typeof value === 'string' &&
    value.length <= 2 + 2 * MAX_BYTES &&
    value.length % 2 === 0 &&
    /^0x[0-9a-f]*$/.test(value),
)
export const MAX_BYTES = 131_072
/** At most 512 bytes. */
export const isFingerprint = matches(
  'must be 0x and an even number of lower-case hex digits, of at most 512 bytes',
  /^0x(?:[0-9a-f]{2}){0,512}$/,
)
export const isUuid = matches(
  'must be a UUID in lower case',
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
)

export const isCoords = holds<string>(
  'must be coordinates: "x,y", no spaces, no leading zeros',
  (value) => typeof value === 'string' && parseCoord(value) !== undefined,
)
export const isTokenId = holds<string>(
  'must be a token id: decimal digits, no leading zeros, at most 256 bits',
  (value) => typeof value === 'string' && isTokenIdText(value),
)

export const isUint256 = holds<string>(
  'must be a number as a string: decimal digits, no leading zeros, at most 256 bits',
  (value) => typeof value === 'string' && isTokenIdText(value),
)

export const isEstateId = holds<string>(
  'must be an estate id: decimal digits, above 0, no leading zeros, at most 256 bits',
  (value) => typeof value === 'string' && value !== '0' && isTokenIdText(value),
)

function isTokenIdText(text: string): boolean {
  return /^(?:0|[1-9]\d{0,77})$/.test(text) && (text.length < 78 || parseTokenId(text) !== undefined)
}

export function integer(min: number, max: number): Check<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  return holds(
    `must be a whole number ${range}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
  )
}

export const isCount = integer(0, MAX_INT4)
export const isPositiveCount = integer(1, MAX_INT4)
export const isSafeInteger = integer(0, Number.MAX_SAFE_INTEGER)
export const isTimeMs = integer(0, MAX_TIME_MS)

/** A whole number written as a string: the format does so for values that were an int8 column. */
function integerText(meaning: string, max: number): Check<string> {
  return holds(
    `must be ${meaning} as a string of decimal digits`,
    (value) => typeof value === 'string' && /^(?:0|[1-9]\d{0,15})$/.test(value) && Number(value) <= max,
  )
}

export const isTimeMsText = integerText('milliseconds since 1970', MAX_TIME_MS)
/** Sellers choose deadlines freely: real ones lie thousands of years ahead. */
export const isDeadlineMs = integer(0, Number.MAX_SAFE_INTEGER)
export const isDeadlineMsText = integerText('milliseconds since 1970', Number.MAX_SAFE_INTEGER)
export const isTimeSecondsText = integerText('seconds since 1970', Number.MAX_SAFE_INTEGER)
export const isSecondsText = integerText('a length of time in seconds', Number.MAX_SAFE_INTEGER)

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

export const isIsoTime = holds<string>(
  'must be a time like 2018-02-21T00:00:00.037Z, not before 1970',
  (value) => {
    if (typeof value !== 'string' || !ISO_TIME.test(value)) return false
    const timeMs = Date.parse(value)
    // Formatting it again finds dates that Date.parse accepts but that do not exist, such as 30 February.
    return timeMs >= 0 && new Date(timeMs).toISOString() === value
  },
)

export const isMoney = holds<JsonMoney>(
  'must be a number, not negative, at most 18 decimals and 60 digits before them',
  (value) => moneyOf(value) !== undefined,
)

export const isPrice = holds<JsonMoney>(
  'must be a number above 0, at most 18 decimals and 60 digits before them',
  (value) => (moneyOf(value) ?? '0') !== '0',
)

/** The longest list of addresses taken. */
export const MAX_ADDRESSES = 1000

const areAddresses = arrayOf(isAddress)

/** A list of addresses, each of them once. */
export const isAddressList: Check<string[]> = (value, field, blame): value is string[] => {
  if (Array.isArray(value) && value.length > MAX_ADDRESSES)
    return blame(field, value, `must have at most ${MAX_ADDRESSES} addresses`)
  if (!areAddresses(value, field, blame)) return false
  const again = firstRepeated(value)
  return again === -1 || blame(`${field}[${again}]`, value[again], 'is listed twice')
}

/** The place of the first text that stood in the list before, or -1. */
function firstRepeated(list: readonly string[]): number {
  const seen = new Set<string>()
  return list.findIndex((text) => {
    if (seen.has(text)) return true
    seen.add(text)
    return false
  })
}

/** A sum of money as the numeric columns take it; undefined when the value is none. */
export function moneyOf(value: unknown): string | undefined {
  if (value instanceof ExactNumber) return moneyText(value.text)
  return typeof value === 'number' ? moneyText(String(value)) : undefined
}
