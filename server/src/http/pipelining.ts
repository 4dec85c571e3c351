import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { BacklogTurns } from './backlog-turns.ts'
import { clientAddress } from './client-address.ts'

/** Answers one request. */
export type AnswerRequest = (request: IncomingMessage, response: ServerResponse) => void

/** How many requests may wait for the answers before them. */
export interface BacklogLimits {
  /** On one connection. */
  readonly perConnection: number
  /** On all connections of one network address. */
  readonly perAddress: number
  /** On all connections. Beyond, a connection is cut when a request comes behind `alwaysKept` that wait. */
  readonly total: number
  readonly alwaysKept: number
}

/** A waiting request takes 1.5 kB, so 30 MB in all. */
export const BACKLOG_LIMITS: BacklogLimits = {
  perConnection: 100,
  perAddress: 1_000,
  total: 20_000,
  alwaysKept: 8,
}

/** While fewer requests wait, a connection is still read, so that a client that disconnects is noticed. */
const PAUSE_ABOVE = 50
/** One packet of 64 KiB can hold 3,600 requests. Where the parser cannot be stopped, a connection is cut beyond this. */
const MAX_DROPPED = 4_000

interface WaitingRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly answer: AnswerRequest
}

/**
 * Answers the requests of each connection one at a time.
 *
 * Node.js announces all requests of a packet at once, a thousand for example. Without this class all of them would run
 * in one turn of the event loop, and all their answers would be in memory at the same time. Here a request starts when
 * the operating system has taken the whole answer before it, so the bytes of one answer wait at most.
 *
 *   (none) ──no answer under way──▶ started ──answer taken, or connection closed──▶ done
 *     ├──other requests of the address wait──▶ waiting ──end of the packet──▶ started, or its turn if others came with it
 *     ├──first to wait──▶ waiting ──answer before it taken──▶ started
 *     ├──more than one waits──▶ waiting ──its turn (backlog-turns.ts)──▶ started
 *     └──beyond the limits──▶ dropped: never started; the connection closes after the last accepted answer
 *
 * The first request that waits needs no turn: a client that sends its next request when it has the last byte is often
 * faster than the notification that the answer was taken.
 *
 * While many requests wait, nothing is read from the connection, so a client cannot send more than one packet beyond the
 * limits; the rest of that packet is not parsed. HTTP allows clients to send unanswered requests again (RFC 9112,
 * section 9.3.2).
 */
export class Pipelining {
  private readonly limits: BacklogLimits
  private readonly connections = new WeakMap<Socket, Connection>()
  private readonly waitingByAddress = new Map<string, number>()
  private readonly turns = new BacklogTurns(() => this.startedWithoutTurn)
  /** Requests that were started at once, except those with a backlog behind them. */
  private startedWithoutTurn = 0
  private heldRequests = 0
  private isClosing = false

  constructor(limits: BacklogLimits = BACKLOG_LIMITS) {
    this.limits = limits
  }

  /** Requests in memory that are not started: waiting and dropped. */
  get held(): number {
    return this.heldRequests
  }

  /** Answers the request, now or later; not at all if too many wait or the client disconnects. */
  serve(request: IncomingMessage, response: ServerResponse, answer: AnswerRequest): void {
    const connection = this.connectionOf(request.socket)
    if (!connection.isFree) {
      this.wait(connection, { request, response, answer })
      return
    }
    if (this.waitingByAddress.size > 0 && this.waitingByAddress.has(connection.address)) {
      this.startAfterPacket(connection, { request, response, answer })
      return
    }
    this.startAtOnce(connection, { request, response, answer })
  }

  /** From now on every connection closes after its next answer behind which no request waits. */
  closeConnections(): void {
    this.isClosing = true
  }

  /**
   * For bytes that are no request: calls `refuse` after the answers of the requests before them, so that the client
   * does not take the refusal for the answer to one of these.
   */
  refuseAfterAnswers(socket: Socket, refuse: () => void): void {
    const connection = this.connections.get(socket)
    if (!connection || connection.isFree || connection.request?.complete === false) {
      refuse()
      return
    }
    connection.isFull = true
    if (connection.dropped === 0) connection.refuse ??= refuse
    if (connection.waiting.at(-1)?.request.complete === false) {
      connection.waiting.pop() // its body is what cannot be read
      this.countWaiting(connection, -1)
    }
    this.watch(connection)
  }

