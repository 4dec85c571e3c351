import { closeSync, fdatasyncSync, mkdirSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Block } from '../blocks/block.ts'
import type { ChainWatcher, SimulatedChain } from '../blocks/chain.ts'
import type { SentTransaction } from '../contracts/transactions.ts'
import type { Address, Word } from '../encoding/words.ts'
import { readState, restoreState, type StoredState, writeState, writeWhole } from './state-file.ts'
import { StoreError } from './store-error.ts'
import { blocksName, stateName, storedBlocks } from './stored-names.ts'
import { fromStored, toStored } from './stored-values.ts'

/** What a line of the file of blocks says: a block with the transactions that were sent in it, or that the chain went back. */
type Line =
  | {
      readonly n: number
      /** Seconds since 1970. */
      readonly t: number
      readonly fork: number
      readonly hash: Word
      /** {@link SentTransaction}s, as {@link toStored} writes them. */
      readonly sent: readonly unknown[]
    }
  | { readonly back: number }

/** What a folder has of a chain. */
export interface StoredChain {
  readonly state: StoredState
  readonly lines: readonly Line[]
}

/**
 * A chain in a folder, from which it is made again after the process has ended, however that was:
 *
 * - `state-<n>.gz`: what the contracts have stored after block n
 * - `blocks-<n>.ndjson`: the later blocks, a line for each, with the transactions that were sent in it
 *
 * A block is on the disk before a node answers it. When the chain forgets its oldest blocks, both files are written anew from
 * its oldest block on: the new state file is what makes them count.
 */
export class ChainStore implements ChainWatcher {
  private readonly folder: string
  private readonly chain: SimulatedChain
  private readonly districtOwners: readonly Address[]
  private file: number
  /** The block whose state is stored. */
  private base: number
  private pending = ''

  /** @param base undefined: begins the store anew, at the oldest block of the chain */
  constructor(
    folder: string,
    parts: {
      readonly chain: SimulatedChain
      readonly districtOwners: readonly Address[]
      readonly base: number | undefined
    },
  ) {
    this.folder = folder
    this.chain = parts.chain
    this.districtOwners = parts.districtOwners
    mkdirSync(folder, { recursive: true })
    this.base = parts.base ?? this.writeBase()
    this.file = openSync(join(folder, blocksName(this.base)), 'a')
  }

  blockMade(block: Block, requests: readonly SentTransaction[]): void {
    this.pending += lineOf(block, requests)
  }

  wentBack(ancestor: number): void {
    this.pending += `${JSON.stringify({ back: ancestor } satisfies Line)}\n`
  }

  settled(): void {
    if (this.chain.oldest.number > this.base) {
      const file = this.file
      this.base = this.writeBase()
      this.file = openSync(join(this.folder, blocksName(this.base)), 'a')
      closeSync(file)
    } else if (this.pending !== '') {
      const bytes = Buffer.from(this.pending)
      for (let done = 0; done < bytes.length; ) done += writeSync(this.file, bytes, done)
      fdatasyncSync(this.file)
    }
    this.pending = ''
  }

  close(): void {
    closeSync(this.file)
  }

  /** Writes state and blocks of the chain as it is now, and removes older files. @returns the block of the state */
  private writeBase(): number {
    const { chain, folder } = this
    const { number } = chain.oldest
    const lines: string[] = []
    for (let at = number + 1; at <= chain.head.number; at++)
      lines.push(lineOf(chain.block(at)!, chain.requestsOf(at)))
    writeWhole(join(folder, blocksName(number)), lines.join(''))
    writeState(join(folder, stateName(number)), chain, this.districtOwners)
    for (const old of storedBlocks(folder)) if (old !== number) removeBase(folder, old)
    return number
  }
}

/** Deletes the chain in a folder. */
export function removeChain(folder: string): void {
  for (const number of storedBlocks(folder)) removeBase(folder, number)
}

/**
 * Reads what is stored. A last line that is not complete is cut off: no node has answered that block.
 *
 * @returns undefined where the folder has no chain
 * @throws {StoreError} where it is damaged, or of another version
 */
export async function readStore(folder: string): Promise<StoredChain | undefined> {
  const numbers = storedBlocks(folder)
  if (numbers.length === 0) return undefined
  const newest = Math.max(...numbers)
  const state = await readState(join(folder, stateName(newest)))
  const path = join(folder, blocksName(newest))
  const content = await readFile(path)
  const end = content.lastIndexOf('\n') + 1
  if (end < content.length) truncateSync(path, end)
  const lines = content.toString('utf8', 0, end).split('\n').slice(0, -1)
  return { state, lines: lines.map((line, at) => parseLine(line, `${path}:${at + 1}`)) }
}

/** Makes the blocks again, on a chain that begins with the stored state. @throws {StoreError} where they differ */
export function replayStore({ state, lines }: StoredChain, chain: SimulatedChain): void {
  restoreState(state, chain)
  const contracts = chain.contracts.byAddress()
  for (const line of lines) {
    if ('back' in line) {
      chain.goBackTo(line.back)
      continue
    }
    const sent = fromStored(line.sent, contracts) as readonly SentTransaction[]
    const { hash } = chain.mineAgain(sent, { timeS: line.t, fork: line.fork })
    if (hash !== line.hash)
      throw new StoreError(`Block ${line.n} of the store is another block in this version.`)
  }
}

function lineOf({ number, timeS, fork, hash }: Block, transactions: readonly SentTransaction[]): string {
  const sent = transactions.map(toStored)
  return `${JSON.stringify({ n: number, t: timeS, fork, hash, sent } satisfies Line)}\n`
}

function parseLine(text: string, place: string): Line {
  try {
    return JSON.parse(text) as Line
  } catch {
    throw new StoreError(`${place} is damaged.`)
  }
}

function removeBase(folder: string, number: number): void {
  // The state first: without it, the other file does not count.
  rmSync(join(folder, stateName(number)), { force: true })
  rmSync(join(folder, blocksName(number)), { force: true })
}
