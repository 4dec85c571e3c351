import { LandpassError } from '@landpass/client'
import type { Step } from './steps.ts'

/** The part of the form that a refusal is about: a field, or the step as a whole. */
export type RefusalPlace = 'event' | 'edit_code' | 'coordinates' | 'step' | MakePlace
/** Fields of the form that makes an event. */
export type MakePlace = 'name' | 'description' | 'first_day' | 'last_day' | 'tokens' | 'picture'

const PLACES: Readonly<Record<string, RefusalPlace>> = {
  wrong_edit_code: 'edit_code',
  invalid_coordinates: 'coordinates',
  invalid_parameter: 'event',
}

/**
 * Where a refusal is shown.
 *
 * @example
 * placeOf(new LandpassError('…', { code: 'wrong_edit_code' })) // 'edit_code'
 */
export function placeOf(error: unknown): RefusalPlace {
  return (error instanceof LandpassError ? PLACES[error.code] : undefined) ?? 'step'
}

const MAKE_PLACES: Readonly<Record<string, RefusalPlace>> = {
  name: 'name',
  description: 'description',
  start_date: 'first_day',
  end_date: 'last_day',
  tokens: 'tokens',
  image: 'picture',
  coordinates: 'coordinates',
}

/**
 * Where a refusal is shown in the forms that make or change an event of this server.
 *
 * @example
 * makePlaceOf(new LandpassError('…', { code: 'invalid_parameter', data: { parameter: 'tokens' } })) // 'tokens'
 */
export function makePlaceOf(error: unknown): RefusalPlace {
  if (!(error instanceof LandpassError)) return 'step'
  if (error.code === 'invalid_coordinates') return 'coordinates'
  const { parameter } = error.data
  return (typeof parameter === 'string' ? MAKE_PLACES[parameter] : undefined) ?? 'step'
}

/** The step that has a field; undefined for the one that is shown. */
export function stepWith(place: RefusalPlace): Step | undefined {
  if (place === 'step') return undefined
  return place === 'coordinates' ? 'places' : 'event'
}

/**
 * The time before which trying again fails; undefined where it can succeed at once.
 *
 * @param nowMs milliseconds since 1970
 */
export function waitUntilMs(error: unknown, nowMs: number): number | undefined {
  if (!(error instanceof LandpassError) || error.status !== 429) return undefined
  return nowMs + (error.retryAfterS ?? 60) * 1_000
}
