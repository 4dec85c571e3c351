import type { BlockRef } from '../chain-types.ts'
import { ContractReader, type ContractReaderOptions } from './contract-reader.ts'
import { ContractState } from './contract-state.ts'

/**
 * Contracts in the state after a block, to which many calls are made.
 *
 * @example
 * const state = contractsAt(block, { nodes, callsInFlight, timing, signal })
 * const order = await state.read(marketplace, FUNCTIONS.orderByAssetId, registry, id)
 */
export function contractsAt(block: BlockRef, options: Omit<ContractReaderOptions, 'block'>): ContractState {
  const reader = new ContractReader({ ...options, block })
  return new ContractState((calls) => reader.readAll(calls))
}
