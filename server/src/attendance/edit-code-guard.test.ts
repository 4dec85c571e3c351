import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../test/support/engines.ts'
import { testClock } from '../../test/support/land-server.ts'
import { MINUTE_MS, SECOND_MS } from '../clock.ts'
import type { Db } from '../db/engine.ts'
import { AppError } from '../errors.ts'
import { EditCodeGuard, GUESS_WINDOW_MS, MAX_GUESSES, MAX_WAIT_MS } from './edit-code-guard.ts'

const WINDOW_S = GUESS_WINDOW_MS / SECOND_MS

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
    const guard = new EditCodeGuard({ db, clock })
    const [event, neighbour] = [newEvent(), newEvent()]
    for (let i = 0; i < MAX_GUESSES; i++) {
      expect(await guard.judge(event, wrong)).toBe(false)
      clock.set(clock.nowMs() + MINUTE_MS)
    }
    const { judgeNow, calls } = heldJudge()

    expect(await refusal(guard.judge(event, judgeNow))).toEqual({
      code: 'too_many_guesses',
      waitS: WINDOW_S - 5 * 60,
    })
    expect(await guard.judge(neighbour, right), 'another event').toBe(true)

    clock.set(clock.nowMs() + 10 * MINUTE_MS - 1)
    expect(await refusal(guard.judge(event, judgeNow))).toMatchObject({ waitS: 1 })
    clock.set(clock.nowMs() + 1)
    expect(await guard.judge(event, wrong), 'the first is forgotten').toBe(false)
    expect(await refusal(guard.judge(event, judgeNow))).toMatchObject({ waitS: 60 })
    expect(calls()).toBe(0)
  })

  test('right codes are not counted, and neither are guesses that the issuer could not judge', async () => {
    const { db } = await open()
    const guard = new EditCodeGuard({ db, clock: testClock() })
    const event = newEvent()
    const issuerIsDown = () => {
      throw new Error('the issuer is down')
    }

    for (let i = 0; i < 3 * MAX_GUESSES; i++) {
      expect(await guard.judge(event, right)).toBe(true)
      await expect(guard.judge(event, async () => issuerIsDown())).rejects.toThrow('the issuer is down')
      await expect(guard.judge(event, issuerIsDown)).rejects.toThrow('the issuer is down')
    }

    expect(await rowsOf(db, event)).toEqual([])
  })

  test('of a thousand wrong guesses at the same time five are judged, and none after that', async () => {
    const { db } = await open()
    const guard = new EditCodeGuard({ db, clock: testClock() })
    const event = newEvent()
    const { judgeNow, calls, say, untilCalled } = heldJudge()

    const guesses = Array.from({ length: 1_000 }, () => outcome(guard.judge(event, judgeNow)))
    await untilCalled(MAX_GUESSES)
    for (let i = 0; i < MAX_GUESSES; i++) say(false)
    const outcomes = await Promise.all(guesses)

    expect(calls()).toBe(MAX_GUESSES)
    expect(outcomes.filter((one) => one === false)).toHaveLength(MAX_GUESSES)
    expect(outcomes.filter((one) => one === 'too_many_guesses')).toHaveLength(1_000 - MAX_GUESSES)
    expect(await rowsOf(db, event)).toEqual([true, true, true, true, true])
    // A process that has just started reads the table
    const other = new EditCodeGuard({ db, clock: testClock() })
    expect(await outcome(other.judge(event, judgeNow))).toBe('too_many_guesses')
    expect(calls()).toBe(MAX_GUESSES)
  })

  test('two processes share the limit of five guesses', async () => {
    const engines = [await open(), await open()]
    const guards = engines.map(({ db }) => new EditCodeGuard({ db, clock: testClock() }))
    const event = newEvent()
    let calls = 0
    const judgeNow = async () => {
      calls += 1
      return false
    }

    const guesses = Array.from({ length: 100 }, (_, i) => outcome(guards[i % 2]!.judge(event, judgeNow)))
    const outcomes = await Promise.all(guesses)

    expect(calls).toBe(MAX_GUESSES)
    expect(outcomes.filter((one) => one === 'too_many_guesses')).toHaveLength(95)
  })

  test('an organiser whose page sends many requests at once is never refused', async () => {
    const engines = [await open(), await open()]
    const guards = engines.map(({ db }) => new EditCodeGuard({ db, clock: testClock() }))
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
      Array.from({ length: 40 }, (_, i) => outcome(guards[i % 2]!.judge(event, judgeNow))),
    )

    expect(new Set(outcomes)).toEqual(new Set([true]))
    expect(most).toBeLessThanOrEqual(MAX_GUESSES)
    expect(await rowsOf(engines[0]!.db, event)).toEqual([])
  })

  test('a waiting guess takes the place of a guess that was right', async () => {
    const { db } = await open()
    const guard = new EditCodeGuard({ db, clock: testClock() })
    const event = newEvent()
    const { judgeNow, calls, say, untilCalled } = heldJudge()

    const guesses = Array.from({ length: MAX_GUESSES + 1 }, () => outcome(guard.judge(event, judgeNow)))
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
    const guard = new EditCodeGuard({ db, clock })
    const event = newEvent()
    const { judgeNow, calls, say, untilCalled } = heldJudge()
    const held = Array.from({ length: MAX_GUESSES }, () => outcome(guard.judge(event, judgeNow)))
    await untilCalled(MAX_GUESSES)

    const late = refusal(guard.judge(event, judgeNow))
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
    const dying = new EditCodeGuard({ db, clock })
    const { judgeNow, untilCalled } = heldJudge()
    for (let i = 0; i < MAX_GUESSES; i++) void dying.judge(event, judgeNow) // never come back
    await untilCalled(MAX_GUESSES)
    const guard = new EditCodeGuard({ db, clock })

    clock.set(clock.nowMs() + MINUTE_MS)
    expect(await refusal(guard.judge(event, right))).toEqual({
      code: 'too_many_guesses',
      waitS: WINDOW_S - 60,
    })

    clock.set(clock.nowMs() + GUESS_WINDOW_MS - MINUTE_MS)
    expect(await guard.judge(event, right)).toBe(true)
  })

  test('deleteOld deletes the guesses that no longer count', async () => {
    const clock = testClock()
    const { db } = await open()
    const guard = new EditCodeGuard({ db, clock })
    const event = newEvent()
    await guard.judge(event, wrong)
    clock.set(clock.nowMs() + MINUTE_MS)
    await guard.judge(event, wrong)

    clock.set(clock.nowMs() + GUESS_WINDOW_MS - MINUTE_MS)
    await guard.deleteOld()

    expect(await rowsOf(db, event)).toEqual([true])
  })
})
