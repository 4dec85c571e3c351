import type { LandEvent } from '../../land/events/land-event.ts'
import type { BlockHeader, BlockRef } from '../chain-types.ts'

/** A block that the world was built from, and a digest of its logs; undefined where it is not known any more. */
export interface FollowedBlock extends BlockHeader {
  readonly logsDigest: string | undefined
}

/** A block whose events are not in the tables yet. */
export interface NewBlock extends FollowedBlock {
  readonly events: readonly LandEvent[]
}

/** Where the world that is shown stands on the chain. */
export interface ChainPosition {
  readonly worldId: number
  /** Rises each time another process takes over. */
  readonly epoch: number
  /**
   * From the last final block to the newest, each the parent of the next. What the blocks after the first changed can
   * be undone.
   */
  readonly blocks: readonly FollowedBlock[]
}

/** What one transaction does. */
export interface ChainStep {
  readonly worldId: number
  readonly epoch: number
  /** The block at which the world must stand. */
  readonly from: BlockHeader
  /** Undo all blocks above this one first; undefined where there is nothing to undo. */
  readonly undoTo: BlockHeader | undefined
  /** Then apply these, in their order. */
  readonly blocks: readonly NewBlock[]
  /** Blocks up to this one can no longer be undone afterwards. It may be the last of `blocks`. */
  readonly finalized: BlockHeader
}

/** Who leads: one process follows, and all others wait until its lease ends. */
export type Lead = 'leads' | 'waits' | 'no position'

/** The world of the database, as the follower reads and changes it. */
export interface LandWriter {
  /** Takes or renews the lease. */
  readonly lead: () => Promise<Lead>
  /** Renews the lease in the middle of a step, where that is due. */
  readonly renew: () => Promise<Lead>
  readonly readPosition: () => Promise<ChainPosition | undefined>
  /** The newest stored block, whichever process leads; undefined where the world cannot be followed. */
  readonly readNewest: () => Promise<BlockRef | undefined>
  /**
   * Changes rows, position, journal and revision in one transaction.
   *
   * @throws {PositionMovedError} where the world, the block or the epoch is not the expected one; nothing has changed
   */
  readonly commit: (step: ChainStep) => Promise<void>
}
