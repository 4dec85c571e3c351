import type { Area } from '../grid/world.ts'
import { ADDRESS_BYTES, FEED_VERSION, HEADER_BYTES, MAGIC, OFFSETS, PARTS, padded } from './feed-layout.ts'

/**
 * Reads the format of docs/feed.md. It uses only typed arrays, so it runs in browsers and every JavaScript runtime.
 */

/** The bytes are not in the format of the feed, or the changes are for another state. */
export class FeedError extends Error {
  constructor(sentence: string) {
    super(sentence)
    this.name = 'FeedError'
  }
}

/** The content of one answer of the feed. */
export interface FeedPart {
  /** Names the state: send it as `since` to get the changes after it. */
  readonly state: string
  /** The state to which the changes apply; undefined for a whole world. */
  readonly since: string | undefined
  readonly revision: number
  /** Time of the last change, in milliseconds since 1970. */
  readonly timeMs: number
  readonly bounds: Area
  /** Numbers of the cells in this part; undefined for all cells. */
  readonly numbers: Uint32Array | undefined
  readonly cells: Uint8Array
  /** For each cell 0 for none, or the number of its name in `owners` (`estates`), counted from 1. */
  readonly ownerOf: Uint32Array
  readonly owners: readonly string[]
  readonly estateOf: Uint32Array
  readonly estates: readonly string[]
}

/** Reads one answer of the feed. @throws {FeedError} for bytes that are not in its format */
export function readFeed(bytes: Uint8Array): FeedPart {
  const reader = new Reader(bytes)
  const header = readHeader(reader)
  const { cellCount, width, bounds, isWhole } = header
  const state = reader.text(header.stateLength)
  const since = reader.text(header.sinceLength)
  reader.skip(padded(header.stateLength + header.sinceLength) - header.stateLength - header.sinceLength)
  const numbers = isWhole ? undefined : reader.numbers(cellCount, 4)
  const ownerOf = reader.numbers(cellCount, width)
  const estateOf = reader.numbers(cellCount, width)
  const cells = reader.bytes(cellCount).slice()
  const owners = addresses(reader.bytes(header.ownerCount * ADDRESS_BYTES))
  const ids = reader.text(header.estateBytes)
  const estates = header.estateCount === 0 ? [] : ids.split('\n')
  reader.end()

  const total = (bounds.maxX - bounds.minX + 1) * (bounds.maxY - bounds.minY + 1)
  check(estates.length === header.estateCount, 'it has more or fewer estates than it says')
  check(isWhole ? cellCount === total : isBelow(numbers!, total), 'its cells are not those of its bounds')
  check(isBelow(ownerOf, owners.length + 1), 'a cell has an owner who is not listed')
  check(isBelow(estateOf, estates.length + 1), 'a cell has an estate that is not listed')
  const { revision, timeMs } = header
  return {
    state,
    since: isWhole ? undefined : since,
    revision,
    timeMs,
    bounds,
    numbers,
    cells,
    ownerOf,
    owners,
    estateOf,
    estates,
  }
}

function readHeader(reader: Reader) {
  check(reader.length >= HEADER_BYTES && reader.text(MAGIC.length) === MAGIC, 'it does not begin as one')
  const { u8, u32, i32, f64 } = reader.fields()
  check(
    u8('version') === FEED_VERSION,
    `it is of version ${u8('version')}, and this reader knows ${FEED_VERSION}`,
  )
  check(u8('part') === PARTS.world || u8('part') === PARTS.changes, 'it is neither a world nor changes')
  check(u8('width') === 2 || u8('width') === 4, 'its numbers have an unknown width')
  const bounds = { minX: i32('minX'), minY: i32('minY'), maxX: i32('maxX'), maxY: i32('maxY') }
  check(bounds.minX <= bounds.maxX && bounds.minY <= bounds.maxY, 'its bounds are upside down')
  reader.skip(HEADER_BYTES - MAGIC.length)
  return {
    isWhole: u8('part') === PARTS.world,
    width: u8('width'),
    stateLength: u8('stateLength'),
    sinceLength: u8('sinceLength'),
    revision: u32('revision'),
    timeMs: f64('timeMs'),
    bounds,
    cellCount: u32('cellCount'),
    ownerCount: u32('ownerCount'),
    estateCount: u32('estateCount'),
    estateBytes: u32('estateBytes'),
  }
}

/** Reads bytes in order, and throws a {@link FeedError} at their end. */
class Reader {
  readonly length: number
  private readonly all: Uint8Array
  private readonly view: DataView
  private at = 0

  constructor(bytes: Uint8Array) {
    this.all = bytes
    this.length = bytes.length
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  fields() {
    const { view } = this
    type Field = keyof typeof OFFSETS
    return {
      u8: (field: Field) => view.getUint8(OFFSETS[field]),
      u32: (field: Field) => view.getUint32(OFFSETS[field], true),
      i32: (field: Field) => view.getInt32(OFFSETS[field], true),
      f64: (field: Field) => view.getFloat64(OFFSETS[field], true),
    }
  }

  skip(count: number): void {
    check(count <= this.length - this.at, 'it ends too soon')
    this.at += count
  }

  bytes(count: number): Uint8Array {
    this.skip(count)
    return this.all.subarray(this.at - count, this.at)
  }

  text(count: number): string {
    let text = ''
    for (const code of this.bytes(count)) text += String.fromCharCode(code)
    return text
  }

  numbers(count: number, width: number): Uint32Array {
    const start = this.at
    this.skip(count * width)
    const numbers = new Uint32Array(count)
    for (let i = 0; i < count; i++) {
      const at = start + i * width
      numbers[i] = width === 2 ? this.view.getUint16(at, true) : this.view.getUint32(at, true)
    }
    return numbers
  }

  end(): void {
    check(this.at === this.length, 'something stands after its end')
  }
}

function check(isValid: boolean, fault: string): asserts isValid {
  if (!isValid) throw new FeedError(`These bytes are not in the format of the feed: ${fault}.`)
}

function isBelow(numbers: Uint32Array, limit: number): boolean {
  return numbers.every((number) => number < limit)
}

function addresses(bytes: Uint8Array): string[] {
  const texts: string[] = []
  for (let at = 0; at < bytes.length; at += ADDRESS_BYTES) {
    const digits = Array.from(bytes.subarray(at, at + ADDRESS_BYTES), (byte) =>
      byte.toString(16).padStart(2, '0'),
    )
    texts.push(`0x${digits.join('')}`)
  }
  return texts
}
