import { PublicCommandError } from '../../errors.ts'
import type { LandEvent } from '../../land/events/land-event.ts'
import type { BlockHeader, RawLog } from '../chain-types.ts'
import type { ChainSource } from '../follow/chain-source.ts'
import { findPath } from '../follow/find-path.ts'
import type { NewBlock } from '../follow/land-door.ts'
import { logsDigest } from '../follow/logs-digest.ts'
import { assertOfBlock } from '../follow/range-logs.ts'

export interface NewerBlocksOptions {
  readonly source: Pick<ChainSource, 'heads' | 'headerByNumber' | 'headerByHash' | 'logsOfBlock'>
  /** No block above this number is read. */
  readonly until: number
  readonly eventsOfBlock: (logs: readonly RawLog[], block: BlockHeader) => Promise<readonly LandEvent[]>
  readonly signal: AbortSignal
}

/**
 * The blocks after one that is final, up to the head of the chain, with their events: what a world that ends at that block
 * lacks. They can be undone, so they are applied as the follower applies them.
 *
 * @throws {CommandError} where the chain no longer has the final block
 * @example
 * await newerBlocks(final, { source, until: Infinity, eventsOfBlock, signal }) // 64 to 96 blocks on mainnet
 */
export async function newerBlocks(
  final: BlockHeader,
  options: NewerBlocksOptions,
): Promise<readonly NewBlock[]> {
  const { source, until, eventsOfBlock, signal } = options
  const { head } = await source.heads()
  const target = head.number <= until ? head : await source.headerByNumber(until)
  const path = await findPath([{ ...final, logsDigest: undefined }], target, source)
  if (path.kind === 'nothing new') return []
  if (path.kind === 'below finality')
    throw new PublicCommandError(
      `The final block ${final.number} was replaced while the world was made. Nothing was changed. Start the command again.`,
    )
  const blocks: NewBlock[] = []
  for (const header of path.headers) {
    signal.throwIfAborted()
    const logs = await source.logsOfBlock(header)
    assertOfBlock(header, logs)
    blocks.push({ ...header, logsDigest: logsDigest(logs), events: await eventsOfBlock(logs, header) })
  }
  return blocks
}
