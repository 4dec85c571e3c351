import { SECOND_MS } from '../clock.ts'
import { isObject } from '../json-object.ts'
import type { NewSignedTrade } from '../land/changes/signed-offers.ts'
import { manaText } from '../land/events/amounts.ts'
import { type NamedOffer, type OfferFeed, storedText } from './offer-feed.ts'
import { type ServerClient, UnusableAnswerError } from './server-client.ts'
import { isOfferId, parseTrade } from './signed-trade.ts'
import { type TradeContracts, TradeVerifier } from './verify-trade.ts'

/** The longest answer about one trade. */
const MAX_TRADE_BYTES = 128 * 1024
/** How many trades in a row may have no usable answer. */
const MAX_FAILURES_IN_ROW = 3
/** Servers give fewer where they have a lower limit. */
const PAGE_ROWS = 1_000
/** The most pages of one list: with full pages, more offers than there are parcels. */
const MAX_PAGES = 200

/** A public marketplace server, or another Landpass: https://marketplace-api.decentraland.org for mainnet. */
export class MarketplaceServer implements OfferFeed {
  readonly name = 'listings'
  private readonly client: ServerClient
  private readonly contracts: TradeContracts
  private readonly verifier: TradeVerifier
  private failuresInRow = 0

  constructor(client: ServerClient, contracts: TradeContracts) {
    this.client = client
    this.contracts = contracts
    this.verifier = new TradeVerifier(contracts)
  }

  async *openOffers(): AsyncGenerator<readonly NamedOffer[], void, undefined> {
    const { land, estate } = this.contracts.registries
    for (const registry of [land, estate]) yield* this.openTrades(registry)
  }

  async read({ id }: NamedOffer): Promise<unknown> {
    try {
      const { answer } = await this.client.ask(`/v1/trades/${encodeURIComponent(id)}`, {}, MAX_TRADE_BYTES)
      this.failuresInRow = 0
      this.client.assertNotBusy(answer)
      return answer.status === 200 && isObject(answer.json) ? answer.json.data : undefined
    } catch (error) {
      // One trade that a server cannot answer must not keep all others from being read.
      if (!(error instanceof UnusableAnswerError)) throw error
      this.failuresInRow += 1
      if (this.failuresInRow < MAX_FAILURES_IN_ROW) return undefined
      this.failuresInRow = 0
      throw error
    }
  }

  rowOf(json: unknown, nowMs: number): NewSignedTrade | undefined {
    const trade = parseTrade(json)
    const verified = this.verifier.verify(trade)
    if (verified?.offer.kind !== 'sale' || !verified.offer.isForEverybody) return undefined
    const { offer, isSigned, walletCall, signatureHash, signatureKey } = verified
    const { checks } = trade
    const expiresAtMs = Number(checks.expirationS) * SECOND_MS
    if (expiresAtMs <= nowMs) return undefined
    return {
      id: trade.id,
      reading: this.name,
      trade: storedText(trade),
      marketplace: trade.contract,
      signer: trade.signer,
      signature_hash: signatureHash,
      signature_key: signatureKey,
      is_signed: isSigned,
      wallet_call: walletCall,
      asset_type: offer.asset.type,
      asset_id: offer.asset.id,
      currency: offer.currency,
      price: manaText(offer.price),
      fingerprint: offer.fingerprint,
      uses: String(checks.uses),
      contract_index: String(checks.contractSignatureIndex),
      signer_index: String(checks.signerSignatureIndex),
      asset_index: null,
      periods: null,
      effective_at_ms: Number(checks.effectiveS) * SECOND_MS,
      expires_at_ms: expiresAtMs,
      created_at_ms: Math.min(trade.createdAtMs, nowMs),
    }
  }

  /** The signed trades among the open orders of a registry's tokens. */
  private async *openTrades(registry: string): AsyncGenerator<readonly NamedOffer[], void, undefined> {
    const orders = this.client.list('/v1/orders', {
      ...{ pageRows: PAGE_ROWS, maxPages: MAX_PAGES, nameOf: orderNames },
      queryOf: (skipped) => ({
        ...{ contractAddress: registry, status: 'open', network: 'ETHEREUM', sortBy: 'oldest' },
        ...{ first: String(PAGE_ROWS), skip: String(skipped) },
      }),
      rowsOf: (json) => (isObject(json) ? json.data : undefined),
    })
    for await (const page of orders) yield page.filter(({ isTrade }) => isTrade)
  }
}

/** The name of an order, which is that of its trade where it is a signed one; undefined for what is no order. */
function orderNames(order: unknown): (NamedOffer & { readonly isTrade: boolean }) | undefined {
  if (!isObject(order)) return undefined
  const { id, tradeId } = order
  if (isOfferId(tradeId)) return { id: tradeId, isTrade: true }
  return isOfferId(id) ? { id, isTrade: false } : undefined
}
