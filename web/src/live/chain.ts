import { type LandChange, system } from '@landpass/client'
import { signal } from '@preact/signals'
import { send } from '../api/client.ts'
import { type ChainStatus, chainCondition } from './chain-condition.ts'

/** Where the land stands on the chain. It is read again after every change of the land, and now and then. */

export interface KnownChain {
  readonly status: ChainStatus
  /** When it was read: `performance.now()`, because the clock of the reader's device may be wrong. */
  readonly readAtMs: number
}

/** Undefined until it is known, and where the land does not come from a chain. */
export const followedChain = signal<KnownChain | undefined>(undefined)
/** Where transactions can be looked up: an address with `{tx}` in place of the hash. */
export const explorer = signal<string | undefined>(undefined)

/** About one block of mainnet. */
const READ_EVERY_MS = 15_000
/** A chain whose blocks come faster is not read with each of them. */
const LEAST_PAUSE_MS = 2_000

let timer: number | undefined
let startedAtMs = Number.NEGATIVE_INFINITY
let isReading = false
/** Something has changed since the running request was sent. */
let isOutdated = false
/** The block of a change. The status of a server may be a second old, and of the block before: then it is read once more. */
let announced: string | undefined

/** Reads the status, and keeps it up to date while the page is visible. */
export function followChain(): void {
  document.addEventListener('visibilitychange', readSoon)
  readSoon()
}

/** Call it with each event of the change stream: another block, or another world, has another status. */
export function noteLandChange({ kind, block }: Pick<LandChange, 'kind' | 'block'>): void {
  if (kind !== 'reset' && (!block || block.hash === followedChain.peek()?.status.block?.hash)) return
  announced = block?.hash
  readSoon()
}

function readSoon(): void {
  if (isReading) isOutdated = true
  else readAfter(startedAtMs + LEAST_PAUSE_MS - performance.now())
}

function readAfter(ms: number): void {
  window.clearTimeout(timer)
  if (document.hidden) return
  timer = window.setTimeout(() => void read(), Math.max(ms, 0))
}

async function read(): Promise<void> {
  isReading = true
  isOutdated = false
  startedAtMs = performance.now()
  const status = await send(system.chain()).catch(() => undefined) // What was read before stays.
  isReading = false
  if (status) show(status)
  const isBehind = announced !== undefined && status?.block?.hash !== announced
  announced = undefined
  if (isOutdated || isBehind) readSoon()
  // A land that does not come from a chain has no blocks, until another world is imported.
  else if (!status || followedChain.peek()) readAfter(READ_EVERY_MS)
}

function show(status: ChainStatus): void {
  followedChain.value = chainCondition(status) && { status, readAtMs: performance.now() }
  explorer.value = status.explorer ?? undefined
}
