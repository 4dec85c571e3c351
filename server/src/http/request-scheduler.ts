import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { SECOND_MS } from '../clock.ts'
import { AppError } from '../errors.ts'
import { ClientTurns } from './client-turns.ts'

/** Answers one request. */
export type AnswerRequest = (request: IncomingMessage, response: ServerResponse) => void

/** How requests are scheduled: what is bounded, and by what clock. */
export interface SchedulerOptions {
  /** The network address of the client that sent a request. */
  readonly clientOf: (request: IncomingMessage) => string
  /** Sends a failure as the answer. */
  readonly refuse: (response: ServerResponse, error: AppError) => void
  /** Whether a connection carries the requests of many clients. Left out: none does. */
  readonly isProxy?: (socket: Socket) => boolean
  /** Called for a connection that is cut because too many requests were sent at once: decides when others of its client are read. */
  readonly onCut?: (socket: Socket) => void
  /** A steady clock. */
  readonly nowMs?: () => number
}

/** In one turn of the event loop, requests start for this long: then new connections and other events are handled. */
const TURN_MS = 1
/** A request that waited for so long is refused. With 20,000 connections these are 4,000 refusals a second. */
const WAIT_AT_MOST_MS = 5 * SECOND_MS
const RETRY_AFTER_S = 5
const RESOLVED = Promise.resolve()
/** Requests that wait behind another one of their connection: on one connection, and on all. Each takes 2 kB. */
const MAX_BEHIND = 16
const MAX_BEHIND_TOTAL = 20_000
/** While so many requests are queued, connections are read in turn. */
const READ_IN_TURN_FROM = 64

interface ScheduledRequest {
  readonly connection: Connection
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly answer: AnswerRequest
  readonly receivedAtMs: number
}

/** The requests of one connection. */
interface Connection {
  readonly socket: Socket
  /** The answer that is under way, or the last one. */
  current: ServerResponse | undefined
  /** Requests that came before the answer to the one before them was taken. */
  readonly behind: ScheduledRequest[]
  /** Whether the end of the current answer is watched. */
  isWatched: boolean
  /** Set when the client sent too many requests at once: whatever else it sent is not answered. */
  isCut: boolean
  /** Answers every request of this connection. */
  refusal: AppError | undefined
  /** Refuses bytes that are no request, when the requests before them are answered. */
  refuseBytes: (() => void) | undefined
  /** For a connection that is read in turn: since when it waits, and the turn of the event loop in which it is read again. */
  unreadSinceMs: number
  readInTurn: number
}

/**
 * Decides when each request starts.
 *
 * Node.js announces all requests of a packet, and those of all connections that are readable, in one turn of the event
 * loop, and accepts one new connection in each turn. If all of them started at once, a client with many connections
 * would make every other client wait. So:
 *
 * - A turn starts requests for a millisecond at most. The others wait, and the clients take turns: one request each. The
 *   client that sends one request is answered before the hundredth request of another.
 * - One health check of each client starts before the requests of all, but at most every second request that starts is one.
 * - A connection has one request under way: the next one starts when the operating system has taken the answer before
 *   it, so the bytes of one answer wait at most. Sixteen requests may wait behind it; with the next, the connection is
 *   cut. HTTP allows clients to send unanswered requests again (RFC 9112, section 9.3.2).
 * - While 64 requests are queued, a connection that got its answer is not read before its turn comes: its next request
 *   waits in the operating system. Thousands of parsed requests would double the CPU time of an answer: they survive
 *   collections of garbage, and displace each other from the caches of the processor. New connections are read at once;
 *   after a health check, and where a proxy sends requests of many clients, connections are always read.
 * - A request that waited for five seconds is refused with 503 `server_busy`.
 *
 *   (none) ──no request waits, the turn has time──▶ started ──answer taken──▶ done
 *     ├──otherwise──▶ queued for its client ──its turn──▶ started
 *     │                      └──after five seconds──▶ refused
 *     └──an answer of its connection is under way──▶ behind ──answer taken──▶ queued, or started
 *
 *   A connection: read ──answered while 64 requests are queued──▶ unread ──its turn──▶ read
 */
export class RequestScheduler {
  private readonly options: SchedulerOptions
  private readonly nowMs: () => number
  private readonly connections = new WeakMap<Socket, Connection>()
  private readonly queues = new ClientTurns<ScheduledRequest>()
  /** Connections that are read when their turn comes. */
  private readonly unread = new ClientTurns<Connection>()
  /** One queued health check of each client: monitors and balancers must get answers from a server that is overloaded. */
  private readonly healthChecks = new Map<string, ScheduledRequest>()
  private wasHealthCheck = false
  private turn = 0
  private turnEndsAtMs = 0
  private isTurnOpen = false
  private hasNewConnections = false
  private isClosing = false
  private readonly counted = { queued: 0, behind: 0, refused: 0, cut: 0 }

