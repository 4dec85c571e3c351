import type { BlockHeader } from '../chain-types.ts'
import type { NewBlock } from './land-door.ts'

/** The most headers, and the most blocks, that are kept. Where there are more, all are read again. */
const MOST_KEPT = 1_024

/**
 * What was read for a path whose blocks are not all read yet, by hash: a step of which one call fails is not repeated from its
 * start, so one node that often fails is enough.
 */
export class UnfinishedPath {
  private readonly headers = new Map<string, BlockHeader>()
  private readonly blocks = new Map<string, NewBlock>()

  header(hash: string, read: () => Promise<BlockHeader>): Promise<BlockHeader> {
    return keptOrRead(this.headers, hash, read)
  }

  block(hash: string, read: () => Promise<NewBlock>): Promise<NewBlock> {
    return keptOrRead(this.blocks, hash, read)
  }

  /** The path is finished. */
  clear(): void {
    this.headers.clear()
    this.blocks.clear()
  }
}

async function keptOrRead<Value>(
  kept: Map<string, Value>,
  hash: string,
  read: () => Promise<Value>,
): Promise<Value> {
  const value = kept.get(hash) ?? (await read())
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(hash, value)
  return value
}
