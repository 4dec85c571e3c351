import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip, gzipSync } from 'node:zlib'
import type { Counts } from '../actors/balance.ts'
import type { Block } from '../blocks/block.ts'
import type { SimulatedChain } from '../blocks/chain.ts'
import type { Address } from '../encoding/words.ts'
import { StoreError } from './store-error.ts'
import { fromStored, toStored } from './stored-values.ts'

/** Raise it when the contracts get other cells, or blocks are made in another way. */
const FORM = 2

/** A chain at one of its blocks. */
export interface StoredState {
  readonly chainId: number
  /** The block with which the chain began. */
  readonly first: Block
  /** The block whose state this is. */
  readonly block: Block
  readonly forks: number
  readonly districtOwners: readonly Address[]
  /** How much there was of what when the chain began. */
  readonly countsAtStart: Counts
  /** The cells of each mapping of the contracts, in the order in which these were made. */
  readonly cells: readonly (readonly (readonly [key: string, value: unknown])[])[]
}

type Header = Omit<StoredState, 'cells'> & { readonly form: number }

/** Writes the state of a chain after its oldest block into a file: all of it, or nothing. */
export function writeState(path: string, chain: SimulatedChain, districtOwners: readonly Address[]): void {
  const { chainId } = chain.options
  const { first, oldest: block } = chain
  const { countsAtStart } = chain.players
  const forks = chain.forkCount
  const header: Header = { form: FORM, chainId, first, block, forks, districtOwners, countsAtStart }
  const lines = [JSON.stringify(header)]
  for (const cells of chain.machine.history.cells) {
    const entries = [...cells.entries(block.number)]
    lines.push(JSON.stringify(entries.map(([key, value]) => [key, toStored(value)])))
  }
  writeWhole(path, gzipSync(lines.join('\n'), { level: 1 }))
}

/** @throws {StoreError} where the file is damaged, or of another version */
export async function readState(path: string): Promise<StoredState> {
  let lines: readonly string[]
  try {
    lines = (await promisify(gunzip)(await readFile(path))).toString().split('\n')
    const { form, ...header } = JSON.parse(lines[0]!) as Header
    if (form !== FORM) throw new StoreError(`${path} was written by another version.`)
    const cells = lines.slice(1).map((line) => JSON.parse(line) as [string, unknown][])
    return { ...header, cells }
  } catch (error) {
    if (error instanceof StoreError) throw error
    throw new StoreError(`${path} cannot be read: ${(error as Error).message}`)
  }
}

/** Gives contracts without any land the state. @throws {StoreError} where they are other contracts */
export function restoreState({ cells: stored }: StoredState, chain: SimulatedChain): void {
  const { cells } = chain.machine.history
  if (cells.length !== stored.length)
    throw new StoreError('The stored state is of another version of the contracts.')
  stored.forEach((entries, i) => {
    for (const [key, value] of entries) cells[i]!.load(key, fromStored(value))
  })
}

/** Writes a file that is either there as a whole or not at all, whenever the machine stops. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  const part = `${path}.part`
  const file = openSync(part, 'w')
  try {
    const bytes = Buffer.from(content as Uint8Array)
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(part, path)
}
