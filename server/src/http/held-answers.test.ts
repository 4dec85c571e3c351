import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type Answer, DATA } from './answer.ts'
import { HeldAnswers } from './held-answers.ts'
import { bytesOfWhole, wholeBody } from './whole-body.ts'

/** Answers whose moment can be changed, and how often each was made. */
function heldAnswers() {
  const time = { moment: {} }
  const made: Record<string, number> = {}
  const answers = new HeldAnswers(() => time.moment)
  const of = (url: string, moment: object | undefined = time.moment) =>
    answers.of(url, (): Answer => {
      made[url] = (made[url] ?? 0) + 1
      return { freshness: { tag: url }, format: DATA, body: () => '[1]', ...(moment && { moment }) }
    })
  return { answers, time, made, of }
}

const BODY = wholeBody('x'.repeat(30_000), DATA)

test('an answer is held while its moment lasts, and one of no moment or of another is not', () => {
  const { time, made, of } = heldAnswers()
  const first = of('/a')
  expect(of('/a')).toEqual(first)
  expect(of('/a').held).toBe(first.held)
  for (let i = 0; i < 2; i++) {
    expect(of('/b', {}).held).toBeUndefined()
    time.moment = {}
    expect(of('/a').held).not.toBe(first.held)
  }
  expect(made).toEqual({ '/a': 3, '/b': 2 })
})

test('a form that is compressed when its moment has passed belongs to no later answer', async () => {
  const { time, of } = heldAnswers()
  const { held } = of('/a')
  const late = held!.compress('gzip', wholeBody('y'.repeat(500_000), DATA))
  expect(late).toBeInstanceOf(Promise)
  time.moment = {}
  const next = of('/a')
  expect(gunzipSync(await late).toString()).toContain('yyy')
  expect(of('/a').held).toBe(next.held)
  expect(next.held!.compressed('gzip')).toBeUndefined()
})

test('bodies and compressed forms count: the least recently used answer is dropped', async () => {
  const { made, of } = heldAnswers()
  for (let i = 0; i < 1_000; i++) of(`/${i}`).held!.holdWhole(BODY)
  of('/999')
  of('/0')
  expect([made['/999'], made['/0']]).toEqual([1, 2])

  const random = wholeBody(Buffer.from(crypto.getRandomValues(new Uint8Array(31_000))), DATA)
  for (let i = 0; i < 1_000; i++) await of(`/c${i}`).held!.compress('gzip', random)
  of('/c0')
  expect(made['/c0']).toBe(2)
})

test('memory that an answer holds counts', () => {
  const answers = new HeldAnswers(() => moment)
  const moment = {}
  const make = (): Answer => ({ freshness: { tag: 'x' }, format: DATA, body: () => '[1]', moment })
  const first = answers.of('/0', make, 1_000_000).held
  for (let i = 1; i < 20; i++) answers.of(`/${i}`, make, 1_000_000)
  expect(answers.of('/0', make, 1_000_000).held).toBe(first)
  for (let i = 20; i < 60; i++) answers.of(`/${i}`, make, 1_000_000)
  expect(answers.of('/0', make, 1_000_000).held).not.toBe(first)
})

test('a body is held in memory of its own, and not where it is large', () => {
  const { of } = heldAnswers()
  const pieces = () => [
    Buffer.alloc(100_000, 'a').subarray(0, 5_000),
    Buffer.alloc(100_000, 'b').subarray(0, 5_000),
  ]
  const { held } = of('/pieces')
  const sent = held!.holdWhole(wholeBody(pieces(), DATA))
  expect(sent).toBe(held!.whole)
  expect(held!.holdWhole(wholeBody(pieces(), DATA))).toBe(sent)
  const [own] = held!.whole!.parts as readonly Buffer[]
  expect(own!.buffer.byteLength).toBe(own!.length)
  expect(bytesOfWhole(held!.whole!)).toEqual(bytesOfWhole(wholeBody(pieces(), DATA)))

  const large = of('/large').held!
  const made = wholeBody('x'.repeat(33_000), DATA)
  expect(large.holdWhole(made)).toBe(made)
  expect(large.whole).toBeUndefined()
})
