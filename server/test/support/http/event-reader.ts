import { once } from 'node:events'
import http, { type IncomingHttpHeaders } from 'node:http'

/** One event of a stream. */
export interface StreamEvent {
  readonly kind: string
  readonly id: string
  readonly data: unknown
}

/** Reads a stream of events as a browser would, and stores the events. */
export class EventReader {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Resolves when the stream has ended, complete or broken off. */
  readonly ended: Promise<void>
  /** All received text. */
  text = ''
  private readonly response: http.IncomingMessage
  private readonly waiting: StreamEvent[] = []
  private wake: () => void = () => {}
  private unread = ''
  private hasEnded = false

  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventReader> {
    const request = http.get(url, { agent: false, headers })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    return new EventReader(response)
  }

  private constructor(response: http.IncomingMessage) {
    this.response = response
    this.status = response.statusCode ?? 0
    this.headers = response.headers
    response.setEncoding('utf8').on('data', (chunk: string) => this.take(chunk))
    response.on('error', () => {}) // a test may expect the stream to break off
    this.ended = once(response, 'close').then(() => {
      this.hasEnded = true
      this.wake()
    })
  }

  /** The next event. @throws when the stream ends before it */
  async next(): Promise<StreamEvent> {
    for (;;) {
      const event = this.waiting.shift()
      if (event) return event
      if (this.hasEnded) throw new Error(`the stream ended after ${JSON.stringify(this.text)}`)
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  /** Received events that {@link next} has not returned yet. */
  get unheard(): readonly StreamEvent[] {
    return this.waiting
  }

  close(): void {
    this.response.destroy()
  }

  private take(chunk: string): void {
    this.text += chunk
    const blocks = (this.unread + chunk).split('\n\n')
    this.unread = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2)))
      if (fields.data === undefined) continue
      this.waiting.push({
        kind: fields.event ?? 'message',
        id: fields.id ?? '',
        data: JSON.parse(fields.data),
      })
    }
    this.wake()
  }
}