  private connectionOf(socket: Socket): Connection {
    const known = this.connections.get(socket)
    if (known) return known
    const connection = new Connection(socket)
    this.connections.set(socket, connection)
    return connection
  }

  /**
   * Decides at the end of the packet how a request starts: at once, or in turn if other requests came with it. Otherwise
   * a client with many connections would get two expensive answers for each new one without a turn.
   */
  private startAfterPacket(connection: Connection, waiting: WaitingRequest): void {
    connection.isStartedAtOnce = false
    connection.waiting.push(waiting)
    this.countWaiting(connection, 1)
    process.nextTick(() => {
      const isAlone = connection.waiting.length === 1 && !connection.isFull
      if (isAlone && connection.socket.writable) this.startAtOnce(connection, this.takeFirst(connection))
      else this.proceed(connection)
    })
  }

  private startAtOnce(connection: Connection, waiting: WaitingRequest): void {
    this.startedWithoutTurn++
    connection.isStartedAtOnce = true
    this.start(connection, waiting)
  }

  private start(connection: Connection, { request, response, answer }: WaitingRequest): void {
    connection.request = request
    connection.response = response
    connection.isWatched = false
    if (connection.waiting.length > 0 || connection.refuse) this.watch(connection)
    else if (this.isClosing || connection.isFull) response.setHeader('connection', 'close')
    answer(request, response)
  }

  private wait(connection: Connection, waiting: WaitingRequest): void {
    if (connection.isFull || this.isBeyondLimits(connection)) {
      this.drop(connection)
      return
    }
    connection.waiting.push(waiting)
    this.countWaiting(connection, 1)
    if (connection.waiting.length === 1) {
      connection.isFirstInTime = true
      this.watch(connection)
    } else {
      this.stopReading(connection)
    }
  }

  /** Goes on when the answer that is under way has been taken, or the connection is closed. */
  private watch(connection: Connection): void {
    if (connection.isWatched) return
    connection.isWatched = true
    connection.response?.once('close', () => this.proceed(connection))
  }

  private isBeyondLimits({ waiting, address, isAnswered }: Connection): boolean {
    if (waiting.length === 0) return false
    const ofAddress = this.waitingByAddress.get(address) ?? 0
    const ofConnection = isAnswered ? waiting.length - 1 : waiting.length // the first one will be under way
    if (ofConnection >= this.limits.perConnection || ofAddress >= this.limits.perAddress) return true
    return this.heldRequests >= this.limits.total && waiting.length >= this.limits.alwaysKept
  }

  /** Forgets a request beyond the limits. Its memory is released with the connection. */
  private drop(connection: Connection): void {
    connection.isFull = true
    connection.dropped++
    this.heldRequests++
    skipRestOfPacket(connection.socket)
    this.stopReading(connection)
    const isTooMuch =
      this.heldRequests > this.limits.total && connection.waiting.length >= this.limits.alwaysKept
    if (isTooMuch || connection.dropped > MAX_DROPPED) connection.socket.destroy()
  }

  private proceed(connection: Connection): void {
    if (!this.isUsable(connection)) return
    if (connection.waiting.length === 0) {
      connection.refuseRest()
    } else if (connection.isFirstInTime) {
      this.start(connection, this.takeFirst(connection))
    } else {
      this.turns.add({
        address: connection.address,
        takeTurn: (release) => this.takeTurn(connection, release),
      })
    }
  }

  private takeTurn(connection: Connection, release: (bytes: number) => void): boolean {
    if (!this.isUsable(connection)) return false
    if (connection.waiting.length === 0) {
      connection.refuseRest()
      return false
    }
    const next = this.takeFirst(connection)
    const { socket } = connection
    const writtenBefore = socket.bytesWritten
    next.response.once('close', () => release(socket.bytesWritten - writtenBefore))
    this.start(connection, next)
    return true
  }

  private takeFirst(connection: Connection): WaitingRequest {
    const next = connection.waiting.shift()!
    this.countWaiting(connection, -1)
    connection.isFirstInTime = false
    connection.isStartedAtOnce = false
    if (connection.waiting.length === 0) connection.resume()
    return next
  }

