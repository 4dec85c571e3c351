import { Readable } from 'node:stream'
import { AppError } from '../../errors.ts'

/** After so long a client asks again: most files are sent by then. */
const RETRY_AFTER_S = 5

/** What a file has: its name in errors, and in words. */
const FILES = {
  claims: 'The list of claims (CSV)',
  export: 'The export (JSON)',
} as const
export type FileKind = keyof typeof FILES

/** Files about all claims of an event: this process sends one of each kind and event at a time, because each reads all claims. */
export class Downloads {
  private readonly running = new Set<string>()

  /**
   * The file as a stream. The next one of this kind about the event may begin when it was sent, or its connection is closed.
   *
   * @throws {AppError} `too_many_requests` while another one is being sent
   */
  start(eventId: number, kind: FileKind, pieces: AsyncIterable<string>): Readable {
    const name = `${kind} ${eventId}`
    if (this.running.has(name)) {
      throw new AppError(
        'too_many_requests',
        `${FILES[kind]} of this event is being sent already, to you or another person. Try again when it has arrived.`,
        { retry_after_s: RETRY_AFTER_S, file: kind },
      )
    }
    const file = Readable.from(pieces, { objectMode: false })
    this.running.add(name)
    return file.once('close', () => this.running.delete(name))
  }
}
