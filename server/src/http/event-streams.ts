import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SECOND_MS } from '../clock.ts'
import { AppError } from '../errors.ts'
import { clientAddress } from './client-address.ts'

/** How many streams may be open at a time. */
export interface StreamLimits {
  readonly max: number
  /** To one network address; 0 is no limit. */
  readonly perClient: number
}

/** Figures of all streams since the start. */
export interface StreamCounts {
  readonly opened: number
  /** Those beyond a limit. */
  readonly refused: number
  /** Those whose readers were too slow. */
  readonly dropped: number
}

/** The headers of an answer that has no end. */
export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  /** Else nginx keeps events until it has 4 kB of them. */
  'x-accel-buffering': 'no',
} as const

const HEARTBEAT = Buffer.from(':\n\n')
const HEARTBEAT_EVERY_MS = 20 * SECOND_MS
/** What may wait for a reader; whoever takes less is let go, and resumes where it was. */
const MAX_WAITING_BYTES = 64 * 1024
/** When browsers come back after a stream has ended: not all in the same second. */
const RETRY_FROM_MS = 2 * SECOND_MS
const RETRY_SPREAD_MS = 8 * SECOND_MS
/** Multiples of it, modulo 1, spread evenly however many there are. */
const GOLDEN_RATIO = 0.618_033_988_75
/** So many writes take 3 to 5 ms; then other requests have their turn. */
const WRITES_PER_TURN = 200
const REFUSED_FOR_S = 30

/**
 * Answers of `text/event-stream` that stay open. What all of them are told is put into bytes once and written to each.
 *
 *   (none) ──open──▶ open ──follow──▶ following     from now on it hears what all are told
 *                     └──────┴──(reader, end, close)──▶ gone
 *
 * All of them end when the server closes: their readers come back, to this process or another.
 */
export class EventStreams {
  private readonly limits: StreamLimits
  private readonly openStreams = new Set<EventStream>()
  private readonly following = new Set<EventStream>()
  private readonly openByClient = new Map<string, number>()
  private readonly counted = { opened: 0, refused: 0, dropped: 0 }
  private isClosed = false

  constructor(app: FastifyInstance, limits: StreamLimits, heartbeatEveryMs = HEARTBEAT_EVERY_MS) {
    this.limits = limits
    // Proxies and browsers take a connection that is silent for a minute for a dead one.
    const heartbeat = setInterval(() => void this.tell(HEARTBEAT), heartbeatEveryMs).unref()
    app.addHook('preClose', (done) => {
      clearInterval(heartbeat)
      this.close()
      done()
    })
  }

  /** Open streams, those that do not follow yet among them. */
  get size(): number {
    return this.openStreams.size
  }

  /** Streams that hear what all are told. */
  get followers(): number {
    return this.following.size
  }

  get counts(): StreamCounts {
    return this.counted
  }

  /**
   * Answers with a stream: its headers and a hint when to come back are sent at once.
   *
   * @throws {AppError} `too_many_streams`, `too_many_requests`, `bad_request` where another answer is under way on the
   * same connection
   */
  open(request: FastifyRequest, reply: FastifyReply): EventStream {
    const { raw } = reply
    // Behind another answer it would wait for its turn, unseen, for as long as that one takes.
    if (!raw.socket) throw new AppError('bad_request', 'A stream of events needs a connection of its own.')
    const client = clientAddress(request)
    this.refuseBeyondLimits(client)
    const stream = new EventStream(raw, {
      follow: () => this.following.add(stream),
      drop: () => this.drop(raw),
    })
    this.add(client, stream)
    raw.once('close', () => this.remove(client, stream))
    // Its end is the end of the connection: a server that stops has no idle one to wait for.
    reply.headers({ ...EVENT_STREAM_HEADERS, connection: 'close' }).hijack()
    raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
    raw.write(`retry: ${retryMs(this.counted.opened)}\n\n`)
    if (this.isClosed) stream.end()
    return stream
  }

  /** Writes whole events to all who follow at this moment. Resolves when the last of them has its own. */
  async tell(events: Uint8Array): Promise<void> {
    const streams = [...this.following]
    for (let from = 0; from < streams.length; from += WRITES_PER_TURN) {
      if (from > 0) await setImmediate()
      for (const stream of streams.slice(from, from + WRITES_PER_TURN)) stream.send(events)
    }
  }

  /** @throws {AppError} as {@link open} does where a limit is reached */
  assertRoom(request: FastifyRequest): void {
    this.refuseBeyondLimits(clientAddress(request))
  }

  private refuseBeyondLimits(client: string): void {
    const { max, perClient } = this.limits
    const isClientFull = perClient > 0 && (this.openByClient.get(client) ?? 0) >= perClient
    const isFull = this.openStreams.size >= max
    if (!isFull && !isClientFull) return
    this.counted.refused++
    if (isFull) {
      throw new AppError('too_many_streams', `This server may have ${max} streams open, and takes no more.`, {
        retry_after_s: REFUSED_FOR_S,
      })
    }
    throw new AppError(
      'too_many_requests',
      `This network address has ${perClient} streams open, and may have no more. Close one, or wait.`,
      { retry_after_s: REFUSED_FOR_S },
    )
  }

  private add(client: string, stream: EventStream): void {
    this.counted.opened++
    this.openStreams.add(stream)
    this.openByClient.set(client, (this.openByClient.get(client) ?? 0) + 1)
  }

  private remove(client: string, stream: EventStream): void {
    this.openStreams.delete(stream)
    this.following.delete(stream)
    const others = (this.openByClient.get(client) ?? 1) - 1
    if (others > 0) this.openByClient.set(client, others)
    else this.openByClient.delete(client)
  }

  private drop(response: ServerResponse): void {
    this.counted.dropped++
    response.destroy()
  }

  private close(): void {
    this.isClosed = true
    for (const stream of this.openStreams) stream.end()
  }
}

interface StreamOwner {
  follow(): void
  drop(): void
}

/** One reader's answer. What is sent to one that has gone is lost without a word. */
export class EventStream {
  private readonly response: ServerResponse
  private readonly owner: StreamOwner

  constructor(response: ServerResponse, owner: StreamOwner) {
    this.response = response
    this.owner = owner
  }

  /** Writes whole events. A reader that has not taken what was sent before loses its connection. */
  send(events: Uint8Array): void {
    if (this.isGone) return
    // Before the write: Node hands even a fast reader's bytes over a moment later.
    if (this.response.writableLength > MAX_WAITING_BYTES) this.owner.drop()
    else this.response.write(events)
  }

  /** From now on it hears what all are told. */
  follow(): void {
    if (!this.isGone) this.owner.follow()
  }

  end(): void {
    if (!this.isGone) this.response.end()
  }

  private get isGone(): boolean {
    return this.response.writableEnded || this.response.destroyed
  }
}

/**
 * How long the reader of the n-th stream should wait before it comes back.
 *
 * @example
 * retryMs(1) // 6944
 */
export function retryMs(n: number): number {
  return RETRY_FROM_MS + Math.floor(((n * GOLDEN_RATIO) % 1) * RETRY_SPREAD_MS)
}
