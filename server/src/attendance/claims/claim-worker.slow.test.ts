import { expect, test } from 'vitest'
import { FREE_CODE, withoutSigning } from '../../../test/support/attendance/codes-at-issuer.ts'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { eventually } from '../../../test/support/processes/landpass.ts'
import { type Clock, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import { EventHolds } from '../events/event-holds.ts'
import { countCodes, saveEvent } from '../events/event-queries.ts'
import { findHold } from '../events/hold-queries.ts'
import { type CodeAtIssuer, type Issuer, IssuerError, type MintAnswer } from '../issuers/issuer.ts'
import { Vault } from '../secrets/vault.ts'
import { acceptClaims, postponeClaim, renewLeases, takeDueClaims } from './claim-queries.ts'
import { ClaimWorker, LEASE_MS } from './claim-worker.ts'
import { insertClaim } from './reserve-queries.ts'

const vault = new Vault(Buffer.alloc(32, 3))
const ANN = `0x${'a'.repeat(40)}`
const BEN = `0x${'b'.repeat(40)}`
const SILENT = { warn: () => {}, error: () => {} }
const TIMEOUT_MS = 10 * SECOND_MS

describeOnBothEngines('the worker', (open) => {
  test('a step that takes longer than its lease is not started a second time', async () => {
    const { db } = await open()
    const clock = testClock()
    const issuer = new SlowIssuer()
    const claim = await reserve(db, clock.nowMs())
    const worker = new ClaimWorker({ db, clock, vault, ...optionsOf(db, clock, issuer) })
    worker.start()
    worker.take(claim)

    clock.set(clock.nowMs() + LEASE_MS + SECOND_MS)
    const longerMs = clock.nowMs() + LEASE_MS
    await eventually(
      () => nextStepOf(db, claim.id),
      (atMs) => atMs === longerMs,
      10 * SECOND_MS,
    )
    issuer.answer()
    await worker.close(10 * SECOND_MS)

    expect(issuer.asked).toEqual(['readCode', 'mint'])
  })

  test('a claim that another process has changed is not answered as refused', async () => {
    const { db } = await open()
    const clock = testClock()
    const issuer = new SlowIssuer({ ...FREE_CODE, isClaimed: true, beneficiary: 'a stranger' })
    const claim = await reserve(db, clock.nowMs(), BEN)
    const worker = new ClaimWorker({ db, clock, vault, ...optionsOf(db, clock, issuer) })
    worker.start()
    worker.take(claim)
    const outcome = worker.waitForStep(claim.id, 10 * SECOND_MS)

    await acceptClaims(db, [{ claim, nextStepAtMs: clock.nowMs() + LEASE_MS }], clock.nowMs())
    issuer.answer()

    expect(await outcome).toBeUndefined()
    await worker.close(10 * SECOND_MS)
  })

  test('a process that was suspended asks for no token after another one has taken the claim over', async () => {
    const { db } = await open()
    const clock = testClock()
    await settleOthers(db)
    const [slow, quick] = [new SuspendedIssuer(), new SlowIssuer()]
    const claim = await reserve(db, clock.nowMs(), `0x${'c'.repeat(40)}`)
    const workerOf = (issuer: Pick<Issuer, 'readCode' | 'mint'>) =>
      new ClaimWorker({ db, clock, vault, ...optionsOf(db, clock, issuer) })
    const [suspended, other] = [workerOf(slow), workerOf(quick)]
    suspended.start()
    suspended.take(claim)
    await slow.isWaiting
    await suspended.close(0) // polls no more, so it does not extend its lease
    clock.set(clock.nowMs() + LEASE_MS + SECOND_MS)
    quick.answer()
    other.start()
    await eventually(
      () => stateOf(db, claim.id),
      (state) => state === 'minting',
      10 * SECOND_MS,
    )

    slow.wake()
    await slow.isOver

    expect(slow.minted).toBe(0)
    expect(quick.asked).toEqual(['readCode', 'mint'])
    await other.close(10 * SECOND_MS)
  })

  const STRANGER = { ...FREE_CODE, isClaimed: true, beneficiary: BEN }
  const SILENCE = new IssuerError('unavailable', { call: 'readCode' })
  /** What the issuer answers to each read, at last to the slow one, and to a request for a token. */
  interface Script {
    readonly state?: 'minting'
    readonly reads: readonly (CodeAtIssuer | IssuerError | undefined)[]
    readonly mint?: MintAnswer
  }
  test.each<[string, Script]>([
    ['accept', { reads: [{ ...FREE_CODE, isClaimed: true, beneficiary: 'the player' }] }],
    ['confirm', { state: 'minting', reads: [{ ...FREE_CODE, isClaimed: true, txStatus: 'passed' }] }],
    ['fail', { state: 'minting', reads: [{ ...FREE_CODE, isActive: false }] }],
    ['fail after a refusal', { reads: [FREE_CODE, FREE_CODE], mint: 'rejected' }],
    ['release after a refusal', { reads: [FREE_CODE, FREE_CODE], mint: 'player_has_one' }],
    ['swap', { reads: [STRANGER] }],
    ['swap after a refusal', { reads: [FREE_CODE, STRANGER], mint: 'code_used' }],
    ['doubt', { reads: [undefined] }],
    ['wait', { reads: [{ ...FREE_CODE, isClaimed: true }] }],
    ['no answer', { reads: [SILENCE] }],
    ['no answer after a refusal', { reads: [FREE_CODE, SILENCE], mint: 'rejected' }],
  ])('a step that has lost its lease writes nothing: %s', async (_, script) => {
    const { db } = await open()
    const [slowClock, clock] = [testClock(), testClock()]
    await settleOthers(db)
    const event = await eventWith(db, clock, 3)
    const reserved = await reserveOf(db, clock, event, 0)
    if (script.state === 'minting') {
      await acceptClaims(db, [{ claim: reserved, nextStepAtMs: reserved.lease.untilMs }], clock.nowMs())
    }
    const claim = { ...reserved, state: script.state ?? reserved.state, lease: { ...reserved.lease } }
    const slow = new LastReadIsSlow(script.reads, script.mint, claim.address)
    const steps: string[] = []
    const slowWorker = new ClaimWorker({
      db,
      clock: slowClock, // the lease has not ended for it: it takes no claims over
      vault,
      ...optionsOf(db, slowClock, slow),
      onStep: (result) => steps.push(result),
    })
    slowWorker.start()
    slowWorker.take(claim)
    const outcome = slowWorker.waitForStep(claim.id, 10 * SECOND_MS)
    await slow.isReading

    // Another process takes the claim over, and asks for its token
    clock.set(claim.lease.untilMs + LEASE_MS)
    const untilMs = clock.nowMs() + LEASE_MS
    const [taken] = await takeDueClaims(db, { nowMs: clock.nowMs(), leaseUntilMs: untilMs, limit: 1 })
    await renewLeases(db, [{ claim: taken!, seenUntilMs: untilMs, untilMs: untilMs + 1 }])
    const before = await rowOf(db, claim.id)
    slow.answer()

    expect(await outcome).toBeUndefined()
    expect(steps.at(-1)).toBe('lost')
    expect(await rowOf(db, claim.id)).toEqual(before)
    expect(await countCodes(db, event)).toMatchObject({ free: 2, held: 1 })
    expect(await findHold(db, event)).toBeUndefined()
    await slowWorker.close(10 * SECOND_MS)
    expect(await rowOf(db, claim.id)).toEqual(before)
  })

  test('a process that takes a claim again does not go on with a step from before another process had it', async () => {
    const { db } = await open()
    const clock = testClock()
    await settleOthers(db)
    const event = await eventWith(db, clock, 3)
    const claim = await reserveOf(db, clock, event, 0)
    const slow = new LastReadIsSlow([STRANGER], undefined, claim.address)
    const worker = new ClaimWorker({ db, clock, vault, ...optionsOf(db, clock, slow) })
    worker.start()
    worker.take(claim)
    const outcome = worker.waitForStep(claim.id, 10 * SECOND_MS)
    await slow.isReading

    const [atMs, untilMs] = [claim.lease.untilMs, claim.lease.untilMs + LEASE_MS]
    const [taken] = await takeDueClaims(db, { nowMs: atMs, leaseUntilMs: untilMs, limit: 1 })
    await renewLeases(db, [{ claim: taken!, seenUntilMs: untilMs, untilMs }])
    await postponeClaim(db, taken!, untilMs + SECOND_MS)
    clock.set(untilMs + 2 * SECOND_MS)
    await eventually(
      () => nextStepOf(db, claim.id),
      (nextMs) => nextMs === clock.nowMs() + LEASE_MS,
      10 * SECOND_MS,
    )
    slow.answer()

    expect(await outcome).toBeUndefined()
    expect(await rowOf(db, claim.id)).toMatchObject({ code_id: claim.codeId, asked_code_id: claim.codeId })
    await worker.close(10 * SECOND_MS)
  })

  test('after another code was taken, a step without an answer is tried again after its pause', async () => {
    const { db } = await open()
    const clock = testClock()
    await settleOthers(db)
    const event = await eventWith(db, clock, 3)
    const claim = await reserveOf(db, clock, event, 0)
    const issuer = new LastReadIsSlow([STRANGER, SILENCE], undefined, claim.address)
    issuer.answer()
    const worker = new ClaimWorker({ db, clock, vault, ...optionsOf(db, clock, issuer) })
    worker.start()
    worker.take(claim)
    expect(await worker.waitForStep(claim.id, 10 * SECOND_MS)).toBeUndefined()
    await worker.close(10 * SECOND_MS)

    const { code_id, next_step_at_ms, attempts } = await rowOf(db, claim.id)
    expect(code_id).not.toBe(claim.codeId)
    expect({ next_step_at_ms, attempts }).toEqual({ next_step_at_ms: clock.nowMs() + SECOND_MS, attempts: 1 })
  })

  test('the lease is longer than the call that it covers', async () => {
    const { db } = await open()
    const clock = testClock()
    const claim = await reserve(db, clock.nowMs(), `0x${'d'.repeat(40)}`)
    const issuer = new SlowIssuer()
    const issuerTimeoutMs = 60 * SECOND_MS
    const untilMs: (number | null)[] = []
    issuer.answer()
    const asking = {
      readCode: () => issuer.readCode(),
      mint: async (_: object, beforeSend: () => Promise<void>) => {
        await beforeSend()
        untilMs.push(await nextStepOf(db, claim.id))
        return 'accepted' as const
      },
    }
    const worker = new ClaimWorker({
      db,
      clock,
      vault,
      ...optionsOf(db, clock, asking),
      issuerTimeoutMs,
    })
    worker.start()
    worker.take(claim)
    expect(await worker.waitForStep(claim.id, 10 * SECOND_MS)).toEqual({ state: 'minting' })
    await worker.close(10 * SECOND_MS)

    expect(untilMs).toEqual([clock.nowMs() + issuerTimeoutMs + 5 * SECOND_MS])
  })

  test('codes that the issuer calls unused and does not mint: the event is held and keeps its codes', async () => {
    const { db } = await open()
    const clock = testClock()
    const holds = new EventHolds({ db, clock })
    const issuer = new ScriptedIssuer('no_such_code')
    await settleOthers(db)
    const event = await eventWith(db, clock, 12)
    const claims = await Promise.all(Array.from({ length: 6 }, (_, i) => reserveOf(db, clock, event, i)))
    const worker = new ClaimWorker({ db, clock, vault, ...optionsOf(db, clock, issuer), holds })
    worker.start()
    const outcomes = claims.map((claim) => worker.waitForStep(claim.id, 10 * SECOND_MS))
    for (const claim of claims) worker.take(claim)

    expect(await Promise.all(outcomes)).toEqual(Array(6).fill({ state: 'reserved' }))
    expect(await countCodes(db, event)).toMatchObject({ free: 6, held: 6, void: 0 })
    expect(await holds.findHeld(event)).toMatchObject({ reason: 'unknown_codes', held_at_ms: clock.nowMs() })
    await expect(holds.assertNotHeld(event)).rejects.toMatchObject({
      code: 'event_held',
      data: { retry_after_s: 60 },
    })

    // After the pause one claim asks; the others wait on
    const before = issuer.minted.length
    clock.set(clock.nowMs() + MINUTE_MS)
    await eventually(
      async () => issuer.minted.length - before,
      (asked) => asked === 1,
      10 * SECOND_MS,
    )
    // Now the issuer is well again: the next probe is accepted, and then all others
    issuer.answer = 'accepted'
    clock.set(clock.nowMs() + 2 * MINUTE_MS)
    await eventually(
      () => Promise.all(claims.map(({ id }) => stateOf(db, id))),
      (states) => states.every((state) => state === 'minting'),
      10 * SECOND_MS,
    )
    expect(await countCodes(db, event)).toMatchObject({ free: 6, held: 6, void: 0 })
    await worker.close(10 * SECOND_MS)
  })

  test('one unknown code alone becomes void, and the claim takes another one', async () => {
    const { db } = await open()
    const clock = testClock()
    const holds = new EventHolds({ db, clock })
    const issuer = new ScriptedIssuer('no_such_code', 1)
    await settleOthers(db)
    const event = await eventWith(db, clock, 3)
    const claim = await reserveOf(db, clock, event, 0)
    const worker = new ClaimWorker({ db, clock, vault, ...optionsOf(db, clock, issuer), holds })
    worker.start()
    worker.take(claim)

    expect(await worker.waitForStep(claim.id, 10 * SECOND_MS)).toEqual({ state: 'minting' })
    expect(await countCodes(db, event)).toMatchObject({ free: 1, held: 1, void: 1 })
    holds.forget(event)
    expect(await holds.find(event)).toBeUndefined()
    await worker.close(10 * SECOND_MS)
  })

  test('codes that are called used, one after the other: the event is held, and they come back with the list', async () => {
    const { db } = await open()
    const clock = testClock()
    const holds = new EventHolds({ db, clock })
    await settleOthers(db)
    const event = await eventWith(db, clock, 30)
    const claims = await Promise.all([0, 1, 2, 3].map((i) => reserveOf(db, clock, event, i)))
    let read: CodeAtIssuer = STRANGER
    // All claims have asked before the first is answered: else a fast one could use up any number of codes alone
    let asking = 0
    let answer = () => {}
    const allHaveAsked = new Promise<void>((resolve) => {
      answer = resolve
    })
    const readCode = async () => {
      asking += 1
      if (asking === claims.length) answer()
      await allHaveAsked
      return read
    }
    const issuer = { readCode, mint: async () => 'accepted' as const }
    const worker = new ClaimWorker({ db, clock, vault, ...optionsOf(db, clock, issuer), holds })
    worker.start()
    const outcomes = claims.map((claim) => worker.waitForStep(claim.id, 10 * SECOND_MS))
    for (const claim of claims) worker.take(claim)

    expect(await Promise.all(outcomes)).toEqual(Array(4).fill({ state: 'reserved' }))
    expect(await holds.findHeld(event)).toMatchObject({ reason: 'other_beneficiary' })
    const { held, used_elsewhere } = await countCodes(db, event)
    expect(held).toBe(4)
    expect(used_elsewhere).toBeLessThan(12)

    read = FREE_CODE
    const listed = Array.from({ length: 30 }, (_, i) => ({ code: `${event}-${i}`, isClaimed: false }))
    await mergeCodes(db, vault, { eventId: event, listed, nowMs: clock.nowMs() })
    await holds.end(event)
    await eventually(
      () => Promise.all(claims.map(({ id }) => stateOf(db, id))),
      (states) => states.every((state) => state === 'minting'),
      10 * SECOND_MS,
    )
    expect(await countCodes(db, event)).toMatchObject({ free: 26, held: 4, used_elsewhere: 0 })
    await worker.close(10 * SECOND_MS)
  })

  test('codes of an older list are used elsewhere: the event goes on with the next ones', async () => {
    const { db } = await open()
    const clock = testClock()
    const holds = new EventHolds({ db, clock })
    await settleOthers(db)
    const event = await eventWith(db, clock, 16, clock.nowMs() - 6 * MINUTE_MS)
    const claims = await Promise.all([0, 1, 2, 3].map((i) => reserveOf(db, clock, event, i)))
    let used = 8
    const issuer = {
      readCode: async () => (used-- > 0 ? STRANGER : FREE_CODE),
      mint: async () => 'accepted' as const,
    }
    const worker = new ClaimWorker({ db, clock, vault, ...optionsOf(db, clock, issuer), holds })
    worker.start()
    const outcomes = claims.map((claim) => worker.waitForStep(claim.id, 10 * SECOND_MS))
    for (const claim of claims) worker.take(claim)

    expect(await Promise.all(outcomes)).toEqual(Array(4).fill({ state: 'minting' }))
    expect(await holds.findHeld(event)).toBeUndefined()
    expect(await countCodes(db, event)).toMatchObject({ free: 4, held: 4, used_elsewhere: 8 })
    await worker.close(10 * SECOND_MS)
  })

  test('an accepted claim whose code the issuer no longer knows keeps it, and raises an alarm', async () => {
    const { db } = await open()
    const clock = testClock()
    const holds = new EventHolds({ db, clock })
    await settleOthers(db)
    const event = await eventWith(db, clock, 2)
    const claim = await reserveOf(db, clock, event, 0)
    await acceptClaims(db, [{ claim, nextStepAtMs: claim.lease.untilMs }], clock.nowMs())
    const issuer = { readCode: async () => undefined, mint: async () => expect.fail('a token was requested') }
    const worker = new ClaimWorker({ db, clock, vault, ...optionsOf(db, clock, issuer), holds })
    worker.start()
    worker.take({ ...claim, state: 'minting', attempts: 20 })

    expect(await worker.waitForStep(claim.id, 10 * SECOND_MS)).toEqual({ state: 'minting' })
    expect(await rowOf(db, claim.id)).toMatchObject({ state: 'minting', code_id: claim.codeId })
    expect(await nextStepOf(db, claim.id)).toBe(clock.nowMs() + 5 * MINUTE_MS)
    expect(await holds.find(event)).toMatchObject({ reason: 'unknown_codes', answers: 1 })
    expect(await countCodes(db, event)).toMatchObject({ free: 1, held: 1, void: 0 })
    await worker.close(10 * SECOND_MS)
  })

  test('a code that cannot be decrypted: the claim waits, for a process with the key, then takes another one; with alarms', async () => {
    const { db } = await open()
    const clock = testClock()
    await settleOthers(db)
    const event = await eventWith(db, clock, 4)
    const [old, asked, young] = [
      await reserveOf(db, clock, event, 0),
      await reserveOf(db, clock, event, 1),
      await reserveOf(db, clock, event, 2),
    ]
    const alarms: string[] = []
    const log = { ...SILENT, error: (_: object, text: string) => alarms.push(text) }
    const issuer = new ScriptedIssuer('accepted')
    const worker = new ClaimWorker({ db, clock, vault, ...optionsOf(db, clock, issuer), log })
    worker.start()
    const outcomes = [old, asked, young].map(({ id }) => worker.waitForStep(id, 10 * SECOND_MS))
    const encrypted = Buffer.from('changed')
    worker.take({ ...old, encrypted, attempts: 20 })
    worker.take({ ...asked, encrypted, wasAsked: true, attempts: 20 })
    worker.take({ ...young, encrypted })

    expect(await Promise.all(outcomes)).toEqual([
      { state: 'minting' },
      { state: 'reserved' },
      { state: 'reserved' },
    ])
    await worker.close(10 * SECOND_MS)
    expect(await countCodes(db, event)).toMatchObject({ free: 0, held: 3, void: 1 })
    expect(await rowOf(db, asked.id)).toMatchObject({ code_id: asked.codeId })
    expect(await rowOf(db, young.id)).toMatchObject({ code_id: young.codeId, attempts: 1 })
    expect(alarms).toEqual(Array(3).fill('the code of a claim cannot be used'))
  })

  test('a token that goes to somebody else closes the claim: no second code for the player', async () => {
    const { db } = await open()
    const clock = testClock()
    const issuer = new ScriptedIssuer('other')
    await settleOthers(db)
    const event = await eventWith(db, clock, 3)
    const claim = await reserveOf(db, clock, event, 0)
    const worker = new ClaimWorker({ db, clock, vault, ...optionsOf(db, clock, issuer) })
    worker.start()
    worker.take(claim)
    // The answer to the request cannot be used, so the next step reads the code
    expect(await worker.waitForStep(claim.id, 10 * SECOND_MS)).toBeUndefined()
    clock.set(clock.nowMs() + 2 * SECOND_MS)
    await eventually(
      () => stateOf(db, claim.id),
      (state) => state === 'released',
      10 * SECOND_MS,
    )
    await worker.close(10 * SECOND_MS)

    expect(issuer.minted).toHaveLength(1)
    expect(await countCodes(db, event)).toMatchObject({ free: 2, held: 0, used_elsewhere: 1 })
  })
})

function optionsOf(db: Db, clock: Clock, codes: Pick<Issuer, 'readCode' | 'mint'>) {
  const holds = new EventHolds({ db, clock })
  return { issuer: withoutSigning(codes), issuerTimeoutMs: TIMEOUT_MS, callsPerSecond: 4, holds, log: SILENT }
}

/** An issuer that reads a code when the test says so. */
class SlowIssuer implements Pick<Issuer, 'readCode' | 'mint'> {
  readonly asked: string[] = []
  answer!: () => void
  private readonly code: CodeAtIssuer
  private readonly answered = new Promise<void>((resolve) => {
    this.answer = resolve
  })
  constructor(code = FREE_CODE) {
    this.code = code
  }

  async readCode(): Promise<CodeAtIssuer> {
    this.asked.push('readCode')
    await this.answered
    return this.code
  }

  async mint(): Promise<'accepted'> {
    this.asked.push('mint')
    return 'accepted'
  }
}

/** An issuer that answers as the test says, the last read when the test says so. */
class LastReadIsSlow implements Pick<Issuer, 'readCode' | 'mint'> {
  answer!: () => void
  private begins!: () => void
  readonly isReading = new Promise<void>((resolve) => {
    this.begins = resolve
  })
  private readonly mayAnswer = new Promise<void>((resolve) => {
    this.answer = resolve
  })
  private readonly reads: (CodeAtIssuer | IssuerError | undefined)[]
  private readonly mintAnswer: MintAnswer | undefined
  private readonly player: string
  constructor(
    reads: readonly (CodeAtIssuer | IssuerError | undefined)[],
    mint: MintAnswer | undefined,
    player: string,
  ) {
    this.reads = [...reads]
    this.mintAnswer = mint
    this.player = player
  }

  async readCode(): Promise<CodeAtIssuer | undefined> {
    const read = this.reads.shift()
    if (this.reads.length === 0) {
      this.begins()
      await this.mayAnswer
    }
    if (read instanceof IssuerError) throw read
    return read?.beneficiary === 'the player' ? { ...read, beneficiary: this.player } : read
  }

  async mint(_: object, beforeSend: () => Promise<void>): Promise<MintAnswer> {
    await beforeSend()
    return this.mintAnswer ?? expect.fail('a token was requested')
  }
}

/** An issuer whose requests for tokens wait, as in a process that is suspended before it sends them. */
class SuspendedIssuer implements Pick<Issuer, 'readCode' | 'mint'> {
  minted = 0
  wake!: () => void
  private waits!: () => void
  private ends!: () => void
  readonly isWaiting = new Promise<void>((resolve) => {
    this.waits = resolve
  })
  readonly isOver = new Promise<void>((resolve) => {
    this.ends = resolve
  })
  private readonly isAwake = new Promise<void>((resolve) => {
    this.wake = resolve
  })

  async readCode(): Promise<CodeAtIssuer> {
    return FREE_CODE
  }

  async mint(_: object, beforeSend: () => Promise<void>): Promise<'accepted'> {
    this.waits()
    await this.isAwake
    try {
      await beforeSend()
      this.minted += 1
      return 'accepted'
    } finally {
      this.ends()
    }
  }
}

/** An issuer that calls all codes unused, and answers requests for tokens as the test says. */
class ScriptedIssuer implements Pick<Issuer, 'readCode' | 'mint'> {
  readonly minted: string[] = []
  answer: 'accepted' | 'no_such_code' | 'other'
  private left: number
  private readonly owners = new Map<string, string>()
  /** @param times how often it gives the answer; then it accepts */
  constructor(answer: ScriptedIssuer['answer'], times = Number.POSITIVE_INFINITY) {
    this.answer = answer
    this.left = times
  }

  async readCode(code: string): Promise<CodeAtIssuer> {
    const beneficiary = this.owners.get(code)
    return { ...FREE_CODE, isClaimed: beneficiary !== undefined, beneficiary }
  }

  async mint({ code }: { code: string }, beforeSend: () => Promise<void>): Promise<MintAnswer> {
    await beforeSend()
    this.minted.push(code)
    if (this.answer === 'accepted' || this.left-- <= 0) return 'accepted'
    if (this.answer === 'no_such_code') return 'no_such_code'
    this.owners.set(code, 'somebody else')
    throw new IssuerError('unavailable', { call: 'mint', status: 200 })
  }
}

/** The claims of other tests are never due. */
async function settleOthers(db: Db): Promise<void> {
  await db
    .updateTable('claim')
    .set({ next_step_at_ms: Number.MAX_SAFE_INTEGER })
    .where('next_step_at_ms', 'is not', null)
    .execute()
}

let lastEvent = 100

async function eventWith(db: Db, clock: Clock, codes: number, nowMs = clock.nowMs()): Promise<number> {
  const eventId = ++lastEvent
  await saveEvent(db, { eventId, record: { id: 1 }, coordinates: '0,0', expiresAtMs: undefined, nowMs })
  const listed = Array.from({ length: codes }, (_, i) => ({ code: `${eventId}-${i}`, isClaimed: false }))
  await mergeCodes(db, vault, { eventId, listed, nowMs })
  return eventId
}

async function reserveOf(db: Db, clock: Clock, eventId: number, player: number) {
  const address = `0x${String(player).padStart(40, '0')}`
  const nowMs = clock.nowMs()
  const claim = { eventId, address, nowMs, nextStepAtMs: nowMs + LEASE_MS }
  const { made } = await insertClaim(db, claim, { request: undefined, wait: true })
  return made!
}

async function stateOf(db: Db, id: number): Promise<string> {
  const row = await db.selectFrom('claim').select('state').where('id', '=', id).executeTakeFirstOrThrow()
  return row.state
}

async function rowOf(db: Db, id: number) {
  return db.selectFrom('claim').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}

async function reserve(db: Db, nowMs: number, address = ANN) {
  await saveEvent(db, { eventId: 1, record: { id: 1 }, coordinates: '0,0', expiresAtMs: undefined, nowMs })
  await mergeCodes(db, vault, { eventId: 1, listed: [{ code: `of ${address}`, isClaimed: false }], nowMs })
  const claim = { eventId: 1, address, nowMs, nextStepAtMs: nowMs + LEASE_MS }
  const { made } = await insertClaim(db, claim, { request: undefined, wait: false })
  return made!
}

async function nextStepOf(db: Db, id: number): Promise<number | null> {
  const row = await db
    .selectFrom('claim')
    .select('next_step_at_ms')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return row.next_step_at_ms
}
