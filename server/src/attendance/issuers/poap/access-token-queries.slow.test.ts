import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../../test/support/database/engines.ts'
import { HOUR_MS } from '../../../clock.ts'
import type { Db } from '../../../db/engine.ts'
import { releaseLease, storedToken, storeToken, takeLease } from './access-token-queries.ts'

const NOW_MS = Date.parse('2026-11-20T12:00:00Z')
const options = { seen: null, nowMs: NOW_MS, untilMs: NOW_MS + 15_000, perHour: 4 }

describeOnBothEngines('the lease to request a token', (open) => {
  test('goes to one of many that take it at the same time', async () => {
    const { db } = await givenNoToken(await open())

    const leases = await Promise.all(Array.from({ length: 10 }, () => takeLease(db, options)))

    expect(leases.filter((lease) => lease)).toEqual([{ untilMs: options.untilMs }])
    expect((await storedToken(db)).asked_at_ms).toEqual([NOW_MS])
  })

  test('is not given when another process has replaced the token since it was read', async () => {
    const { db } = await givenNoToken(await open())
    const lease = (await takeLease(db, options))!
    await storeToken(db, lease, { encrypted: Buffer.from('encrypted'), expiresAtMs: NOW_MS + HOUR_MS })

    expect(await takeLease(db, options)).toBeUndefined()
    expect(await takeLease(db, { ...options, seen: Buffer.from('encrypted') })).toBeDefined()
  })

  test('can be neither released nor used to store a token after it has ended', async () => {
    const { db } = await givenNoToken(await open())
    const late = (await takeLease(db, options))!
    const nowMs = options.untilMs
    await takeLease(db, { ...options, nowMs, untilMs: nowMs + 15_000 })

    await releaseLease(db, late)
    await storeToken(db, late, { encrypted: Buffer.from('late'), expiresAtMs: 1 })

    expect(await storedToken(db)).toMatchObject({ encrypted: null, asking_until_ms: nowMs + 15_000 })
  })

  test('is given four times in any hour; older requests do not count', async () => {
    const { db } = await givenNoToken(await open())
    const takeAt = async (nowMs: number) => {
      const lease = await takeLease(db, { ...options, nowMs, untilMs: nowMs + 15_000 })
      if (lease) await releaseLease(db, lease)
      return lease !== undefined
    }

    const within: boolean[] = []
    for (let minute = 0; minute < 5; minute++) within.push(await takeAt(NOW_MS + minute * 60_000))

    expect(within).toEqual([true, true, true, true, false])
    expect(await takeAt(NOW_MS + HOUR_MS)).toBe(true)
    expect((await storedToken(db)).asked_at_ms).toEqual(
      [1, 2, 3, 60].map((minute) => NOW_MS + minute * 60_000),
    )
  })
})

async function givenNoToken({ db }: { db: Db }) {
  await db
    .updateTable('issuer_token')
    .set({ encrypted: null, expires_at_ms: 0, asked_at_ms: [], asking_until_ms: 0 })
    .execute()
  return { db }
}
