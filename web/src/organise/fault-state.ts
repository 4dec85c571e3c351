import { LandpassError } from '@landpass/client'
import { computed, signal } from '@preact/signals'
import { refusalText } from '../texts/refusal.ts'
import { text } from '../texts/texts.ts'
import { type RefusalPlace, type RequestPlace, waitUntilMs } from './refusal-place.ts'

/** What the forms of organisers wait for, and what keeps them from continuing. A failure never clears what was typed. */

/** A failure that keeps the organiser from continuing. */
export interface Fault {
  readonly place: RefusalPlace
  /** Cause and next step, in the current language of the page. */
  say(): string
  /** Milliseconds since 1970: trying again before that fails. */
  readonly untilMs?: number | undefined
  /** For reporting the failure. */
  readonly requestId?: string | undefined
}

export const fault = signal<Fault | undefined>(undefined)
/** Further fields of the same form that cannot be sent as they are; {@link fault} is the first one. */
export const furtherFaults = signal<readonly Fault[]>([])
/** The part of the form whose request runs. */
export const busyAt = signal<RequestPlace | undefined>(undefined)
export const isBusy = computed(() => busyAt.value !== undefined)

/** After a change of a field: its fault is no longer true. */
export function clearFaultAt(place: RefusalPlace): void {
  if (fault.value?.place === place) fault.value = undefined
  furtherFaults.value = furtherFaults.value.filter((further) => further.place !== place)
}

/** Shows what is wrong with a form, all at once. The first fault takes the focus. */
export function showFaults([first, ...others]: readonly Fault[]): void {
  fault.value = first
  furtherFaults.value = others
}

/** A refusal of the server, for the part of a form that it is about. */
export function faultAt(place: RefusalPlace, error: unknown): Fault {
  return {
    place,
    say: () => sentenceOf(error),
    untilMs: waitUntilMs(error, Date.now()),
    requestId:
      error instanceof LandpassError && error.code === 'internal_error' ? error.requestId : undefined,
  }
}

/** The server names the pair that it refuses: it knows which cells of the world are land. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof LandpassError) || error.code !== 'invalid_coordinates') return refusalText(error)
  const { position, pair } = error.data
  if (typeof position !== 'number' || typeof pair !== 'string') return refusalText(error)
  return text('organise.places.refused', { position, pair })
}

/**
 * Runs the request of a form unless one is running already.
 *
 * @param onRefusal gets what the request failed with
 * @param place the part of the form that shows that it runs
 */
export async function attempt(
  work: () => Promise<void>,
  onRefusal: (error: unknown) => void,
  place: RequestPlace = 'step',
): Promise<void> {
  if (isBusy.value) return
  busyAt.value = place
  showFaults([])
  try {
    await work()
  } catch (error) {
    onRefusal(error)
  } finally {
    busyAt.value = undefined
  }
}
