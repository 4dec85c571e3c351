import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type Line, LineSplitter } from './line-splitter.ts'

const READ_BYTES = 256 * 1024

/** Length and SHA-256 of a stream of bytes. */
export interface Digest {
  readonly bytes: number
  readonly sha256: string
}

/** A file that cannot be read to its end: the sentence says why. */
export class DamagedFileError extends Error {}

/** One data file of a snapshot, plain or packed. */
export class SnapshotFile {
  readonly name: string
  /** The digests of the file on the disk, and of the text inside: known once {@link lines} has been read to its end. */
  digests: { readonly file: Digest; readonly content: Digest } | undefined
  private readonly path: string

  constructor(name: string, path: string) {
    this.name = name
    this.path = path
  }

  get isPacked(): boolean {
    return this.name.endsWith('.gz')
  }

  /**
   * The file's lines, some at a time. Reads only as fast as the caller takes them.
   *
   * @throws {DamagedFileError} where the file cannot be read or unpacked.
   */
  async *lines(signal?: AbortSignal): AsyncGenerator<readonly Line[], void, undefined> {
    const file = new Digester()
    const content = new Digester()
    const splitter = new LineSplitter()
    try {
      for await (const chunk of this.open(file)) {
        signal?.throwIfAborted()
        content.add(chunk)
        yield splitter.push(chunk)
      }
    } catch (error) {
      signal?.throwIfAborted()
      throw isStreamError(error) ? new DamagedFileError(sentenceOf(error)) : error
    }
    this.digests = { file: file.digest(), content: content.digest() }
    yield splitter.end()
  }

  private open(digester: Digester): AsyncIterable<Buffer> {
    const raw = createReadStream(this.path, { highWaterMark: READ_BYTES })
    raw.on('data', (chunk) => digester.add(chunk as Buffer))
    if (!this.isPacked) return raw
    const unpacked = createGunzip({ chunkSize: READ_BYTES })
    // The errors of both streams are thrown where `unpacked` is read.
    pipeline(raw, unpacked, () => undefined)
    return unpacked
  }
}

/** Adds up what a stream of bytes is. */
export class Digester {
  private readonly hash: Hash = createHash('sha256')
  private bytes = 0

  add(chunk: Buffer): void {
    this.hash.update(chunk)
    this.bytes += chunk.length
  }

  digest(): Digest {
    return { bytes: this.bytes, sha256: this.hash.digest('hex') }
  }
}

function isStreamError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string'
}

function sentenceOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'Z_BUF_ERROR') return 'ends in the middle: the gzip is cut off'
  if (code?.startsWith('Z_')) return `is no valid gzip: ${message}`
  return `cannot be read: ${message}`
}
