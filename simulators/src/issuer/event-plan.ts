import { HOUR_MS } from '@landpass/server/clock'

/** The data that an event is created from: an event of the demo, or the body of `PUT /simulator/events/:id`. */
export interface EventPlan {
  readonly id: number
  readonly name: string
  readonly editCode: string
  readonly codes: number
  /** Time from the creation to the approval; undefined: never approved. */
  readonly approvedAfterMs: number | undefined
  /** Midnight UTC at the beginning of the last day on which the issuer mints. */
  readonly expiresOnMs: number
  /** Fields of the issuer's event that replace the default values. */
  readonly fields: Readonly<Record<string, string>>
}

/** The most codes of an event: as many as the issuer gives for one request. */
export const MAX_CODES = 50_000

export class PlanError extends Error {}

export const DAY_MS = 24 * HOUR_MS
const TEXT_FIELDS = [
  'description',
  'city',
  'country',
  'event_url',
  'image_url',
  'start_date',
  'end_date',
] as const

/**
 * Reads the body of `PUT /simulator/events/:id`.
 *
 * @throws {PlanError}
 * @example
 * parsePlan(7, { edit_code: '112233', codes: 3 }, Date.now()).name // 'Event 7'
 */
export function parsePlan(id: number, body: unknown, nowMs: number): EventPlan {
  if (typeof body !== 'object' || body === null) throw new PlanError('an event is one JSON object')
  const plan = body as Readonly<Record<string, unknown>>
  return {
    id,
    name: readText(plan, 'name') ?? `Event ${id}`,
    editCode: readText(plan, 'edit_code') ?? fail('edit_code is missing'),
    codes: readWhole(plan.codes, 'codes', MAX_CODES) ?? fail('codes is missing: how many?'),
    approvedAfterMs:
      plan.approved_after_ms === null
        ? undefined
        : (readWhole(plan.approved_after_ms, 'approved_after_ms', Number.MAX_SAFE_INTEGER) ?? 0),
    expiresOnMs: readDay(plan.expiry_date) ?? midnightMs(nowMs) + 365 * DAY_MS,
    fields: Object.fromEntries(
      TEXT_FIELDS.flatMap((field) => {
        const text = readText(plan, field)
        return text === undefined ? [] : [[field, text]]
      }),
    ),
  }
}

/**
 * The events that exist after a start:
 *
 * | id | name | edit code | codes | |
 * |---|---|---|---|---|
 * | 90001 | Harbour Lights Opening | 012345 | 100 | expires in a year |
 * | 90002 | Lantern Walk | 123456 | 20 | never approved: no codes |
 * | 90003 | Winter Market | 234567 | 10 | expired last month |
 * | 90004 | Last Boat Home | 345678 | 1 | one code only |
 * | 90005 | Rooftop Concert | 456789 | 50 | approved a minute after the start |
 */
export function demoPlans(nowMs: number): readonly EventPlan[] {
  const inDays = (days: number) => midnightMs(nowMs) + days * DAY_MS
  const approved = { approvedAfterMs: 0, expiresOnMs: inDays(365), fields: {} }
  return [
    {
      ...approved,
      id: 90001,
      name: 'Harbour Lights Opening',
      editCode: '012345',
      codes: 100,
      fields: {
        description: 'For everyone who came to the opening night.',
        event_url: 'https://events.example.org/harbour',
        image_url: 'https://images.example.org/harbour.png',
      },
    },
    {
      ...approved,
      id: 90002,
      name: 'Lantern Walk',
      editCode: '123456',
      codes: 20,
      approvedAfterMs: undefined,
    },
    {
      ...approved,
      id: 90003,
      name: 'Winter Market',
      editCode: '234567',
      codes: 10,
      expiresOnMs: inDays(-30),
    },
    { ...approved, id: 90004, name: 'Last Boat Home', editCode: '345678', codes: 1 },
    {
      ...approved,
      id: 90005,
      name: 'Rooftop Concert',
      editCode: '456789',
      codes: 50,
      approvedAfterMs: 60_000,
    },
  ]
}

/** A whole number from 0 to `max`; undefined where there is none. @throws {PlanError} */
export function readWhole(value: unknown, name: string, max: number): number | undefined {
  if (value === undefined) return undefined
  const isWhole = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max
  return isWhole ? value : fail(`${name} is a whole number from 0 to ${max}`)
}

function readText(plan: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = plan[name]
  if (value === undefined) return undefined
  return typeof value === 'string' && value !== '' ? value : fail(`${name} is a text`)
}

function readDay(value: unknown): number | undefined {
  if (value === undefined) return undefined
  const timeMs = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(timeMs) ? fail('expiry_date is a day: 2026-03-20') : midnightMs(timeMs)
}

function midnightMs(timeMs: number): number {
  return timeMs - (((timeMs % DAY_MS) + DAY_MS) % DAY_MS)
}

function fail(sentence: string): never {
  throw new PlanError(sentence)
}
