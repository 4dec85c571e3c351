import { CONTRACT_ROLES, type Network, type NetworkContract } from '../chain-types.ts'
import { EVENTS_OF_ROLE } from './layouts.ts'

/**
 * The addresses of one filter for all logs that mean something, in the order of the roles. Contracts without such logs
 * are left out: MANA alone has more of them than all others together.
 *
 * @example
 * filterAddresses(SEPOLIA).length // 8
 */
export function filterAddresses(network: Network): readonly string[] {
  return readContracts(network).map(({ address }) => address)
}

/**
 * The first block that can have a log of the land.
 *
 * @example
 * firstBlock(MAINNET) // 4944642
 */
export function firstBlock(network: Network): number {
  return Math.min(...readContracts(network).map(({ startBlock }) => startBlock))
}

function readContracts({ contracts }: Network): readonly NetworkContract[] {
  return CONTRACT_ROLES.filter((role) => EVENTS_OF_ROLE[role].length > 0)
    .map((role) => contracts[role])
    .filter((contract) => contract !== undefined)
}
