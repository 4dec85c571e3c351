import type { LandFact } from '../../land/events/land-event.ts'
import type { AssetName } from '../../land/records/assets.ts'
import { UnfitLogError } from '../logs/log-data.ts'
import { nobodyIfZero } from './addresses.ts'
import { assetOf, parcelAt, parcelName } from './assets.ts'
import type { Meanings, Source } from './meaning.ts'

/** What both marketplaces, the contract of bids and the auction log. */
export const MARKET_FACTS: Meanings<
  | 'AuctionCreated'
  | 'AuctionSuccessful'
  | 'AuctionCancelled'
  | 'OrderCreated'
  | 'OrderSuccessful'
  | 'OrderCancelled'
  | 'BidCreated'
  | 'BidAccepted'
  | 'BidCancelled'
  | 'BidSuccessful'
> = {
  // The first marketplace had parcels only.
  AuctionCreated: ({ assetId, id, seller, priceInWei, expiresAt }, { contract }) => {
    const listing = { asset: parcelName(assetId), marketplace: contract, contractId: id }
    return [{ kind: 'listing-opened', ...listing, seller, priceWei: priceInWei, expiresAt }]
  },

  AuctionSuccessful: ({ assetId, id, seller, winner, totalPrice }, { contract }) => {
    const listing = { asset: parcelName(assetId), marketplace: contract, contractId: id }
    return [{ kind: 'listing-sold', ...listing, seller, buyer: winner, priceWei: totalPrice }]
  },

  AuctionCancelled({ assetId, id, seller }, { contract }) {
    // The owner of the market can cancel a listing that does not exist.
    if (nobodyIfZero(seller) === null) return []
    return [{ kind: 'listing-cancelled', asset: parcelName(assetId), marketplace: contract, contractId: id }]
  },

  OrderCreated: ({ nftAddress, assetId, id, seller, priceInWei, expiresAt }, source) =>
    ofLand(source, nftAddress, assetId, (asset) => {
      const listing = { asset, marketplace: source.contract, contractId: id }
      return { kind: 'listing-opened', ...listing, seller, priceWei: priceInWei, expiresAt }
    }),

  OrderSuccessful: ({ nftAddress, assetId, id, seller, buyer, totalPrice }, source) =>
    ofLand(source, nftAddress, assetId, (asset) => {
      const listing = { asset, marketplace: source.contract, contractId: id }
      return { kind: 'listing-sold', ...listing, seller, buyer, priceWei: totalPrice }
    }),

  OrderCancelled: ({ nftAddress, assetId, id }, source) =>
    ofLand(source, nftAddress, assetId, (asset) => ({
      kind: 'listing-cancelled',
      asset,
      marketplace: source.contract,
      contractId: id,
    })),

  BidCreated: ({ tokenAddress, tokenId, id, bidder, price, expiresAt, fingerprint }, source) =>
    ofLand(source, tokenAddress, tokenId, (asset) => ({
      kind: 'bid-placed',
      asset,
      contract: source.contract,
      bidId: id,
      bidder,
      tokenAddress,
      tokenId: String(tokenId),
      priceWei: price,
      expiresAtS: expiresAt,
      // Nothing reads what was sent as the fingerprint of a parcel.
      fingerprint: asset.type === 'estate' ? fingerprint : '0x',
    })),

  BidAccepted: ({ tokenAddress, tokenId, id, bidder, seller, price }, source) =>
    ofLand(source, tokenAddress, tokenId, (asset) => {
      const bid = { asset, contract: source.contract, bidId: id, bidder }
      return { kind: 'bid-accepted', ...bid, seller, priceWei: price }
    }),

  BidCancelled: ({ tokenAddress, tokenId, id, bidder }, source) =>
    ofLand(source, tokenAddress, tokenId, (asset) => ({
      kind: 'bid-cancelled',
      asset,
      contract: source.contract,
      bidId: id,
      bidder,
    })),

  BidSuccessful({ xs, ys, beneficiary, pricePerLandInMana }) {
    if (xs.length !== ys.length)
      throw new UnfitLogError('the parcels of an auction have more of one coordinate than of the other')
    const parcels = xs.map((x, index) => parcelAt(x, ys[index]!))
    if (parcels.length === 0) return []
    return [{ kind: 'parcels-auctioned', parcels, buyer: beneficiary, priceWei: pricePerLandInMana }]
  },
}

/** Markets also trade tokens of other contracts, whose logs mean nothing here. */
function ofLand(
  { network }: Source,
  token: string,
  tokenId: bigint,
  factOf: (asset: AssetName) => LandFact,
): readonly LandFact[] {
  const asset = assetOf(network, token, tokenId)
  return asset ? [factOf(asset)] : []
}
