import type { Completeness } from '../check/completeness.ts'

/**
 * Whether the world is the history of the chain that is still read, follows the chain, follows it although some of its land is
 * not what the contracts say, follows no more, or never did.
 */
export const CHAIN_STATES = ['history', 'following', 'differs', 'stopped', 'off'] as const
export type ChainState = (typeof CHAIN_STATES)[number]

/** Where the world stands on the chain, for everyone. */
export interface ChainStatus {
  /** Null where it is not known. */
  readonly network: string | null
  readonly chainId: number | null
  /** The last block whose events the land shows; null where the land does not come from the chain. */
  readonly block: { readonly number: number; readonly hash: string; readonly time: string } | null
  /** The last block that cannot be undone any more. */
  readonly finalized: { readonly number: number; readonly hash: string } | null
  /** What the node said last; null before its first answer, a minute after its last one, and while no process follows. */
  readonly node: {
    /** Number of its newest block. */
    readonly head: number
    readonly lagBlocks: number
    /** The time between both blocks. */
    readonly lagSeconds: number
  } | null
  /** How far the land was compared with the contracts; null where it does not come from the chain. */
  readonly completeness: Completeness | null
  readonly state: ChainState
  /** In words, where the state is not `following`; for `history` how far it is; for `following` what has failed for a minute. */
  readonly reason: string | null
}

export interface ChainStatusSource {
  readonly read: () => Promise<ChainStatus>
}
