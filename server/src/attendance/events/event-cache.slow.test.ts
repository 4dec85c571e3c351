import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import { Vault } from '../secrets/vault.ts'
import { CodeCountCache } from './code-count-cache.ts'
import { EventCache } from './event-cache.ts'
import { changeEvent, saveEvent } from './event-queries.ts'

const NOW = testClock().nowMs()
const vault = new Vault(Buffer.alloc(32, 4))

describeOnBothEngines('events that are claimed', (open) => {
  test('are read once for many requests, by number and by UUID, and again after a change in this process', async () => {
    const { db } = await open()
    const events = new EventCache(db)
    const saved = await saveEvent(db, {
      eventId: 7,
      record: { id: 7, name: 'Concert' },
      coordinates: '1,1',
      expiresAtMs: undefined,
      nowMs: NOW,
    })
    const first = await events.get({ eventId: 7 })
    const byUuid = await events.get({ uuid: saved.uuid })
    await changeEvent(db, 7, { enabled: false }, NOW)

    const cached = await events.get({ eventId: 7 })
    events.forget(saved)

    expect(first).toEqual(saved)
    expect(byUuid).toEqual(saved)
    expect(cached).toBe(first)
    expect([
      (await events.get({ eventId: 7 })).enabled,
      (await events.get({ uuid: saved.uuid })).enabled,
    ]).toEqual([false, false])
  })

  test('codes are counted once for requests at the same time, and again after forget', async () => {
    const { db } = await open()
    await saveEvent(db, { eventId: 9, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs: NOW })
    const load = (code: string) =>
      mergeCodes(db, vault, { eventId: 9, listed: [{ code, isClaimed: false }], nowMs: NOW })
    const counts = new CodeCountCache(db)
    await load('a1')
    const together = await Promise.all([counts.get(9), counts.get(9)])
    await load('a2')

    const cached = await counts.get(9)
    counts.forget(9)

    expect(together[0]).toBe(together[1])
    expect([together[0]?.free, cached.free, (await counts.get(9)).free]).toEqual([1, 1, 2])
  })

  test('an event that is not registered is not cached: it may be registered at any time', async () => {
    const { db } = await open()
    const events = new EventCache(db)

    await expect(events.get({ eventId: 8 })).rejects.toMatchObject({ code: 'event_not_found' })
    await saveEvent(db, { eventId: 8, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs: NOW })

    expect((await events.get({ eventId: 8 })).event_id).toBe(8)
  })
})
