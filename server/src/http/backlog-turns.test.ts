import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { BacklogTurns, type TurnClock } from './backlog-turns.ts'

/** A clock that stands still, and runs what waits for a time when it is moved there. */
class StillClock implements TurnClock {
  nowAtMs = 0
  workedAtMs = 0
  private waiting: { atMs: number; work: () => void }[] = []

  nowMs(): number {
    return this.nowAtMs
  }

  workedMs(): number {
    return this.workedAtMs
  }

  work(ms: number): void {
    this.nowAtMs += ms
    this.workedAtMs += ms
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
  readonly bytes?: number
}

/** Gives each of them one turn. @returns the names, in the order of their turns */
function startTurns(backlogs: readonly Backlog[], clock: StillClock, others = () => 0): readonly string[] {
  const taken: string[] = []
  const turns = new BacklogTurns(others, clock)
  for (const { address, name, tookMs = 0, isEndless, bytes = 0 } of backlogs) {
    turns.add({
      address,
      takeTurn: (release) => {
        taken.push(name)
        clock.work(tookMs)
        if (!isEndless) release(bytes)
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

test('an expensive request is followed by a pause of two hundred times its length while others are served', async () => {
  const clock = new StillClock()
  const backlogs = [1, 2, 3].map((n) => ({ address: 'a', name: `a${n}`, tookMs: 3 }))
  let others = 0

  const taken = startTurns(backlogs, clock, () => ++others)
  await settled()
  expect(taken).toEqual(['a1'])
  await clock.advance(599)
  expect(taken).toEqual(['a1'])
  await clock.advance(1)

  expect(taken).toEqual(['a1', 'a2'])
})

test('an answer that is made piece by piece counts as a whole, and the next turn waits for its end', async () => {
  const clock = new StillClock()
  const taken: string[] = []
  let others = 0
  const turns = new BacklogTurns(() => ++others, clock)
  let finish: (bytes: number) => void = () => {}
  const add = (name: string, takeTurn: (release: (bytes: number) => void) => void) =>
    turns.add({
      address: name[0]!,
      takeTurn: (release) => {
        taken.push(name)
        takeTurn(release)
        return true
      },
    })
  add('a1', (release) => {
    finish = release
  })
  add('b1', (release) => release(0))

  await settled()
  clock.work(8)
  await clock.advance(100)
  expect(taken).toEqual(['a1'])
  finish(3e6) // whose garbage takes 10 ms later
  await clock.advance(3_599)
  expect(taken).toEqual(['a1'])
  await clock.advance(1)

  expect(taken).toEqual(['a1', 'b1'])
})

test('a request that is not answered in a second is followed by the pause of its beginning', async () => {
  const clock = new StillClock()
  let others = 0
  const backlogs = [
    { address: 'a', name: 'endless', isEndless: true, tookMs: 2 },
    { address: 'b', name: 'b1' },
  ]

  const taken = startTurns(backlogs, clock, () => ++others)
  await settled()
  clock.work(500)
  await clock.advance(500)
  await clock.advance(399)
  expect(taken).toEqual(['endless'])
  await clock.advance(1)

  expect(taken).toEqual(['endless', 'b1'])
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
