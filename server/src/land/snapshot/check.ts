import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { World } from '@landpass/client/grid'
import type { Blame } from '../records/checks.ts'
import type { Registries } from '../records/contracts.ts'
import { findDuplicateKey } from '../records/duplicate-keys.ts'
import { parseExactJson } from '../records/exact-json.ts'
import {
  ALL_SETS,
  CHAIN_SETS,
  type Counts,
  DATA_SETS,
  isChainSet,
  RECORD_OF,
  type RecordOf,
  type SetName,
} from './format.ts'
import type { Line } from './line-splitter.ts'
import { Links } from './links.ts'
import {
  DUPLICATE_KEY,
  type ExpectedFile,
  expectationOf,
  listedName,
  MANIFEST,
  type Manifest,
  readManifest,
  type SnapshotBlock,
} from './manifest.ts'
import type { ErrorLog } from './report.ts'
import { RULES } from './rules.ts'
import { DamagedFileError, type Digest, SnapshotFile } from './snapshot-file.ts'

export interface CheckOptions {
  readonly world: World
  readonly registries: Registries
  readonly log: ErrorLog
  readonly onRecords?: (done: number, total: number) => void
  readonly signal?: AbortSignal | undefined
}

/** A snapshot that was read to its end; it is good when the log is empty. */
export interface CheckedSnapshot {
  readonly counts: Counts
  readonly files: ReadonlyMap<SetName, SnapshotFile>
  readonly links: Links
  /** The block of a chain that the world is of, where the manifest names one. */
  readonly chain: SnapshotBlock | undefined
}

/** Reads a snapshot once from end to end and checks all of it. Errors go to the log and do not stop the check. */
export async function checkFolder(folder: string, options: CheckOptions): Promise<CheckedSnapshot> {
  const counts = Object.fromEntries(DATA_SETS.map((set) => [set, 0])) as Counts
  const manifest = await readManifest(folder, options.log)
  const files = manifest ? findFiles(folder, manifest, options.log) : new Map<SetName, SnapshotFile>()
  const links = new Links(
    options.world,
    (set, line, field, value, reason) => {
      options.log.add(files.get(set)?.name ?? set, line, field, value, reason)
      return false
    },
    { isFromChain: manifest?.isFromChain ?? false },
  )
  if (!manifest) return { counts, files, links, chain: undefined }
  const checker = new FolderChecker(manifest, files, links, options)
  for (const set of DATA_SETS) counts[set] = await checker.check(set)
  for (const set of CHAIN_SETS) if (files.has(set)) counts[set] = await checker.check(set)
  return { counts, files, links, chain: manifest.chain }
}

/** The file of each data set; none, or two, is an error. Some may be left out, but not where the manifest has them. */
function findFiles(folder: string, manifest: Manifest, log: ErrorLog): ReadonlyMap<SetName, SnapshotFile> {
  const files = new Map<SetName, SnapshotFile>()
  for (const set of ALL_SETS) {
    const plain = `${set}.ndjson`
    const found = [plain, `${plain}.gz`].filter((name) => existsSync(join(folder, name)))
    const [name] = found
    const mayBeMissing = isChainSet(set) && manifest.counts[set] === undefined
    if (name === undefined) {
      if (!mayBeMissing) log.add(listedName(manifest, set), null, null, undefined, 'is missing')
    } else if (found.length === 2)
      log.add(plain, null, null, undefined, `is there twice, also as ${plain}.gz: remove one of them`)
    else files.set(set, new SnapshotFile(name, join(folder, name)))
  }
  return files
}

class FolderChecker {
  private readonly manifest: Manifest
  private readonly files: ReadonlyMap<SetName, SnapshotFile>
  private readonly links: Links
  private readonly options: CheckOptions
  private readonly log: ErrorLog
  private readonly total: number
  private done = 0
  /** Where the record that is being checked stands. */
  private file = ''
  private line = 0
  /** Whether the id of the record is broken, so that it is unknown which references to it are right. */
  private isUnknown = false
  private readonly blame: Blame = (field, value, reason) => {
    if (field === '' || field === 'id') this.isUnknown = true
    this.log.add(this.file, this.line, field || null, value, reason)
    return false
  }

