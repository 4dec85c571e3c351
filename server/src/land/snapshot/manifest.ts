import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../../json-object.ts'
import { isIsoTime } from '../records/checks.ts'
import { findDuplicateKey } from '../records/duplicate-keys.ts'
import {
  ALL_SETS,
  CHAIN_SETS,
  type Counts,
  DATA_SETS,
  FORMAT,
  FORMAT_VERSION,
  type SetName,
} from './format.ts'
import { ErrorLog } from './report.ts'
import type { Digest } from './snapshot-file.ts'

export const MANIFEST = 'manifest.json'
const MAX_MANIFEST_BYTES = 1024 * 1024
/** What is wrong with a key of a line or of the manifest that JSON.parse would read silently. */
export const DUPLICATE_KEY = 'stands twice in the same object'

/** The manifest's entry of one file; a missing value is not compared. */
export interface ExpectedFile {
  readonly records: number
  readonly file: Partial<Digest>
  readonly content: Partial<Digest>
}

/** The block of a chain after which the world was as the snapshot has it. */
export interface SnapshotBlock {
  readonly chain_id: number
  readonly block_number: number
  /** 32 bytes in hex, lower case. */
  readonly block_hash: string
}

export interface Manifest {
  readonly counts: Readonly<Counts>
  readonly files: ReadonlyMap<string, ExpectedFile>
  /** Undefined where the snapshot does not come from a chain, or does not say so. */
  readonly chain: SnapshotBlock | undefined
  /** Whether the records come from a chain, at whatever block. */
  readonly isFromChain: boolean
}

/**
 * Reads and checks `manifest.json`. All errors are logged.
 *
 * @returns undefined when it is missing, or too broken to check the files with it
 */
export async function readManifest(folder: string, log: ErrorLog): Promise<Manifest | undefined> {
  const blame = (field: string | null, value: unknown, reason: string): undefined => {
    log.add(MANIFEST, null, field, value, reason)
  }
  let text: string
  let manifest: unknown
  try {
    text = await readSmallFile(join(folder, MANIFEST))
    manifest = JSON.parse(text)
  } catch (error) {
    return blame(null, undefined, `cannot be read: ${(error as Error).message}`)
  }
  const duplicate = findDuplicateKey(text, manifest)
  if (duplicate !== undefined) return blame(duplicate, undefined, DUPLICATE_KEY)
  if (!isObject(manifest)) return blame(null, manifest, 'must be an object')
  if (manifest.format !== FORMAT) return blame('format', manifest.format, `must be "${FORMAT}"`)
  if (manifest.version !== FORMAT_VERSION)
    return blame('version', manifest.version, `must be ${FORMAT_VERSION}`)
  if (manifest.reference_time !== undefined)
    isIsoTime(
      manifest.reference_time,
      'reference_time',
      (field, value, reason) => !!blame(field, value, reason) as false,
    )
  const { counts, files } = manifest
  if (!isObject(counts)) return blame('counts', counts, 'must be an object of record counts')
  if (!isObject(files)) return blame('files', files, 'must be an object by file name')
  for (const set of DATA_SETS)
    if (!isCount(counts[set])) blame(`counts.${set}`, counts[set], 'must be a count of records')
  for (const set of CHAIN_SETS)
    if ((set in counts || isListed(files, set)) && !isCount(counts[set]))
      blame(`counts.${set}`, counts[set], 'must be a count of records')
  const expected = new Map<string, ExpectedFile>()
  for (const [name, entry] of Object.entries(files)) {
    if (!dataSetOf(name)) blame('files', name, 'is no file of the format')
    else if (!isObject(entry)) blame(`files["${name}"]`, entry, 'must be an object')
    else expected.set(name, expectedFile(name, entry, blame))
  }
  const chain = manifest.chain === undefined ? undefined : snapshotBlock(manifest.chain, blame)
  const { from_chain } = manifest
  if (from_chain !== undefined && typeof from_chain !== 'boolean')
    blame('from_chain', from_chain, 'must be true or false')
  return {
    counts: counts as Counts,
    files: expected,
    chain,
    isFromChain: chain !== undefined || from_chain === true,
  }
}

