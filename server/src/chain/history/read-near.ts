import type { BlockHeader, RawLog } from '../chain-types.ts'
import { type ChainSource, ContradictionError } from '../follow/chain-source.ts'
import { type FailureKind, NodeError } from '../rpc/node-error.ts'
import type { ContractCall } from './stored-answers.ts'

/** What a function of a contract returns after a block. */
export type ReadAtBlock = (call: ContractCall, blockHash: string) => Promise<string>

/** An answer of a contract, and the block after which it was given. */
export interface NearAnswer {
  readonly returned: string
  readonly block: BlockHeader
  readonly isFinal: boolean
  /** Logs of the blocks that are not final, up to the block: what they changed may be undone. */
  readonly unsettled: readonly RawLog[]
}

export interface NearOptions {
  readonly source: Pick<ChainSource, 'heads' | 'logsOfRange'>
  readonly readContract: ReadAtBlock
}

/** How nodes answer where they no longer have the state of a block. */
const WITHOUT_STATE: ReadonlySet<FailureKind> = new Set<FailureKind>(['history', 'unknown_block', 'refused'])

/**
 * Reads contracts after `block`. Full nodes keep the state of the newest 128 blocks. Once they have dropped that of `block`,
 * the last final block is read instead and, where its state is missing, too, the head.
 *
 * For the update operators a final block may be some blocks late: the logs of those blocks, which the follower applies next,
 * set or clear the same field. What is read at the head is right only where no log of `unsettled` has changed it.
 *
 * @throws {ContradictionError} where the head was replaced while its logs were read
 * @example
 * const read = readerNear(block, { source, readContract })
 * const { returned } = await read({ to: LAND, data: callData('updateOperator(uint256)', tokenId) })
 */
export function readerNear(
  block: BlockHeader,
  { source, readContract }: NearOptions,
): (call: ContractCall) => Promise<NearAnswer> {
  let place: Omit<NearAnswer, 'returned'> = { block, isFinal: true, unsettled: [] }
  const readAt = async (call: ContractCall, at: typeof place): Promise<NearAnswer | undefined> => {
    try {
      const returned = await readContract(call, at.block.hash)
      place = at
      return { ...at, returned }
    } catch (error) {
      if (isWithoutState(error)) return undefined
      throw error
    }
  }
  return async (call) => {
    const here = await readAt(call, place)
    if (here) return here
    const { head, finalized } = await source.heads()
    const settled = await readAt(call, { block: finalized, isFinal: true, unsettled: [] })
    if (settled) return settled
    const unsettled = await logsBetween(finalized, head, source)
    const returned = await readContract(call, head.hash)
    place = { block: head, isFinal: head.hash === finalized.hash, unsettled }
    return { ...place, returned }
  }
}

async function logsBetween(
  finalized: BlockHeader,
  head: BlockHeader,
  source: NearOptions['source'],
): Promise<readonly RawLog[]> {
  if (head.number <= finalized.number) return []
  const { logs, ends } = await source.logsOfRange({ first: finalized.number + 1, last: head.number })
  if (ends.at(-1)?.hash === head.hash) return logs
  throw new ContradictionError(`the block ${head.number} was replaced while its logs were read`)
}

/** Whether a node no longer has, or does not have yet, the state of a block. */
export function isWithoutState(error: unknown): boolean {
  return error instanceof NodeError && WITHOUT_STATE.has(error.kind)
}
