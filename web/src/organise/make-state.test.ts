import { afterAll, beforeAll, expect, test, vi } from 'vitest'

// Shows another page: the places do not depend on it
vi.mock('./form-state.ts', () => ({ finish: () => undefined }))

let make: typeof import('./make-state.ts')
let places: typeof import('./places-state.ts')

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-29T11:59:59Z') })
  vi.stubGlobal('navigator', { onLine: true, languages: ['en'] })
  vi.stubGlobal('window', new EventTarget())
  make = await import('./make-state.ts')
  places = await import('./places-state.ts')
})
afterAll(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('the next new event begins without the places of the one before, also after a look at another event', () => {
  make.openDraft()
  places.typePlaces('7,7')
  // The event is made; the browser's Back shows the form that changes event 5, Forward the edit code of the new one
  places.fillPlaces('5', '1,1')
  places.forgetPlaces('5')

  make.leaveMade({ event: { id: 6 } } as Parameters<typeof make.leaveMade>[0])
  make.openDraft()

  expect(places.placesText.value).toBe('')
})

test('the look at an event before it is made ends when its page is left, so it never has the places of another event', () => {
  const leave = make.openDraft()
  const day = { first_day: '2026-11-28', last_day: '2026-11-28', zone: 'UTC' }
  make.changeDraft({ ...day, name: 'Harbour Lights', tokens: '5' })
  places.typePlaces('7,7')
  make.reviewEvent([])
  expect(make.isReviewing.value).toBe(true)

  // The browser's Back shows the form of event 5
  leave()
  places.fillPlaces('5', '1,1')
  expect(make.isReviewing.value).toBe(false)
  make.openDraft()
  expect(places.placesText.value).toBe('7,7')
})

test('a name that nobody sees, a day that is over everywhere, a link without https and too many tokens are named before anything is sent', async () => {
  const { fault, furtherFaults } = await import('./fault-state.ts')
  const faultsNow = () => {
    make.reviewEvent([])
    return [fault.value, ...furtherFaults.value].flatMap((one) => one?.place ?? [])
  }
  make.openDraft()
  places.typePlaces('7,7')
  make.changeDraft({ name: 'Harbour Lights', zone: 'UTC', first_day: '2026-11-27' })
  make.changeDraft({ last_day: '2026-11-28' })
  make.changeDraft({ link: ' https://lanterns.example ', tokens: '1000000' })

  expect(faultsNow()).toEqual([])
  make.changeDraft({ last_time: '23:59' })
  expect(faultsNow()).toEqual(['last_time'])
  make.changeDraft({ link: 'http://lanterns.example', last_day: '2026-11-27', tokens: '1000001' })
  expect(faultsNow()).toEqual(['link', 'last_day', 'tokens'])
  make.changeDraft({ name: 'Harbour\u202eLights', description: '\u202e' })
  expect(faultsNow()).toEqual(['name', 'description', 'link', 'last_day', 'tokens'])
})
