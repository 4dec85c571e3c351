import { keccak256 } from '../../ethereum/keccak256.ts'
import type { AssetName } from '../records/assets.ts'
import type { TradeIndexRow, TradeSignatureRow } from './land-rows.ts'
import { addSale } from './listings.ts'
import type { Fact, Step } from './rule-context.ts'

/**
 * An offer that was signed off the chain was settled: a sale in the history of the asset. A swap or a gift has no price and
 * is no sale. The row of each asset of a trade has the whole price of the trade.
 */
export async function settleTrade(step: Step, fact: Fact<'asset-traded'>): Promise<void> {
  const { priceWei } = fact
  if (priceWei === null || priceWei === 0n) return
  await addSale(step, { ...fact, priceWei }, 'trade')
}

/** Whether it counts is for the reader to judge: it does only if `by` signed the trade. */
export async function cancelSignature(step: Step, fact: Fact<'signature-cancelled'>): Promise<void> {
  const { marketplace, by, signatureKey } = fact
  const row = await signatureOf(step, { marketplace, signer: by, signatureKey })
  step.rows.put('trade_signature', { ...row, is_cancelled: true })
}

export async function useSignature(step: Step, fact: Fact<'signature-used'>): Promise<void> {
  const row = await signatureOf(step, fact)
  step.rows.put('trade_signature', { ...row, uses: row.uses + 1 })
}

/** Trades that were signed with another index are void. */
export async function raiseSignatureIndex(step: Step, fact: Fact<'signature-index-raised'>): Promise<void> {
  const { marketplace, signer, index } = fact
  const row = await indexOf(step, marketplace, signer ?? '')
  step.rows.put('trade_index', { ...row, value: index.toString() })
}

/** An index counts offers that are void now, as `uses` does: so it is the `uses` of a key that names the asset. */
export function raiseAssetIndex({ rows }: Step, fact: Fact<'asset-index-raised'>): void {
  const { marketplace, signer, asset, index } = fact
  const uses = Number(index < MAX_INDEX ? index : MAX_INDEX)
  rows.put('trade_signature', {
    ...{ marketplace, signer, signature_key: assetIndexKey(asset), is_cancelled: false, uses },
  })
}

/** Indexes are raised by one each: none of a real chain is greater. */
const MAX_INDEX = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Under which the index of an asset stands among the signatures of a signer.
 *
 * @example
 * assetIndexKey({ type: 'parcel', id: '1,2' }) // the Keccak-256 of 'parcel 1,2'
 */
export function assetIndexKey({ type, id }: AssetName): string {
  return `0x${Buffer.from(keccak256(Buffer.from(`${type} ${id}`))).toString('hex')}`
}

export async function pauseMarketplace(step: Step, fact: Fact<'marketplace-paused'>): Promise<void> {
  const row = await indexOf(step, fact.marketplace, '')
  step.rows.put('trade_index', { ...row, is_paused: fact.isPaused })
}

async function indexOf({ rows }: Step, marketplace: string, signer: string): Promise<TradeIndexRow> {
  const known = await rows.tradeIndex(marketplace, signer)
  return known ?? { marketplace, signer, value: '0', is_paused: false }
}

async function signatureOf(
  { rows }: Step,
  {
    marketplace,
    signer,
    signatureKey,
  }: Pick<Fact<'signature-used'>, 'marketplace' | 'signer' | 'signatureKey'>,
): Promise<TradeSignatureRow> {
  const known = await rows.tradeSignature(marketplace, signer, signatureKey)
  return known ?? { marketplace, signer, signature_key: signatureKey, is_cancelled: false, uses: 0 }
}
