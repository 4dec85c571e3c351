import { PublicCommandError } from '../../errors.ts'
import type { BlockHeader } from '../chain-types.ts'
import type { BlockRange } from '../follow/chain-source.ts'
import { DamagedRangeError } from './spool-frames.ts'
import { MissingLogsError, TokenTrail } from './token-trail.ts'

export interface CompleteRowsOptions<Rows> {
  readonly stored: {
    /** The first block of the history. */
    readonly firstBlock: number
    /**
     * Requests the logs of stored blocks once more, and stores those that were missing: see {@link LogFetcher}.
     *
     * @returns whether there were any
     */
    readonly readAgain: (blocks: BlockRange) => Promise<boolean>
    /** Deletes the stored logs from this block on. From now on, the node that gave the last ones is asked last. */
    readonly dropFrom: (block: number) => Promise<void>
  }
  /** Stores all logs that are not stored yet, and makes rows of all. @throws {MissingLogsError} */
  readonly makeRows: (trail: TokenTrail) => Promise<Rows>
  /** Gets why logs are requested again, for operators. */
  readonly onMissingLogs: (reason: string) => void
}

/** How often rows are made of the history. */
const MAX_TRIES = 3

/**
 * Makes rows of the history. Where a node has left out logs, those blocks are requested again in which they must be, from another node
 * where there is one. Only if that finds some, the logs of all later blocks are requested again, too: a node that goes on leaving
 * out the same ones is not asked for the whole history at each try. Stored logs that cannot be read are requested again.
 *
 * @throws {CommandError} where logs are still missing; what is stored stays
 */
export async function completeRows<Rows>(options: CompleteRowsOptions<Rows>): Promise<Rows> {
  const { stored, makeRows, onMissingLogs } = options
  for (let tries = 1; ; tries++) {
    try {
      return await makeRows(new TokenTrail())
    } catch (error) {
      if (error instanceof DamagedRangeError) {
        await stored.dropFrom(error.first)
        if (tries === MAX_TRIES) throw error
        onMissingLogs(`${error.message}. They are requested again from block ${error.first} on.`)
      } else if (error instanceof MissingLogsError) {
        const blocks = { first: error.knownUntil ?? stored.firstBlock, last: error.block }
        const hasFound = await stored.readAgain(blocks)
        if (!hasFound || tries === MAX_TRIES) throw incomplete(error.message, blocks)
        onMissingLogs(
          `logs are missing: ${error.message}. They were found in blocks ${blocks.first} to ${blocks.last}, which were requested again; so are all later ones.`,
        )
      } else throw error
    }
  }
}

function incomplete(reason: string, { first, last }: BlockRange): PublicCommandError {
  return new PublicCommandError(
    `The node left out logs: ${reason}. No world was made of them. The logs of blocks ${first} to ${last} were requested once more, and the next start does so again. The history needs a node that has all old blocks with their logs: a full node without history expiry, or an archive node.`,
  )
}

/**
 * A parcel that never changed hands after its first transfer leaves no other trace of a missing log than the number of all
 * parcels.
 *
 * @param count of parcels that have an owner, by the registry; undefined where no node can say it
 * @throws {CommandError} where the logs give another number
 */
export function assertParcelCount(count: number | undefined, trail: TokenTrail, block: BlockHeader): void {
  if (count === undefined || count === trail.parcels) return
  throw new PublicCommandError(
    `The node left out logs: the registry has ${count} parcels at block ${block.number}, and by the stored logs ${trail.parcels} have an owner. No world was made of them. Name another node in CHAIN_RPC_URLS, delete the folder DATA_DIR/chain, and start again.`,
  )
}
