/** One event of a stream, or what the stream says beside its events. */
export type StreamPart =
  | { readonly kind: 'event'; readonly name: string; readonly id: string; readonly data: string }
  /** When to come back after the stream has ended. */
  | { readonly kind: 'retry'; readonly ms: number }

const LINE_END = /\r\n|\n|\r/

/**
 * Reads `text/event-stream` as the HTML standard describes it, from pieces that may be cut anywhere.
 *
 * @example
 * const reader = new EventStreamReader()
 * reader.take(new TextEncoder().encode('event: hello\ndata: 1\n\n')) // [{ kind: 'event', name: 'hello', id: '', data: '1' }]
 */
export class EventStreamReader {
  private readonly decoder = new TextDecoder()
  private unread = ''
  private name = ''
  /** Stays for the events that name none. */
  private id = ''
  private data: string[] = []

  /** @returns what is complete with this piece */
  take(piece: Uint8Array): readonly StreamPart[] {
    // The decoder drops a byte order mark at the beginning, and keeps what is cut inside a character.
    let text = this.unread + this.decoder.decode(piece, { stream: true })
    // The rest of this line end may come with the next piece.
    const isCutInLineEnd = text.endsWith('\r')
    if (isCutInLineEnd) text = text.slice(0, -1)
    const lines = text.split(LINE_END)
    this.unread = (lines.pop() ?? '') + (isCutInLineEnd ? '\r' : '')
    return lines.flatMap((line) => this.takeLine(line))
  }

  private takeLine(line: string): readonly StreamPart[] {
    if (line === '') return this.endEvent()
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    switch (field) {
      case 'event':
        this.name = value
        break
      case 'data':
        this.data.push(value)
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
    return data.length === 0 ? [] : [{ kind: 'event', name: name || 'message', id, data: data.join('\n') }]
  }
}
