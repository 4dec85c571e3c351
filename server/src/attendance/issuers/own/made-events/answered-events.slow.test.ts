import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnOneEngine } from '../../../../../test/support/database/engines.ts'
import { countWaiting } from '../../../../../test/support/database/lock-waits.ts'
import { eventually } from '../../../../../test/support/processes/landpass.ts'
import { inTransaction } from '../../../../db/transaction.ts'
import { AnsweredEvents } from './answered-events.ts'
import { findMadeEvent, insertMadeEvent } from './made-event-queries.ts'

describeOnOneEngine('what was answered', (open) => {
  test('is stored when the answer was sent, or later where the database does not take it then', async () => {
    const { db } = await open()
    const other = await open()
    const warnings: string[] = []
    const log = { warn: (_: object, sentence: string) => void warnings.push(sentence) }
    const answered = new AnsweredEvents({ db: other.db, log })
    const event = {
      record: () => ({}),
      ...{
        coordinates: '1,2',
        requiresCaptcha: false,
        requiresPresence: false,
        startAtMs: null,
        endAtMs: null,
        timeZone: null,
      },
      ...{ expiresAtMs: 1, editCodeHash: Buffer.alloc(32), supply: 1, approval: 'approved' as const },
      ...{ hidesHolders: false, image: undefined, nowMs: 1 },
    }
    const [at, late, never] = [
      await inTransaction(db, (tx) => insertMadeEvent(tx, event)),
      await inTransaction(db, (tx) => insertMadeEvent(tx, event)),
      await inTransaction(db, (tx) => insertMadeEvent(tx, event)),
    ].map(({ event_id }) => event_id) as [number, number, number]
    const isAnswered = async (eventId: number) => (await findMadeEvent(db, eventId))?.is_answered

    answered.sent(at)
    await eventually(
      () => isAnswered(at),
      (is) => is === true,
      10_000,
    )

    await inTransaction(db, async (tx) => {
      await sql`lock table made_event in access exclusive mode`.execute(tx)
      answered.sent(late)
      await eventually(
        () => countWaiting(tx),
        (count) => count === 1,
        10_000,
      )
      await sql`select pg_cancel_backend(pid) from pg_stat_activity
        where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`.execute(tx)
      await eventually(
        async () => warnings.length,
        (count) => count === 1,
        10_000,
      )
    })
    expect(await isAnswered(late)).toBe(false)
    await answered.flush()

    expect([await isAnswered(late), await isAnswered(never)]).toEqual([true, false])
  })
})
