import { locale, text } from './texts.ts'

/** `1234.5` as a reader writes it: `1,234.5` in English, `1.234,5` in Spanish. */
export function formatNumber(value: number, options: Intl.NumberFormatOptions = {}): string {
  return new Intl.NumberFormat(locale.value, options).format(value)
}

/** A price in MANA, with as many decimals as it needs, at most two; less than a hundredth keeps its first digits. */
export function formatPrice(mana: number): string {
  const digits = isTiny(mana) ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 }
  return `${formatNumber(mana, digits)} MANA`
}

/** What is asked for land: MANA, or dollars where the price is a sum of dollars, to be paid in MANA. */
export function formatOffer({
  price,
  price_usd: dollars,
}: {
  readonly price: string | number
  readonly price_usd?: string | null
}): string {
  if (!dollars) return formatPrice(Number(price))
  return formatNumber(Number(dollars), { style: 'currency', currency: 'USD' })
}

/** A price that was computed, such as that of one of several parcels: in whole MANA, from 100 on. */
export function formatComputedPrice(mana: number): string {
  return formatPrice(mana < 100 ? mana : Math.round(mana))
}

/** A short price for narrow spaces: `12.3K`, `1.2만`, `$99.5`. */
export function formatShortPrice(price: number, currency: 'mana' | 'usd' = 'mana'): string {
  const sign =
    currency === 'usd' && ({ style: 'currency', currency, currencyDisplay: 'narrowSymbol' } as const)
  if (isTiny(price)) return formatNumber(price, { ...sign, notation: 'scientific', maximumFractionDigits: 0 })
  const digits = { minimumFractionDigits: 0, maximumFractionDigits: price < 1 ? 2 : 1 }
  return formatNumber(price, { ...sign, notation: 'compact', ...digits })
}

/** Prices have up to 18 decimals. */
function isTiny(mana: number): boolean {
  return mana > 0 && mana < 0.01
}

/** A day in the reader's form and time zone. @param timeMs milliseconds since 1970, as number or digits */
export function formatDate(timeMs: number | string): string {
  return new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium' }).format(validTime(timeMs))
}

/**
 * Day and time.
 *
 * @param timeMs milliseconds since 1970, as number or digits
 * @param timeZone IANA name; left out, the reader's
 */
export function formatDateTime(timeMs: number | string, timeZone?: string): string {
  const clock = { dateStyle: 'medium', timeStyle: 'short', timeZone } as const
  return new Intl.DateTimeFormat(locale.value, clock).format(validTime(timeMs))
}

/** Day and time for the reader, and on the clock of the event where that shows something else. @param zone of the event */
export function formatDateTimeThere(timeMs: number, zone: string | null): string {
  const here = formatDateTime(timeMs)
  if (zone === null || !isKnownZone(zone)) return here
  const there = formatDateTime(timeMs, zone)
  return there === here ? here : text('common.time_there', { here, there, zone: zone.replaceAll('_', ' ') })
}

/** Whether this browser knows a zone: the server may know newer or older names. */
export function isKnownZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    return false
  }
}

/** The last time that a Date can hold, in the year 275760. Offers, bids and rents may end later. */
const LAST_TIME_MS = 8.64e15

/** A time that can be formatted: the last or first one instead of those that lie outside. */
function validTime(timeMs: number | string): number {
  return Math.min(Math.max(Number(timeMs), -LAST_TIME_MS), LAST_TIME_MS)
}

/** Hour, minute and second in the reader's time zone. @param timeMs milliseconds since 1970 */
export function formatTime(timeMs: number): string {
  return new Intl.DateTimeFormat(locale.value, { timeStyle: 'medium' }).format(timeMs)
}

const AGO_UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** How long ago something was, in the largest unit that fits twice: `12 sec. ago`, `90 sec. ago`, `5 min. ago`. */
export function formatAgo(seconds: number): string {
  const [unit, length] = AGO_UNITS.find(([, unitS]) => seconds >= 2 * unitS) ?? (['second', 1] as const)
  const words = new Intl.RelativeTimeFormat(locale.value, { style: 'short' })
  return words.format(-Math.floor(seconds / length), unit)
}

/** How long something takes, rounded up: `2 minutes`, and above two hours `3 hours`. @param seconds from one on */
export function formatWait(seconds: number): string {
  const [unit, length] = seconds > 7_200 ? (['hour', 3_600] as const) : (['minute', 60] as const)
  return formatNumber(Math.ceil(seconds / length), { style: 'unit', unit, unitDisplay: 'long' })
}

/**
 * A range of days, in UTC, so that it is the same for every reader.
 *
 * @param fromMs midnight in UTC of the first day, in milliseconds since 1970
 * @param toMs midnight in UTC of the last day, in milliseconds since 1970
 */
export function formatDays(fromMs: number, toMs: number): string {
  const days = new Intl.DateTimeFormat(locale.value, { dateStyle: 'long', timeZone: 'UTC' })
  return days.formatRange(fromMs, Math.max(fromMs, toMs))
}

/** A date with the parts that differ between ticks of a scale; days begin at midnight UTC. */
export function formatDay(timeMs: number, unit: 'day' | 'month' | 'year'): string {
  const parts: Intl.DateTimeFormatOptions = {
    day: { day: 'numeric', month: 'short' },
    month: { month: 'short', year: 'numeric' },
    year: { year: 'numeric' },
  }[unit] as Intl.DateTimeFormatOptions
  return new Intl.DateTimeFormat(locale.value, { ...parts, timeZone: 'UTC' }).format(timeMs)
}

/** A month of UTC, as short as it can be: `Mar 2026`. @param timeMs within the month */
export function formatMonth(timeMs: number): string {
  return formatDay(timeMs, 'month')
}

/** `0x1234…cdef`: enough to tell two addresses apart; show the whole one in a title. */
export function shortAddress(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`
}
