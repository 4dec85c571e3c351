import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EventStreamReader, MAX_EVENT_LENGTH, type StreamPart } from './server-sent-events.ts'

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

  test('has the same events, wherever it is cut', () => {
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

  test.each([
    ['a body without a line end', 'x'.repeat(1_000)],
    ['an event that does not end', `data: ${'x'.repeat(1_000)}\n`],
    ['an event of empty lines', 'data\n'.repeat(1_000)],
  ])('%s is refused beyond about 1 MB', (_, text) => {
    const reader = new EventStreamReader()
    const piece = new TextEncoder().encode(text)
    let taken = 0

    expect(() => {
      for (; taken < 10 * MAX_EVENT_LENGTH; taken += piece.length) reader.take(piece)
    }).toThrow(RangeError)
    expect(taken).toBeGreaterThan(MAX_EVENT_LENGTH * 0.9)
  })

  test('an event of the allowed length is read and a longer one is refused, wherever they are cut', () => {
    const longest = 'x'.repeat(MAX_EVENT_LENGTH - 'data: '.length)
    const readCut = (data: string, at: number) => {
      const text = `data: ${data}\n\n`
      return read(text.slice(0, at), text.slice(at))
    }

    for (const at of [0, 3, MAX_EVENT_LENGTH / 2, MAX_EVENT_LENGTH]) {
      expect(readCut(longest, at)).toEqual([event(longest)])
      expect(() => readCut(`${longest}x`, at)).toThrow(RangeError)
    }
  })

  test('a stream of events and comments has no limit of length', () => {
    const reader = new EventStreamReader()
    const piece = new TextEncoder().encode(`:\n: still here\ndata: ${'x'.repeat(99_000)}\n\n`)

    for (let i = 0; i < 50; i++) expect(reader.take(piece).length).toBe(1)
  })
})