  constructor(options: SchedulerOptions) {
    this.options = options
    this.nowMs = options.nowMs ?? (() => performance.now())
  }

  /**
   * Requests that wait now (queued, or behind another of their connection), and connections that are read in turn; refused
   * requests and cut connections.
   */
  get counts(): Readonly<Record<'queued' | 'behind' | 'unread' | 'refused' | 'cut', number>> {
    return { ...this.counted, unread: this.unread.size }
  }

  /** Answers the request, now or later; not at all if its connection is cut or its client disconnects. */
  serve(request: IncomingMessage, response: ServerResponse, answer: AnswerRequest): void {
    const connection = this.connectionOf(request.socket)
    if (connection.isCut) return
    const nowMs = this.nowMs()
    const receivedAtMs = connection.readInTurn === this.turn ? connection.unreadSinceMs : nowMs
    const isFree = this.isFree(connection)
    if (isFree && this.counted.queued === 0 && receivedAtMs === nowMs && this.hasTime(nowMs)) {
      connection.current = response
      this.start(connection, request, response, answer)
      return
    }
    const scheduled = { connection, request, response, answer, receivedAtMs }
    if (isFree) this.queue(scheduled)
    else this.waitBehind(scheduled)
  }

  /** Answers every request of the connection with this failure, and closes it with the first. */
  refuseConnection(socket: Socket, error: AppError): void {
    this.connectionOf(socket).refusal = error
  }

  /** A turn in which connections arrive starts one request: many more connections may wait to be accepted. */
  connectionArrived(): void {
    this.hasNewConnections = true
  }

  /** From now on, connections close after the answers to the requests that have arrived. */
  closeConnections(): void {
    this.isClosing = true
    this.readUnread(this.unread.size)
  }

  /**
   * For bytes that are no request: calls `refuse` after the answers of the requests before them, so that the client
   * does not take the refusal for the answer to one of these.
   */
  refuseAfterAnswers(socket: Socket, refuse: () => void): void {
    const connection = this.connections.get(socket)
    if (connection?.isCut) return
    const isBroken = connection?.behind.length === 0 && connection.current?.req.complete === false
    if (!connection || isBroken || this.isFree(connection)) {
      refuse()
      return
    }
    if (connection.behind.at(-1)?.request.complete === false) {
      connection.behind.pop() // its body is what cannot be read
      this.counted.behind--
    }
    connection.refuseBytes = refuse
    this.watch(connection)
  }

  private connectionOf(socket: Socket): Connection {
    const known = this.connections.get(socket)
    if (known) return known
    const connection: Connection = {
      socket,
      current: undefined,
      behind: [],
      isWatched: false,
      isCut: false,
      refusal: undefined,
      refuseBytes: undefined,
      unreadSinceMs: 0,
      readInTurn: -1,
    }
    this.connections.set(socket, connection)
    return connection
  }

  /** Whether no answer is under way, and no request waits for one: Node.js takes the socket from a sent answer. */
  private isFree({ current, behind }: Connection): boolean {
    return behind.length === 0 && (current === undefined || current.socket === null)
  }

  private waitBehind(scheduled: ScheduledRequest): void {
    const { connection, request } = scheduled
    if (connection.behind.length >= MAX_BEHIND || this.counted.behind >= MAX_BEHIND_TOTAL) {
      this.counted.cut++
      connection.isCut = true
      request.socket.destroy()
      const { onCut, clientOf, isProxy } = this.options
      if (onCut && !isProxy?.(request.socket)) this.unread.drop(clientOf(request))
      onCut?.(request.socket)
      return
    }
    connection.behind.push(scheduled)
    this.counted.behind++
    this.watch(connection)
  }

  /** Goes on when the answer that is under way has been taken, or the connection is closed. */
  private watch(connection: Connection): void {
    if (connection.isWatched) return
    connection.isWatched = true
    connection.current?.once('close', () => this.proceed(connection))
  }

  private proceed(connection: Connection): void {
    connection.isWatched = false
    const next = connection.behind.shift()
    if (next === undefined) {
      connection.refuseBytes?.()
    } else if (next.request.socket.writable) {
      this.counted.behind--
      this.queue(next)
      if (connection.behind.length > 0 || connection.refuseBytes) this.watch(connection)
    } else {
      this.counted.behind -= 1 + connection.behind.length
      connection.behind.length = 0
    }
  }

