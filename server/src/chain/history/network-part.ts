import type { KnownChain } from '../../land/changes/chain-position.ts'
import type { Network } from '../chain-types.ts'
import { firstBlock } from '../logs/log-filter.ts'
import { contractsHash } from '../networks/contracts-hash.ts'

/** What says of a world whether it comes from this chain. */
export function chainOf(network: Network): Omit<KnownChain, 'rulesVersion'> {
  const answers = new Map<string, boolean>()
  const hasGrownFrom = (hash: string): boolean => {
    const answer = answers.get(hash) ?? findPart(network, (other) => other === hash) !== undefined
    answers.set(hash, answer)
    return answer
  }
  return { chainId: network.chainId, contractsHash: contractsHash(network), hasGrownFrom }
}

/**
 * The network with some of its contracts left out, so that the hash of the others is one that is looked for: what a network was
 * before contracts were added to it. The registry of LAND, and a contract that starts before all others, are never left out.
 * Of several such networks, the one with the most contracts.
 *
 * @example
 * findPart(MAINNET, (hash) => hash === contractsHash(withoutRentals)) // equals withoutRentals
 */
export function findPart(network: Network, isWanted: (hash: string) => boolean): Network | undefined {
  const { LANDRegistry, ...others } = network.contracts
  const all = Object.entries(others)
  const subsets = Array.from({ length: 2 ** all.length - 1 }, (_, bits) =>
    all.filter((_role, at) => (bits >> at) & 1),
  ).sort((a, b) => b.length - a.length)
  for (const contracts of subsets) {
    const part = { ...network, contracts: { LANDRegistry, ...Object.fromEntries(contracts) } }
    if (isWanted(contractsHash(part)) && firstBlock(part) === firstBlock(network)) return part
  }
  return undefined
}
