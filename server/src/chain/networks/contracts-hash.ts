import { createHash } from 'node:crypto'
import { CONTRACT_ROLES, type Network } from '../chain-types.ts'

/**
 * A hash of all that decides what the logs of a network mean: chain, contracts, their start blocks, and the order of
 * arguments. It does not depend on the name, nor on the order of fields in a file. Data that were read with another
 * hash belong to another set of contracts. 64 hex digits.
 *
 * @example
 * contractsHash(MAINNET) === contractsHash({ ...MAINNET, name: 'copy' }) // true
 */
export function contractsHash(network: Network): string {
  const { chainId, landApprovalForAllArgumentOrderChangesAtBlock, contracts } = network
  const lines = CONTRACT_ROLES.flatMap((role) => {
    const contract = contracts[role]
    return contract ? [`${role} ${contract.address} ${contract.startBlock}`] : []
  })
  const text = [chainId, landApprovalForAllArgumentOrderChangesAtBlock, ...lines].join('\n')
  return createHash('sha256').update(text).digest('hex')
}
