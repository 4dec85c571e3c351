import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PRESENCE_POLICIES } from '../../config/settings.ts'
import { combineAsTheyArrive, combineResults } from './policy.ts'
import type { PresenceResult } from './presence.ts'

const RESULTS = ['present', 'absent', 'unknown'] as const
const someResults = fc.array(fc.constantFrom(...RESULTS), { minLength: 1, maxLength: 8 })

test('two results combined, by policy: the whole table', () => {
  const table = RESULTS.flatMap((first) =>
    RESULTS.map((second) => [
      first,
      second,
      combineResults('any', [first, second]),
      combineResults('all', [first, second]),
    ]),
  )

  expect(table).toEqual([
    ['present', 'present', 'present', 'present'],
    ['present', 'absent', 'present', 'absent'],
    ['present', 'unknown', 'present', 'unknown'],
    ['absent', 'present', 'present', 'absent'],
    ['absent', 'absent', 'absent', 'absent'],
    ['absent', 'unknown', 'unknown', 'absent'],
    ['unknown', 'present', 'present', 'unknown'],
    ['unknown', 'absent', 'unknown', 'absent'],
    ['unknown', 'unknown', 'unknown', 'unknown'],
  ])
})

test('one result stays as it is with either policy; no result is unknown', () => {
  for (const policy of PRESENCE_POLICIES) {
    for (const result of RESULTS) expect(combineResults(policy, [result])).toBe(result)
    expect(combineResults(policy, [])).toBe('unknown')
  }
})

test('adding unknown never changes a result to present or absent', () => {
  fc.assert(
    fc.property(fc.constantFrom(...PRESENCE_POLICIES), someResults, (policy, results) => {
      const known = results.filter((result) => result !== 'unknown')
      const together = combineResults(policy, results)
      if (together !== 'unknown' && known.length > 0) expect(together).toBe(combineResults(policy, known))
      if (known.length === 0) expect(together).toBe('unknown')
    }),
  )
})

test('results that arrive in any order are combined as if they had arrived together', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.constantFrom(...PRESENCE_POLICIES),
      someResults,
      async (s, policy, results) => {
        const answers = results.map((result) => s.schedule(Promise.resolve(result)))

        const judged = combineAsTheyArrive(policy, answers)
        await s.waitIdle()

        expect(await judged).toBe(combineResults(policy, results))
      },
    ),
  )
})

test('a decisive result does not wait for the others', async () => {
  const never = new Promise<PresenceResult>(() => {})

  expect(await combineAsTheyArrive('any', [never, Promise.resolve('present')])).toBe('present')
  expect(await combineAsTheyArrive('all', [Promise.resolve('absent'), never])).toBe('absent')
})
