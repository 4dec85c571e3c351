import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WrongAnswerError } from './hex-values.ts'
import { JsonList, parseAnswer } from './json-list.ts'

/** Longer than a part. */
const LONG = 'f'.repeat(70_000)

function parse(text: string): unknown {
  const answer = parseAnswer(Buffer.from(text)) as { readonly result?: unknown } | undefined
  return answer?.result instanceof JsonList ? { ...answer, result: [...answer.result].flat() } : answer
}

test('a short answer, an error and what is not JSON are as JSON.parse has them', () => {
  for (const text of [
    '{"id":1,"result":[]}',
    '{"id":1,"result":[{"a":[1]}]}',
    '{"error":{"data":["x"]}}',
    '[]',
  ])
    expect(parse(text)).toEqual(JSON.parse(text))
  expect(parse('<html>[')).toBeUndefined()
  expect(parse(`<html>[${LONG}]`)).toBeUndefined()
})

test('a long list comes in parts, and each of them is a part of the list', () => {
  const items = Array.from({ length: 3_000 }, (_, at) => ({ at, topics: ['0xab', '0xcd'], data: '0x12' }))
  const { result } = parseAnswer(Buffer.from(JSON.stringify({ result: items, id: 4 }))) as {
    result: JsonList
  }
  const parts = [...result]
  expect(parts.length).toBeGreaterThan(1)
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(2_000)
  expect(parts.flat()).toEqual(items)
})

test('any answer is read as JSON.parse reads it', () => {
  // Texts with what ends a part, and with the brackets of lists.
  const word = fc.constantFrom('0xabcd', '},', '},{', '[', ']', '"', '\\', 'é')
  const long = fc.constantFrom(LONG.slice(0, 20_000), `},${LONG.slice(0, 30_000)}`)
  const item = fc.dictionary(
    fc.constantFrom('a', 'b', 'result'),
    fc.oneof(long, word, fc.array(word), fc.integer()),
    { minKeys: 1 },
  )
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 })
  const answer = fc.record({
    note: optional(word),
    before: optional(fc.array(word)),
    result: fc.oneof({ weight: 5, arbitrary: fc.array(item, { minLength: 4, maxLength: 30 }) }, word),
    id: fc.integer(),
    after: optional(fc.array(word)),
  })
  let inParts = 0
  fc.assert(
    fc.property(answer, fc.constantFrom(0, 1), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      const { result } = parseAnswer(Buffer.from(text)) as { readonly result: unknown }
      if (result instanceof JsonList && [...result].length > 1) inParts++
      expect(parse(text)).toEqual(JSON.parse(text))
    }),
    { seed: 15, numRuns: 200 },
  )
  expect(inParts).toBeGreaterThan(20)
})

test.each([
  ['ends too early', (list: string) => list.slice(0, -3)],
  ['has a comma at its end', (list: string) => `${list},`],
  [
    'has a comma at its end, where a part ends',
    (list: string) => `${list.slice(0, list.lastIndexOf(',{'))},`,
  ],
  ['ends with another bracket', (list: string) => `${list}]`],
  ['has an empty item', (list: string) => list.replace('},{', '},,{')],
  ['has words between its items', (list: string) => list.replaceAll('},{', '},<p>,{')],
])('a long list that %s is a wrong answer', (_name, damage) => {
  const list = damage(JSON.stringify([{ a: LONG }, { a: LONG }, { a: 1 }]).slice(1, -1))
  expect(() => parse(`{"id":1,"result":[${list}]}`)).toThrow(WrongAnswerError)
})
