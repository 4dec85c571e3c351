import type { BlockHeader, BlockRef } from '../chain-types.ts'
import { type ChainSource, ContradictionError } from './chain-source.ts'
import type { FollowedBlock } from './land-writer.ts'

/** How the world gets to a block of the chain. */
export type Path =
  /** The block is the newest one of the world, or an older one: the node has nothing new. */
  | { readonly kind: 'nothing new' }
  /** Undo all blocks above the ancestor, then apply the blocks of `headers`. */
  | { readonly kind: 'forward'; readonly ancestor: FollowedBlock; readonly headers: readonly BlockHeader[] }
  /** The branch of the block leaves the world's below its last final block: there it has the block `found`. */
  | { readonly kind: 'below finality'; readonly found: BlockRef }

/**
 * Looks for the newest common ancestor of the world and of the chain that ends with `target`, by headers and the hashes of
 * their parents. A block below the newest one of the world on the same branch is no reorganisation: that node lags.
 *
 * @param known the blocks of the world, from the last final one to the newest
 * @throws {ContradictionError} where headers do not fit together
 */
export async function findPath(
  known: readonly FollowedBlock[],
  target: BlockHeader,
  source: Pick<ChainSource, 'headerByHash'>,
): Promise<Path> {
  const byHash = new Map(known.map((block) => [block.hash, block]))
  const base = known[0]!
  if (byHash.has(target.hash) || target.number < base.number) return { kind: 'nothing new' }
  if (target.number === base.number) return { kind: 'below finality', found: target }
  const headers = [target]
  for (let first = target; ; ) {
    const ancestor = byHash.get(first.parentHash)
    if (ancestor) {
      if (ancestor.number !== first.number - 1 || ancestor.timeS > first.timeS) throw contradiction(first)
      return { kind: 'forward', ancestor, headers: headers.reverse() }
    }
    if (first.number - 1 <= base.number)
      return { kind: 'below finality', found: { number: first.number - 1, hash: first.parentHash } }
    const parent = await source.headerByHash(first.parentHash)
    const isParent = parent.hash === first.parentHash && parent.number === first.number - 1
    if (!isParent || parent.timeS > first.timeS) throw contradiction(first)
    headers.push(parent)
    first = parent
  }
}

function contradiction({ number }: BlockHeader): ContradictionError {
  return new ContradictionError(`the parent of block ${number} does not fit to it`)
}
