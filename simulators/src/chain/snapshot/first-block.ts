import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Block, makeBlock } from '../blocks/block.ts'
import { hashOfText } from '../encoding/words.ts'

/** The number of the first block of a chain that begins with a snapshot: above all numbers that a snapshot of today has. */
export const FIRST_BLOCK_NUMBER = 30_000_000
/** The time of a snapshot that does not say of when it is. */
const UNKNOWN_TIME_S = Date.UTC(2026, 0, 15) / 1_000
const MANIFEST = 'manifest.json'
const ALL_ADDED_FIELDS = 6

/** The snapshot cannot be the beginning of a simulated chain. */
export class SnapshotError extends Error {}

/** What `manifest.json` says, as far as it is needed here. */
export interface Manifest {
  readonly reference_time?: string
  readonly chain?: SnapshotBlock
  readonly files: Readonly<Record<string, { readonly sha256?: string; readonly content_sha256?: string }>>
}

/** The block after which the land is as the snapshot has it. */
export interface SnapshotBlock {
  readonly chain_id: number
  readonly block_number: number
  readonly block_hash: string
}

/** The manifest of a snapshot; undefined while it is not there. @throws {SnapshotError} where it cannot be used */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  let text: string
  try {
    text = await readFile(join(folder, MANIFEST), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const manifest = JSON.parse(text) as Manifest
    if (typeof manifest.files === 'object' && manifest.files !== null) return manifest
  } catch {
    // Reported below.
  }
  throw new SnapshotError(`${join(folder, MANIFEST)} is not the manifest of a snapshot.`)
}

/**
 * The first block of a chain that begins with a snapshot. Its time is that of the snapshot, and its hash names the contents of
 * all files: the same snapshot always begins with the same block.
 *
 * @example
 * firstBlockOf(manifest, 1337).number // 30000000
 */
export function firstBlockOf({ reference_time, files }: Manifest, chainId: number): Block {
  const contents = Object.entries(files)
    .map(([name, { sha256, content_sha256 }]) => `${name.split('.')[0]} ${content_sha256 ?? sha256}`)
    .sort()
  const timeS = reference_time === undefined ? UNKNOWN_TIME_S : Date.parse(reference_time) / 1_000
  if (!(timeS > 0)) throw new SnapshotError('The reference_time of the snapshot is not a time.')
  return makeBlock({
    number: FIRST_BLOCK_NUMBER,
    parentHash: hashOfText(`landpass simulated chain ${chainId}: ${contents.join(', ')}`),
    timeS: Math.floor(timeS),
    fork: 0,
    addedFields: ALL_ADDED_FIELDS,
    transactions: [],
  })
}

/**
 * Writes the first block into the manifest of its snapshot, so that `landpass follow --ground` goes on from there.
 *
 * @throws {SnapshotError} where the snapshot names another block
 */
export async function nameFirstBlock(folder: string, manifest: Manifest, block: Block, chainId: number) {
  const chain = { chain_id: chainId, block_number: block.number, block_hash: block.hash }
  if (manifest.chain !== undefined) {
    if (manifest.chain.block_hash === block.hash && manifest.chain.chain_id === chainId) return
    throw new SnapshotError(
      `The snapshot in ${folder} is of block ${manifest.chain.block_number} of chain ${manifest.chain.chain_id}. A simulated chain cannot begin with it: remove "chain" from its manifest.json first.`,
    )
  }
  const path = join(folder, MANIFEST)
  await writeFile(`${path}.part`, `${JSON.stringify({ ...manifest, chain }, null, 2)}\n`)
  await rename(`${path}.part`, path)
}
