import { ByteWriter } from './byte-writer.ts'
import { bytesNumber, fromHex, isHex, toHex, utf8 } from './bytes.ts'

/** The public schema "Event Attendance" of the Ethereum Attestation Service. */
export const EVENT_ATTENDANCE_SCHEMA =
  'string eventName,string eventLocation,bytes32 eventID,uint64 checkInTime,bytes32 ticketID'
/** Its name: the hash of the schema, no resolver, and that its attestations can be revoked. */
export const EVENT_ATTENDANCE_UID = '0xef1b64c8b49daf8ba1832fc590798e0af6f9a81cc345bfb2f2f44598b74d01f5'

/** What an attendance token says. */
export interface Attendance {
  readonly eventName: string
  /** World and parcel, such as `52,-10`; or {@link GIVEN_BY_ORGANISER}. */
  readonly eventLocation: string
  /** 32 bytes in hex. Ours: {@link uuidBytes32} of the event. */
  readonly eventID: string
  /** When the claim was accepted, in seconds since 1970. */
  readonly checkInTime: bigint
  /** 32 bytes in hex. Ours: {@link uuidBytes32} of the token. */
  readonly ticketID: string
}

/**
 * What a token of this server says in place of coordinates where the organiser gave it to its holder: then it does not say that its
 * holder was there.
 */
export const GIVEN_BY_ORGANISER = 'given by the organiser'

/** Whether the organiser gave a token to its holder, who claimed nothing. */
export function isGift({ eventLocation }: Pick<Attendance, 'eventLocation'>): boolean {
  return eventLocation === GIVEN_BY_ORGANISER
}

const WORD = 32
const HEAD_WORDS = 5
const MAX_UINT64 = 2n ** 64n - 1n
/** Half of a surrogate pair without the other half: it has no UTF-8 bytes. */
const HALF_CHARACTER = /\p{Surrogate}/u

/**
 * The ABI encoding of an attendance, in hex.
 *
 * @throws {RangeError} for a text with half of a surrogate pair, a time outside 64 bits, or an id that is not 32 bytes
 */
export function encodeAttendance(attendance: Attendance): string {
  const { eventName, eventLocation, eventID, checkInTime, ticketID } = attendance
  if (HALF_CHARACTER.test(eventName) || HALF_CHARACTER.test(eventLocation))
    throw new RangeError('a text has half of a character')
  if (checkInTime < 0n || checkInTime > MAX_UINT64)
    throw new RangeError('the time is not a number of 64 bits')
  if (!isHex(eventID, WORD) || !isHex(ticketID, WORD)) throw new RangeError('an id is not 32 bytes in hex')
  const [name, location] = [utf8(eventName), utf8(eventLocation)]
  const nameAt = HEAD_WORDS * WORD
  const writer = new ByteWriter()
    .number(nameAt)
    .number(nameAt + WORD + paddedLength(name))
    .hex(eventID)
    .number(checkInTime)
    .hex(ticketID)
  for (const text of [name, location])
    writer
      .number(text.length)
      .put(text)
      .zeros(paddedLength(text) - text.length)
  return toHex(writer.written())
}

/**
 * What the data of an attestation says, if it is an attendance. Only the one canonical encoding is read.
 *
 * @returns undefined for other data
 */
export function decodeAttendance(data: string): Attendance | undefined {
  if (!isHex(data)) return undefined
  const bytes = fromHex(data)
  const word = (at: number) => bytes.subarray(at * WORD, (at + 1) * WORD)
  if (bytes.length < HEAD_WORDS * WORD || bytesNumber(word(3)) > MAX_UINT64) return undefined
  const eventName = readText(bytes, bytesNumber(word(0)))
  const eventLocation = readText(bytes, bytesNumber(word(1)))
  if (eventName === undefined || eventLocation === undefined) return undefined
  const attendance = {
    eventName,
    eventLocation,
    eventID: toHex(word(2)),
    checkInTime: bytesNumber(word(3)),
    ticketID: toHex(word(4)),
  }
  return encodeAttendance(attendance) === data.toLowerCase() ? attendance : undefined
}

/**
 * A UUID as 32 bytes: its 16 bytes, then zeros.
 *
 * @throws {RangeError} for another text
 * @example
 * uuidBytes32('6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11') // '0x6b0b6c536f5b4c0e9b432f1d0a7c9e1100000000000000000000000000000000'
 */
export function uuidBytes32(uuid: string): string {
  const digits = uuid.replaceAll('-', '').toLowerCase()
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(uuid)) throw new RangeError('not a UUID')
  return `0x${digits}${'0'.repeat(32)}`
}

/**
 * The UUID of {@link uuidBytes32}; undefined for other bytes.
 *
 * @example
 * uuidOfBytes32('0x6b0b6c536f5b4c0e9b432f1d0a7c9e1100000000000000000000000000000000') // '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11'
 */
export function uuidOfBytes32(hex: string): string | undefined {
  const [, a, b, c, d, e] =
    /^0x([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})0{32}$/i.exec(hex) ?? []
  return a === undefined ? undefined : [a, b, c, d, e].join('-').toLowerCase()
}

/** How long bytes are when they are filled up to whole words. */
function paddedLength({ length }: Uint8Array): number {
  return Math.ceil(length / WORD) * WORD
}

function readText(bytes: Uint8Array, offset: bigint): string | undefined {
  if (offset > BigInt(bytes.length - WORD)) return undefined
  const start = Number(offset) + WORD
  const length = bytesNumber(bytes.subarray(Number(offset), start))
  if (length > BigInt(bytes.length - start)) return undefined
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return decoder.decode(bytes.subarray(start, start + Number(length)))
  } catch {
    return undefined
  }
}
