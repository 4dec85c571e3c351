import { LandpassError } from '@landpass/client'
import type { Step } from './steps.ts'

/** The part of the form that a refusal is about: a field, or what was sent as a whole. */
export type RefusalPlace =
  | 'event'
  | 'edit_code'
  | 'coordinates'
  | 'token'
  | 'reason'
  | RequestPlace
  | MakePlace
/** What a page of organisers sends: a step of a form, a token to take back, that passes become invalid, or that an event ends. */
export type RequestPlace = 'step' | 'take_back' | 'passes' | 'end' | 'delete'
/** Fields of the form that makes an event. */
export type MakePlace =
  | 'name'
  | 'description'
  | 'link'
  | 'first_day'
  | 'first_time'
  | 'last_day'
  | 'last_time'
  | 'tokens'
  | 'picture'

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
  event_url: 'link',
  start_date: 'first_day',
  end_date: 'last_day',
  distribution_start_date: 'first_time',
  distribution_end_date: 'last_time',
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
  if (error instanceof LandpassError && error.code === 'invalid_coordinates') return 'coordinates'
  return MAKE_PLACES[parameterOf(error)] ?? 'step'
}

/**
 * Where a refusal is shown in the form that takes a token back.
 *
 * @example
 * takeBackPlaceOf(new LandpassError('…', { code: 'token_not_found' })) // 'token'
 */
export function takeBackPlaceOf(error: unknown): RefusalPlace {
  if (!(error instanceof LandpassError)) return 'take_back'
  if (error.code === 'wrong_edit_code') return 'edit_code'
  if (error.code === 'token_not_found' || parameterOf(error) === 'id') return 'token'
  return parameterOf(error) === 'reason' ? 'reason' : 'take_back'
}

/** The parameter that the server names; empty where it names none. */
function parameterOf(error: unknown): string {
  const parameter = error instanceof LandpassError ? error.data.parameter : undefined
  return typeof parameter === 'string' ? parameter : ''
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
