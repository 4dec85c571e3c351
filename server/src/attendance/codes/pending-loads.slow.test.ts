import { beforeAll, beforeEach, expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import type { Db } from '../../db/engine.ts'
import { CodeCountCache } from '../events/code-count-cache.ts'
import { EventHolds } from '../events/event-holds.ts'
import { countCodes, saveEvent } from '../events/event-queries.ts'
import { IssuerError } from '../issuers/issuer.ts'
import { Vault } from '../secrets/vault.ts'
import { CodeLoader } from './code-loader.ts'
import { findLoad } from './load-queries.ts'
import { KEPT_MS, PendingLoads, TRY_EVERY_MS } from './pending-loads.ts'

const EDIT_CODE = 'edit-code-that-waits'
const vault = new Vault(Buffer.alloc(32, 5))

describeOnBothEngines('codes that wait for their approval', (open) => {
  const clock = testClock()
  const startMs = clock.nowMs()
  /** What the issuer says now. */
  let answer: { isRight: boolean; codes: readonly string[]; isDown?: boolean }
  let asked: string[]
  let logged: string[]
  let eventId = 0
  let db: Db

  beforeAll(async () => {
    db = (await open()).db
  })
  beforeEach(async () => {
    clock.set(startMs)
    answer = { isRight: true, codes: [] }
    asked = []
    logged = []
    eventId += 1
    await saveEvent(db, { eventId, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs: startMs })
  })

  /** A process. */
  function loads(ownVault = vault): PendingLoads {
    const issuer = {
      isEditCode: async (_event: number, editCode: string) => {
        asked.push(editCode)
        if (answer.isDown) throw new IssuerError('unavailable', { call: 'isEditCode' })
        return answer.isRight
      },
      listCodes: async () => answer.codes.map((code) => ({ code, isClaimed: false })),
    }
    const parts = { codeCounts: new CodeCountCache(db), holds: new EventHolds({ db, clock }) }
    const codes = new CodeLoader({ db, clock, vault, issuer, ...parts })
    const log = { warn: (_facts: object, sentence: string) => logged.push(sentence) }
    return new PendingLoads({ db, clock, vault: ownVault, issuer, codes, log })
  }
  const later = (ms: number) => clock.set(clock.nowMs() + ms)

  test('are asked for every quarter of an hour by one process, and loaded once; then the edit code is deleted', async () => {
    const [one, other] = [loads(), loads()]
    await one.keep(eventId, EDIT_CODE)
    const { encrypted } = await db.selectFrom('code_load').select('encrypted').executeTakeFirstOrThrow()
    expect(encrypted.includes(EDIT_CODE)).toBe(false)

    await one.tryDue()
    expect(asked).toEqual([])
    later(TRY_EVERY_MS)
    await Promise.all([one.tryDue(), other.tryDue()])
    expect(asked).toEqual([EDIT_CODE])
    expect(await findLoad(db, eventId)).toEqual({
      ...{ until_ms: startMs + KEPT_MS, last_try_at_ms: startMs + TRY_EVERY_MS },
    })

    answer = { isRight: true, codes: ['c1', 'c2'].map((code) => `${code} of ${eventId}`) }
    later(TRY_EVERY_MS)
    await other.tryDue()
    later(TRY_EVERY_MS)
    await one.tryDue()

    expect(asked).toEqual([EDIT_CODE, EDIT_CODE])
    expect(await countCodes(db, eventId)).toMatchObject({ free: 2 })
    expect(await findLoad(db, eventId)).toBeUndefined()
  })

  test('stay while the issuer does not answer, which the report of the organiser shows', async () => {
    const pending = loads()
    await pending.keep(eventId, EDIT_CODE)
    answer = { isRight: true, codes: [], isDown: true }
    later(TRY_EVERY_MS)
    await pending.tryDue()

    expect(await findLoad(db, eventId)).toMatchObject({ last_try_at_ms: clock.nowMs() })
    const failures = await db
      .selectFrom('issuer_failure')
      .select('kind')
      .where('event_id', '=', eventId)
      .execute()
    expect(failures).toEqual([{ kind: 'unavailable' }])
    await pending.drop(eventId)
  })

  test('keep an edit code that a wrong key does not decrypt, until the right one is back', async () => {
    const pending = loads()
    await pending.keep(eventId, EDIT_CODE)
    later(TRY_EVERY_MS)
    await loads(new Vault(Buffer.alloc(32, 6))).tryDue()

    expect(asked).toEqual([])
    expect(logged).toEqual([expect.stringContaining('cannot be decrypted')])

    later(TRY_EVERY_MS)
    await pending.tryDue()
    expect(asked).toHaveLength(1)
    await pending.drop(eventId)
  })

  test.each([
    ['the issuer calls it wrong', TRY_EVERY_MS, 1],
    ['14 days are over', KEPT_MS, 0],
  ])('lose their edit code when %s', async (_when, afterMs, calls) => {
    const pending = loads()
    await pending.keep(eventId, EDIT_CODE)
    answer = { isRight: false, codes: [] }
    later(afterMs)
    await pending.tryDue()

    expect(asked).toHaveLength(calls)
    expect(await findLoad(db, eventId)).toBeUndefined()
  })
})
