import { land } from '@landpass/client'
import { FeedError, FeedGrid, type FeedPart, readFeed } from '@landpass/client/feed'
import { batch, signal } from '@preact/signals'
import { send } from '../api/client.ts'

/**
 * The world that the page holds: first a whole feed, then its changes (docs/feed.md). The grid is one object that
 * changes in place; {@link worldChange} says when, and which cells.
 */

/**
 * `loading`: nothing yet · `ready`: as the server has it · `unreachable`: held, but changes cannot be read
 * (no connection, or no answer) · `failed`: nothing, and the last try failed.
 */
export type WorldStatus = 'loading' | 'ready' | 'unreachable' | 'failed'

export interface WorldChange {
  /** Rises with every change. 0: no world yet. */
  readonly count: number
  /** The cells that changed; undefined for all of them. */
  readonly cells: Uint32Array | undefined
}

export const worldGrid = signal<FeedGrid | undefined>(undefined)
export const worldStatus = signal<WorldStatus>('loading')
export const worldChange = signal<WorldChange>({ count: 0, cells: undefined })
/** Why the last request failed. */
export const worldFault = signal<unknown>(undefined)

/** Reads the whole world. When that fails, the held world stays. */
export async function loadWorld(): Promise<void> {
  try {
    const part = readFeed(await send(land.feed()))
    const held = worldGrid.peek()
    if (held) announce(held.apply(part))
    else {
      worldGrid.value = new FeedGrid(part)
      announce(undefined)
    }
    worldStatus.value = 'ready'
  } catch (error) {
    fail(error)
  }
}

/** Reads what changed since the held state. Calls during a running request are served by one more request after it. */
export function updateWorld(): Promise<void> {
  isOutdated = true
  update ??= readUntilCurrent()
  return update
}

let isOutdated = false
let update: Promise<void> | undefined

/** One request at a time: of two that start from the same state, the second could not be applied after the first. */
async function readUntilCurrent(): Promise<void> {
  try {
    while (isOutdated) {
      isOutdated = false
      await readChanges()
    }
  } finally {
    update = undefined
  }
}

async function readChanges(): Promise<void> {
  const grid = worldGrid.peek()
  if (!grid) return loadWorld()
  const before = grid.state
  try {
    const part = readFeed(await send(land.feed(grid.state)))
    const cells = applied(grid, part)
    if (cells === 'elsewhere') return loadWorld()
    // The feed has no bids and mortgages: when one of them changes, only the feed's state is new.
    if (!cells || cells.length > 0 || grid.state !== before) announce(cells)
    worldStatus.value = 'ready'
  } catch (error) {
    fail(error)
  }
}

/** The changed cells; `elsewhere` for changes that lead on from a state that is not the held one. */
function applied(grid: FeedGrid, part: FeedPart): Uint32Array | undefined | 'elsewhere' {
  try {
    return grid.apply(part)
  } catch (error) {
    if (error instanceof FeedError) return 'elsewhere'
    throw error
  }
}

function announce(cells: Uint32Array | undefined): void {
  worldChange.value = { count: worldChange.peek().count + 1, cells }
}

function fail(error: unknown): void {
  batch(() => {
    worldFault.value = error
    worldStatus.value = worldGrid.peek() ? 'unreachable' : 'failed'
  })
}
