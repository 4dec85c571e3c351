import { expect, test } from 'vitest'
import { FREE_CODE, withoutSigning } from '../../../test/support/attendance/codes-at-issuer.ts'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { type TestClock, testClock } from '../../../test/support/http/land-server.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import { EventHolds } from '../events/event-holds.ts'
import { countCodes, saveEvent } from '../events/event-queries.ts'
import { type CodeAtIssuer, type Issuer, IssuerError } from '../issuers/issuer.ts'
import { Vault } from '../secrets/vault.ts'
import { pauseAfter } from './claim-pauses.ts'
import { findClaim, takeDueClaims } from './claim-queries.ts'
import { LEASE_MS } from './claim-worker.ts'
import { insertClaim } from './reserve-queries.ts'
import { StepRunner } from './step-runner.ts'

const EVENT = 7
const ANN = `0x${'a'.repeat(40)}`
const vault = new Vault(Buffer.alloc(32, 3))
const UNNAMED: CodeAtIssuer = { ...FREE_CODE, isClaimed: true }
const OF_ANN: CodeAtIssuer = { ...UNNAMED, beneficiary: ANN }
const LOST = new IssuerError('unavailable', { call: 'mint' })

test('the pauses of a claim grow up to 15 seconds, and those of a token that is being made up to 5 minutes', () => {
  const pauses = (state: 'reserved' | 'minting') =>
    Array.from({ length: 21 }, (_, attempts) => pauseAfter({ state, attempts }))
  expect(pauses('reserved').slice(0, 5)).toEqual([1_000, 1_500, 2_250, 3_375, 5_062.5])
  expect(Math.max(...pauses('reserved'))).toBe(15 * SECOND_MS)
  expect(Math.max(...pauses('minting'))).toBe(5 * MINUTE_MS)
})