/** The block that the manifest names; undefined where it names none, or cannot be read, which an import reports. */
export async function readSnapshotBlock(folder: string): Promise<SnapshotBlock | undefined> {
  return (await readManifest(folder, new ErrorLog()))?.chain
}

type BlameField = (field: string, value: unknown, reason: string) => undefined

function snapshotBlock(chain: unknown, blame: BlameField): SnapshotBlock | undefined {
  if (!isObject(chain))
    return blame('chain', chain, 'must be an object with chain_id, block_number, block_hash')
  const { chain_id, block_number, block_hash } = chain
  if (!isCount(chain_id)) return blame('chain.chain_id', chain_id, 'must be the number of a chain')
  if (!isCount(block_number))
    return blame('chain.block_number', block_number, 'must be the number of a block')
  if (typeof block_hash !== 'string' || !/^0x[0-9a-f]{64}$/.test(block_hash))
    return blame('chain.block_hash', block_hash, 'must be a hash: 0x and 64 lower-case hex digits')
  return { chain_id, block_number, block_hash }
}

function expectedFile(name: string, entry: Record<string, unknown>, blame: BlameField): ExpectedFile {
  const at = (field: string) => `files["${name}"].${field}`
  const count = (field: string): number | undefined =>
    isCount(entry[field])
      ? entry[field]
      : blame(at(field), entry[field], 'must be a whole number of at least 0')
  const hash = (field: string): string | undefined => {
    const value = entry[field]
    if (typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)) return value
    return blame(at(field), value, 'must be a SHA-256 in 64 lower-case hex digits')
  }
  const file = digestOf(count('bytes'), hash('sha256'))
  // A plain file is its own content and may leave the second pair out.
  const hasContent = name.endsWith('.gz') || entry.content_sha256 !== undefined
  const content = hasContent ? digestOf(count('content_bytes'), hash('content_sha256')) : file
  return { records: count('records') ?? -1, file, content }
}

function digestOf(bytes: number | undefined, sha256: string | undefined): Partial<Digest> {
  return { ...(bytes !== undefined && { bytes }), ...(sha256 !== undefined && { sha256 }) }
}

/** The data set that a file name belongs to. */
function dataSetOf(fileName: string): SetName | undefined {
  return ALL_SETS.find((set) => fileName === `${set}.ndjson` || fileName === `${set}.ndjson.gz`)
}

function isListed(files: object, set: SetName): boolean {
  return `${set}.ndjson` in files || `${set}.ndjson.gz` in files
}

/** The name of a data set's file as the manifest lists it; packed where it lists none. */
export function listedName({ files }: Manifest, set: SetName): string {
  return files.has(`${set}.ndjson`) ? `${set}.ndjson` : `${set}.ndjson.gz`
}

/**
 * The manifest's entry of a file. A snapshot that was unpacked (or packed) by hand still has the manifest of the
 * other kind: then only the content is compared with it.
 */
export function expectationOf(manifest: Manifest, fileName: string): ExpectedFile | undefined {
  const exact = manifest.files.get(fileName)
  if (exact) return exact
  const other = fileName.endsWith('.gz') ? fileName.slice(0, -3) : `${fileName}.gz`
  const entry = manifest.files.get(other)
  return entry && { ...entry, file: {} }
}

/** Refuses files of megabytes. A byte order mark is skipped: the decoder does so unless asked to keep it. */
async function readSmallFile(path: string): Promise<string> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    if (size > MAX_MANIFEST_BYTES)
      throw new Error(`it has ${size} bytes, at most ${MAX_MANIFEST_BYTES} are read`)
    return new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile())
  } finally {
    await handle.close()
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
