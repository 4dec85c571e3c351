import { type FileHandle, open, rename } from 'node:fs/promises'
import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import { PackedLogs } from '../packed-logs.ts'
import { frameOf, type PackedRange, readAt, VERSION } from './spool-frames.ts'

/**
 * The file of stored logs of earlier versions of Landpass: before each frame its length and its CRC-32, four bytes each; the
 * frame is compressed JSON.
 */
const VERSION_2 = Buffer.from('LPSPOOL2')
/** With what the files of all versions begin. */
const MARK = 'LPSPOOL'
const HEADER_BYTES = 8
/** A longer frame is damage. */
const MAX_BODY_BYTES = 1 << 30
const inflate = promisify(inflateRaw)

/**
 * Writes the stored logs of version 2 in the form of this version, into a new file that takes the place of the old one when it
 * is complete. What is torn or damaged, and all after it, is left out: it is requested again. A file of any other version is
 * kept beside it, with `.old` at the end of its name. Does nothing where there is no file.
 */
export async function convertOldSpool(path: string): Promise<void> {
  const file = await openIfThere(path)
  if (!file) return
  let version: Buffer | undefined
  try {
    version = await readAt(file, 0, VERSION.length)
    if (version?.equals(VERSION_2)) await convert(file, `${path}.new`)
  } finally {
    await file.close()
  }
  // Files are closed before: Windows renames no others.
  if (version?.equals(VERSION_2)) await rename(`${path}.new`, path)
  else if (version?.toString('latin1').startsWith(MARK) && !version.equals(VERSION))
    await rename(path, `${path}.old`)
}

async function convert(old: FileHandle, newPath: string): Promise<void> {
  const file = await open(newPath, 'w')
  try {
    await file.appendFile(VERSION)
    for await (const range of rangesOf(old)) await file.appendFile((await frameOf(range)).bytes)
    await file.datasync()
  } finally {
    await file.close()
  }
}

async function* rangesOf(file: FileHandle): AsyncGenerator<PackedRange> {
  for (let at = VERSION_2.length; ; ) {
    const body = await bodyAt(file, at)
    const range = body && (await rangeOf(body))
    if (!range) return
    at += HEADER_BYTES + body.length
    yield range
  }
}

async function bodyAt(file: FileHandle, offset: number): Promise<Buffer | undefined> {
  const header = await readAt(file, offset, HEADER_BYTES)
  const length = header?.readUInt32BE(0) ?? 0
  if (!header || length === 0 || length > MAX_BODY_BYTES) return undefined
  const body = await readAt(file, offset + HEADER_BYTES, length)
  return body && crc32(body) === header.readUInt32BE(4) ? body : undefined
}

type OldRange = [first: number, last: number, lastHash: string, logs: readonly OldLog[]]
type OldLog = [
  address: string,
  topics: readonly string[],
  data: string,
  blockNumber: number,
  blockHash: string,
  blockTimeS: number,
  txHash: string,
  txIndex: number,
  logIndex: number,
]

async function rangeOf(body: Buffer): Promise<PackedRange | undefined> {
  try {
    const [first, last, lastHash, logs] = JSON.parse((await inflate(body)).toString()) as OldRange
    return {
      ...{ first, last, lastHash },
      logs: PackedLogs.from(
        logs.map(
          ([address, topics, data, blockNumber, blockHash, blockTimeS, txHash, txIndex, logIndex]) => ({
            ...{ address, topics, data, blockNumber, blockHash, blockTimeS, txHash, txIndex, logIndex },
          }),
        ),
      ),
    }
  } catch {
    return undefined
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined
    throw error
  }
}
