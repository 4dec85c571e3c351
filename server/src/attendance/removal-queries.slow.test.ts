import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { giveGrant } from '../../test/support/attendance/attendance-rows.ts'
import { describeOnOneEngine } from '../../test/support/database/engines.ts'
import { testClock } from '../../test/support/http/land-server.ts'
import { MINUTE_MS } from '../clock.ts'
import type { Db } from '../db/engine.ts'
import { inTransaction } from '../db/transaction.ts'
import { replaceCaptcha } from './captcha/captcha-queries.ts'
import { insertClaim } from './claims/reserve-queries.ts'
import { mergeCodes } from './codes/code-queries.ts'
import { BlockedPlayers } from './events/blocked-players.ts'
import { saveEvent } from './events/event-queries.ts'
import { Grants } from './grants/grants.ts'
import { removeEvent, removePlayer } from './removal-queries.ts'
import { Vault } from './secrets/vault.ts'

const clock = testClock()
const NOW = clock.nowMs()
const vault = new Vault(Buffer.alloc(32, 5))
const addressOf = (player: number) => `0x${player.toString(16).padStart(40, '0')}`
const [ANN, BEN] = [addressOf(0xa), addressOf(0xb)]
/** They hold no player for longer than minutes, or none at all. */
const LEFT = ['edit_code_guess', 'organiser_pass_generation', 'seen_request']

describeOnOneEngine('an operator', (open) => {
  let db: Db
  beforeAll(async () => {
    db = (await open()).db
  })

  async function givenEvent(eventId: number, expiresAtMs = NOW + MINUTE_MS) {
    await saveEvent(db, { eventId, record: {}, coordinates: '0,0', expiresAtMs, nowMs: NOW })
    const listed = Array.from({ length: 40 }, (_, n) => ({ code: `${eventId} ${n}`, isClaimed: n === 39 }))
    await mergeCodes(db, vault, { eventId, listed, nowMs: NOW })
  }
  const claim = (eventId: number, address: string, on = db) =>
    insertClaim(on, { eventId, address, nowMs: NOW, nextStepAtMs: NOW }, { request: undefined, wait: false })
  const stateOf = (eventId: number, state: 'failed' | 'reserved') =>
    sql`update claim set state = ${state}, code_id = null, next_step_at_ms = null where event_id = ${eventId}`.execute(
      db,
    )
  const rowsOf = async (table: string, eventId: number) => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from ${sql.table(table)} where event_id = ${eventId}`.execute(db)
    return rows[0]!.count
  }

  test('removes an event of the other issuer whole, also while players claim; its neighbour stays', async () => {
    for (const eventId of [1, 2]) await givenEvent(eventId)
    const grants = new Grants({ db, clock, vault, maxOpen: 9, maxOpenOfAll: 99 })
    for (const eventId of [1, 2])
      for (const address of [ANN, BEN])
        await giveGrant(grants, db, { eventId, address, nonce: address, expiresAtMs: NOW + 1 })
    await new BlockedPlayers({ db, clock }).change(1, { add: [BEN], remove: [] })
    await claim(2, ANN)
    const { rows: tables } = await sql<{ name: string }>`
      select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name = 'event_id'`.execute(db)

    // One claim is stored, but not committed, when the removal begins; the others come at any time
    let hold: (value: unknown) => void = () => {}
    const held = new Promise((resolve) => {
      hold = resolve
    })
    const first = inTransaction(db, async (tx) => {
      await claim(1, ANN, tx)
      await held
    })
    const others = Array.from({ length: 8 }, (_, n) => claim(1, addressOf(100 + n)))
    const removal = removeEvent(db, 1, { nowMs: NOW, isDryRun: false })
    hold(undefined)
    await Promise.allSettled([first, ...others])

    expect(await removal).toMatchObject({ claim_code: 40, attendance_grant: 2, grant_secret: 1 })
    expect(tables.length).toBeGreaterThan(15)
    for (const { name } of tables) if (!LEFT.includes(name)) expect(await rowsOf(name, 1), name).toBe(0)
    expect(await rowsOf('claim_code', 2)).toBe(40)
    expect(await rowsOf('attendance_grant', 2)).toBe(2)
    expect((await claim(2, BEN)).made).toBeDefined()
  })

  test('removes a player, but for claims that keep a second token away', async () => {
    await givenEvent(3)
    await givenEvent(4, NOW)
    await givenEvent(5, NOW)
    for (const eventId of [3, 4, 5]) await claim(eventId, ANN)
    await stateOf(3, 'failed')
    await stateOf(4, 'failed')
    await new BlockedPlayers({ db, clock }).change(4, { add: [ANN, BEN], remove: [] })
    await replaceCaptcha(db, {
      ...{ uuid: '0d4f0f0a-8d1c-4a55-9a43-9f6c7b1f2a33', address: ANN, encrypted: Buffer.alloc(1) },
      ...{ is_preview: false, is_guest: false, tries: 1, expires_at_ms: NOW },
    })

    const { rows, kept } = await removePlayer(db, ANN, { nowMs: NOW, isDryRun: false })

    expect(rows).toMatchObject({ captcha: 1, claim: 1, attendance_blocked: 1 })
    expect(kept.filter(({ event }) => event > 2)).toEqual([
      { event: 3, because: 'open', until: new Date(NOW + MINUTE_MS).toISOString() },
      { event: 5, because: 'unfinished', until: new Date(NOW).toISOString() },
    ])
    expect(await rowsOf('attendance_blocked', 4)).toBe(1)
  })
})
