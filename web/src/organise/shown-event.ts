import { signal } from '@preact/signals'
import { type EventWay, OFFERED_WAYS } from './event-ways.ts'
import { STEPS, type Step } from './steps.ts'

/**
 * The address decides between the choice of a way (`/organise`), its form (`/organise?way=here`, `?way=poap`) and the live
 * page of an event (`/organise?event=<uuid or id>`), which may be shared: it shows what everybody may see. The browser's way back leads through the steps of the form; its
 * history holds their names and nothing that was typed.
 */
export const shownEvent = signal(eventInAddress())
/** The form that is shown; undefined while the organiser can choose one. */
export const shownWay = signal(wayInAddress())

/** @param name uuid or id */
export function showEvent(name: string): void {
  push(name, null)
}

/** Shows a form. @param way undefined lets the organiser choose, where there is a choice */
export function showForm(way?: EventWay): void {
  push(undefined, null, way)
}

export function noteStep(step: Step): void {
  push(undefined, { step }, 'poap')
}

/** What a QR code and a bookmark hold. */
export function eventAddress(uuid: string): string {
  return `${location.origin}/organise?event=${encodeURIComponent(uuid)}`
}

/** Follows the browser's buttons. @returns to stop it */
export function followAddress(onStep: (step: Step) => void): () => void {
  const read = () => {
    shownEvent.value = eventInAddress()
    shownWay.value = wayInAddress()
    onStep(stepInHistory())
  }
  window.addEventListener('popstate', read)
  return () => window.removeEventListener('popstate', read)
}

function eventInAddress(): string | undefined {
  return new URLSearchParams(location.search).get('event')?.trim() || undefined
}

function wayInAddress(): EventWay | undefined {
  if (OFFERED_WAYS.length === 1) return OFFERED_WAYS[0]
  const wanted = new URLSearchParams(location.search).get('way')
  return OFFERED_WAYS.find((way) => way === wanted)
}

function stepInHistory(): Step {
  const noted = (history.state as { readonly step?: unknown } | null)?.step
  return STEPS.find((step) => step === noted) ?? 'event'
}

function push(name: string | undefined, state: { readonly step: Step } | null, way?: EventWay): void {
  const query = new URLSearchParams(location.search)
  if (name === undefined) query.delete('event')
  else query.set('event', name)
  if (way === undefined || OFFERED_WAYS.length === 1) query.delete('way')
  else query.set('way', way)
  const text = query.toString()
  history.pushState(state, '', text === '' ? '/organise' : `/organise?${text}`)
  shownEvent.value = name
  shownWay.value = wayInAddress()
}
