import { expect, test } from 'vitest'
import { within } from './health.ts'

test('a check that hangs fails in time, and all requests wait for the same one', async () => {
  let started = 0
  const hanging = within(5, () => {
    started++
    return new Promise(() => {})
  })

  const checks = await Promise.allSettled([hanging(), hanging(), hanging()])

  for (const { status, ...result } of checks) {
    expect(status).toBe('rejected')
    expect(result).toMatchObject({ reason: { code: 'database_unavailable' } })
  }
  expect(started).toBe(1)
})

test('a check that ends has its own result, and the next one is a new one', async () => {
  const facts = [{ revision: 1 }, { revision: 2 }]
  const check = within(60_000, async () => facts.shift()!)

  expect(await check()).toEqual({ revision: 1 })
  expect(await check()).toEqual({ revision: 2 })
})
