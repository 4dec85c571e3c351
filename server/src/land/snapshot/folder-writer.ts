import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, open, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip, type Gzip } from 'node:zlib'
import { CommandError } from '../../errors.ts'
import {
  ALL_SETS,
  type ChainSetName,
  type DataSetName,
  FORMAT,
  FORMAT_VERSION,
  type SetName,
} from './format.ts'
import { MANIFEST, type SnapshotBlock } from './manifest.ts'
import { type Digest, Digester } from './snapshot-file.ts'

const WRITE_CHARACTERS = 64 * 1024

/** What a finished file is, for the manifest. */
export interface WrittenFile {
  readonly records: number
  readonly file: Digest
  readonly content: Digest
}

/** The files of a snapshot, by data set. */
export type WrittenFiles = Readonly<
  Record<DataSetName, WrittenFile> & Partial<Record<ChainSetName, WrittenFile>>
>

/** As of when a snapshot is. */
export interface SnapshotTimes {
  readonly referenceTimeMs: number
  /** Undefined for a world that is not followed on a chain. */
  readonly chain: SnapshotBlock | undefined
  /** Whether the records come from a chain, at whatever block. */
  readonly isFromChain: boolean
}

/**
 * Writes a snapshot into a temporary folder beside its target and renames it when it is complete: the target folder is
 * complete or missing.
 */
export class FolderWriter {
  private readonly target: string
  private readonly folder: string

  private constructor(target: string, folder: string) {
    this.target = target
    this.folder = folder
  }

  /** @throws {CommandError} when the target is there already and not an empty folder. */
  static async create(target: string): Promise<FolderWriter> {
    const path = resolve(target)
    await refuseFullFolder(path, target)
    await mkdir(dirname(path), { recursive: true })
    return new FolderWriter(path, await mkdtemp(join(dirname(path), `.${basename(path)}.part-`)))
  }

  openFile(set: SetName): PackedFile {
    return new PackedFile(join(this.folder, `${set}.ndjson.gz`))
  }

  async finish(files: WrittenFiles, { referenceTimeMs, chain, isFromChain }: SnapshotTimes): Promise<void> {
    const written = ALL_SETS.flatMap((set) => {
      const file = files[set]
      return file ? [{ set, file }] : []
    })
    const manifest = {
      format: FORMAT,
      version: FORMAT_VERSION,
      reference_time: new Date(referenceTimeMs).toISOString(),
      ...(chain ? { chain } : isFromChain && { from_chain: true }),
      counts: Object.fromEntries(written.map(({ set, file }) => [set, file.records])),
      files: Object.fromEntries(written.map(({ set, file }) => [`${set}.ndjson.gz`, manifestEntry(file)])),
    }
    await writeFile(join(this.folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { flush: true })
    // Checked again: another program may have written something there meanwhile.
    await refuseFullFolder(this.target, this.target)
    await rmdir(this.target).catch(() => undefined) // Windows renames onto nothing, not even an empty folder
    await rename(this.folder, this.target)
  }

  async discard(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}

function manifestEntry({ records, file, content }: WrittenFile): Record<string, unknown> {
  return { records, ...file, content_bytes: content.bytes, content_sha256: content.sha256 }
}

async function refuseFullFolder(path: string, shown: string): Promise<void> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    if (error.code === 'ENOTDIR')
      throw new CommandError(`${shown} is a file. Name a folder that is empty or not there yet.`)
    throw error
  })
  if (names.length > 0)
    throw new CommandError(`${shown} is not empty. Name a folder that is empty or not there yet.`)
}

/** One gzip file of lines. Node writes no time into the gzip header: the same lines make the same bytes. */
class PackedFile {
  private readonly path: string
  private readonly gzip: Gzip = createGzip()
  private readonly written: Promise<void>
  private readonly file = new Digester()
  private readonly content = new Digester()
  private waiting = ''
  private records = 0

  constructor(path: string) {
    this.path = path
    this.gzip.on('data', (chunk: Buffer) => this.file.add(chunk))
    this.written = pipeline(this.gzip, createWriteStream(path))
    this.written.catch(() => undefined) // the error is thrown where `written` is awaited
  }

  async write(line: string): Promise<void> {
    this.records++
    this.waiting += `${line}\n`
    if (this.waiting.length > WRITE_CHARACTERS) await this.flush()
  }

  async finish(): Promise<WrittenFile> {
    await this.flush()
    this.gzip.end()
    await this.written
    const handle = await open(this.path)
    await handle.sync().finally(() => handle.close())
    return { records: this.records, file: this.file.digest(), content: this.content.digest() }
  }

  /** Closes the file unfinished. */
  async abandon(): Promise<void> {
    this.gzip.destroy()
    await this.written.catch(() => undefined)
  }

  private async flush(): Promise<void> {
    const bytes = Buffer.from(this.waiting)
    this.waiting = ''
    this.content.add(bytes)
    // `written` rejects when the disk is full: then `drain` never comes.
    if (!this.gzip.write(bytes)) await Promise.race([once(this.gzip, 'drain'), this.written])
  }
}
