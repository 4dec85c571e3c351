import { SECOND_MS } from '../../clock.ts'
import { valueAt } from '../../state/parts/columns.ts'
import type { RowFormat } from '../common/row-files.ts'
import { type LandRow, landRow } from './land-rows.ts'
import { type LandView, newestOfferMs } from './land-view.ts'

/** Land for programs that read feeds (Atom, RFC 4287) and calendars (iCalendar, RFC 5545). */

/** What feeds have of the request and the state. */
export interface FeedFacts {
  /** Base of the addresses of pages, without a slash at the end. */
  readonly base: string
  /** The whole address of the request. */
  readonly self: string
  readonly changedAtMs: number
}

/** Characters that XML cannot have, and halves of surrogate pairs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\p{Cs}]/gu
const XML_SIGNS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

/**
 * Text within XML.
 *
 * @example
 * xmlText('a < b') // 'a &lt; b'
 */
export function xmlText(text: string): string {
  return text.replace(NOT_IN_XML, '\ufffd').replace(/[&<>"]/g, (sign) => XML_SIGNS[sign]!)
}

export function landAtom(view: LandView, { base, self, changedAtMs }: FeedFacts): RowFormat<number> {
  return {
    contentType: 'application/atom+xml; charset=utf-8',
    start: `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${xmlText(self)}</id>
<title>Land</title>
<updated>${new Date(changedAtMs).toISOString()}</updated>
<author><name>Landpass</name></author>
<link rel="self" type="application/atom+xml" href="${xmlText(self)}"/>
<link rel="alternate" type="text/html" href="${xmlText(base)}/"/>
`,
    between: '\n',
    end: '\n</feed>\n',
    write: (asset) => {
      const row = landRow(view, asset)
      const link = xmlText(pageOf(base, row))
      // A new offer is a new entry: readers show one that they know only once.
      return `<entry>
<id>${link}#${newestOfferMs(view, asset) || 'land'}</id>
<title>${xmlText(titleOf(row))}</title>
<updated>${new Date(updatedAtMs(view, asset, row)).toISOString()}</updated>
<link rel="alternate" type="text/html" href="${link}"/>
<summary>${xmlText(summaryOf(row))}</summary>
</entry>`
    },
  }
}

/** The page on which a person sees it. */
function pageOf(base: string, { asset_type, asset_id }: LandRow): string {
  return `${base}/?${asset_type}=${asset_id}`
}

function nameOf({ asset_type, asset_id, name }: LandRow): string {
  return name ?? `${asset_type === 'estate' ? 'Estate' : 'Parcel'} ${asset_id}`
}

function titleOf(row: LandRow): string {
  const { offer, rental_offer: rental } = row
  const price = offer ? priceOf(offer) : rental && `${rental.price_per_day} MANA a day`
  return price ? `${nameOf(row)}: ${price}` : nameOf(row)
}

function priceOf({ price, price_usd }: NonNullable<LandRow['offer']>): string {
  return price_usd === null ? `${price} MANA` : `${price_usd} USD in MANA`
}

function summaryOf({ size, x, y, offer, rental_offer, rent, last_sale }: LandRow): string {
  const sentences = [`${size} ${size === 1 ? 'parcel' : 'parcels'} at ${x},${y}.`]
  if (offer) sentences.push(`For sale for ${priceOf(offer)}${untilText(offer.expires_at)}.`)
  if (rental_offer)
    sentences.push(
      `For rent from ${rental_offer.price_per_day} MANA a day${untilText(rental_offer.expires_at)}.`,
    )
  if (rent) sentences.push(`Rented${untilText(rent.rented_until)}.`)
  if (last_sale) sentences.push(`Last sold for ${last_sale.price} MANA.`)
  return sentences.join(' ')
}

/** The last time that calendars can write, and the first that they cannot. */
const YEAR_10000_MS = Date.UTC(10_000, 0)

function untilText(timeMs: number): string {
  return timeMs < YEAR_10000_MS ? ` until ${new Date(timeMs).toISOString()}` : ''
}

/** The last of its changes, its newest offer, to buy or to rent it, and its last sale. */
function updatedAtMs(view: LandView, asset: number, { last_sale }: LandRow) {
  const { assets, parcels, estates } = view
  const column = asset < assets.estates ? estates.updatedAtS : parcels.updatedAtS
  const row = asset < assets.estates ? asset : asset - assets.estates
  return Math.max(valueAt(column, row)! * SECOND_MS, newestOfferMs(view, asset), last_sale?.time ?? 0)
}

const LINE_BYTES = 75

/**
 * A line of a calendar, folded: no part has more than 75 bytes, and each but the first begins with a space.
 *
 * @example
 * calendarLine('SUMMARY', 'short') // 'SUMMARY:short\r\n'
 */
export function calendarLine(name: string, value: string): string {
  let text = ''
  let bytes = 0
  for (const character of `${name}:${value}`) {
    const more = Buffer.byteLength(character)
    if (bytes + more > LINE_BYTES) {
      text += '\r\n '
      bytes = 1
    }
    text += character
    bytes += more
  }
  return `${text}\r\n`
}

/** Text of a calendar: commas, semicolons, backslashes and line breaks have a meaning there. */
function calendarText(text: string): string {
  return text
    .replace(/[\\;,]/g, '\\$&')
    .replace(/\r\n|[\r\n]/g, '\\n')
    .replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd')
}

/** @example calendarTime(0) // '19700101T000000Z' */
function calendarTime(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
}

// A calendar must have a component, also where nothing ends.
const CALENDAR_START = [
  ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Landpass//Land//EN', 'CALSCALE:GREGORIAN'],
  ...['BEGIN:VTIMEZONE', 'TZID:UTC', 'BEGIN:STANDARD', 'DTSTART:19700101T000000'],
  ...['TZOFFSETFROM:+0000', 'TZOFFSETTO:+0000', 'END:STANDARD', 'END:VTIMEZONE', ''],
].join('\r\n')

/** The ends of offers, to buy and to rent, and of rents. Those after the year 9999 are left out: calendars cannot write them. */
export function landCalendar(view: LandView, { base, changedAtMs }: FeedFacts): RowFormat<number> {
  const eventOf = (row: LandRow, endMs: number, uid: string, title: string): string => {
    if (endMs >= YEAR_10000_MS) return ''
    const id = `${row.asset_type}-${row.asset_id.replace(',', '_')}`
    return [
      calendarLine('BEGIN', 'VEVENT'),
      calendarLine('UID', `${uid}-${id}@landpass`),
      calendarLine('DTSTAMP', calendarTime(changedAtMs)),
      calendarLine('DTSTART', calendarTime(endMs)),
      calendarLine('SUMMARY', calendarText(title)),
      calendarLine('URL', pageOf(base, row)),
      calendarLine('TRANSP', 'TRANSPARENT'),
      calendarLine('END', 'VEVENT'),
    ].join('')
  }
  return {
    contentType: 'text/calendar; charset=utf-8',
    start: CALENDAR_START,
    between: '',
    end: 'END:VCALENDAR\r\n',
    write: (asset) => {
      const row = landRow(view, asset)
      const { offer, rental_offer: rental, rent } = row
      const title = `${nameOf(row)}:`
      return (
        (offer
          ? eventOf(row, offer.expires_at, offer.tx_hash, `${title} the offer for ${priceOf(offer)} ends`)
          : '') +
        (rental
          ? eventOf(
              row,
              rental.expires_at,
              `rental-offer-${rental.expires_at}`,
              `${title} the offer to rent from ${rental.price_per_day} MANA a day ends`,
            )
          : '') +
        (rent ? eventOf(row, rent.rented_until, `rent-${rent.rented_until}`, `${title} the rent ends`) : '')
      )
    },
  }
}
