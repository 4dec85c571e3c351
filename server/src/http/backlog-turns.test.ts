import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { BacklogTurns, type TurnClock } from './backlog-turns.ts'

/** A clock that stands still, and runs what waits for a time when it is moved there. */
class StillClock implements TurnClock {
  nowAtMs = 0
  private waiting: { atMs: number; work: () => void }[] = []

  nowMs(): number {
    return this.nowAtMs
  }

  after(ms: number, work: () => void): () => void {
    const entry = { atMs: this.nowAtMs + ms, work }
    this.waiting.push(entry)
    return () => {
      this.waiting = this.waiting.filter((one) => one !== entry)
    }
  }

  async advance(ms: number): Promise<void> {
    this.nowAtMs += ms
    const due = this.waiting.filter(({ atMs }) => atMs <= this.nowAtMs)
    this.waiting = this.waiting.filter(({ atMs }) => atMs > this.nowAtMs)
    for (const { work } of due) work()
    await settled()
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await setImmediate()
}

interface Backlog {
  readonly address: string
  readonly name: string
  readonly tookMs?: number
  readonly isEndless?: boolean
}

/** Gives each of them one turn. @returns the names, in the order of their turns */
function startTurns(backlogs: readonly Backlog[], clock: StillClock, others = () => 0): readonly string[] {
  const taken: string[] = []
  const turns = new BacklogTurns(others, clock)
  for (const { address, name, tookMs = 0, isEndless } of backlogs) {
    turns.add({
      address,
      takeTurn: (release) => {
        taken.push(name)
        clock.nowAtMs += tookMs
        if (!isEndless) release()
        return true
      },
    })
  }
  return taken
}

test('addresses take turns, and the connections of an address too', async () => {
  const backlogs = ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'].map((name) => ({ address: name[0]!, name }))

  const taken = startTurns(backlogs, new StillClock())
  await settled()

  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
})

test('an expensive request is followed by a pause of a hundred times its length while others are served', async () => {
  const clock = new StillClock()
  const backlogs = [1, 2, 3].map((n) => ({ address: 'a', name: `a${n}`, tookMs: 3 }))
  let others = 0

  const taken = startTurns(backlogs, clock, () => ++others)
  await settled()
  expect(taken).toEqual(['a1'])
  await clock.advance(299)
  expect(taken).toEqual(['a1'])
  await clock.advance(1)

  expect(taken).toEqual(['a1', 'a2'])
})

test('there is no pause while no others are served', async () => {
  const backlogs = [1, 2, 3].map((n) => ({ address: 'a', name: `a${n}`, tookMs: 3 }))
  const clock = new StillClock()
  clock.nowAtMs = 5_000

  const taken = startTurns(backlogs, clock)
  await settled()

  expect(taken).toEqual(['a1', 'a2', 'a3'])
})

test('an address has one request under way, for a second at most; other addresses do not wait for it', async () => {
  const clock = new StillClock()

  const taken = startTurns(
    [
      { address: 'a', name: 'endless', isEndless: true },
      { address: 'a', name: 'a2' },
      { address: 'b', name: 'b1' },
    ],
    clock,
  )
  await settled()
  expect(taken).toEqual(['endless', 'b1'])
  await clock.advance(1_000)

  expect(taken).toEqual(['endless', 'b1', 'a2'])
})
