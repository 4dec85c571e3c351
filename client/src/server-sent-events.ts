/** One event of a stream, or its `retry` field. */
export type StreamPart =
  | { readonly kind: 'event'; readonly name: string; readonly id: string; readonly data: string }
  /** How long to wait before a reconnect, after the stream has ended. */
  | { readonly kind: 'retry'; readonly ms: number }

const LINE_END = /\r\n|\n|\r/
/** The most characters of one event, and of one line: about 1 MB. A Landpass server sends at most about 30 kB. */
export const MAX_EVENT_LENGTH = 1_000_000

/**
 * Parses `text/event-stream` (HTML standard) from pieces that may be cut anywhere. It holds at most one event in
 * memory, of at most {@link MAX_EVENT_LENGTH} characters.
 *
 * @example
 * const reader = new EventStreamReader()
 * reader.take(new TextEncoder().encode('event: hello\ndata: 1\n\n')) // [{ kind: 'event', name: 'hello', id: '', data: '1' }]
 */
export class EventStreamReader {
  private readonly decoder = new TextDecoder()
  /** The beginning of a line whose end has not arrived yet. */
  private unread = ''
  /** The last piece ended with a carriage return, so a line feed at the start of the next one is skipped. */
  private isAfterCarriageReturn = false
  private name = ''
  /** The last id, which is also that of later events without one. */
  private id = ''
  private data: string[] = []
  /** Characters in `data`, line ends included. */
  private dataLength = 0

  /**
   * @returns the events that are complete with this piece
   * @throws {RangeError} for an event or a line that is too long; the reader must not be used afterwards
   */
  take(piece: Uint8Array): readonly StreamPart[] {
    // The decoder skips a byte order mark, and holds the bytes of a character that is cut.
    const text = this.decoder.decode(piece, { stream: true })
    if (text === '') return []
    const isInLineEnd = this.isAfterCarriageReturn && text.startsWith('\n')
    this.isAfterCarriageReturn = text.endsWith('\r')
    const lines = (isInLineEnd ? text.slice(1) : text).split(LINE_END)
    lines[0] = this.unread + (lines[0] ?? '')
    this.unread = lines.pop() ?? ''
    const parts = lines.flatMap((line) => this.takeLine(line))
    assertLength(this.unread.length)
    return parts
  }

  private takeLine(line: string): readonly StreamPart[] {
    assertLength(line.length)
    if (line === '') return this.endEvent()
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    switch (field) {
      case 'event':
        this.name = value
        break
      case 'data':
        this.data.push(value)
        this.dataLength += value.length + 1
        assertLength(this.dataLength)
        break
      case 'id':
        if (!value.includes('\0')) this.id = value
        break
      case 'retry':
        if (/^\d+$/.test(value)) return [{ kind: 'retry', ms: Number(value) }]
        break
    }
    return [] // comments have an empty name; comments and unknown fields are ignored
  }

  private endEvent(): readonly StreamPart[] {
    const { name, id, data } = this
    this.name = ''
    this.data = []
    this.dataLength = 0
    return data.length === 0 ? [] : [{ kind: 'event', name: name || 'message', id, data: data.join('\n') }]
  }
}

function assertLength(length: number): void {
  if (length > MAX_EVENT_LENGTH)
    throw new RangeError(`An event of the stream has more than ${MAX_EVENT_LENGTH} characters.`)
}
