import type { ServerResponse } from 'node:http'
import { ownBytes } from '../own-memory.ts'
import type { Body, BodyPieces, Format } from './answer.ts'
import { MADE_BYTES_PER_UNIT, SENT_BYTES_PER_UNIT } from './cost-account.ts'

/** A body in memory, in the envelope if it has one. */
export interface WholeBody {
  /** A text with one character for each byte (latin1), or bytes in pieces. */
  readonly parts: string | readonly Uint8Array[]
  readonly bytes: number
  /** What making and sending it cost, in units of one parcel read. */
  readonly units: number
}

export const ENVELOPE_START = Buffer.from('{"ok":true,"data":')
export const ENVELOPE_END = Buffer.from('}')

/** Copying this many bytes takes about as long as a piece of its own in a write. */
const JOINED_BELOW_BYTES = 1024
/** Fewer bytes are sent as text, which Node.js joins with the headers. Bytes are written beside them, which costs a third more. */
const TEXT_BELOW_BYTES = 8 * 1024

/** For larger bodies, sending takes longer than making. */
const OWN_UP_TO_BYTES = 32 * 1024

/** A body that is sent at once: neither streamed, nor shared by many clients, nor awaited. */
type AtOnce = string | Uint8Array | BodyPieces

export function isAtOnce(body: Body | Promise<Body>): body is AtOnce {
  return typeof body === 'string' || Symbol.iterator in body
}

/** @param body what a route has given */
export function wholeBody(body: AtOnce, { hasEnvelope = false }: Format): WholeBody {
  if (typeof body === 'string') {
    const text = hasEnvelope ? `${ENVELOPE_START}${body}${ENVELOPE_END}` : body
    const bytes = Buffer.byteLength(text)
    return sized(
      bytes === text.length ? text : Buffer.from(text).toString('latin1'),
      bytes,
      MADE_BYTES_PER_UNIT,
    )
  }
  if (body instanceof Uint8Array) return sentBytes(body)
  const pieces = wholePieces(body, hasEnvelope)
  return sized(pieces, bytesOf(pieces), MADE_BYTES_PER_UNIT)
}

/** A body that is made already. */
export function sentBytes(bytes: Uint8Array): WholeBody {
  return sized([bytes], bytes.length, SENT_BYTES_PER_UNIT)
}

function sized(parts: WholeBody['parts'], bytes: number, bytesPerUnit: number): WholeBody {
  return { parts, bytes, units: bytes / bytesPerUnit }
}

/** The pieces of a body, in the envelope if it has one. */
export function wholePieces(pieces: BodyPieces, hasEnvelope: boolean): Uint8Array[] {
  return hasEnvelope ? [ENVELOPE_START, ...pieces, ENVELOPE_END] : [...pieces]
}

function bytesOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

/** The bytes of a body as one piece. */
export function bytesOfWhole({ parts }: Pick<WholeBody, 'parts'>): Buffer {
  return typeof parts === 'string' ? Buffer.from(parts, 'latin1') : joined(parts)
}

/** The same body in memory of its own, and in the form that is sent fastest. @returns undefined for a large one: making it again costs little */
export function ownBody(body: WholeBody): WholeBody | undefined {
  const { parts, bytes } = body
  if (bytes > OWN_UP_TO_BYTES) return undefined
  if (typeof parts === 'string') return body
  if (bytes < TEXT_BELOW_BYTES) return { ...body, parts: joined(parts).toString('latin1') }
  return { ...body, parts: [ownBytes(joined(parts))] }
}

export function joined(pieces: readonly Uint8Array[]): Buffer {
  const [only] = pieces
  if (!only || pieces.length > 1) return Buffer.concat(pieces)
  return Buffer.from(only.buffer, only.byteOffset, only.length)
}

/** Ends a response. Node.js sends no body to HEAD. */
export function endWith(response: ServerResponse, body: WholeBody | undefined): void {
  if (!body) {
    response.end()
    return
  }
  const { parts, bytes } = body
  if (typeof parts === 'string') endWithText(response, parts)
  else if (bytes < TEXT_BELOW_BYTES) endWithText(response, joined(parts).toString('latin1'))
  else if (parts.length === 1) response.end(parts[0])
  else if (bytes <= sentFrom.length && !isSending && response.socket && !response.closed)
    endWithCopy(response, parts)
  else endWithPieces(response, parts)
}

/** As `end(text)`, which writes an empty piece after the text: the call of the system for several pieces costs a tenth more. */
function endWithText(response: ServerResponse, text: string): void {
  response.cork()
  response.write(text, 'latin1')
  response.uncork()
  response.end()
}

/**
 * The pieces of one answer are copied into this memory and sent as one: writing seventy pieces takes longer, and so does copying into
 * memory that is new. Nearly always the system takes all bytes at once, and the memory is free for the next answer. While a client does
 * not read, and the system holds back its bytes, other answers are written in pieces.
 */
const sentFrom = Buffer.allocUnsafeSlow(512 * 1024)
let isSending = false

function endWithCopy(response: ServerResponse, parts: readonly Uint8Array[]): void {
  let at = 0
  for (const part of parts) {
    sentFrom.set(part, at)
    at += part.length
  }
  response.end(sentFrom.subarray(0, at))
  isSending = response.writableLength > 0
  if (isSending)
    response.once('close', () => {
      isSending = false
    })
}

/** Small pieces that follow each other are joined, large ones are not copied. They are written with one call of the system. */
function endWithPieces(response: ServerResponse, parts: readonly Uint8Array[]): void {
  let small: Uint8Array[] = []
  const endSmall = () => {
    if (small.length > 0) response.write(joined(small))
    small = []
  }
  for (const part of parts) {
    if (part.length < JOINED_BELOW_BYTES) {
      small.push(part)
      continue
    }
    endSmall()
    response.write(part)
  }
  response.end(joined(small))
}
