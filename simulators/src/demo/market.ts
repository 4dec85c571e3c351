import type { ExactNumber } from '@landpass/server/land/records/exact-json'
import type { PublicationRecord } from '@landpass/server/land/records/publication'
import type { Random } from '../random.ts'
import type { Asset, Assets, Deal } from './assets.ts'
import { blockAt, DAY_S, iso, PRESENT_S, rowTimes, SECOND_MARKET_START_S, YEAR_S } from './chain-time.ts'
import { askingPrice, awkwardPrice, priceText } from './values.ts'

const FIRST_MARKETPLACE = '0xb3bca6f5052c7e24726b44da7403b56a8a1b98f8'
const SECOND_MARKETPLACE = '0x8e5660b4ab70168b5a6feea0e0315cb49c8cd539'

/** A publication, the asset it is about, and what was asked: loans and bids look at all three. */
export interface Listing {
  readonly asset: Asset
  /** The deal it led to; undefined while open. */
  readonly deal: Deal | undefined
  readonly fromS: number
  readonly expiresS: number
  readonly whole: number
  readonly record: PublicationRecord
}

type Draft = Omit<Listing, 'record' | 'whole'> & { readonly txHash: string }

/** All publications, in order of creation. */
export function listingsOf(assets: Assets, random: Random): Listing[] {
  const traded = [...assets.parcels, ...assets.estates.map(({ asset }) => asset)]
  const drafts = offerTogether(traded.flatMap((asset) => draftsOf(asset, random)))
  drafts.sort((one, other) => one.fromS - other.fromS)
  const created = rowTimes(() => random.between(3000, 60_000))
  const awkward = new Set(awkwardOnes(drafts))
  return drafts.map((draft) => {
    const whole = askingPrice(draft.asset.value, draft.fromS, random)
    const price = awkward.has(draft) ? awkwardPrice(whole, random) : priceText(whole, random)
    return { ...draft, whole, record: recordOf(draft, { price, createdAt: created(draft.fromS) }, random) }
  })
}

function draftsOf(asset: Asset, random: Random): Draft[] {
  const drafts: Draft[] = asset.deals.flatMap((deal) => {
    if (deal.kind === 'bid-sold') return []
    const { fromS, toS } = deal
    const longest = Math.floor((fromS + 5 * YEAR_S - toS) / DAY_S)
    const expiresS = toS + random.between(1, Math.min(300, longest)) * DAY_S
    return [{ asset, deal, fromS, expiresS: expiresS - (expiresS % DAY_S), txHash: random.hash() }]
  })
  const { offer } = asset
  return offer ? [...drafts, { asset, deal: undefined, ...offer, txHash: random.hash() }] : drafts
}

/** Gives some pairs of open offers of one owner the same transaction, time and deadline. */
function offerTogether(drafts: readonly Draft[]): Draft[] {
  const alone = new Map<string, Draft>()
  const moved = new Map<Draft, Draft>()
  const most = Math.max(1, Math.floor(drafts.length / 1000))
  for (const draft of drafts) {
    if (draft.deal || draft.expiresS < PRESENT_S || draft.asset.type !== 'parcel') continue
    const other = alone.get(draft.asset.owner)
    if (!other) {
      alone.set(draft.asset.owner, draft)
    } else if (moved.size < most) {
      alone.delete(draft.asset.owner)
      // Both at the later time, which is after the last deal of either parcel.
      const [earlier, later] = draft.fromS < other.fromS ? [draft, other] : [other, draft]
      const { fromS, expiresS, txHash } = later
      moved.set(earlier, { ...earlier, fromS, expiresS, txHash })
      earlier.asset.offer = { fromS, expiresS }
    }
  }
  return drafts.map((draft) => moved.get(draft) ?? draft)
}

/** The open offers whose prices get more digits than a double can hold. */
function awkwardOnes(drafts: readonly Draft[]): Draft[] {
  return drafts.filter(({ deal, expiresS }) => !deal && expiresS > PRESENT_S).slice(0, 3)
}

function recordOf(
  { asset, deal, fromS, expiresS, txHash }: Draft,
  { price, createdAt }: { price: ExactNumber; createdAt: string },
  random: Random,
): PublicationRecord {
  return {
    tx_hash: txHash,
    tx_status: 'confirmed',
    owner: deal ? deal.seller : asset.owner,
    price,
    expires_at: expiresS * 1000,
    status: deal ? (deal.buyer === undefined ? 'cancelled' : 'sold') : 'open',
    buyer: deal?.buyer ?? null,
    contract_id: random.hash(),
    block_number: blockAt(fromS),
    block_time_created_at: fromS * 1000,
    block_time_updated_at: deal ? deal.toS * 1000 : null,
    asset_id: asset.id,
    asset_type: asset.type,
    marketplace_address: fromS < SECOND_MARKET_START_S ? FIRST_MARKETPLACE : SECOND_MARKETPLACE,
    created_at: createdAt,
    updated_at: deal ? iso(deal.toS * 1000 + random.between(3000, 90_000)) : createdAt,
  }
}
