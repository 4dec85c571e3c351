import { PublicCommandError } from '../../errors.ts'
import type { BlockHeader } from '../chain-types.ts'

export interface UpToDateOptions {
  /** Where the history ends now. */
  readonly lastBlock: () => Promise<BlockHeader>
  readonly headerByNumber: (number: number) => Promise<BlockHeader>
  /** Reads all logs up to this block that are not stored yet. */
  readonly fetchTo: (block: BlockHeader) => Promise<void>
}

/** So many blocks may become final while the last ones are read. */
const MAX_MISSING_BLOCKS = 16

/**
 * Reading takes hours, in which blocks become final: they are read, too, until few are missing. So the world begins near
 * the head, where nodes still have the state.
 *
 * @returns the block up to which all logs are stored
 * @throws {CommandError} where that block was replaced meanwhile
 * @example
 * const block = await fetchUpToDate({ lastBlock, headerByNumber, fetchTo })
 */
export async function fetchUpToDate(options: UpToDateOptions): Promise<BlockHeader> {
  const { lastBlock, headerByNumber, fetchTo } = options
  let block = await lastBlock()
  for (;;) {
    await fetchTo(block)
    const now = await lastBlock()
    if (now.number - block.number <= MAX_MISSING_BLOCKS) break
    block = now
  }
  const { hash } = await headerByNumber(block.number)
  if (hash === block.hash) return block
  throw new PublicCommandError(
    `The final block ${block.number} was replaced while the history was read. Nothing was changed. Start the command again.`,
  )
}
