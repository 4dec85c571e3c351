import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SECOND_MS } from '../clock.ts'
import { AppError } from '../errors.ts'
import { clientAddress } from './client-address.ts'
import { ANSWER_HEADERS } from './cross-origin.ts'

/** How many streams may be open at a time. */
export interface StreamLimits {
  readonly max: number
  /** For one network address; 0 is no limit. */
  readonly perClient: number
}

/** Figures of all streams since the start. */
export interface StreamCounts {
  readonly opened: number
  /** Refused because a limit was reached. */
  readonly refused: number
  /** Closed because the client read too slowly. */
  readonly dropped: number
}

/** Headers of an event stream. */
export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  /** Without this header nginx buffers events until it has 4 kB. */
  'x-accel-buffering': 'no',
} as const

const HEARTBEAT = Buffer.from(':\n\n')
const HEARTBEAT_EVERY_MS = 20 * SECOND_MS
/** Bytes that may wait for a slow client. Beyond, its stream is closed; the client reconnects and resumes. */
const MAX_WAITING_BYTES = 64 * 1024
/** When clients reconnect after their stream has ended: spread, not all in the same second. */
const RETRY_FROM_MS = 2 * SECOND_MS
const RETRY_SPREAD_MS = 8 * SECOND_MS
/** The multiples of this number, modulo 1, are spread evenly for any count. */
const GOLDEN_RATIO = 0.618_033_988_75
/** This many writes take 3 to 5 ms; then the server yields to the event loop. */
const WRITES_BETWEEN_YIELDS = 200
const REFUSED_FOR_S = 30

/** Streams that get the same events. */
export type StreamGroup = Set<EventStream>

/**
 * The open answers of type `text/event-stream`. An announced event is encoded once, and written to each stream of a group.
 *
 *   (none) ──open──▶ open ──follow──▶ following     gets every event that is announced to its group
 *                     └──────┴──(client, end, close)──▶ closed
 *
 * All streams end when the server closes: their clients reconnect, to this process or another.
 */
export class EventStreams {
  private readonly limits: StreamLimits
  private readonly openStreams: StreamGroup = new Set()
  private readonly openByClient = new Map<string, number>()
  private readonly counted = { opened: 0, refused: 0, dropped: 0 }
  private isClosed = false

  constructor(app: FastifyInstance, limits: StreamLimits, heartbeatEveryMs = HEARTBEAT_EVERY_MS) {
    this.limits = limits
    // Proxies and browsers close a connection that was silent for a minute.
    const heartbeat = setInterval(
      () => void this.announce(HEARTBEAT, this.openStreams),
      heartbeatEveryMs,
    ).unref()
    app.addHook('preClose', (done) => {
      clearInterval(heartbeat)
      this.close()
      done()
    })
  }

  /** Number of open streams, including those that do not follow yet. */
  get size(): number {
    return this.openStreams.size
  }

  get counts(): StreamCounts {
    return this.counted
  }

  /**
   * Answers with a stream. The headers and the time after which to reconnect are sent at once.
   *
   * @throws {AppError} `too_many_streams` or `too_many_requests` if a limit is reached
   */
  open(request: FastifyRequest, reply: FastifyReply): EventStream {
    const { raw } = reply
    const client = clientAddress(request)
    this.refuseBeyondLimits(client)
    const stream = new EventStream(raw, () => this.drop(raw))
    this.add(client, stream)
    raw.once('close', () => this.remove(client, stream))
    // The connection closes with the stream, so that a server that stops has no idle connection to wait for.
    reply
      .headers({
        ...ANSWER_HEADERS,
        ...EVENT_STREAM_HEADERS,
        'x-request-id': request.id,
        connection: 'close',
      })
      .hijack()
    raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders)
    raw.write(`retry: ${retryMs(this.counted.opened)}\n\n`)
    if (this.isClosed) stream.end()
    return stream
  }

  /** Writes whole events to the streams of a group. Resolves when they are written to the last one. */
  async announce(events: Uint8Array, group: StreamGroup): Promise<void> {
    const streams = [...group]
    for (let from = 0; from < streams.length; from += WRITES_BETWEEN_YIELDS) {
      if (from > 0) await setImmediate()
      for (const stream of streams.slice(from, from + WRITES_BETWEEN_YIELDS)) stream.send(events)
    }
  }

  /** @throws {AppError} `too_many_streams` or `too_many_requests` if a limit is reached */
  assertWithinLimits(request: FastifyRequest): void {
    this.refuseBeyondLimits(clientAddress(request))
  }

  private refuseBeyondLimits(client: string): void {
    const { max, perClient } = this.limits
    const isClientFull = perClient > 0 && (this.openByClient.get(client) ?? 0) >= perClient
    const isFull = this.openStreams.size >= max
    if (!isFull && !isClientFull) return
    this.counted.refused++
    if (isFull) {
      throw new AppError(
        'too_many_streams',
        `This server has ${max} streams open, which is its limit. Try again later.`,
        {
          retry_after_s: REFUSED_FOR_S,
        },
      )
    }
    throw new AppError(
      'too_many_requests',
      `This network address has ${perClient} streams open, which is the limit. Close one, or wait.`,
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
    stream.leaveGroup()
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

/** One open stream. Events for a client that has disconnected are dropped. */
export class EventStream {
  private readonly response: ServerResponse
  private readonly drop: () => void
  private group: StreamGroup | undefined

  /** @param drop closes the stream of a client that is too slow */
  constructor(response: ServerResponse, drop: () => void) {
    this.response = response
    this.drop = drop
  }

  /** Writes whole events. Closes the stream of a client that has too many earlier bytes waiting. */
  send(events: Uint8Array): void {
    if (this.isClosed) return
    // Checked before the write, because even for a fast client new bytes wait for a short time.
    if (this.response.writableLength > MAX_WAITING_BYTES) this.drop()
    else this.response.write(events)
  }

  /** From now on, until it is closed, the stream is in the group and gets its events. */
  follow(group: StreamGroup): void {
    if (this.isClosed) return
    this.group = group
    group.add(this)
  }

  leaveGroup(): void {
    this.group?.delete(this)
  }

  end(): void {
    if (!this.isClosed) this.response.end()
  }

  private get isClosed(): boolean {
    return this.response.writableEnded || this.response.destroyed
  }
}

/**
 * Milliseconds that the client of the n-th stream should wait before it reconnects.
 *
 * @example
 * retryMs(1) // 6944
 */
export function retryMs(n: number): number {
  return RETRY_FROM_MS + Math.floor(((n * GOLDEN_RATIO) % 1) * RETRY_SPREAD_MS)
}
