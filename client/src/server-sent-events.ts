/** One event of a stream, or what the stream says beside its events. */
export type StreamPart =
  | { readonly kind: 'event'; readonly name: string; readonly id: string; readonly data: string }
  /** When to come back after the stream has ended. */
  | { readonly kind: 'retry'; readonly ms: number }

const LINE_END = /\r\n|\n|\r/
/** Characters of one event, and of one line: about 1 MB. An event of our server has at most about 30 kB. */
export const MAX_EVENT_LENGTH = 1_000_000

/**
 * Reads `text/event-stream` as the HTML standard describes it, from pieces that may be cut anywhere. It holds one
 * event at most, of at most {@link MAX_EVENT_LENGTH} characters.
 *
 * @example
 * const reader = new EventStreamReader()
 * reader.take(new TextEncoder().encode('event: hello\ndata: 1\n\n')) // [{ kind: 'event', name: 'hello', id: '', data: '1' }]
 */
export class EventStreamReader {
  private readonly decoder = new TextDecoder()
  /** The beginning of a line whose end has not come yet. */
  private unread = ''
  /** A line feed at the beginning of the next piece belongs to a line end that has been read. */
  private isAfterCarriageReturn = false
  private name = ''
  /** Stays for the events that name none. */
  private id = ''
  private data: string[] = []
  /** Characters in `data`, line ends included. */
  private dataLength = 0

  /**
   * @returns what is complete with this piece
   * @throws {RangeError} for an event or a line that is too long; the reader is of no use afterwards
   */
  take(piece: Uint8Array): readonly StreamPart[] {
    // The decoder drops a byte order mark at the beginning, and keeps what is cut inside a character.
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
    return [] // comments have an empty name, and unknown fields are left out
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
