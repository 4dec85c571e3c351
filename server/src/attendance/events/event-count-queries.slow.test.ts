import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import { HOUR_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction } from '../../db/transaction.ts'
import { byKey } from '../../work/batches.ts'
import {
  acceptClaims,
  closeClaim,
  confirmClaim,
  postponeClaim,
  swapCode,
  takeDueClaims,
} from '../claims/claim-queries.ts'
import { insertClaim, reviveClaim } from '../claims/reserve-queries.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import { removePlayer } from '../removal-queries.ts'
import { countClaims } from '../report/report-queries.ts'
import { Vault } from '../secrets/vault.ts'
import { countAllCodes, countCodes, saveEvent } from './event-queries.ts'

const NOW = testClock().nowMs()
const EVENTS = [7, 8] as const
const vault = new Vault(Buffer.alloc(32, 4))

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(
      'load',
      'claim',
      'claim',
      'revive',
      'accept',
      'confirm',
      'fail',
      'swap',
      'postpone',
      'remove',
    ),
    eventId: fc.constantFrom(...EVENTS),
    pick: fc.nat(5),
    hours: fc.nat(200),
  }),
  { minLength: 5, maxLength: 40 },
)
type Step = typeof steps extends fc.Arbitrary<readonly (infer One)[]> ? One : never

describeOnBothEngines('counts of an event', (open) => {
  test('are those of its rows, after any steps of its claims and codes', async () => {
    const { db } = await open()
    for (const eventId of EVENTS)
      await saveEvent(db, { eventId, record: {}, coordinates: '0,0', expiresAtMs: NOW, nowMs: NOW })

    await fc.assert(
      fc.asyncProperty(steps, async (some) => {
        for (const step of some) await take(db, step)
        for (const eventId of EVENTS) await expectCounts(db, eventId)
        expect(await countAllCodes(db)).toEqual(await rowsByState(db, 'claim_code'))
      }),
      { numRuns: runs(8) },
    )
  })

  test('are read without reading the codes and claims themselves', async () => {
    const { db } = await open()

    const scans = await inTransaction(db, async (tx) => {
      const before = await scansOfRows(tx)
      await countCodes(tx, 7)
      await countAllCodes(tx)
      await countClaims(tx, 7, NOW)
      return (await scansOfRows(tx)) - before
    })

    expect(scans).toBe(0)
  })

  test('are none of an event without codes and claims', async () => {
    const { db } = await open()

    expect(await countCodes(db, 999)).toEqual({ free: 0, held: 0, used: 0, used_elsewhere: 0, void: 0 })
    expect(await countClaims(db, 999, NOW)).toEqual({
      total: { reserved: 0, minting: 0, minted: 0, failed: 0, released: 0 },
      hours: [],
    })
  })
})

async function take(db: Db, { kind, eventId, pick, hours }: Step): Promise<void> {
  const nowMs = NOW - hours * HOUR_MS
  const claim = { eventId, address: `0x${pick}`, nowMs, nextStepAtMs: nowMs }
  const due = async () => takeDueClaims(db, { nowMs: NOW, leaseUntilMs: NOW, limit: pick })
  switch (kind) {
    case 'load': {
      const listed = Array.from({ length: pick }, (_, n) => ({ code: `${eventId} ${n}`, isClaimed: n === 4 }))
      await mergeCodes(db, vault, { eventId, listed, nowMs })
      return
    }
    case 'claim':
      await insertClaim(db, claim, { request: undefined, wait: true })
      return
    case 'revive':
      await reviveClaim(db, claim)
      return
    case 'accept':
      for (const claims of byKey(await due(), (held) => held.eventId).values())
        await acceptClaims(
          db,
          claims.map((claim) => ({ claim, nextStepAtMs: NOW })),
          NOW,
        )
      return
    case 'confirm':
      for (const held of await due()) await confirmClaim(db, held, NOW, undefined)
      return
    case 'fail':
      for (const held of await due())
        await closeClaim(db, held, NOW, { state: 'failed', reason: 'rejected', code: 'void' })
      return
    case 'swap':
      for (const held of await due()) await swapCode(db, held, NOW, 'used_elsewhere')
      return
    case 'remove':
      await removePlayer(db, claim.address, { nowMs: NOW, isDryRun: false })
      return
    case 'postpone':
      for (const held of await due()) await postponeClaim(db, held, NOW)
      return
  }
}

/** How often this connection has read the tables of codes and claims. */
async function scansOfRows(tx: Db): Promise<number> {
  const { rows } = await sql<{ scans: number }>`
    select sum(seq_scan + coalesce(idx_scan, 0))::integer as scans from pg_stat_xact_user_tables
    where relname in ('claim', 'claim_code')`.execute(tx)
  return rows[0]!.scans
}

async function expectCounts(db: Db, eventId: number): Promise<void> {
  const { total, hours } = await countClaims(db, eventId, NOW)
  expect(await countCodes(db, eventId)).toEqual(await rowsByState(db, 'claim_code', eventId))
  expect(total).toEqual(await rowsByState(db, 'claim', eventId))
  const { rows } = await sql<{ hour: number; count: number }>`
    select created_at_ms / ${HOUR_MS}::bigint * ${HOUR_MS}::bigint as hour, count(*) as count from claim
    where event_id = ${eventId} and created_at_ms > ${NOW - 168 * HOUR_MS} group by 1 order by 1 desc`.execute(
    db,
  )
  const counted = hours.map(({ hourMs, ...states }) => ({
    hour: hourMs,
    count: Object.values(states).reduce((sum, one) => sum + one, 0),
  }))
  expect(counted).toEqual(rows)
}

const STATES = {
  claim_code: ['free', 'held', 'used', 'used_elsewhere', 'void'],
  claim: ['reserved', 'minting', 'minted', 'failed', 'released'],
} as const

async function rowsByState(db: Db, table: keyof typeof STATES, eventId?: number) {
  const { rows } = await sql<{ state: string; count: number }>`
    select state, count(*) as count from ${sql.table(table)}
    where event_id = ${eventId ?? null}::integer or ${eventId ?? null}::integer is null group by state`.execute(
    db,
  )
  const counts = new Map(rows.map(({ state, count }) => [state, count]))
  return Object.fromEntries(STATES[table].map((state) => [state, counts.get(state) ?? 0]))
}
