import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EventStreamReader, type StreamPart } from './server-sent-events.ts'

const read = (...pieces: readonly string[]): StreamPart[] => {
  const reader = new EventStreamReader()
  return pieces.flatMap((piece) => [...reader.take(new TextEncoder().encode(piece))])
}
const event = (data: string, { name = 'message', id = '' } = {}): StreamPart => ({
  kind: 'event',
  name,
  id,
  data,
})

describe('a stream of events', () => {
  test.each<[string, StreamPart[]]>([
    ['event: hello\ndata: 1\n\n', [event('1', { name: 'hello' })]],
    ['data: a\ndata: b\n\n', [event('a\nb')]],
    ['data:a\ndata\n\n', [event('a\n')]],
    ['id: 7\ndata: a\n\ndata: b\n\n', [event('a', { id: '7' }), event('b', { id: '7' })]],
    ['id: 7\ndata: a\n\nid\ndata: b\n\n', [event('a', { id: '7' }), event('b')]],
    ['event: x\n\ndata: a\n\n', [event('a')]],
    [': a comment\n\ndata: a\nother: b\n\n', [event('a')]],
    ['retry: 2500\n\nretry: soon\n\n', [{ kind: 'retry', ms: 2500 }]],
    ['data: a\r\ndata: b\r\n\r\ndata: c\r\rdata', [event('a\nb'), event('c')]],
    ['data: never ended\n', []],
    ['\ufeffdata: a\n\n', [event('a')]],
  ])('%j is %j', (text, parts) => {
    expect(read(text)).toEqual(parts)
  })

  test('is the same wherever it is cut', () => {
    const line = fc.oneof(
      fc.constantFrom('data: é 🏰', 'data', 'id: 7', 'event: change', ': x', 'retry: 10', '', ''),
      fc.string({ unit: 'grapheme', maxLength: 6 }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
    )
    const stream = fc
      .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 12 })
      .map((lines) => new TextEncoder().encode(`${lines.map(([text, end]) => text + end).join('')}\n\n`))
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200), { maxLength: 10 }), (bytes, cuts) => {
        const whole = new EventStreamReader().take(bytes)
        const reader = new EventStreamReader()
        const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)

        const parts = [...ends, bytes.length].flatMap((end, i) => [
          ...reader.take(bytes.subarray(i === 0 ? 0 : ends[i - 1], end)),
        ])

        expect(parts).toEqual(whole)
      }),
      { seed: 1, numRuns: 1_000 },
    )
  })
})
