import {
  ADDRESS_BYTES,
  FEED_VERSION,
  HEADER_BYTES,
  MAGIC,
  OFFSETS,
  ON_SALE,
  PARTS,
  padded,
} from '@landpass/client/feed'
import {
  type StateAt,
  type StateVersion,
  versionOf,
  versionText,
} from '../../state/differences/state-version.ts'
import { valueAt } from '../../state/parts/columns.ts'

/** The cells that changed after a state. */
export interface FeedChanges {
  readonly since: StateVersion
  /** Cell numbers, ascending. */
  readonly cells: Uint32Array
}

/** Writes the whole world, or only the cells that changed, in the format of docs/feed.md. */
export function writeFeed(now: StateAt, changes?: FeedChanges): Buffer {
  const content = collect(now, changes?.cells)
  const state = versionText(versionOf(now))
  const since = changes ? versionText(changes.since) : ''
  const { cellNumbers, owners, estates, cells } = content
  const width = Math.max(owners.names.length, estates.names.length) > 0xffff ? 4 : 2
  const ids = Buffer.from(estates.names.join('\n'))
  const texts = padded(state.length + since.length)
  const numbers = 4 * (cellNumbers?.length ?? 0)
  const size =
    HEADER_BYTES +
    texts +
    numbers +
    (2 * width + 1) * cells.length +
    ADDRESS_BYTES * owners.names.length +
    ids.length
  const bytes = Buffer.alloc(size)

  writeHeader(bytes, now, {
    part: changes ? PARTS.changes : PARTS.world,
    width,
    stateLength: state.length,
    sinceLength: since.length,
    cellCount: cells.length,
    ownerCount: owners.names.length,
    estateCount: estates.names.length,
    estateBytes: ids.length,
  })
  let at = HEADER_BYTES
  bytes.write(state + since, at, 'latin1')
  at = writeNumbers(bytes, at + texts, cellNumbers ?? NO_NUMBERS, 4)
  at = writeNumbers(bytes, at, owners.ofCells, width)
  at = writeNumbers(bytes, at, estates.ofCells, width)
  bytes.set(cells, at)
  at += cells.length
  for (const address of owners.names) at += bytes.write(address.slice(2), at, ADDRESS_BYTES, 'hex')
  ids.copy(bytes, at)
  return bytes
}

const NO_NUMBERS = new Uint32Array(0)

/** Names in the order of their first cell, and for each cell the number of its name, counted from 1. */
interface Named {
  readonly names: readonly string[]
  /** 0 for none. */
  readonly ofCells: Uint32Array
}

interface Content {
  readonly cellNumbers: Uint32Array | undefined
  readonly owners: Named
  readonly estates: Named
  readonly cells: Uint8Array
}

/** Collects all cells, or those with the given numbers. */
function collect({ state, openOffers }: StateAt, cellNumbers: Uint32Array | undefined): Content {
  const { parcels, estates, cells } = state.parts
  const count = cellNumbers?.length ?? cells.length
  const bytes = new Uint8Array(count)
  const ownerNames = new NameList(count)
  const estateNames = new NameList(count)
  const parcelOwner = ownerNames.among(parcels.owners.addresses)
  const estateOwner = ownerNames.among(estates.owners.addresses)
  const estateId = estateNames.among(estates.ids)
  for (let i = 0; i < count; i++) {
    const cell = cellNumbers ? cellNumbers[i]! : i
    const row = parcels.rowAt[cell]!
    if (row < 0) continue
    const estate = parcels.estate[row]!
    bytes[i] = cells[cell]! | (openOffers.offers[row]! >= 0 ? ON_SALE : 0)
    // Parcels of an estate are owned by a contract: the feed has the estate's owner instead.
    if (estate >= 0) estateOwner(i, valueAt(estates.owner, estate)!)
    else parcelOwner(i, valueAt(parcels.owner, row)!)
    estateId(i, estate)
  }
  return { cellNumbers, owners: ownerNames, estates: estateNames, cells: bytes }
}

/** Gives each name a number when it is first used. */
class NameList implements Named {
  readonly names: string[] = []
  readonly ofCells: Uint32Array
  private readonly numbers = new Map<string, number>()

  constructor(cellCount: number) {
    this.ofCells = new Uint32Array(cellCount)
  }

  /** @returns a function that sets the name of a cell by its index in `table`; -1 for none */
  among(table: readonly string[]): (i: number, index: number) => void {
    const known = new Uint32Array(table.length)
    return (i, index) => {
      if (index < 0) return
      known[index] ||= this.numberOf(table[index]!)
      this.ofCells[i] = known[index]!
    }
  }

  private numberOf(name: string): number {
    const number = this.numbers.get(name) ?? this.names.push(name)
    this.numbers.set(name, number)
    return number
  }
}

interface HeaderNumbers {
  readonly part: number
  readonly width: number
  readonly stateLength: number
  readonly sinceLength: number
  readonly cellCount: number
  readonly ownerCount: number
  readonly estateCount: number
  readonly estateBytes: number
}

function writeHeader(bytes: Buffer, { state, openOffers }: StateAt, numbers: HeaderNumbers): void {
  const { bounds } = state.parts
  bytes.write(MAGIC, 0, 'latin1')
  bytes.writeUInt8(FEED_VERSION, OFFSETS.version)
  bytes.writeUInt8(numbers.part, OFFSETS.part)
  bytes.writeUInt8(numbers.width, OFFSETS.width)
  bytes.writeUInt8(numbers.stateLength, OFFSETS.stateLength)
  bytes.writeUInt8(numbers.sinceLength, OFFSETS.sinceLength)
  bytes.writeUInt32LE(state.revision, OFFSETS.revision)
  bytes.writeDoubleLE(state.freshness(openOffers.lastExpiryMs).changedAtMs, OFFSETS.timeMs)
  for (const side of ['minX', 'minY', 'maxX', 'maxY'] as const)
    bytes.writeInt32LE(bounds[side], OFFSETS[side])
  for (const count of ['cellCount', 'ownerCount', 'estateCount', 'estateBytes'] as const) {
    bytes.writeUInt32LE(numbers[count], OFFSETS[count])
  }
}

/** @returns the offset after the last number */
function writeNumbers(bytes: Buffer, at: number, numbers: Uint32Array, width: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, numbers.length * width)
  if (width === 2) for (let i = 0; i < numbers.length; i++) view.setUint16(2 * i, numbers[i]!, true)
  else for (let i = 0; i < numbers.length; i++) view.setUint32(4 * i, numbers[i]!, true)
  return at + numbers.length * width
}
