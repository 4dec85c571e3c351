import { beforeEach, describe, expect, test } from 'vitest'
import { SECOND_MS } from '../clock.ts'
import { LARGE_ANSWER_LIMITS, type LargeAnswerReader, LargeAnswers } from './large-answers.ts'

const READER: LargeAnswerReader = { progress: () => ({ waiting: 1, taken: 0 }), cut: () => {} }

test('a bounded number is open at a time, for all clients and for one', () => {
  const answers = new LargeAnswers({ max: 3, perClient: 2 })
  const leaveFirst = answers.enter('192.0.2.1', READER)
  answers.enter('192.0.2.1', READER)

  expect(() => answers.enter('192.0.2.1', READER)).toThrow(
    expect.objectContaining({ code: 'too_many_requests' }),
  )
  answers.enter('192.0.2.2', READER)
  expect(() => answers.enter('192.0.2.3', READER)).toThrow(
    expect.objectContaining({ code: 'too_many_large_answers', data: { retry_after_s: 5 } }),
  )
  expect([answers.size, answers.refused]).toEqual([3, 2])

  leaveFirst()
  leaveFirst()
  expect(answers.size).toBe(2)
  answers.enter('192.0.2.1', READER)
  expect(answers.size).toBe(3)
})

test('one turn is given in each turn of the event loop, in the order of the calls', async () => {
  const answers = new LargeAnswers()
  let loops = 0
  let isOver = false
  const count = () => {
    loops++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)

  const seen: [number, number][] = []
  await Promise.all(Array.from({ length: 10 }, (_, i) => answers.turn().then(() => seen.push([i, loops]))))
  isOver = true

  expect(seen.map(([i]) => i)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(new Set(seen.map(([, loop]) => loop)).size).toBe(10)
})

describe('when there is no place', () => {
  let nowMs: number
  let cut: string[]
  beforeEach(() => {
    nowMs = 0
    cut = []
  })

  /** A client that takes so many bytes a second from now on, of a connection that has sent other answers before. */
  function reader(name: string, bytesPerSecond: number, waiting = 1): LargeAnswerReader {
    const startedMs = nowMs
    const taken = () => 1e9 + (bytesPerSecond * (nowMs - startedMs)) / SECOND_MS
    return { progress: () => ({ waiting, taken: taken() }), cut: () => cut.push(name) }
  }

  test('the slow answer that is open longest is cut, after 30 seconds', () => {
    const answers = new LargeAnswers(LARGE_ANSWER_LIMITS, () => nowMs)
    for (let i = 0; i < 64; i++) {
      const address = `192.0.2.${i % 4}`
      answers.enter(address, reader(`slow ${i}`, 1_100))
      nowMs++
    }
    const honest = () => answers.enter('198.51.100.1', reader('honest', 2_000_000))
    nowMs = 30 * SECOND_MS - 1
    expect(honest).toThrow(expect.objectContaining({ code: 'too_many_large_answers' }))

    nowMs = 30 * SECOND_MS
    honest()
    expect(honest).toThrow(expect.objectContaining({ code: 'too_many_large_answers' }))
    nowMs++
    honest()

    expect(cut).toEqual(['slow 0', 'slow 1'])
    expect([answers.size, answers.refused]).toEqual([64, 2])
  })

  test('answers that are read fast enough, or that wait for the server, are not cut', () => {
    const answers = new LargeAnswers({ max: 2, perClient: 2 }, () => nowMs)
    answers.enter('192.0.2.1', reader('fast', 50_000))
    answers.enter('192.0.2.2', reader('waits for the server', 0, 0))
    nowMs = 3_600 * SECOND_MS

    expect(() => answers.enter('192.0.2.3', READER)).toThrow(
      expect.objectContaining({ code: 'too_many_large_answers' }),
    )
    expect(cut).toEqual([])
  })

  test('a client that has all its places makes room only among its own', () => {
    const answers = new LargeAnswers({ max: 9, perClient: 1 }, () => nowMs)
    answers.enter('192.0.2.1', reader('of another', 10))
    answers.enter('192.0.2.2', reader('its own', 10))
    nowMs = 60 * SECOND_MS

    const leave = answers.enter('192.0.2.2', reader('its new one', 10))

    expect(cut).toEqual(['its own'])
    expect(() => answers.enter('192.0.2.2', READER)).toThrow(
      expect.objectContaining({ code: 'too_many_requests' }),
    )
    leave()
    expect(answers.size).toBe(1)
  })
})
