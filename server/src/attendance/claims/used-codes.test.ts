import { expect, test } from 'vitest'
import { UsedCodes } from './used-codes.ts'

test('the third claim within a minute whose code is used contradicts the list; events are counted apart', () => {
  let nowMs = 0
  const used = new UsedCodes(() => nowMs)
  const count = (eventId: number, id: number) => used.isContradiction({ eventId, id })

  expect([count(1, 1), count(1, 1), count(1, 1)], 'one claim that tries several codes').toEqual([
    false,
    false,
    false,
  ])
  expect([count(2, 8), count(1, 2), count(1, 3)]).toEqual([false, false, true])
  used.forget(1)
  expect(count(1, 4), 'after an accepted claim').toBe(false)

  const documented = { eventId: 90001 }
  expect([1, 2, 3].map((id) => used.isContradiction({ ...documented, id }))).toEqual([false, false, true])
  nowMs = 60_000
  expect(used.isContradiction({ ...documented, id: 4 }), 'a minute later').toBe(false)
})
