import type { EventInfo } from '@landpass/client'
import { signal } from '@preact/signals'
import { sharedText } from '../stored.ts'
import type { EventWay } from './event-ways.ts'
import { isMadeHere } from './made-here.ts'

/** An event that was made, registered, changed or watched with its edit code in this browser. Its edit code is never stored. */
export interface MyEvent {
  readonly uuid: string
  readonly name: string
  readonly way: EventWay
  /** When this browser last used its edit code, in milliseconds since 1970. */
  readonly seen: number
}

export const MAX_MY_EVENTS = 50
const MAX_NAME_LENGTH = 300
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** The last time that a Date can hold. */
const LAST_TIME_MS = 8.64e15

const shared = sharedText('events')

/** The newest first. Where the browser stores nothing, they are known until the page is closed. */
export const myEvents = signal<readonly MyEvent[]>(readMyEvents(shared.read()))

/** Puts an event to the top of the list. The one that was not used for longest makes room. */
export function noteMyEvent(event: Pick<EventInfo, 'uuid' | 'name' | 'id'>, nowMs = Date.now()): void {
  const { uuid, name } = event
  const noted: MyEvent = {
    uuid,
    name: name.slice(0, MAX_NAME_LENGTH),
    way: isMadeHere(event) ? 'here' : 'poap',
    seen: nowMs,
  }
  store([noted, ...stored().filter((one) => one.uuid !== uuid)].slice(0, MAX_MY_EVENTS))
}

export function forgetMyEvent(uuid: string): void {
  store(stored().filter((one) => one.uuid !== uuid))
}

/**
 * The list as it was stored. Entries that cannot be read are left out.
 *
 * @example
 * readMyEvents('[{"uuid":"no"}]') // []
 */
export function readMyEvents(text: string | null | undefined): readonly MyEvent[] {
  try {
    const entries: unknown = JSON.parse(text ?? '[]')
    const events = Array.isArray(entries) ? entries.filter(isMyEvent) : []
    const unique = new Map(events.map(({ uuid, name, way, seen }) => [uuid, { uuid, name, way, seen }]))
    return [...unique.values()].sort((one, other) => other.seen - one.seen).slice(0, MAX_MY_EVENTS)
  } catch {
    return []
  }
}

function isMyEvent(entry: unknown): entry is MyEvent {
  if (typeof entry !== 'object' || entry === null) return false
  const { uuid, name, way, seen } = entry as Partial<Record<keyof MyEvent, unknown>>
  return (
    typeof uuid === 'string' &&
    UUID.test(uuid) &&
    typeof name === 'string' &&
    name.length <= MAX_NAME_LENGTH &&
    (way === 'here' || way === 'poap') &&
    typeof seen === 'number' &&
    Math.abs(seen) <= LAST_TIME_MS
  )
}

/** Also what another tab has stored meanwhile. */
function stored(): readonly MyEvent[] {
  const text = shared.read()
  return text === undefined ? myEvents.peek() : readMyEvents(text)
}

function store(events: readonly MyEvent[]): void {
  myEvents.value = events
  shared.write(events.length === 0 ? undefined : JSON.stringify(events))
}
