import { afterEach, beforeAll, expect, test, vi } from 'vitest'

type Places = typeof import('./places-state.ts')
let places: Places

beforeAll(async () => {
  vi.stubGlobal('navigator', { onLine: true, languages: ['en'] })
  vi.stubGlobal('window', new EventTarget())
  places = await import('./places-state.ts')
  vi.unstubAllGlobals()
})

afterEach(() => {
  for (const event of ['1', '2', places.NEW_EVENT]) {
    places.fillPlaces(event, '')
    places.forgetPlaces(event)
  }
})

test('places that were drawn for an event are there again after a look at another form', () => {
  places.fillPlaces(places.NEW_EVENT, '')
  places.typePlaces('7,7')
  places.changePlaces('7,7;8,8')

  places.fillPlaces('1', '9,9')
  expect(places.placesText.value).toBe('9,9')
  places.fillPlaces(places.NEW_EVENT, '')

  expect(places.placesText.value).toBe('7,7;8,8')
  places.undoPlaces()
  expect(places.placesText.value).toBe('7,7')
})

test('places of an event that nobody changed are those of the server, also when they are others now', () => {
  places.fillPlaces('1', '1,1')
  places.fillPlaces('2', '2,2')
  places.fillPlaces('1', '3,3')

  expect(places.placesText.value).toBe('3,3')
  expect(places.earlierPlaces.value).toEqual([])
  places.fillPlaces('1', '4,4')
  expect(places.placesText.value, 'the same event, read again').toBe('4,4')
})

test('places of an event that is done with are forgotten, and those of others are kept', () => {
  places.fillPlaces('1', '1,1')
  places.typePlaces('5,5')
  places.fillPlaces('2', '2,2')
  places.typePlaces('6,6')

  places.forgetPlaces('2')
  expect(places.placesText.value).toBe('')
  places.fillPlaces('2', '2,2')
  expect(places.placesText.value).toBe('2,2')
  places.fillPlaces('1', '1,1')
  expect(places.placesText.value).toBe('5,5')
})

test('places of a new event are forgotten also after a look at the form of another event', () => {
  places.fillPlaces(places.NEW_EVENT, '')
  places.typePlaces('7,7')
  places.fillPlaces('1', '1,1')
  places.typePlaces('5,5')

  places.forgetPlaces(places.NEW_EVENT)
  expect(places.placesText.value, 'those that are shown').toBe('5,5')
  places.fillPlaces(places.NEW_EVENT, '')
  expect(places.placesText.value).toBe('')
  places.fillPlaces('1', '1,1')
  expect(places.placesText.value).toBe('5,5')
})

test('an emptied field is filled again', () => {
  places.fillPlaces('1', '1,1')
  places.typePlaces(' ')
  places.fillPlaces('1', '1,1')

  expect(places.placesText.value).toBe('1,1')
})
