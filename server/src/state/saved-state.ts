import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { MINUTE_MS } from '../clock.ts'
import { flatten, unflatten } from './parts/flat-parts.ts'
import { ANSWER_FORM, type StateParts } from './parts/parts.ts'

/**
 * A copy of a state in a file, for the next start. Reading the file takes a fraction of the time that reading the land
 * from the database takes; what has changed since comes from the journal.
 *
 *   8 bytes   LANDPASS
 *   4 bytes   SAVED_FORM and ANSWER_FORM, two bytes each
 *   4 bytes   length of the JSON
 *   …         JSON: the parts without their columns (flat-parts.ts)
 *   …         the columns, one after another
 *   4 bytes   CRC-32 of everything before
 *
 * Numbers have the byte order of the machine: the file is only for the machine that wrote it. A file that is damaged,
 * has another SAVED_FORM or ANSWER_FORM, or was written by another program is ignored.
 */

/** Raise it when `StateParts`, or the meaning of a value in it, changes: saved-state.slow.test.ts then fails. */
export const SAVED_FORM = 2
const MAGIC = 'LANDPASS'
const HEAD_BYTES = 16
const CRC_BYTES = 4

const FILE_NAME = 'state'
const UNFINISHED = /^state\.\d+\.unfinished$/
/** A running process writes to its unfinished file many times a second, so an older one is of a killed process. */
const ABANDONED_AFTER_MS = MINUTE_MS

/**
 * Writes the copy under another name and renames it, so that there is always a complete file or none. Only making the
 * JSON blocks the event loop, less than 10 ms for the full world; the columns are written asynchronously.
 */
export async function saveState(folder: string, parts: StateParts): Promise<void> {
  await mkdir(folder, { recursive: true })
  await removeAbandoned(folder)
  const unfinished = join(folder, `${FILE_NAME}.${process.pid}.unfinished`)
  try {
    const file = await open(unfinished, 'w')
    try {
      for (const pieces of batchesOf(bytesOf(parts))) await writeAll(file, pieces)
    } finally {
      await file.close()
    }
    await rename(unfinished, join(folder, FILE_NAME))
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

function* bytesOf(parts: StateParts): Generator<Uint8Array> {
  const { json, columns } = flatten(parts)
  const jsonBytes = Buffer.from(json)
  let crc = 0
  for (const piece of [headOf(jsonBytes.length), jsonBytes, ...columns.map(rawBytes)]) {
    crc = crcAfter(piece, crc)
    yield piece
  }
  const end = Buffer.alloc(CRC_BYTES)
  end.writeUInt32LE(crc)
  yield end
}

/** So many columns are read or written at once: most are small, and each call takes longer than copying its bytes. */
const COLUMNS_AT_ONCE = 256

function* batchesOf(pieces: Iterable<Uint8Array>): Generator<Uint8Array[]> {
  let batch: Uint8Array[] = []
  for (const piece of pieces) {
    batch.push(piece)
    if (batch.length < COLUMNS_AT_ONCE) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

async function writeAll(file: FileHandle, pieces: readonly Uint8Array[]): Promise<void> {
  for (let left = pieces; left.length > 0; )
    left = without(left, (await file.writev(left as Uint8Array[])).bytesWritten)
}

/** The pieces without their first bytes, and without those that are empty then. */
function without(pieces: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skip = bytes
  const left: Uint8Array[] = []
  for (const piece of pieces) {
    if (skip < piece.length) left.push(piece.subarray(skip))
    skip = Math.max(0, skip - piece.length)
  }
  return left
}

function headOf(jsonLength: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.write(MAGIC, 'latin1')
  head.writeUInt16LE(SAVED_FORM, 8)
  head.writeUInt16LE(ANSWER_FORM, 10)
  head.writeUInt32LE(jsonLength, 12)
  return head
}

/** Removes the unfinished files of killed processes. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!UNFINISHED.test(name)) continue
    const file = join(folder, name)
    const { mtimeMs } = await stat(file)
    if (Date.now() - mtimeMs > ABANDONED_AFTER_MS) await rm(file, { force: true })
  }
}

/** Reads the copy, each column into its own buffer. Undefined where there is no file, or one that cannot be used. */
export async function loadState(folder: string): Promise<StateParts | undefined> {
  try {
    const file = await open(join(folder, FILE_NAME))
    try {
      return await new StateReader(file).read()
    } finally {
      await file.close()
    }
  } catch {
    return undefined
  }
}

class StateReader {
  private readonly file: FileHandle
  private crc = 0

  constructor(file: FileHandle) {
    this.file = file
  }

  async read(): Promise<StateParts | undefined> {
    const { size } = await this.file.stat()
    const head = Buffer.alloc(HEAD_BYTES)
    await this.fill([head])
    const jsonLength = head.readUInt32LE(12)
    const columnBytes = size - HEAD_BYTES - jsonLength - CRC_BYTES
    if (columnBytes < 0 || !head.equals(headOf(jsonLength))) return undefined
    const json = Buffer.alloc(jsonLength)
    await this.fill([json])
    const { value, columns } = unflatten(json.toString(), columnBytes)
    if (columns.reduce((sum, { byteLength }) => sum + byteLength, 0) !== columnBytes) return undefined
    for (const batch of batchesOf(columns.map(rawBytes))) await this.fill(batch)
    const { crc } = this
    const end = Buffer.alloc(CRC_BYTES)
    await this.fill([end])
    return end.readUInt32LE() === crc ? (value as StateParts) : undefined
  }

  /** Fills buffers with the next bytes of the file. @throws where the file ends before all are full */
  private async fill(buffers: readonly Uint8Array[]): Promise<void> {
    for (let left = without(buffers, 0); left.length > 0; ) {
      const { bytesRead } = await this.file.readv(left)
      if (bytesRead === 0) throw new Error('the file is too short')
      left = without(left, bytesRead)
    }
    for (const bytes of buffers) this.crc = crcAfter(bytes, this.crc)
  }
}

/** Zlib computes 0 of nothing, whatever came before: an empty column would hide damage to all bytes before it. */
function crcAfter(bytes: Uint8Array, crc: number): number {
  return bytes.length === 0 ? crc : crc32(bytes, crc)
}

function rawBytes({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