  /** Reads no more from a connection with many waiting requests; never again from one that is to be closed. */
  private stopReading(connection: Connection): void {
    if (!connection.hasBacklog) {
      connection.hasBacklog = true
      if (connection.isStartedAtOnce) this.startedWithoutTurn-- // the request before the backlog belongs to it
      connection.socket.once('close', () => this.release(connection))
      // Node.js resumes a connection by itself when it has read a body.
      connection.socket.on('resume', () => connection.pauseIfNeeded())
    }
    if (connection.isPausing) return
    connection.isPausing = true
    // In the next tick, when Node.js knows whether the body of the last request is complete.
    process.nextTick(() => {
      connection.isPausing = false
      connection.pauseIfNeeded()
    })
  }

  /** Whether a connection can take another answer. */
  private isUsable(connection: Connection): boolean {
    if (connection.socket.writable) return true
    this.release(connection)
    return false
  }

  private release(connection: Connection): void {
    this.countWaiting(connection, -connection.waiting.length)
    this.heldRequests -= connection.dropped
    connection.waiting.length = 0
    connection.dropped = 0
  }

  private countWaiting({ address }: Connection, change: number): void {
    if (change === 0) return
    this.heldRequests += change
    const waiting = (this.waitingByAddress.get(address) ?? 0) + change
    if (waiting > 0) this.waitingByAddress.set(address, waiting)
    else this.waitingByAddress.delete(address)
  }
}

/** The parser of a connection, which Node.js does not document. */
interface Parser {
  /** Called for each request; what it returns says how to go on. */
  onIncoming?: (request: IncomingMessage & { upgrade?: boolean }) => number | undefined
}

/** As after a request to change the protocol: what follows is not HTTP. */
const STOP_PARSING = 2

/**
 * Stops the parser at the next request. Node.js would parse a packet to its end, though nothing of it is answered, which
 * takes about 10 ms for 64 KiB. Does nothing where the parser is not as expected.
 */
function skipRestOfPacket(socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: Parser | null }
  if (!parser?.onIncoming) return
  parser.onIncoming = (request) => {
    request.upgrade = false // otherwise Node.js gives the connection up for one of another protocol
    return STOP_PARSING
  }
}

/** The requests of one connection. */
class Connection {
  readonly socket: Socket
  /** The request that was started last, and its answer. */
  request: IncomingMessage | undefined
  response: ServerResponse | undefined
  readonly waiting: WaitingRequest[] = []
  dropped = 0
  /** No further request is accepted, and the connection closes after the last accepted one. */
  isFull = false
  /** Whether the end of the answer under way is watched. */
  isWatched = false
  /** Whether the first request that waits came when no other did. */
  isFirstInTime = false
  /** Whether the request that was started last needed no turn and did not wait for an answer. */
  isStartedAtOnce = false
  /** Whether more than one request waits, or did: from then on its reading is controlled. */
  hasBacklog = false
  isPausing = false
  private isRefused = false
  /** Refuses what came after the accepted requests. */
  refuse: (() => void) | undefined
  private knownAddress: string | undefined

  constructor(socket: Socket) {
    this.socket = socket
  }

  /** Whether a request can start now: the operating system has taken the last answer, and no request waits. */
  get isFree(): boolean {
    return this.isAnswered && this.waiting.length === 0 && !this.isFull
  }

  /** Whether no answer is under way. */
  get isAnswered(): boolean {
    // Node.js takes the socket from an answer when it has been sent.
    return this.response === undefined || this.response.socket === null
  }

  get address(): string {
    this.knownAddress ??= clientAddress({ ip: this.socket.remoteAddress ?? '', socket: this.socket })
    return this.knownAddress
  }

  pauseIfNeeded(): void {
    const isLong = this.waiting.length > PAUSE_ABOVE && this.waiting.at(-1)?.request.complete === true
    if ((this.isFull || isLong) && !this.isRefused) this.socket.pause()
  }

  /** Refuses what came after the accepted requests, and reads on, to see when the client disconnects. */
  refuseRest(): void {
    if (!this.refuse) return
    this.isRefused = true
    this.refuse()
    this.socket.resume()
  }

  resume(): void {
    if (this.hasBacklog && !this.isFull) this.socket.resume()
  }
}
