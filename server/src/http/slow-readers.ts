import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { SECOND_MS } from '../clock.ts'

/** How much of an answer a client must take in a time. */
export interface SlowReaderLimits {
  readonly timeoutMs: number
  /** On average over `timeoutMs`; at least one byte in that time. */
  readonly bytesPerSecond: number
}

/** What a connection has taken of its answers. */
export interface Progress {
  /** Bytes that wait in this process. */
  readonly waiting: number
  /** Bytes that the operating system has taken since the connection was opened. */
  readonly taken: number
}

const CHECK_EVERY_MS = SECOND_MS
const CHECKS_IN_TIMEOUT = 4

interface Period {
  readonly startedMs: number
  readonly taken: number
}

/**
 * Disconnects clients that do not take their answer, or only a few bytes now and then. The rest of the answer is held in memory for
 * them: without this, a client that opens many connections and reads nothing fills the memory of the process.
 */
export class SlowReaders {
  private readonly limits: SlowReaderLimits
  private readonly sockets = new Set<Socket>()
  private readonly periods = new WeakMap<Socket, Period>()
  private disconnected = 0

  constructor(limits: SlowReaderLimits) {
    this.limits = limits
  }

  /** Clients that were disconnected since the start. */
  get count(): number {
    return this.disconnected
  }

  watch(server: Server): void {
    const everyMs = Math.min(CHECK_EVERY_MS, this.limits.timeoutMs / CHECKS_IN_TIMEOUT)
    const checking = setInterval(() => this.check(performance.now()), everyMs).unref()
    server.once('close', () => clearInterval(checking))
    server.on('connection', (socket) => {
      this.sockets.add(socket)
      socket.once('close', () => this.sockets.delete(socket))
    })
  }

  private check(nowMs: number): void {
    for (const socket of this.sockets) {
      if (socket.writableLength === 0) this.periods.delete(socket)
      else if (this.isTooSlow(socket, nowMs)) this.disconnect(socket)
    }
  }

  private isTooSlow(socket: Socket, nowMs: number): boolean {
    const period = periodOf(this.periods.get(socket), progressOf(socket), nowMs, this.limits)
    if (period) this.periods.set(socket, period)
    return period === undefined
  }

  private disconnect(socket: Socket): void {
    this.disconnected++
    this.sockets.delete(socket)
    cutReader(socket)
  }
}

/**
 * The period in which a client must take the next bytes: the same one, or a new one if it has taken enough. Undefined if
 * the client was too slow.
 *
 * @param before undefined if no bytes waited at the last check
 * @example
 * const limits = { timeoutMs: 30_000, bytesPerSecond: 1_000 }
 * const begun = periodOf(undefined, { waiting: 900_000, taken: 5_000 }, 0, limits) // { startedMs: 0, taken: 5000 }
 * periodOf(begun, { waiting: 870_000, taken: 35_000 }, 20_000, limits) // { startedMs: 20000, taken: 35000 }
 * periodOf(begun, { waiting: 899_999, taken: 5_001 }, 30_000, limits) // undefined
 */
export function periodOf(
  before: Period | undefined,
  { taken }: Progress,
  nowMs: number,
  { timeoutMs, bytesPerSecond }: SlowReaderLimits,
): Period | undefined {
  const wanted = Math.max(1, (bytesPerSecond * timeoutMs) / SECOND_MS)
  if (before === undefined || taken - before.taken >= wanted) return { startedMs: nowMs, taken }
  return nowMs - before.startedMs < timeoutMs ? before : undefined
}

/** Ends the connection of a client that does not take its answer. */
export function cutReader(socket: Socket): void {
  socket.resetAndDestroy() // the operating system drops its part of the answer too
}

/** Both numbers are of the socket's handle, which Node.js does not document. */
interface WriteQueue {
  readonly bytesWritten?: number
  readonly writeQueueSize?: number
}

/**
 * What a connection has taken of its answers by now.
 *
 * Node.js documents only how many bytes wait, and does not subtract the part of a write that was taken. Where the
 * number of the handle is missing, a write counts when it was taken as a whole.
 */
export function progressOf(socket: Socket): Progress {
  const { _handle: queue } = socket as Socket & { readonly _handle?: WriteQueue | null }
  const waiting = socket.writableLength
  if (queue?.bytesWritten === undefined || queue.writeQueueSize === undefined) {
    return { waiting, taken: socket.bytesWritten - waiting }
  }
  return { waiting, taken: queue.bytesWritten - queue.writeQueueSize }
}