describeOnBothEngines('a claim that waits', (open) => {
  /** A claim of Ann, and its steps. Time passes to each of them. */
  async function start(issuer: Pick<Issuer, 'readCode' | 'mint'>, clock: TestClock) {
    const { db } = await open()
    for (const table of ['event_hold', 'claim', 'claim_code', 'event_count'] as const)
      await db.deleteFrom(table).execute()
    const nowMs = clock.nowMs()
    await saveEvent(db, { eventId: EVENT, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs })
    const listed = ['k3v9zq', 'k3v9zr'].map((code) => ({ code, isClaimed: false }))
    await mergeCodes(db, vault, { eventId: EVENT, listed, nowMs: nowMs - HOUR_MS })
    await insertClaim(
      db,
      { eventId: EVENT, address: ANN, nowMs, nextStepAtMs: nowMs },
      { request: undefined, wait: true },
    )
    const alarms: string[] = []
    const holds = new EventHolds({ db, clock })
    const log = { warn: () => undefined, error: (_: object, sentence: string) => alarms.push(sentence) }
    const forCodes = { issuer: withoutSigning(issuer), issuerTimeoutMs: 10 * SECOND_MS }
    const options = { db, clock, vault, ...forCodes, holds, log }
    const runner = new StepRunner(options, () => undefined)
    let steps = 0
    const step = async () => {
      if (++steps > 60) expect.fail(`the claim stands still: ${alarms.at(-1)}`)
      await stepNext(db, runner, clock)
    }
    return { db, alarms, step, row: () => rowOf(db) }
  }

  test('for a token that appears after two hours', async () => {
    const clock = testClock()
    const appearsAtMs = clock.nowMs() + 2 * HOUR_MS
    let asked = false
    const readCode = async (): Promise<CodeAtIssuer> => {
      if (!asked) return FREE_CODE
      return { ...OF_ANN, txStatus: clock.nowMs() < appearsAtMs ? 'pending' : 'passed' }
    }
    const mint: Issuer['mint'] = async (_, beforeMint) => {
      await beforeMint()
      asked = true
      return 'accepted'
    }
    const { db, alarms, step, row } = await start({ readCode, mint }, clock)

    await step()
    for (let checks = 0; (await row()).state !== 'minted'; checks++) {
      expect(await row()).toMatchObject({ state: 'minting', attempts: checks })
      await step()
    }

    expect(clock.nowMs() - appearsAtMs).toBeLessThanOrEqual(5 * MINUTE_MS)
    expect(await countCodes(db, EVENT)).toMatchObject({ free: 1, held: 0, used: 1 })
    expect(alarms).toEqual([])
  })

  test('about four minutes for the owner of a used code, then takes another code', async () => {
    const clock = testClock()
    const startMs = clock.nowMs()
    const readCode = async (code: string) => (code === 'k3v9zq' ? UNNAMED : FREE_CODE)
    const { db, alarms, step, row } = await start({ readCode, mint: async () => 'accepted' }, clock)

    const first = (await row()).code_id
    while ((await row()).state === 'reserved') await step()

    expect(clock.nowMs() - startMs).toBeGreaterThan(3 * MINUTE_MS)
    expect(clock.nowMs() - startMs).toBeLessThan(5 * MINUTE_MS)
    expect(await row()).toMatchObject({ state: 'minting', attempts: 0 })
    expect((await row()).code_id).not.toBe(first)
    expect(await countCodes(db, EVENT)).toMatchObject({ free: 0, held: 1, used_elsewhere: 1 })
    expect(alarms).toEqual([])
  })

  test('for an issuer that names no owner for more than an hour, also after its answer was lost', async () => {
    const clock = testClock()
    const namedAtMs = clock.nowMs() + 90 * MINUTE_MS
    let asked = 0
    const readCode = async (): Promise<CodeAtIssuer> => {
      if (asked === 0) return FREE_CODE
      return clock.nowMs() < namedAtMs ? UNNAMED : { ...OF_ANN, txStatus: 'passed' }
    }
    const mint: Issuer['mint'] = async (_, beforeMint) => {
      await beforeMint()
      asked++
      throw LOST
    }
    const { db, alarms, step, row } = await start({ readCode, mint }, clock)
    const states = new Map<string, number>()

    while ((await row()).state !== 'minted') {
      const { state } = await row()
      states.set(state, states.get(state) ?? clock.nowMs())
      await step()
    }

    expect(asked).toBe(1)
    expect((states.get('minting')! - states.get('reserved')!) / MINUTE_MS).toBeCloseTo(4, 0)
    expect(clock.nowMs() - namedAtMs).toBeLessThanOrEqual(5 * MINUTE_MS)
    expect(await countCodes(db, EVENT)).toMatchObject({ free: 1, used: 1 })
    expect(alarms).toEqual([])
  })

  test('more than an hour for an accepted code that the issuer no longer knows, before that counts against the issuer', async () => {
    const clock = testClock()
    let isKnown = true
    const readCode = async () => (isKnown ? FREE_CODE : undefined)
    const { db, step, row } = await start({ readCode, mint: async () => 'accepted' }, clock)
    await step()
    isKnown = false
    const startMs = clock.nowMs()

    while ((await new EventHolds({ db, clock }).find(EVENT)) === undefined) await step()

    expect(clock.nowMs() - startMs).toBeGreaterThan(HOUR_MS)
    expect(await row()).toMatchObject({ state: 'minting', attempts: 21 })
  })

  test('for its turn to ask, which is no whole number of milliseconds', async () => {
    const clock = testClock()
    const readCode = async () => {
      throw new IssuerError('busy', { call: 'readCode', retryAfterMs: 61_000.125 })
    }
    const { step, row } = await start({ readCode, mint: async () => 'accepted' }, clock)
    await step()
    expect(await row()).toMatchObject({ attempts: 1, next_step_at_ms: clock.nowMs() + 61_001 })
  })
})

/** Lets the time of the next step come, and runs it as the worker does. */
async function stepNext(db: Db, runner: StepRunner, clock: TestClock): Promise<void> {
  const { next_step_at_ms } = await rowOf(db)
  clock.set(Math.max(clock.nowMs(), next_step_at_ms ?? expect.fail('the claim has no next step')))
  const nowMs = clock.nowMs()
  const [due] = await takeDueClaims(db, { nowMs, leaseUntilMs: nowMs + LEASE_MS, limit: 1 })
  await runner.run(due ?? expect.fail('no claim is due'))
}

async function rowOf(db: Db) {
  return (await findClaim(db, EVENT, ANN)) ?? expect.fail('there is no claim')
}
