import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { noteServerTime, serverNowMs } from './server-clock.ts'

const SERVER_MS = Date.parse('2026-11-20T18:00:00Z')
const HOUR_MS = 3_600_000
const answerAt = (timeMs: number) => noteServerTime(new Date(timeMs).toUTCString(), Date.now())

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: SERVER_MS })
  answerAt(SERVER_MS)
})
afterEach(() => {
  vi.useRealTimers()
})

test.each([-48, -1, 1, 5_000])('a device that is %i hours wrong knows the time of the server', (hours) => {
  vi.setSystemTime(SERVER_MS + hours * HOUR_MS)
  answerAt(SERVER_MS)

  expect(serverNowMs()).toBe(SERVER_MS)
  vi.setSystemTime(Date.now() + 90_000)
  expect(serverNowMs(), 'it goes on between answers').toBe(SERVER_MS + 90_000)
})

test('the time of a right device does not jump with each answer', () => {
  for (const late of [0, 700, 1_900, 300]) {
    vi.setSystemTime(SERVER_MS + late)
    answerAt(SERVER_MS)
    expect(serverNowMs()).toBe(SERVER_MS + late)
  }
})

test('a device whose clock was corrected is right from the next answer on', () => {
  vi.setSystemTime(SERVER_MS + HOUR_MS)
  answerAt(SERVER_MS)
  vi.setSystemTime(SERVER_MS + 500)
  answerAt(SERVER_MS)

  expect(serverNowMs()).toBe(SERVER_MS + 500)
})

test.each([undefined, '', 'yesterday'])('an answer with the date %j changes nothing', (date) => {
  vi.setSystemTime(SERVER_MS + HOUR_MS)
  answerAt(SERVER_MS)
  noteServerTime(date, Date.now())

  expect(serverNowMs()).toBe(SERVER_MS)
})

test.each([0, 5_000, 10_000])(
  'a slow answer, dated %i ms after the request, says nothing of a right device',
  (afterMs) => {
    vi.setSystemTime(SERVER_MS + 10_000)
    noteServerTime(new Date(SERVER_MS + afterMs).toUTCString(), SERVER_MS)

    expect(serverNowMs()).toBe(SERVER_MS + 10_000)
  },
)

test('a slow answer changes nothing on a device whose difference is known', () => {
  vi.setSystemTime(SERVER_MS + HOUR_MS)
  answerAt(SERVER_MS)
  vi.setSystemTime(SERVER_MS + HOUR_MS + 10_000)
  noteServerTime(new Date(SERVER_MS).toUTCString(), SERVER_MS + HOUR_MS)

  expect(serverNowMs()).toBe(SERVER_MS + 10_000)
})
