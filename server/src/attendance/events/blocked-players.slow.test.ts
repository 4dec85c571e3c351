import { beforeAll, expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import type { Db } from '../../db/engine.ts'
import { BlockedPlayers, MAX_BLOCKED } from './blocked-players.ts'
import { listBlocked } from './blocked-queries.ts'
import { saveEvent } from './event-queries.ts'

describeOnBothEngines('blocked players', (open) => {
  const clock = testClock()
  let db: Db
  let blocked: BlockedPlayers
  const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
  const [ANN, BEN] = [addressOf(0xa), addressOf(0xb)] as const

  beforeAll(async () => {
    db = (await open()).db
    blocked = new BlockedPlayers({ db, clock })
    for (const eventId of [1, 2, 3, 4])
      await saveEvent(db, {
        ...{ eventId, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs: clock.nowMs() },
      })
  })

  test('are refused from the next claim on, of this event alone, until they are removed', async () => {
    await blocked.assertNotBlocked(1, ANN)

    await blocked.change(1, { add: [ANN, ANN], remove: [] })
    await expect(blocked.assertNotBlocked(1, ANN)).rejects.toMatchObject({ code: 'player_blocked' })
    await blocked.assertNotBlocked(1, BEN)
    await blocked.assertNotBlocked(2, ANN)

    await blocked.change(1, { add: [], remove: [ANN] })
    await blocked.assertNotBlocked(1, ANN)
  })

  test('keep the time since when they are blocked; the newest is the first', async () => {
    const startMs = clock.nowMs()
    await blocked.change(2, { add: [ANN], remove: [] })
    clock.set(startMs + 1_000)
    const players = await blocked.change(2, { add: [ANN, BEN], remove: [] })
    clock.set(startMs)

    expect(players).toEqual([
      { address: BEN, sinceMs: startMs + 1_000 },
      { address: ANN, sinceMs: startMs },
    ])
  })

  test('can be a thousand; a list that would be longer is not changed, also by several processes at once', async () => {
    const many = Array.from({ length: MAX_BLOCKED - 1 }, (_, n) => addressOf(n + 100))
    await blocked.change(3, { add: many, remove: [] })
    const change = { add: [ANN, BEN], remove: [addressOf(100)] }

    expect(await blocked.change(3, change)).toHaveLength(MAX_BLOCKED)
    const refused = await Promise.allSettled([
      blocked.change(3, { add: [addressOf(0xc)], remove: [] }),
      new BlockedPlayers({ db, clock }).change(3, { add: [addressOf(0xd)], remove: [ANN] }),
      new BlockedPlayers({ db, clock }).change(3, { add: [addressOf(0xe)], remove: [] }),
    ])

    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected'])
    expect(await listBlocked(db, 3)).toHaveLength(MAX_BLOCKED)
  })

  test('are forgotten with their event', async () => {
    await blocked.change(4, { add: [ANN], remove: [] })
    await db.deleteFrom('attendance_event').where('event_id', '=', 4).execute()

    expect(await listBlocked(db, 4)).toEqual([])
  })
})
