import { Readable } from 'node:stream'
import { AppError } from '../../errors.ts'

/** After so long a client asks again: most files are sent by then. */
const RETRY_AFTER_S = 5

/** Files about all claims of an event: this process sends one of each event at a time, because each reads all claims. */
export class Downloads {
  private readonly running = new Set<number>()

  /**
   * The file as a stream. The next file of the event may begin when it was sent, or its connection is closed.
   *
   * @throws {AppError} `too_many_requests` while another file of the event is being sent
   */
  start(eventId: number, pieces: AsyncIterable<string>): Readable {
    if (this.running.has(eventId)) {
      throw new AppError(
        'too_many_requests',
        'A file about this event is being sent already. Try again when it has arrived.',
        { retry_after_s: RETRY_AFTER_S },
      )
    }
    const file = Readable.from(pieces, { objectMode: false })
    this.running.add(eventId)
    return file.once('close', () => this.running.delete(eventId))
  }
}
