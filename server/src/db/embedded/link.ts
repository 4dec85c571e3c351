import type { Socket } from 'node:net'
import { deserialize, serialize } from 'node:v8'
import type { MessagePort } from 'node:worker_threads'

/** The largest message accepted over a socket: a damaged length must not lead to a huge allocation. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024

const LENGTH_BYTES = 4

/** One end of a connection that carries messages in order, over a port or a socket. */
export interface Link<Out, In> {
  /** @throws {FrameTooLargeError} over a socket. */
  send(message: Out, transfer?: readonly MessagePort[]): void
  onMessage(hear: (message: In) => void): void
  /** Called once, when the other end has closed or this one was closed. */
  onClose(hear: () => void): void
  /** Whether an open link keeps the process alive. */
  ref(): void
  unref(): void
  close(): void
}

export class FrameTooLargeError extends Error {
  constructor(bytes: number) {
    super(`A message of ${bytes} bytes is larger than the ${MAX_FRAME_BYTES} that fit: send less at once.`)
    this.name = 'FrameTooLargeError'
  }
}

export function portLink<Out, In>(port: MessagePort): Link<Out, In> {
  return {
    send: (message, transfer = []) => port.postMessage(message, transfer),
    onMessage: (hear) => port.on('message', hear),
    onClose: (hear) => port.once('close', hear),
    ref: () => port.ref(),
    unref: () => port.unref(),
    close: () => port.close(),
  }
}

/** A frame is four bytes of length, then the message as `v8.serialize` writes it: the format of ports, as bytes. */
export function socketLink<Out, In>(socket: Socket): Link<Out, In> {
  socket.setNoDelay(true)
  // 'close' follows every error
  socket.on('error', () => {})
  return {
    send: (message) => sendFrame(socket, message),
    onMessage: (hear) => hearFrames(socket, hear),
    onClose: (hear) => socket.once('close', hear),
    ref: () => socket.ref(),
    unref: () => socket.unref(),
    close: () => socket.end(),
  }
}

function sendFrame(socket: Socket, message: unknown): void {
  const body = serialize(message)
  if (body.length > MAX_FRAME_BYTES) throw new FrameTooLargeError(body.length)
  const length = Buffer.allocUnsafe(LENGTH_BYTES)
  length.writeUInt32BE(body.length)
  socket.cork()
  socket.write(length)
  socket.write(body)
  socket.uncork()
}

function hearFrames<In>(socket: Socket, hear: (message: In) => void): void {
  let chunks: Buffer[] = []
  let heldBytes = 0
  let neededBytes = LENGTH_BYTES
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    heldBytes += chunk.length
    // Chunks are joined once a frame is complete. Joining at each chunk would take quadratic time for a large frame.
    if (heldBytes < neededBytes) return
    const held = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    const { rest, nextBytes } = takeFrames(held, hear)
    if (nextBytes > MAX_FRAME_BYTES + LENGTH_BYTES) {
      socket.destroy()
      return
    }
    chunks = rest.length > 0 ? [rest] : []
    heldBytes = rest.length
    neededBytes = nextBytes
  })
}

/** Delivers every complete frame of `held`; `nextBytes` is the length that the next one needs, as far as is known. */
function takeFrames<In>(held: Buffer, hear: (message: In) => void): { rest: Buffer; nextBytes: number } {
  let start = 0
  while (held.length - start >= LENGTH_BYTES) {
    const frameBytes = LENGTH_BYTES + held.readUInt32BE(start)
    if (held.length - start < frameBytes) return { rest: held.subarray(start), nextBytes: frameBytes }
    hear(deserialize(held.subarray(start + LENGTH_BYTES, start + frameBytes)) as In)
    start += frameBytes
  }
  return { rest: held.subarray(start), nextBytes: LENGTH_BYTES }
}
