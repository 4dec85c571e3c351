import { expect, test } from 'vitest'
import { LargeAnswers } from './large-answers.ts'

test('a bounded number is open at a time, for all clients and for one', () => {
  const answers = new LargeAnswers({ max: 3, perClient: 2 })
  const leaveFirst = answers.enter('192.0.2.1')
  answers.enter('192.0.2.1')

  expect(() => answers.enter('192.0.2.1')).toThrow(expect.objectContaining({ code: 'too_many_requests' }))
  answers.enter('192.0.2.2')
  expect(() => answers.enter('192.0.2.3')).toThrow(
    expect.objectContaining({ code: 'too_many_large_answers', data: { retry_after_s: 5 } }),
  )
  expect([answers.size, answers.refused]).toEqual([3, 2])

  leaveFirst()
  leaveFirst()
  expect(answers.size).toBe(2)
  answers.enter('192.0.2.1')
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
