import { PublicCommandError } from '../../errors.ts'
import type { BlockHeader } from '../chain-types.ts'
import type { ChainSource } from '../follow/chain-source.ts'
import { findPath } from '../follow/find-path.ts'
import type { NewBlock } from '../follow/land-writer.ts'
import { type EventsOf, newBlockOf } from '../follow/new-block.ts'
import { UnfinishedPath } from '../follow/unfinished-path.ts'

export interface NewerBlocksOptions {
  readonly source: Pick<ChainSource, 'heads' | 'headerByNumber' | 'headerByHash' | 'confirmedLogs'>
  /** No block above this number is read. */
  readonly until: number
  readonly eventsOfBlock: EventsOf
  readonly signal: AbortSignal
}

/**
 * The blocks after one that is final, with their events: what a world that ends at that block lacks. They end with the head of
 * the chain, or with the last block of which no log is missing. They can be undone, so they are applied as the follower
 * applies them. What was read stays: a later reading asks only for blocks that are new since.
 *
 * @example
 * const newer = new NewerBlocks(final, { source, until: Infinity, eventsOfBlock, signal })
 * await newer.read() // 64 to 96 blocks on mainnet
 * await newer.read() // the same, with those that came meanwhile
 */
export class NewerBlocks {
  private readonly final: BlockHeader
  private readonly options: NewerBlocksOptions
  private readonly known = new UnfinishedPath()

  constructor(final: BlockHeader, options: NewerBlocksOptions) {
    this.final = final
    this.options = options
  }

  /** @throws {CommandError} where the chain no longer has the final block */
  async read(): Promise<readonly NewBlock[]> {
    const { final, known } = this
    const { source, until, signal } = this.options
    const { head } = await source.heads()
    const target = head.number <= until ? head : await source.headerByNumber(until)
    const path = await findPath([{ ...final, logsDigest: undefined }], target, {
      headerByHash: (hash) => known.header(hash, () => source.headerByHash(hash)),
    })
    if (path.kind === 'nothing new') return []
    if (path.kind === 'below finality')
      throw new PublicCommandError(
        `The final block ${final.number} was replaced while the world was made. Nothing was changed. Start the command again.`,
      )
    return known.blocks(path.headers, (header) => this.readBlock(header), signal)
  }

  private async readBlock(header: BlockHeader): Promise<NewBlock | undefined> {
    const { source, eventsOfBlock } = this.options
    const logs = await source.confirmedLogs(header)
    return logs && newBlockOf(header, logs, eventsOfBlock)
  }
}
