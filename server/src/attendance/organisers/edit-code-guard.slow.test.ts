import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { type Clock, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import { IssuerError } from '../issuers/issuer.ts'
import {
  EditCodeGuard,
  GUESS_WINDOW_MS,
  MAX_EXTRA_BITS,
  MAX_GUESSES,
  MAX_PAID_GUESSES,
  MAX_WAIT_MS,
} from './edit-code-guard.ts'
import type { ProofOfWork } from './guess-challenge.ts'

const MIN_PROOF_BITS = 20
const MAX_PROOF_BITS = MIN_PROOF_BITS + MAX_EXTRA_BITS
const WINDOW_S = GUESS_WINDOW_MS / SECOND_MS

/** A guard whose challenges say only how hard they are. */
function guardOf(db: Db, clock: Clock): EditCodeGuard {
  const make = (_eventId: number, bits: number): ProofOfWork => ({
    challenge: '',
    bits,
    algorithm: 'sha256',
    expires_at: '',
  })
  return new EditCodeGuard({ db, clock, challenges: { make }, proofBits: MIN_PROOF_BITS })
}

/** Stands in for the issuer: each call waits until the test says the verdict. */
function heldJudge() {
  const verdicts: ((verdict: boolean | Error) => void)[] = []
  let called = 0
  const waiting = new Map<number, () => void>()
  return {
    judgeNow: () =>
      new Promise<boolean>((resolve, reject) => {
        verdicts.push((verdict) => (verdict instanceof Error ? reject(verdict) : resolve(verdict)))
        waiting.get(++called)?.()
      }),
    /** Waits until `judgeNow` was called `count` times in all. */
    untilCalled: (count: number) =>
      called >= count
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            waiting.set(count, resolve)
          }),
    say: (verdict: boolean | Error) => verdicts.shift()?.(verdict),
    calls: () => called,
  }
}

/** The result of a guess: `true`, `false`, or the code of its refusal. */
function outcome(judged: Promise<boolean>): Promise<unknown> {
  return judged.catch((error) => (error instanceof AppError ? error.code : Promise.reject(error)))
}

function refusal(judged: Promise<boolean>): Promise<{ code: string; waitS: unknown }> {
  return judged.then(
    (isRight) => expect.fail(`was judged: ${isRight}`),
    ({ code, data }: AppError) => ({ code, waitS: data.retry_after_s }),
  )
}

async function rowsOf(db: Db, eventId: number): Promise<boolean[]> {
  const rows = await db
    .selectFrom('edit_code_guess')
    .select('is_judged')
    .where('event_id', '=', eventId)
    .orderBy('id')
    .execute()
  return rows.map(({ is_judged }) => is_judged)
}

const wrong = async () => false
const right = async () => true

