import type { Coord } from '@landpass/client/grid'
import { type AssetName, ZERO_ADDRESS } from '../records/assets.ts'
import { manaText, secondsToMs } from './amounts.ts'
import { fingerprintOf, fingerprintTest, registryOrder } from './fingerprints.ts'
import type { LogPlace } from './land-event.ts'
import { type Awaitable, type BidRow, whenRead } from './land-rows.ts'
import { assetOf, estateOf, sizeOf } from './new-rows.ts'
import type { Fact, Step } from './rule-context.ts'

/**
 * The life of a bid. The contract keeps one for each asset and bidder, and transfers of the asset do not change that:
 *
 *   open ──the parcels of the estate change──▶ cancelled (fingerprint) ──they are the same again──▶ open
 *   open, fingerprint ──accepted──▶ sold (event)             ──cancelled──▶ cancelled (event)
 *                     ──another one accepted──▶ cancelled (void)   ──a newer one──▶ cancelled (replaced)
 *
 * Only acceptance and cancellation are logged. The older service calls the second state `fingerprintChanged`; the records
 * have no such word.
 */

/** The longest fingerprint that records take, as text: 512 bytes. No estate has one that is longer than 32 bytes. */
const MAX_FINGERPRINT_LENGTH = 2 + 2 * 512

/** A bid is offered to the owner of the asset. It takes the place of the bidder's bid before. */
export async function placeBid(step: Step, fact: Fact<'bid-placed'>): Promise<void> {
  const { rows, at } = step
  const { owner } = await assetOf(step, fact.asset)
  for (const before of await bidsIn(step, fact))
    if (isKept(before) && before.bidder === fact.bidder) rows.put('bid', closed(before, at, 'replaced'))
  const bid: BidRow = {
    key: await rows.nextKey('bid'),
    id: fact.bidId,
    token_address: fact.tokenAddress,
    token_id: fact.tokenId,
    bidder: fact.bidder,
    seller: owner ?? ZERO_ADDRESS,
    price: manaText(fact.priceWei),
    expires_at_ms: secondsToMs(fact.expiresAtS),
    fingerprint: fact.fingerprint.slice(0, MAX_FINGERPRINT_LENGTH),
    status: 'open',
    asset_id: fact.asset.id,
    asset_type: fact.asset.type,
    block_number: at.blockNumber,
    block_time_created_at_ms: at.timeMs,
    block_time_updated_at_ms: at.timeMs,
    created_at_ms: at.timeMs,
    updated_at_ms: at.timeMs,
    tx_hash: at.txHash,
    log_index: at.logIndex,
    contract_address: fact.contract,
    closed_by: null,
    closed_tx_hash: null,
    sold_size: null,
    sold_log_index: null,
  }
  rows.put('bid', (await isForParcelsOf(step, bid)) ? bid : closed(bid, at, 'fingerprint'))
}

/** One bid on an asset is accepted; the contract forgets all others on it. They were offered to the same seller. */
export async function acceptBid(step: Step, fact: Fact<'bid-accepted'>): Promise<void> {
  const { rows, at } = step
  const kept = (await bidsIn(step, fact)).filter(isKept)
  const accepted = kept.findLast(({ id }) => id === fact.bidId)
  for (const bid of kept) {
    if (bid !== accepted) rows.put('bid', { ...closed(bid, at, 'void'), seller: fact.seller })
    else
      rows.put('bid', {
        ...closed(bid, at, 'event'),
        status: 'sold',
        seller: fact.seller,
        price: manaText(fact.priceWei),
        sold_size: await sizeOf(step, fact.asset),
        sold_log_index: at.logIndex,
      })
  }
}

export async function cancelBid(step: Step, fact: Fact<'bid-cancelled'>): Promise<void> {
  const bid = (await bidsIn(step, fact)).findLast((one) => one.id === fact.bidId && isKept(one))
  if (bid) step.rows.put('bid', closed(bid, step.at, 'event'))
}

/** Bids are offered to the owner of the asset. While a bid is accepted the token passes through the contract of bids. */
export function moveBids(step: Step, asset: AssetName, owner: string | null): Awaitable<void> {
  const { rows, at, context } = step
  if (owner === null || owner === context.contracts.bids) return
  return whenRead(rows.bidsOf(asset), (bids) => {
    for (const bid of bids)
      if (isKept(bid) && bid.seller !== owner)
        rows.put('bid', { ...bid, seller: owner, updated_at_ms: at.timeMs })
  })
}

/** The parcels of an estate changed: its bids are good for the parcels that the bidders saw. */
export function judgeBids({ rows, at }: Step, { id, fingerprint, parcels }: JudgedEstate): Awaitable<void> {
  return whenRead(rows.bidsOf({ type: 'estate', id }), (bids) => {
    const kept = bids.filter(isKept)
    if (kept.length === 0) return
    return whenRead(parcels(), (inOrder) => {
      const isTaken = fingerprintTest({ id, fingerprint, parcels: inOrder })
      for (const bid of kept) {
        const isGood = isTaken(bid.fingerprint)
        if (bid.status === 'open' && !isGood) rows.put('bid', closed(bid, at, 'fingerprint'))
        else if (bid.status !== 'open' && isGood)
          rows.put('bid', { ...changed(bid, at), status: 'open', closed_by: null, closed_tx_hash: null })
      }
    })
  })
}

/** An estate after its parcels changed. */
interface JudgedEstate {
  readonly id: string
  /** The first one. */
  readonly fingerprint: string
  /** In the order in which the registry keeps them; read only where there are bids. */
  readonly parcels: () => Awaitable<readonly Coord[]>
}

async function bidsIn(
  { rows }: Step,
  { asset, contract }: Fact<'bid-accepted' | 'bid-cancelled' | 'bid-placed'>,
) {
  const all = await rows.bidsOf(asset)
  // A snapshot may leave the contract out.
  return all.filter(({ contract_address }) => contract_address === null || contract_address === contract)
}

/** Only estates are compared with the fingerprint of a bid. */
async function isForParcelsOf(step: Step, { asset_type, asset_id, fingerprint }: BidRow): Promise<boolean> {
  if (asset_type === 'parcel') return true
  const { rows } = step
  const estate = await estateOf(step, asset_id)
  const parcels = registryOrder(estate, await rows.parcelsOfEstate(asset_id))
  const first = await fingerprintOf(rows, estate)
  return fingerprintTest({ id: asset_id, fingerprint: first, parcels })(fingerprint)
}

/** Whether the contract still has it. */
function isKept({ status, closed_by }: BidRow): boolean {
  return status === 'open' || closed_by === 'fingerprint'
}

/** Whether no event changes the bid any more. */
export function isBidFinished(bid: BidRow): boolean {
  return !isKept(bid)
}

function closed(bid: BidRow, at: LogPlace, closed_by: NonNullable<BidRow['closed_by']>): BidRow {
  return { ...changed(bid, at), status: 'cancelled', closed_by, closed_tx_hash: at.txHash }
}

function changed(bid: BidRow, at: LogPlace): BidRow {
  return {
    ...bid,
    block_number: at.blockNumber,
    block_time_updated_at_ms: at.timeMs,
    updated_at_ms: at.timeMs,
  }
}
