import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type DemoWorld, type DemoWorldOptions, demoWorld, demoWorldInfo } from './demo-world.ts'
import { recordJson } from './record-json.ts'
import type { CityShape } from './shape.ts'

/** The data sets, in the order in which they are written. */
export const DATA_SETS = [
  'districts',
  'contributions',
  'parcels',
  'estates',
  'publications',
  'bids',
  'mortgages',
] as const

export type DataSet = (typeof DATA_SETS)[number]

export interface SnapshotFile {
  readonly records: number
  /** The bytes of the packed file: they depend on the zlib at hand. The two of the content do not. */
  readonly bytes: number
  readonly sha256: string
  readonly content_bytes: number
  readonly content_sha256: string
}

export interface SnapshotManifest {
  readonly format: string
  readonly version: number
  readonly seed: number
  readonly reference_time: string
  readonly counts: Readonly<Record<string, number>>
  readonly files: Readonly<Record<string, SnapshotFile>>
}

/** Called after every piece that was written. What it throws ends the writing. */
export type OnProgress = (progress: WriteProgress) => void

export interface WriteProgress {
  readonly dataSet: DataSet
  /** Records of this data set that are written. */
  readonly records: number
  /** Records of all data sets that are written, and of all that will be. */
  readonly done: number
  readonly total: number
}

/** About 256 KiB of text at a time, so that gzip works on large pieces and memory stays small. */
const PIECE_CHARACTERS = 256 * 1024
/** Much faster than the default of 6; the files are a tenth larger. */
const GZIP_LEVEL = 3

/**
 * Writes the demo world of a seed as a snapshot: seven `*.ndjson.gz` and, last, `manifest.json`, so that a folder
 * with a manifest is complete. Makes the folder if need be and replaces files that are there, after removing the
 * manifest of an earlier snapshot.
 */
export async function writeDemoSnapshot(
  seed: number,
  folder: string,
  onProgress: OnProgress = () => {},
  options: DemoWorldOptions = {},
): Promise<SnapshotManifest> {
  const world = demoWorld(seed, options)
  const manifestPath = path.join(folder, 'manifest.json')
  await mkdir(folder, { recursive: true })
  await rm(manifestPath, { force: true })
  const counts: Record<string, number> = {}
  const files: Record<string, SnapshotFile> = {}
  const total = recordsOf(world)
  let done = 0
  for (const dataSet of DATA_SETS) {
    const name = `${dataSet}.ndjson.gz`
    const before = done
    const onRecords = (records: number) => onProgress({ dataSet, records, done: before + records, total })
    files[name] = await writeRecords(path.join(folder, name), world[dataSet], onRecords)
    counts[dataSet] = files[name].records
    done += files[name].records
  }
  const manifest = {
    format: demoWorldInfo.format,
    version: demoWorldInfo.version,
    seed,
    reference_time: world.referenceTime,
    counts,
    files,
  }
  await writeFile(manifestPath, `${JSON.stringify(manifest, null, 2)}\n`)
  return manifest
}

function recordsOf({ shape, ...world }: DemoWorld): number {
  const { districts, contributions, estates, publications, bids, mortgages } = world
  const lists = [districts, contributions, estates, publications, bids, mortgages]
  return lists.reduce((sum, { length }) => sum + length, parcelsOf(shape))
}

function parcelsOf({ origin, radius, isInside }: CityShape): number {
  let count = 0
  for (let x = origin.x - radius; x <= origin.x + radius; x++)
    for (let y = origin.y - radius; y <= origin.y + radius; y++) if (isInside({ x, y })) count++
  return count
}

async function writeRecords(
  file: string,
  records: Iterable<object>,
  onRecords: (records: number) => void,
): Promise<SnapshotFile> {
  const content = tally()
  const packed = tally()
  let count = 0
  function* pieces(): Generator<Buffer> {
    let text = ''
    for (const record of records) {
      text += `${recordJson(record)}\n`
      count++
      if (text.length < PIECE_CHARACTERS) continue
      yield content.add(Buffer.from(text))
      text = ''
      onRecords(count)
    }
    yield content.add(Buffer.from(text))
    onRecords(count)
  }
  await pipeline(
    Readable.from(pieces(), { objectMode: false }),
    createGzip({ level: GZIP_LEVEL }),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) yield packed.add(chunk)
    },
    createWriteStream(file),
  )
  const { bytes, sha256 } = packed.end()
  const { bytes: contentBytes, sha256: contentSha256 } = content.end()
  return { records: count, bytes, sha256, content_bytes: contentBytes, content_sha256: contentSha256 }
}

/** Counts and hashes the bytes that are added. */
function tally() {
  const hash = createHash('sha256')
  let bytes = 0
  return {
    add(piece: Buffer): Buffer {
      bytes += piece.length
      hash.update(piece)
      return piece
    },
    end: () => ({ bytes, sha256: hash.digest('hex') }),
  }
}
