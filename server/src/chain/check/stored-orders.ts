import type { Network } from '../chain-types.ts'
import type { Token } from './check-context.ts'
import { FUNCTIONS } from './contract-functions.ts'
import type { ContractState } from './contract-state.ts'

/** What a marketplace stores for an asset. */
export interface Order {
  /** 32 bytes in hex; zero where nothing is stored. */
  readonly id: string
  readonly seller: string
  readonly priceWei: bigint
  readonly expiresAt: bigint
}

export interface StoredOrder {
  /** Address of the marketplace. */
  readonly marketplace: string
  /** Undefined where the first marketplace does not exist any more: its owner could destroy it. */
  readonly order: Order | undefined
}

export interface StoredOrdersOptions {
  readonly network: Network
  readonly state: ContractState
  /** Whether the marketplace of today may have no answer: it is asked before it existed. */
  readonly isOptional?: boolean
  /** Whether a marketplace is asked, by its address; each where it is left out. */
  readonly isAsked?: (marketplace: string) => boolean
}

/**
 * What the marketplaces store for an asset. The first one knows no estates.
 *
 * @throws {UnansweredError} where the marketplace of today has no answer
 */
export async function readStoredOrders(
  { registry, id, name }: Token,
  { network, state, isOptional = false, isAsked = () => true }: StoredOrdersOptions,
): Promise<readonly StoredOrder[]> {
  const { Marketplace, LegacyMarketplace } = network.contracts
  const orders: Promise<StoredOrder>[] = []
  if (Marketplace && isAsked(Marketplace.address)) {
    const marketplace = Marketplace.address
    const read = isOptional ? state.tryToRead.bind(state) : state.read.bind(state)
    const order = read(marketplace, FUNCTIONS.orderByAssetId, registry, id)
    orders.push(order.then((stored) => ({ marketplace, order: stored })))
  }
  if (LegacyMarketplace && name.type !== 'estate' && isAsked(LegacyMarketplace.address)) {
    const marketplace = LegacyMarketplace.address
    const order = state.tryToRead(marketplace, FUNCTIONS.auctionByAssetId, id)
    orders.push(order.then((read) => ({ marketplace, order: read })))
  }
  return Promise.all(orders)
}
