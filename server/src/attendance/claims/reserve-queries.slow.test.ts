import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { freshEngine } from '../../../test/support/database/engines.ts'
import { countWaiting } from '../../../test/support/database/lock-waits.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { eventually } from '../../../test/support/processes/landpass.ts'
import { MINUTE_MS } from '../../clock.ts'
import { inTransaction } from '../../db/transaction.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import { countCodes, saveEvent } from '../events/event-queries.ts'
import { Vault } from '../secrets/vault.ts'
import { type Insertion, insertClaim } from './reserve-queries.ts'

const open = freshEngine('postgres')

test('a code that is encrypted anew while a claim waits for it is held by that claim', async () => {
  const { db } = await open()
  const nowMs = testClock().nowMs()
  const about = { eventId: 7, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs }
  await saveEvent(db, about)
  const listed = ['a', 'b'].map((code) => ({ code, isClaimed: false }))
  await mergeCodes(db, new Vault(Buffer.alloc(32, 3)), { eventId: 7, listed, nowMs })
  const claimOf = (address: string) => ({ eventId: 7, address, nowMs, nextStepAtMs: nowMs })

  let inserting: Promise<Insertion> | undefined
  await inTransaction((await open()).db, async (tx) => {
    await sql`update claim_code set encrypted = encrypted where event_id = 7`.execute(tx)
    inserting = insertClaim(db, claimOf('0x1'), { request: undefined, wait: true })
    await eventually(
      () => countWaiting(tx),
      (waiting) => waiting > 0,
      MINUTE_MS,
    )
  })
  const first = await inserting!
  const second = await insertClaim(db, claimOf('0x2'), { request: undefined, wait: true })

  expect(first.made?.codeId).toBeDefined()
  expect(second.made?.codeId).not.toBe(first.made?.codeId)
  const { rows } = await sql<{ state: string }>`select state from claim_code where event_id = 7`.execute(db)
  expect(rows).toEqual([{ state: 'held' }, { state: 'held' }])
  expect(await countCodes(db, 7)).toMatchObject({ free: 0, held: 2 })
})
