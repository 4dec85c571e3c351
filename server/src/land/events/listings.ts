import type { AssetName } from '../records/assets.ts'
import { deadlineMs, manaText } from './amounts.ts'
import type { LogPlace } from './land-event.ts'
import { type Awaitable, type PublicationRow, whenRead } from './land-rows.ts'
import { assetOf, sizeOf } from './new-rows.ts'
import type { Fact, Step } from './rule-context.ts'

/**
 * The life of a listing. A marketplace stores one for each asset, until it is sold, cancelled or replaced:
 *
 *   open ──the asset leaves its seller──▶ cancelled (moved) ──the asset returns to its seller──▶ open
 *   open, moved ──sold──▶ sold (event)      ──cancelled──▶ cancelled (event)      ──a newer one──▶ cancelled (replaced)
 *
 * Nothing is logged when the asset leaves or returns. Of each asset and marketplace at most one listing is open or
 * `moved`: the one that the contract stores.
 */

/** A new listing takes the place of the one that the marketplace stored for the asset. */
export async function openListing(step: Step, fact: Fact<'listing-opened'>): Promise<void> {
  const { rows, at } = step
  await assetOf(step, fact.asset)
  for (const before of await listingsIn(step, fact)) {
    if (!isStored(before)) continue
    // One that moved was closed then: its time and its transaction stay those of the move.
    const kept = before.status === 'open' ? undefined : before
    rows.put('publication', {
      ...closed(before, at, { closed_by: 'replaced' }),
      ...(kept && {
        block_time_updated_at_ms: kept.block_time_updated_at_ms,
        closed_tx_hash: kept.closed_tx_hash,
      }),
    })
  }
  rows.put('publication', {
    ...(await newPublication(step, fact)),
    owner: fact.seller,
    price: manaText(fact.priceWei),
    expires_at_ms: deadlineMs(fact.expiresAt),
    status: 'open',
    buyer: null,
    block_time_updated_at_ms: null,
    closed_by: null,
    closed_tx_hash: null,
  })
}

/**
 * The marketplace sold an asset. Its transfer, which is logged before, has closed the listing as moved. A sale of which
 * the listing is unknown becomes a row of its own.
 */
export async function sellListing(step: Step, fact: Fact<'listing-sold'>): Promise<void> {
  const { rows, at, context } = step
  const newestFirst = (await listingsIn(step, fact)).reverse()
  const isLegacy = fact.marketplace === context.contracts.legacyMarketplace
  const sold = newestFirst.find(
    (one) =>
      one.owner === fact.seller && (isLegacy || one.contract_id === fact.contractId) && canBeSoldNow(one, at),
  )
  // The legacy marketplace reads the id after the transfer, in which the buyer may have listed the parcel again: its event
  // has the id of that new listing then, and the contract removed it.
  if (isLegacy)
    for (const one of newestFirst)
      if (one !== sold && isStored(one)) rows.put('publication', closed(one, at, { closed_by: 'event' }))
  if (!sold) return addSale(step, fact)
  rows.put('publication', {
    ...closed(sold, at, { closed_by: 'event' }),
    status: 'sold',
    buyer: fact.buyer,
    price: manaText(fact.priceWei),
    ...(await soldAt(step, fact.asset)),
  })
}

/** A marketplace stores one listing for an asset: that one is cancelled, whatever its id. */
export async function cancelListing(step: Step, fact: Fact<'listing-cancelled'>): Promise<void> {
  // The owner of the legacy marketplace can cancel what is not listed.
  if (/^0x0*$/.test(fact.contractId)) return
  for (const one of await listingsIn(step, fact))
    if (isStored(one)) step.rows.put('publication', closed(one, step.at, { closed_by: 'event' }))
}