  private hasTime(nowMs: number): boolean {
    if (this.isTurnOpen) return nowMs < this.turnEndsAtMs
    this.openTurn(nowMs)
    return true
  }

  private openTurn(nowMs: number): void {
    this.isTurnOpen = true
    this.turnEndsAtMs = nowMs + TURN_MS
    setImmediate(() => this.endTurn())
  }

  private endTurn(): void {
    this.isTurnOpen = false
    this.turn++
    const hadNewConnections = this.hasNewConnections
    this.hasNewConnections = false
    // At least one: new connections, proxies and pipelined requests can fill the queue for ever
    const isReading = this.readUnread(Math.max(1, READ_IN_TURN_FROM - this.counted.queued))
    if (this.counted.queued === 0 && !isReading) return
    const nowMs = this.nowMs()
    this.openTurn(nowMs)
    if (hadNewConnections) this.turnEndsAtMs = nowMs
    this.startQueued()
  }

  /** Starts queued requests until the turn is over. What each does at once, promises included, is done before the next. */
  private startQueued(): void {
    const next = this.takeNext()
    if (next === undefined) return
    const { connection, request, response, answer, receivedAtMs } = next
    if (this.counted.queued >= READ_IN_TURN_FROM)
      response.once('close', () => this.readLater(connection, request))
    if (this.nowMs() - receivedAtMs > WAIT_AT_MOST_MS) this.refuse(response, BUSY)
    else if (request.socket.writable) this.start(connection, request, response, answer)
    // As queueMicrotask, without the asynchronous resource that Node.js makes for each call
    if (this.nowMs() < this.turnEndsAtMs) void RESOLVED.then(() => this.startQueued())
  }

  private queue(scheduled: ScheduledRequest): void {
    scheduled.connection.current = scheduled.response
    if (!this.isTurnOpen) this.openTurn(this.nowMs())
    const client = this.options.clientOf(scheduled.request)
    if (isHealthCheck(scheduled.request) && !this.healthChecks.has(client))
      this.healthChecks.set(client, scheduled)
    else this.queues.add(client, scheduled)
    this.counted.queued++
  }

  /** Reads nothing from a connection until its turn comes. */
  private readLater(connection: Connection, request: IncomingMessage): void {
    const { socket } = connection
    const { clientOf, isProxy } = this.options
    if (!socket.writable || socket.isPaused() || this.isClosing || isProxy?.(socket)) return
    if (this.counted.queued < READ_IN_TURN_FROM || isHealthCheck(request) || !this.isFree(connection)) return
    socket.pause()
    connection.current = undefined // else the answer would survive collections of garbage
    connection.unreadSinceMs = this.nowMs()
    this.unread.add(clientOf(request), connection)
  }

  /** @returns whether there was one: what it has sent arrives in this turn */
  private readUnread(count: number): boolean {
    const before = this.unread.size
    for (let left = count; left > 0; left--) {
      const next = this.unread.take()
      if (!next) break
      next.readInTurn = this.turn
      next.socket.resume()
    }
    return this.unread.size < before
  }

  /** A health check, where the one before was none; else the first request of the first client, which goes to the end. */
  private takeNext(): ScheduledRequest | undefined {
    this.wasHealthCheck = this.healthChecks.size > 0 && (!this.wasHealthCheck || this.queues.size === 0)
    if (this.wasHealthCheck)
      for (const [client, check] of this.healthChecks) {
        this.healthChecks.delete(client)
        this.counted.queued--
        return check
      }
    const next = this.queues.take()
    if (next) this.counted.queued--
    return next
  }

  private start(
    { refusal, behind }: Connection,
    request: IncomingMessage,
    response: ServerResponse,
    answer: AnswerRequest,
  ): void {
    if (refusal || (this.isClosing && behind.length === 0)) response.setHeader('connection', 'close')
    if (refusal) this.refuse(response, refusal)
    else answer(request, response)
  }

  private refuse(response: ServerResponse, error: AppError): void {
    this.counted.refused++
    this.options.refuse(response, error)
  }
}

function isHealthCheck({ url }: IncomingMessage): boolean {
  return url?.startsWith('/health/') === true
}

const BUSY = new AppError(
  'server_busy',
  `The server has more requests than it can answer. Try again in ${RETRY_AFTER_S} seconds.`,
  { retry_after_s: RETRY_AFTER_S },
)
