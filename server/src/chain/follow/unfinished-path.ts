import type { BlockHeader } from '../chain-types.ts'
import type { NewBlock } from './land-writer.ts'

/** The most headers, and the most blocks, that are kept. Where there are more, all are read again. */
const MOST_KEPT = 1_024
/** How many blocks are requested at the same time. */
const BLOCKS_AT_ONCE = 8

/**
 * What was read for a path whose blocks are not all read yet, by hash: a step of which one call fails is not repeated from its
 * start, so one node that often fails is enough.
 */
export class UnfinishedPath {
  private readonly knownHeaders = new Map<string, BlockHeader>()
  private readonly knownBlocks = new Map<string, NewBlock>()

  header(hash: string, read: () => Promise<BlockHeader>): Promise<BlockHeader> {
    return keptOrRead(this.knownHeaders, hash, read)
  }

  /**
   * The blocks of these headers, in their order, up to the first one that cannot be read yet.
   *
   * @param signal ends it before the next blocks are read
   */
  async blocks(
    headers: readonly BlockHeader[],
    read: (header: BlockHeader) => Promise<NewBlock | undefined>,
    signal?: AbortSignal,
  ): Promise<NewBlock[]> {
    const blocks: NewBlock[] = []
    for (let at = 0; at < headers.length; at += BLOCKS_AT_ONCE) {
      signal?.throwIfAborted()
      const part = headers.slice(at, at + BLOCKS_AT_ONCE)
      const reading = part.map((header) => keptOrRead(this.knownBlocks, header.hash, () => read(header)))
      for (const block of await Promise.all(reading)) {
        if (!block) return blocks
        blocks.push(block)
      }
    }
    return blocks
  }

  /** The path is finished. */
  clear(): void {
    this.knownHeaders.clear()
    this.knownBlocks.clear()
  }
}

async function keptOrRead<Value>(
  kept: Map<string, NonNullable<Value>>,
  hash: string,
  read: () => Promise<Value>,
): Promise<Value> {
  const value = kept.get(hash) ?? (await read())
  if (value === undefined || value === null) return value
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(hash, value)
  return value
}
