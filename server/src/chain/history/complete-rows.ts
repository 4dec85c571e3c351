import { PublicCommandError } from '../../errors.ts'
import type { BlockHeader } from '../chain-types.ts'
import { DamagedRangeError } from './spool-frames.ts'
import { MissingLogsError, TokenTrail } from './token-trail.ts'

export interface CompleteRowsOptions<Rows> {
  readonly stored: {
    /** The first block of the history. */
    readonly firstBlock: number
    /** Deletes the stored logs from this block on. From now on, the node that gave the last ones is asked last. */
    readonly dropFrom: (block: number) => Promise<void>
  }
  /** Stores all logs that are not stored yet, and makes rows of all. @throws {MissingLogsError} */
  readonly makeRows: (trail: TokenTrail) => Promise<Rows>
  /** Gets why logs are requested again, for operators. */
  readonly onMissingLogs: (reason: string) => void
}

/** How often the history is read, from the block on after which logs were missing. */
const MAX_TRIES = 3

/**
 * Makes rows of the history. Where a node has left out logs, or stored ones cannot be read, the stored ones are deleted from the last block
 * on that is known to be complete and whole, and requested again, from another node where there is one.
 *
 * @throws {CommandError} where logs are still missing after {@link MAX_TRIES}
 */
export async function completeRows<Rows>(options: CompleteRowsOptions<Rows>): Promise<Rows> {
  const { stored, makeRows, onMissingLogs } = options
  for (let tries = 1; ; tries++) {
    try {
      return await makeRows(new TokenTrail())
    } catch (error) {
      const isDamaged = error instanceof DamagedRangeError
      if (!isDamaged && !(error instanceof MissingLogsError)) throw error
      const from = isDamaged ? error.first : (error.knownUntil ?? stored.firstBlock)
      await stored.dropFrom(from)
      if (tries === MAX_TRIES) throw isDamaged ? error : incomplete(error.message, from)
      const what = isDamaged ? error.message : `logs are missing: ${error.message}`
      onMissingLogs(`${what}. They are requested again from block ${from} on.`)
    }
  }
}

function incomplete(reason: string, from: number): PublicCommandError {
  return new PublicCommandError(
    `The node left out logs: ${reason}. No world was made of them. The stored logs from block ${from} on were deleted, and the next start requests them again. The history needs a node that has all old blocks with their logs: a full node without history expiry, or an archive node.`,
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
