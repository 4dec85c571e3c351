import { expect, test } from 'vitest'
import { FixedTiming } from '../../../test/support/chain/scripted-node.ts'
import { RateLimiter } from './rate-limiter.ts'

test('requests beyond the limits wait: at the same time, and in a second', async () => {
  const timing = new FixedTiming()
  const limiter = new RateLimiter({ maxInFlight: 2, callsPerSecond: 10, timing, random: () => 0.5 })
  const startsMs: number[] = []
  let most = 0
  const request = async () => {
    startsMs.push(timing.nowMs())
    most = Math.max(most, limiter.inFlight)
    await Promise.resolve()
  }

  await Promise.all(Array.from({ length: 6 }, () => limiter.run(request)))

  expect(most).toBe(2)
  expect(startsMs).toHaveLength(6)
  for (const [at, ms] of startsMs.entries()) expect(ms).toBeGreaterThanOrEqual(100 * at)
})
