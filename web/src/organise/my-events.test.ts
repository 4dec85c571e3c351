import fc from 'fast-check'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { forgetMyEvent, MAX_MY_EVENTS, myEvents, noteMyEvent, readMyEvents } from './my-events.ts'

const NAME = 'landpass.events'
const uuidOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const eventOf = (number: number) => ({ id: 90_000 + number, uuid: uuidOf(number), name: `Event ${number}` })

let kept: Map<string, string>
let isFull: boolean

beforeEach(() => {
  kept = new Map()
  isFull = false
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => kept.get(name) ?? null,
    removeItem: (name: string) => kept.delete(name),
    setItem: (name: string, value: string) => {
      if (isFull) throw new DOMException('full', 'QuotaExceededError')
      kept.set(name, value)
    },
  })
  myEvents.value = []
})

describe('my events', () => {
  test('are listed with the newest first, each once, and only what the list shows is stored', () => {
    noteMyEvent({ ...eventOf(1), edit_code: '012345' } as never, 1_000)
    noteMyEvent({ ...eventOf(2), id: 2_000_000_001 }, 2_000)
    noteMyEvent(eventOf(1), 3_000)

    const listed = [
      { uuid: uuidOf(1), name: 'Event 1', way: 'poap', seen: 3_000 },
      { uuid: uuidOf(2), name: 'Event 2', way: 'here', seen: 2_000 },
    ]
    expect(myEvents.value).toEqual(listed)
    expect(JSON.parse(kept.get(NAME)!)).toEqual(listed)
  })

  test('are at most fifty: the one that was not used for longest makes room', () => {
    for (let number = 0; number <= MAX_MY_EVENTS; number++) noteMyEvent(eventOf(number), number)

    expect(myEvents.value).toHaveLength(MAX_MY_EVENTS)
    expect(myEvents.value.at(-1)?.name).toBe('Event 1')
  })

  test('can be removed one by one; of an empty list nothing stays', () => {
    noteMyEvent(eventOf(1))
    noteMyEvent(eventOf(2))
    forgetMyEvent(uuidOf(1))
    expect(myEvents.value.map(({ name }) => name)).toEqual(['Event 2'])
    forgetMyEvent(uuidOf(2))
    expect([...kept]).toEqual([])
  })

  test('of another tab are kept', () => {
    noteMyEvent(eventOf(1), 1_000)
    const fromOther = { uuid: uuidOf(9), name: 'Other tab', way: 'poap', seen: 500 }
    kept.set(NAME, JSON.stringify([fromOther]))
    noteMyEvent(eventOf(2), 2_000)

    expect(myEvents.value.map(({ name }) => name)).toEqual(['Event 2', 'Other tab'])
  })

  test('are known until the page is closed where the browser stores nothing more', () => {
    isFull = true
    noteMyEvent(eventOf(1))
    noteMyEvent(eventOf(2))

    expect(myEvents.value.map(({ name }) => name)).toEqual(['Event 2', 'Event 1'])
  })

  test('are all known where the browser stores an older list and nothing more', () => {
    noteMyEvent(eventOf(1), 1_000)
    isFull = true
    noteMyEvent(eventOf(2), 2_000)
    noteMyEvent(eventOf(3), 3_000)
    forgetMyEvent(uuidOf(2))
    noteMyEvent(eventOf(4), 4_000)

    expect(myEvents.value.map(({ name }) => name)).toEqual(['Event 4', 'Event 3', 'Event 1'])
    expect(JSON.parse(kept.get(NAME)!)).toHaveLength(1)
  })

  test('that cannot be read are left out, whatever is stored', () => {
    const good = { uuid: uuidOf(1), name: 'Good', way: 'here', seen: 1 }
    const bad = [null, 1, {}, { ...good, uuid: '../x' }, { ...good, way: 'else' }, { ...good, seen: '1' }]
    expect(readMyEvents(JSON.stringify([...bad, good, good]))).toEqual([good])
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(readMyEvents(text).length).toBeLessThanOrEqual(MAX_MY_EVENTS)
      }),
      { seed: 17 },
    )
  })
})
