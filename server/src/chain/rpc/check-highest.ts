import type { BlockRef } from '../chain-types.ts'
import { NodeError } from './node-error.ts'
import type { NodeMember } from './node-member.ts'

/** A node is not used while its head is further behind the highest one than this. */
export const MAX_LAG_BLOCKS = 3

/** A head that was confirmed need not be checked again until the node is so many blocks further. */
const CHECK_EVERY_BLOCKS = 64

/**
 * Checks a head that would make all other nodes lag: its node must have the parent of that head, and the last final block.
 * A node that lacks them is avoided for a while, and one that does not answer has no head until it is asked again.
 *
 * @param members nodes that are trusted
 * @param final the last block on which the nodes agreed as final; undefined before the first one
 */
export async function checkHighest(
  members: readonly NodeMember[],
  final: BlockRef | undefined,
): Promise<void> {
  const left = members.filter(({ head }) => head !== undefined).toSorted((a, b) => numberOf(b) - numberOf(a))
  for (const [at, member] of left.entries()) {
    const next = left[at + 1]
    const isNear = !next || numberOf(member) - numberOf(next) <= MAX_LAG_BLOCKS
    if (isNear || numberOf(member) < member.confirmedTo + CHECK_EVERY_BLOCKS) return
    const isBacked = await hasChainOf(member, final)
    if (isBacked) {
      member.confirmedTo = numberOf(member)
      return
    }
    member.head = undefined
    if (isBacked === false)
      member.node.accuse('eth_getBlockByNumber', 'it does not have the chain of its newest block')
  }
}

function numberOf({ head }: NodeMember): number {
  return head?.number ?? 0
}

/** Undefined where the node does not answer. */
async function hasChainOf(
  { node, head }: NodeMember,
  final: BlockRef | undefined,
): Promise<boolean | undefined> {
  try {
    const parent = await node.headerOf(head!.parentHash)
    if (parent?.number !== head!.number - 1) return false
    return !final || (await node.headerAt(final.number))?.hash === final.hash
  } catch (error) {
    if (error instanceof NodeError) return undefined
    throw error
  }
}
