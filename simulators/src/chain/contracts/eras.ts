/**
 * The first block of each way in which the contracts worked, from 2018 to today. The simulated chain goes through the
 * same eras in the same order, in the length of its history; what is mined later is of the latest era.
 */
export interface Eras {
  /** LAND: Transfer with operator and user data, Approval and ApprovalForAll, in place of Approve and AuthorizeOperator. */
  readonly approvals: number
  readonly legacyMarketplace: number
  /** The last block in which LAND's ApprovalForAll names the operator first. UpdateOperator is logged from here on. */
  readonly argumentOrderChanges: number
  /** LAND: Transfer with nothing but its three topics. Estates exist. */
  readonly estates: number
  readonly marketplace: number
  readonly mortgages: number
  readonly auction: number
  readonly auctionEnds: number
  /** AddLand follows the Transfer of the parcel, and an estate's Transfer clears its update operator, with an event. */
  readonly addLandAfterTransfer: number
  /** … without an event. Bids and update managers exist. */
  readonly bids: number
  readonly rentals: number
  /** The three deployments of the marketplace for trades that are signed off the chain. */
  readonly trades: readonly [number, number, number]
}

/**
 * The eras of a chain whose history has this many blocks.
 *
 * @example
 * erasOf(1_000).estates // 300
 * erasOf(0).estates // 0: only the latest era
 */
export function erasOf(historyBlocks: number): Eras {
  const at = (share: number) => Math.floor(historyBlocks * share)
  return {
    approvals: at(0.1),
    legacyMarketplace: at(0.12),
    argumentOrderChanges: at(0.25),
    estates: at(0.3),
    marketplace: at(0.36),
    mortgages: at(0.4),
    auction: at(0.45),
    auctionEnds: at(0.52),
    addLandAfterTransfer: at(0.54),
    bids: at(0.58),
    rentals: at(0.7),
    trades: [at(0.76), at(0.84), at(0.92)],
  }
}
