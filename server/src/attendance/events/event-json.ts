import Type from 'typebox'
import { orNull } from '../../schema-parts.ts'
import { isOwnEvent } from '../issuers/own/own-event-ids.ts'
import { parseIssuerDate } from '../issuers/poap/issuer-dates.ts'
import type { Event } from './event-queries.ts'
import { isoText } from './openness.ts'

const iso = (description: string) => orNull(Type.String({ description: `${description}: ISO 8601, UTC.` }))

/** Fields that the stored event and the issuer's record have in common. */
const describingProperties = {
  fancy_id: Type.String(),
  name: Type.String(),
  event_url: Type.String(),
  image_url: Type.String(),
  country: Type.String(),
  city: Type.String(),
  description: Type.String(),
  year: Type.Union([Type.Integer(), Type.Null()]),
}

/** The public fields of an event. */
export const eventInfoProperties = {
  id: Type.Integer({ description: "The issuer's number of the event." }),
  uuid: Type.String({ description: 'Ours: what a booth takes as its event.' }),
  ...describingProperties,
  event_start_date: iso('First day'),
  event_end_date: iso('Last day'),
  created_at: Type.String({ description: 'When it was registered here: ISO 8601, UTC.' }),
  enabled: Type.Boolean({ description: 'False while the organiser pauses it.' }),
  cancelled: Type.Boolean({ description: 'Whether the organiser has cancelled it.' }),
  coordinates: Type.String({ description: '`x,y;x,y`, in the registered order.' }),
  distribution_start_date: iso('From when on tokens are given out'),
  distribution_end_date: iso('Until when tokens are given out'),
  expiry_date: iso('When the last day is over everywhere on Earth'),
  requires_captcha: Type.Boolean({
    description: 'Whether signed claims need a captcha too; unsigned ones always do.',
  }),
  requires_presence: Type.Boolean({ description: 'Whether a player must stand on one of the coordinates.' }),
  requires_grant: Type.Boolean({
    description: "Whether a player needs a grant of the organiser's own server.",
  }),
  allows_guests: Type.Boolean({
    description: 'Whether guests may claim, who lose their token when they leave.',
  }),
  time_zone: orNull(
    Type.String({ description: 'IANA name of the zone of its times, where the organiser chose one.' }),
  ),
  rehearsal_until: iso('Until when claims from a preview of the scene are rehearsed'),
}
export const eventInfoSchema = Type.Object(eventInfoProperties, {
  additionalProperties: true,
  title: 'EventInfo',
})

/** The answer to a registration: the flat event and the issuer's record, because clients read either form. */
export const eventReferenceProperties = {
  ...eventInfoProperties,
  event: Type.Object(
    {
      id: Type.Integer(),
      ...describingProperties,
      start_date: Type.String({ description: 'DD-Mon-YYYY' }),
      end_date: Type.String({ description: 'DD-Mon-YYYY' }),
      expiry_date: Type.String({
        description: 'DD-Mon-YYYY: the last day on which the issuer makes tokens.',
      }),
      from_admin: Type.Boolean(),
      virtual_event: Type.Boolean(),
      event_template_id: Type.Integer(),
      event_host_id: Type.Integer(),
      private_event: Type.Boolean(),
    },
    {
      title: 'IssuerEvent',
      additionalProperties: true,
      description: "The issuer's own record, without anything secret.",
    },
  ),
}

/**
 * @param base of the addresses, without a slash at its end
 * @returns the answer of `GET /event/:uuid`
 */
export function eventInfoJson(event: Event, base: string) {
  const record = event.issuer_record
  return {
    id: event.event_id,
    uuid: event.uuid,
    ...describingJson(event, base),
    event_start_date: isoText(parseIssuerDate(record.start_date)),
    event_end_date: isoText(parseIssuerDate(record.end_date)),
    created_at: new Date(event.created_at_ms).toISOString(),
    enabled: event.enabled,
    cancelled: event.is_cancelled,
    coordinates: event.coordinates,
    distribution_start_date: isoText(event.distribution_start_at_ms),
    distribution_end_date: isoText(event.distribution_end_at_ms),
    expiry_date: isoText(event.expires_at_ms),
    requires_captcha: event.requires_captcha,
    requires_presence: event.requires_presence,
    requires_grant: event.requires_grant,
    allows_guests: event.allows_guests,
    time_zone: event.time_zone,
    rehearsal_until: isoText(event.rehearsal_until_ms),
  }
}

/**
 * @param base of the addresses, without a slash at its end
 * @returns the answer of `POST /event/:id`
 */
export function eventReferenceJson(event: Event, base: string) {
  return { ...eventInfoJson(event, base), event: issuerRecordJson(event, base) }
}

export function eventName({ issuer_record: record }: Pick<Event, 'issuer_record'>): string {
  return text(record.name)
}

function describingJson(event: Event, base: string) {
  const record = event.issuer_record
  return {
    fancy_id: text(record.fancy_id),
    name: eventName(event),
    event_url: text(record.event_url),
    image_url: imageUrl(event, base),
    country: text(record.country),
    city: text(record.city),
    description: text(record.description),
    year: wholeNumber(record.year) ?? null,
  }
}

/**
 * The issuer's record with every documented field in its documented type, and all other fields unchanged. Newer answers
 * of the issuer leave some documented fields out, or have null there.
 */
function issuerRecordJson(event: Event, base: string) {
  const record = event.issuer_record
  return {
    ...record,
    id: wholeNumber(record.id) ?? 0,
    ...describingJson(event, base),
    start_date: dayText(record.start_date),
    end_date: dayText(record.end_date),
    expiry_date: dayText(record.expiry_date),
    from_admin: record.from_admin === true,
    virtual_event: record.virtual_event === true,
    event_template_id: wholeNumber(record.event_template_id) ?? 0,
    event_host_id: wholeNumber(record.event_host_id) ?? 0,
    private_event: record.private_event === true,
  }
}

/** The picture of an event that was made here has an address of this server, of which nothing is stored. */
function imageUrl({ event_id: eventId, uuid, issuer_record: record }: Event, base: string): string {
  return isOwnEvent(eventId) ? `${base}/events/${uuid}/image.png` : text(record.image_url)
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `DD-Mon-YYYY`; a date that cannot be read stays as the issuer wrote it. */
function dayText(value: unknown): string {
  const timeMs = parseIssuerDate(value)
  if (timeMs === undefined) return text(value)
  const date = new Date(timeMs)
  const day = String(date.getUTCDate()).padStart(2, '0')
  return `${day}-${MONTHS[date.getUTCMonth()]}-${date.getUTCFullYear()}`
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function wholeNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}