/** The listings of an asset that can be bought are those of its new owner, stored before or not. */
export function moveListings({ rows, at }: Step, asset: AssetName, owner: string | null): Awaitable<void> {
  return whenRead(rows.publicationsOf(asset), (publications) => {
    for (const one of publications) {
      if (one.status === 'open' && one.owner !== owner)
        rows.put('publication', closed(one, at, { closed_by: 'moved' }))
      else if (one.closed_by === 'moved' && one.owner === owner)
        rows.put('publication', {
          ...one,
          status: 'open',
          block_time_updated_at_ms: null,
          closed_by: null,
          closed_tx_hash: null,
          updated_at_ms: at.timeMs,
        })
    }
  })
}

/** A sale without a listing on the chain. Its deadline is unknown: the time of the sale stands for it. */
export async function addSale(
  step: Step,
  sale: Pick<Fact<'listing-sold'>, 'asset' | 'marketplace' | 'contractId' | 'seller' | 'buyer' | 'priceWei'>,
  source: PublicationRow['sold_source'] = 'order',
): Promise<void> {
  const { rows, at } = step
  await assetOf(step, sale.asset)
  rows.put('publication', {
    ...(await newPublication(step, sale)),
    owner: sale.seller,
    price: manaText(sale.priceWei),
    expires_at_ms: at.timeMs,
    status: 'sold',
    buyer: sale.buyer,
    block_time_updated_at_ms: at.timeMs,
    closed_by: 'event',
    closed_tx_hash: at.txHash,
    ...(await soldAt(step, sale.asset)),
    sold_source: source,
  })
}

/** What is known of a sale of a stored listing besides its parties and its price. */
async function soldAt(step: Step, asset: AssetName) {
  const { blockNumber, logIndex } = step.at
  return {
    sold_size: await sizeOf(step, asset),
    sold_source: 'order' as const,
    sold_block_number: blockNumber,
    sold_log_index: logIndex,
  }
}

type Named = Pick<Fact<'listing-opened'>, 'asset' | 'marketplace' | 'contractId'>

/** The listings of an asset in one marketplace, oldest first. */
async function listingsIn({ rows }: Step, { asset, marketplace }: Named): Promise<PublicationRow[]> {
  const all = await rows.publicationsOf(asset)
  return all.filter(({ marketplace_address }) => marketplace_address === marketplace)
}

async function newPublication({ rows, at }: Step, { asset, marketplace, contractId }: Named) {
  return {
    key: await rows.nextKey('publication'),
    tx_hash: at.txHash,
    tx_status: 'confirmed',
    contract_id: contractId,
    block_number: at.blockNumber,
    block_time_created_at_ms: at.timeMs,
    asset_id: asset.id,
    asset_type: asset.type,
    marketplace_address: marketplace,
    created_at_ms: at.timeMs,
    updated_at_ms: at.timeMs,
    log_index: at.logIndex,
    trade_id: null,
    sold_size: null,
    sold_source: null,
    sold_block_number: null,
    sold_log_index: null,
  }
}

/** Whether the marketplace still has it. */
function isStored({ status, closed_by }: PublicationRow): boolean {
  return status === 'open' || closed_by === 'moved'
}

/** Whether no event at that time or later changes the listing. */
export function isListingFinished(one: PublicationRow, nowMs: number): boolean {
  if (one.status === 'sold' || one.closed_by === 'event') return true
  return one.closed_by === 'replaced' && one.block_time_updated_at_ms !== nowMs
}

/**
 * Whether a sale that is logged now can be that of this listing: the contract stores it, a new listing replaced it
 * during the transfer of the sale, or a snapshot does not say why it is closed.
 */
function canBeSoldNow(one: PublicationRow, at: LogPlace): boolean {
  if (isStored(one)) return true
  if (one.status !== 'cancelled') return false
  return (
    one.closed_by === null || (one.closed_by === 'replaced' && one.block_time_updated_at_ms === at.timeMs)
  )
}

function closed(
  one: PublicationRow,
  at: LogPlace,
  { closed_by }: { closed_by: NonNullable<PublicationRow['closed_by']> },
): PublicationRow {
  return {
    ...one,
    status: 'cancelled',
    block_time_updated_at_ms: at.timeMs,
    closed_by,
    closed_tx_hash: at.txHash,
    updated_at_ms: at.timeMs,
  }
}