  constructor(
    manifest: Manifest,
    files: ReadonlyMap<SetName, SnapshotFile>,
    links: Links,
    options: CheckOptions,
  ) {
    this.manifest = manifest
    this.files = files
    this.links = links
    this.options = options
    this.log = options.log
    this.total = ALL_SETS.reduce((sum, set) => sum + (manifest.counts[set] ?? 0), 0)
  }

  /** Checks one data set. @returns how many lines it has */
  async check(set: SetName): Promise<number> {
    const file = this.files.get(set)
    const count = file ? await this.checkFile(set, file) : 0
    if (!file) this.links.broken(set, undefined) // without the file, no reference to its records can be checked
    if (set === 'parcels') this.links.endOfParcels()
    if (set === 'estates') this.links.endOfEstates()
    return count
  }

  private async checkFile(set: SetName, file: SnapshotFile): Promise<number> {
    this.file = file.name
    let count = 0
    try {
      for await (const lines of file.lines(this.options.signal)) {
        for (const line of lines) {
          count = line.number
          this.checkLine(set, line)
        }
        this.options.onRecords?.(this.done + count, this.total)
      }
      this.compare(set, file, count)
    } catch (error) {
      if (!(error instanceof DamagedFileError)) throw error
      this.log.add(file.name, null, null, undefined, error.message)
      this.links.broken(set, undefined)
    }
    this.done += count
    return count
  }

  private checkLine(set: SetName, { number, text, problem }: Line): void {
    this.line = number
    this.isUnknown = false
    const record = text === undefined ? undefined : parsed(text)
    if (record === undefined) this.blame('', text, problem ?? 'is no JSON')
    const isGood =
      record !== undefined &&
      this.hasEachKeyOnce(text!, record) &&
      RECORD_OF[set].check(record, '', this.blame) &&
      this.isConsistent(set, record)
    if (isGood) this.checkLinks(set, record)
    if (this.isUnknown) this.links.broken(set, undefined)
    else if (!isGood) this.links.broken(set, record)
  }

  private hasEachKeyOnce(text: string, record: unknown): boolean {
    const key = findDuplicateKey(text, record)
    return key === undefined || this.blame(key, undefined, DUPLICATE_KEY)
  }

  private isConsistent<Name extends SetName>(set: Name, record: unknown): boolean {
    const { registries } = this.options
    return RULES[set](record as RecordOf[Name], this.blame, {
      registries,
      isFromChain: this.manifest.isFromChain,
    })
  }

  private checkLinks<Name extends SetName>(set: Name, record: unknown): void {
    this.links.check[set](record as RecordOf[Name], this.line, this.blame)
  }

  /** Compares a file that was read to its end with its entry in the manifest. */
  private compare(set: SetName, file: SnapshotFile, records: number): void {
    const expected = expectationOf(this.manifest, file.name)
    if (!expected) return void this.log.add(MANIFEST, null, `files["${file.name}"]`, undefined, 'is missing')
    const counted = this.manifest.counts[set] ?? 0
    if (records !== counted) this.differs(file.name, 'records', records, `counts.${set}: ${counted}`)
    if (records !== expected.records && expected.records !== counted)
      this.differs(file.name, 'records', records, `${expected.records} in files`)
    if (file.digests) this.compareDigests(file, file.digests, expected)
  }

  private compareDigests(
    file: SnapshotFile,
    digests: { file: Digest; content: Digest },
    expected: ExpectedFile,
  ): void {
    // For a plain file, file and content are the same: one comparison is enough.
    const same = !file.isPacked && expected.file.sha256 !== undefined
    const pairs = [
      ['', digests.file, expected.file],
      ['content_', digests.content, same ? {} : expected.content],
    ] as const
    for (const [prefix, found, wanted] of pairs) {
      for (const kind of ['bytes', 'sha256'] as const) {
        if (wanted[kind] !== undefined && found[kind] !== wanted[kind])
          this.differs(file.name, prefix + kind, found[kind], String(wanted[kind]))
      }
    }
  }

  private differs(file: string, field: string, found: string | number, wanted: string): void {
    this.log.add(file, null, field, found, `differs from the manifest, which says ${wanted}`)
  }
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    return undefined
  }
}