describeOnBothEngines('the guard of edit codes', (open) => {
  let lastEvent = 2 ** 31 - 1_000
  /** Each test has its own event; the ids are near the highest possible id. */
  const newEvent = () => ++lastEvent

  test('lets five wrong guesses through, then none until the oldest is fifteen minutes old', async () => {
    const clock = testClock()
    const { db } = await open()
    const guard = guardOf(db, clock)
    const [event, neighbour] = [newEvent(), newEvent()]
    for (let i = 0; i < MAX_GUESSES; i++) {
      expect(await guard.judge(event, {}, wrong)).toBe(false)
      clock.set(clock.nowMs() + MINUTE_MS)
    }
    const { judgeNow, calls } = heldJudge()

    expect(await refusal(guard.judge(event, {}, judgeNow))).toEqual({
      code: 'too_many_guesses',
      waitS: WINDOW_S - 5 * 60,
    })
    expect(await guard.judge(neighbour, {}, right), 'another event').toBe(true)

    clock.set(clock.nowMs() + 10 * MINUTE_MS - 1)
    expect(await refusal(guard.judge(event, {}, judgeNow))).toMatchObject({ waitS: 1 })
    clock.set(clock.nowMs() + 1)
    expect(await guard.judge(event, {}, wrong), 'the first is forgotten').toBe(false)
    expect(await refusal(guard.judge(event, {}, judgeNow))).toMatchObject({ waitS: 60 })
    expect(calls()).toBe(0)
  })

  test('right codes are not counted, and neither are guesses that the issuer could not judge', async () => {
    const { db } = await open()
    const guard = guardOf(db, testClock())
    const event = newEvent()
    const issuerIsDown = () => {
      throw new Error('the issuer is down')
    }

    for (let i = 0; i < 3 * MAX_GUESSES; i++) {
      expect(await guard.judge(event, {}, right)).toBe(true)
      await expect(guard.judge(event, {}, async () => issuerIsDown())).rejects.toThrow('the issuer is down')
      await expect(guard.judge(event, {}, issuerIsDown)).rejects.toThrow('the issuer is down')
    }

    expect(await rowsOf(db, event)).toEqual([])
  })

  test('of a thousand wrong guesses at the same time five are judged, and none after that', async () => {
    const { db } = await open()
    const guard = guardOf(db, testClock())
    const event = newEvent()
    const { judgeNow, calls, say, untilCalled } = heldJudge()

    const guesses = Array.from({ length: 1_000 }, () => outcome(guard.judge(event, {}, judgeNow)))
    await untilCalled(MAX_GUESSES)
    for (let i = 0; i < MAX_GUESSES; i++) say(false)
    const outcomes = await Promise.all(guesses)

    expect(calls()).toBe(MAX_GUESSES)
    expect(outcomes.filter((one) => one === false)).toHaveLength(MAX_GUESSES)
    expect(outcomes.filter((one) => one === 'too_many_guesses')).toHaveLength(1_000 - MAX_GUESSES)
    expect(await rowsOf(db, event)).toEqual([true, true, true, true, true])
    // A process that has just started reads the table
    const other = guardOf(db, testClock())
    expect(await outcome(other.judge(event, {}, judgeNow))).toBe('too_many_guesses')
    expect(calls()).toBe(MAX_GUESSES)
  })

  test('two processes share the limit of five guesses', async () => {
    const engines = [await open(), await open()]
    const guards = engines.map(({ db }) => guardOf(db, testClock()))
    const event = newEvent()
    let calls = 0
    const judgeNow = async () => {
      calls += 1
      return false
    }

    const guesses = Array.from({ length: 100 }, (_, i) => outcome(guards[i % 2]!.judge(event, {}, judgeNow)))
    const outcomes = await Promise.all(guesses)

    expect(calls).toBe(MAX_GUESSES)
    expect(outcomes.filter((one) => one === 'too_many_guesses')).toHaveLength(95)
  })

  test('an organiser whose page sends many requests at once is never refused', async () => {
    const engines = [await open(), await open()]
    const guards = engines.map(({ db }) => guardOf(db, testClock()))
    const event = newEvent()
    let running = 0
    let most = 0
    const judgeNow = async () => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running -= 1
      return true
    }

    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, i) => outcome(guards[i % 2]!.judge(event, {}, judgeNow))),
    )

    expect(new Set(outcomes)).toEqual(new Set([true]))
    expect(most).toBeLessThanOrEqual(MAX_GUESSES)
    expect(await rowsOf(engines[0]!.db, event)).toEqual([])
  })

  test('a waiting guess takes the place of a guess that was right', async () => {
    const { db } = await open()
    const guard = guardOf(db, testClock())
    const event = newEvent()
    const { judgeNow, calls, say, untilCalled } = heldJudge()

    const guesses = Array.from({ length: MAX_GUESSES + 1 }, () => outcome(guard.judge(event, {}, judgeNow)))
    await untilCalled(MAX_GUESSES)
    expect(await rowsOf(db, event)).toEqual([false, false, false, false, false])
    for (const verdict of [false, false, true, false]) say(verdict)
    await untilCalled(MAX_GUESSES + 1)
    for (const verdict of [false, true]) say(verdict)

    expect(await Promise.all(guesses)).toEqual([false, false, true, false, false, true])
    expect(calls()).toBe(MAX_GUESSES + 1)
    expect(await rowsOf(db, event)).toEqual([true, true, true, true])
  })

  test('a guess is refused when it has waited too long', async () => {
    const clock = testClock()
    const { db } = await open()
    const guard = guardOf(db, clock)
    const event = newEvent()
    const { judgeNow, calls, say, untilCalled } = heldJudge()
    const held = Array.from({ length: MAX_GUESSES }, () => outcome(guard.judge(event, {}, judgeNow)))
    await untilCalled(MAX_GUESSES)

    const late = refusal(guard.judge(event, {}, judgeNow))
    clock.set(clock.nowMs() + MAX_WAIT_MS)

    expect(await late).toEqual({ code: 'too_many_guesses', waitS: MAX_WAIT_MS / SECOND_MS })
    for (let i = 0; i < MAX_GUESSES; i++) say(true)
    expect(await Promise.all(held)).toEqual([true, true, true, true, true])
    expect(calls()).toBe(MAX_GUESSES)
  })

  test('guesses that a dead process left behind count as wrong', async () => {
    const clock = testClock()
    const { db } = await open()
    const event = newEvent()
    const dying = guardOf(db, clock)
    const { judgeNow, untilCalled } = heldJudge()
    for (let i = 0; i < MAX_GUESSES; i++) void dying.judge(event, {}, judgeNow) // never come back
    await untilCalled(MAX_GUESSES)
    const guard = guardOf(db, clock)

    clock.set(clock.nowMs() + MINUTE_MS)
    expect(await refusal(guard.judge(event, {}, right))).toEqual({
      code: 'too_many_guesses',
      waitS: WINDOW_S - 60,
    })

    clock.set(clock.nowMs() + GUESS_WINDOW_MS - MINUTE_MS)
    expect(await guard.judge(event, {}, right)).toBe(true)
  })

  test('deleteOld deletes the guesses that no longer count', async () => {
    const clock = testClock()
    const { db } = await open()
    const guard = guardOf(db, clock)
    const event = newEvent()
    await guard.judge(event, {}, wrong)
    clock.set(clock.nowMs() + MINUTE_MS)
    await guard.judge(event, {}, wrong)

    clock.set(clock.nowMs() + GUESS_WINDOW_MS - MINUTE_MS)
    await guard.deleteOld()

    expect(await rowsOf(db, event)).toEqual([true])
  })

  test('wrong guesses of strangers leave the budgets of passes and of proofs as they are, and the other way round', async () => {
    const { db } = await open()
    const guard = guardOf(db, testClock())
    const event = newEvent()
    const senders: string[] = []
    const as = (verdict: boolean) => async (by: string) => {
      senders.push(by)
      return verdict
    }
    for (let i = 0; i < MAX_GUESSES; i++) await guard.judge(event, {}, as(false))
    const passes = ['one', 'two'].map((passId) => ({ passId }))

    for (const pass of passes) {
      expect(await guard.judge(event, pass, as(true))).toBe(true)
      for (let i = 0; i < MAX_GUESSES; i++) expect(await guard.judge(event, pass, as(false))).toBe(false)
      expect(await challengeOf(guard.judge(event, pass, as(true))), 'a stolen pass').toBe(MIN_PROOF_BITS)
    }
    expect(await challengeOf(guard.judge(event, {}, as(true)))).toBe(MIN_PROOF_BITS)
    const both = { ...passes[0], solved: { id: 'a', bits: MIN_PROOF_BITS } }
    expect(await guard.judge(event, both, as(true)), 'a proof after the pass').toBe(true)
    expect(senders.filter((by) => by === 'organiser')).toHaveLength(2 * (MAX_GUESSES + 1))
    expect(senders.slice(0, MAX_GUESSES)).toEqual(Array(MAX_GUESSES).fill('unproven'))
    expect(senders.at(-1)).toBe('paid')
  })

  test('where the queue of strangers at the issuer is full, the refusal has a challenge, and a proof stays valid', async () => {
    const { db } = await open()
    const guard = guardOf(db, testClock())
    const event = newEvent()
    const isFull = () =>
      Promise.reject(new IssuerError('busy', { call: 'isEditCode', retryAfterMs: 12_000, isQueueFull: true }))
    const isBusy = () => Promise.reject(new IssuerError('busy', { call: 'isEditCode', retryAfterMs: 12_000 }))
    const solved = { id: `${event} full`, bits: MIN_PROOF_BITS }

    for (let i = 0; i < 2 * MAX_GUESSES; i++) {
      expect(await challengeOf(guard.judge(event, {}, isFull))).toBe(MIN_PROOF_BITS)
    }
    const paid = await guard.judge(event, { solved }, isFull).catch((error) => error)
    expect([paid.code, paid.data]).toEqual(['too_many_guesses', { retry_after_s: 12 }])
    await expect(guard.judge(event, {}, isBusy), 'the issuer itself is busy').rejects.toBeInstanceOf(
      IssuerError,
    )
    expect(await guard.judge(event, { solved }, right)).toBe(true)
  })

  test('a proof waits some seconds for the next place, at no extra judged guess', async () => {
    const clock = testClock()
    const { db } = await open()
    const guard = guardOf(db, clock)
    const event = newEvent()
    let judged = 0
    const judgeNow = async () => {
      judged += 1
      return false
    }
    const pay = (n: number) => {
      const solved = { id: `${event} ${n}`, bits: MAX_PROOF_BITS }
      return outcome(guard.judge(event, { solved, from: `198.51.100.${n}` }, judgeNow))
    }
    for (let n = 0; n < MAX_PAID_GUESSES; n++) await pay(n)
    clock.set(clock.nowMs() + MINUTE_MS - 5 * SECOND_MS)

    const waiting = Array.from({ length: 10 }, (_, n) => pay(100 + n))
    const first = await Promise.race([...waiting, new Promise((resolve) => setTimeout(resolve, 50, 'waits'))])
    expect([first, judged]).toEqual(['waits', MAX_PAID_GUESSES])
    clock.set(clock.nowMs() + 5 * SECOND_MS)
    const outcomes = await Promise.all(waiting)

    expect(outcomes.filter((one) => one === false)).toHaveLength(MAX_PAID_GUESSES)
    expect(outcomes.filter((one) => one === 'too_many_guesses')).toHaveLength(4)
    expect(judged).toBe(2 * MAX_PAID_GUESSES)
  })

  test('each challenge counts once, right or wrong; where the issuer failed it can be sent again', async () => {
    const { db } = await open()
    const guard = guardOf(db, testClock())
    const event = newEvent()
    const sent = (id: string) => ({ solved: { id: `${event} ${id}`, bits: MIN_PROOF_BITS } })
    const isDown = () => Promise.reject(new Error('the issuer is down'))

    expect(await guard.judge(event, sent('right'), right)).toBe(true)
    expect(await guard.judge(event, sent('wrong'), wrong)).toBe(false)
    await expect(guard.judge(event, sent('failed'), isDown)).rejects.toThrow('is down')
    expect(await guard.judge(event, sent('failed'), right)).toBe(true)
    for (const id of ['right', 'wrong', 'failed']) {
      expect(await challengeOf(guard.judge(event, sent(id), right))).toBe(MIN_PROOF_BITS)
    }
  })

  test('six wrong guesses a minute can be paid, and the work doubles with every four', async () => {
    const clock = testClock()
    const { db } = await open()
    const event = newEvent()
    let paid = 0
    /** A new process each time: the difficulty is in the database. */
    const pay = (bits: number, judgeNow = wrong) =>
      guardOf(db, clock).judge(event, { solved: { id: `${event} ${paid++}`, bits } }, judgeNow)
    const refused = () => challengeOf(guardOf(db, clock).judge(event, {}, right))
    for (let i = 0; i < MAX_GUESSES; i++) await guardOf(db, clock).judge(event, {}, wrong)

    const asked: number[] = []
    for (let minute = 0; minute < 5; minute++) {
      for (let i = 0; i < MAX_PAID_GUESSES; i++) {
        asked.push(await refused())
        expect(await pay(asked.at(-1)!)).toBe(false)
      }
      const { code, waitS } = await refusal(pay(MAX_PROOF_BITS, right))
      // Some seconds before the next place is free: then the proof waits, for the draw
      expect([code, waitS], 'the proof stays valid').toEqual(['too_many_guesses', 55])
      clock.set(clock.nowMs() + MINUTE_MS)
    }

    expect(asked.slice(0, 9)).toEqual([20, 20, 20, 20, 21, 21, 21, 21, 22])
    expect(asked.slice(-6)).toEqual(Array(6).fill(MAX_PROOF_BITS))
    expect(await challengeOf(pay(MAX_PROOF_BITS - 3, right)), 'from before the attack').toBe(MAX_PROOF_BITS)
    expect(await pay(MAX_PROOF_BITS - 2, right), 'solved while the work doubled twice').toBe(true)
    clock.set(clock.nowMs() + GUESS_WINDOW_MS)
    for (let i = 0; i < MAX_GUESSES; i++) await guardOf(db, clock).judge(event, {}, wrong)
    expect(await refused(), 'after the attack').toBe(MIN_PROOF_BITS)
  })
})

/** How hard the challenge of a refusal is, in bits. */
function challengeOf(judged: Promise<boolean>): Promise<number> {
  return judged.then(
    (isRight) => expect.fail(`was judged: ${isRight}`),
    (error) => {
      expect(error).toMatchObject({ code: 'too_many_guesses', data: { retry_after_s: expect.any(Number) } })
      return (error as AppError & { data: { proof_of_work: ProofOfWork } }).data.proof_of_work.bits
    },
  )
}
