import type { Operations } from '@landpass/client'

/** Where the land stands on the chain, as the server says it. */
export type ChainStatus = Operations['GET /v2/chain']['data']

/**
 * How the land that comes from a chain is kept up to date.
 *
 * `current`: the newest block, or nearly · `catching_up`: blocks are missing and being read · `no_node`: no node answers ·
 * `failing`: nodes answer, and their blocks cannot be used · `silent`: the chain or its node makes no blocks · `history`:
 * all of the chain is being read · `differs`: some of the land is not what the contracts say · `stopped`: the server goes no further by itself · `off`: no process follows
 */
export type ChainCondition =
  | 'current'
  | 'catching_up'
  | 'no_node'
  | 'failing'
  | 'silent'
  | 'history'
  | 'differs'
  | 'stopped'
  | 'off'

const MINUTE_S = 60
/** A node's head is a few blocks ahead for as long as a block takes to be read. */
const MAX_LAG = { blocks: 2, seconds: 2 * MINUTE_S }
/** Final blocks, which can be followed instead of the newest ones, are up to 20 minutes old. */
const MAX_AGE_S = 30 * MINUTE_S
/** Mainnet and Sepolia have a block every 12 seconds; other networks may make blocks on command only. */
const STEADY_CHAINS: readonly (number | null)[] = [1, 11_155_111]

/** @returns undefined where the land does not come from a chain */
export function chainCondition(status: ChainStatus): ChainCondition | undefined {
  const { state, block, node, reason, chainId } = status
  if (state === 'off' && !block) return undefined
  if (state !== 'following') return state
  // Before its first answer the node is not known either, but nothing has failed yet.
  if (reason !== null) return node ? 'failing' : 'no_node'
  if (node && node.lagBlocks > MAX_LAG.blocks && node.lagSeconds > MAX_LAG.seconds) return 'catching_up'
  if (block && block.ageSeconds > MAX_AGE_S && STEADY_CHAINS.includes(chainId)) return 'silent'
  return 'current'
}
