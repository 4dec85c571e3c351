import type { BlockHeader } from '../chain-types.ts'
import type { ChainSource } from '../follow/chain-source.ts'
import { type FailureKind, NodeError } from '../rpc/node-error.ts'

/** What a function of a contract returns after a block. */
export type ReadContract = (
  call: { readonly to: string; readonly data: string },
  blockHash: string,
) => Promise<string>

export interface NearOptions {
  readonly source: Pick<ChainSource, 'heads'>
  readonly readContract: ReadContract
}

/** How nodes answer where they no longer have the state of a block. */
const WITHOUT_STATE: ReadonlySet<FailureKind> = new Set<FailureKind>(['history', 'unknown_block', 'refused'])

/**
 * Reads contracts after `block`. Full nodes keep the state of the newest 128 blocks. Once they have dropped that of `block`,
 * the last final block is read instead and, where its state is missing, too, the head.
 *
 * For the update operators this may be some blocks early: the logs of those blocks, which the follower applies next, set or
 * clear the same field.
 *
 * @example
 * const read = readerNear(block, { source, readContract })
 * await read(LAND, callData('updateOperator(uint256)', tokenId))
 */
export function readerNear(
  block: BlockHeader,
  { source, readContract }: NearOptions,
): (contract: string, data: string) => Promise<string> {
  let hash = block.hash
  return async (to, data) => {
    try {
      return await readContract({ to, data }, hash)
    } catch (error) {
      if (!isWithoutState(error)) throw error
    }
    const { head, finalized } = await source.heads()
    try {
      const returned = await readContract({ to, data }, finalized.hash)
      hash = finalized.hash
      return returned
    } catch (error) {
      if (!isWithoutState(error)) throw error
    }
    const returned = await readContract({ to, data }, head.hash)
    hash = head.hash
    return returned
  }
}

/** Whether a node no longer has, or does not have yet, the state of a block. */
export function isWithoutState(error: unknown): boolean {
  return error instanceof NodeError && WITHOUT_STATE.has(error.kind)
}
