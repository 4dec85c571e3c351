import { signal } from '@preact/signals'
import { type EventWay, OFFERED_WAYS, whyClosed } from './event-ways.ts'
import { namedWay } from './named-way.ts'
import { STEPS, type Step } from './steps.ts'

/**
 * The address decides between the choice of a way (`/organise`), its form (`/organise?way=here`, `?way=poap`), the live
 * page of an event (`/organise?event=<uuid or id>`), which may be shared because it shows what everybody may see, and the form
 * that changes an event made here (`&change`). The browser's way back leads through the steps of the form for events at POAP;
 * its history holds their names and nothing that was typed.
 */
export const shownEvent = signal(eventInAddress())
/** Whether the form that changes the shown event takes the place of its live page. */
export const isChangeShown = signal(changeInAddress())
/** The form that is shown; undefined while the organiser can choose one. */
export const shownWay = signal(wayInAddress())

/** @param name uuid or id */
export function showEvent(name: string): void {
  push({ event: name })
}

/** Shows the form that changes an event made here. @param name uuid or id */
export function showChange(name: string): void {
  push({ event: name, isChange: true })
}

/** Shows a form. @param way undefined lets the organiser choose, where there is a choice */
export function showForm(way?: EventWay): void {
  push({ way })
}

export function noteStep(step: Step): void {
  push({ way: 'poap' }, { step })
}

/** What a QR code and a bookmark hold. */
export function eventAddress(uuid: string): string {
  return `${location.origin}/organise?event=${encodeURIComponent(uuid)}`
}

/** Follows the browser's buttons. */
export function followAddress(onStep: (step: Step) => void): void {
  window.addEventListener('popstate', () => {
    shownEvent.value = eventInAddress()
    isChangeShown.value = changeInAddress()
    shownWay.value = wayInAddress()
    onStep(stepInHistory())
  })
}

function eventInAddress(): string | undefined {
  return new URLSearchParams(location.search).get('event')?.trim() || undefined
}

function changeInAddress(): boolean {
  return new URLSearchParams(location.search).has('change')
}

function wayInAddress(): EventWay | undefined {
  const way = namedWay(new URLSearchParams(location.search).get('way'), OFFERED_WAYS)
  return way && whyClosed(way) ? undefined : way
}

function stepInHistory(): Step {
  const noted = (history.state as { readonly step?: unknown } | null)?.step
  return STEPS.find((step) => step === noted) ?? 'event'
}

interface Shown {
  readonly event?: string
  readonly isChange?: boolean
  readonly way?: EventWay | undefined
}

function push({ event, isChange = false, way }: Shown, state: { readonly step: Step } | null = null): void {
  const query = new URLSearchParams(location.search)
  if (event === undefined) query.delete('event')
  else query.set('event', event)
  if (isChange) query.set('change', '')
  else query.delete('change')
  if (way === undefined || way === namedWay(null, OFFERED_WAYS)) query.delete('way')
  else query.set('way', way)
  const text = query.toString()
  history.pushState(state, '', text === '' ? '/organise' : `/organise?${text}`)
  shownEvent.value = event
  isChangeShown.value = isChange
  shownWay.value = wayInAddress()
}
