import { encodeTokenId } from '@landpass/client/grid'
import type { MarketplaceSimulator } from '@landpass/simulators/listings/marketplace-simulator'
import { type ListingDraft, signListing } from '@landpass/simulators/listings/signed-listing'
import { type RentalDraft, signRental } from '@landpass/simulators/listings/signed-rental'
import { ruleContextOf } from '../../../src/chain/meaning/rule-context-of.ts'
import { MAINNET } from '../../../src/chain/networks/known-networks.ts'
import { DAY_MS, HOUR_MS } from '../../../src/clock.ts'
import type { Db } from '../../../src/db/engine.ts'
import { inTransaction } from '../../../src/db/transaction.ts'
import { addressOf } from '../../../src/ethereum/signatures.ts'
import {
  readChainPosition,
  type StoredBlock,
  startPosition,
} from '../../../src/land/changes/chain-position.ts'
import { followChain } from '../../../src/land/changes/chain-step.ts'
import { applyEvent } from '../../../src/land/events/apply-event.ts'
import type { LandFact } from '../../../src/land/events/land-event.ts'
import { importSnapshot } from '../../../src/land/snapshot/import.ts'
import { rentalContractsOf, tradeContractsOf } from '../../../src/listings/trade-contracts.ts'
import { testClock } from '../http/land-server.ts'
import { hashOf } from '../land/land-rows.ts'
import { TINY_WORLD, tinySnapshot } from '../land/tiny-world.ts'

export const CONTRACTS = tradeContractsOf(MAINNET)!
export const RENTALS = rentalContractsOf(MAINNET)!
export const [V1, , V3] = CONTRACTS.marketplaces.map(({ address }) => address) as [string, string, string]
const SELLER_KEY = Buffer.alloc(32, 0x51)
export const SELLER = addressOf(SELLER_KEY)
export const STRANGER = addressOf(Buffer.alloc(32, 0x52))
const START: StoredBlock = {
  ...{ number: 100, hash: hashOf('start'), parentHash: hashOf('before'), timeS: 1, logsDigest: undefined },
}

/** The seller holds the parcel, and the first marketplace may transfer it. */
export const OWNED = {
  ...{ kind: 'asset-transferred', asset: { type: 'parcel', id: '1,1' }, from: null, to: SELLER },
} as const satisfies LandFact
const APPROVED: LandFact = {
  ...{ kind: 'approval-for-all-set', registry: 'parcel', owner: SELLER, operator: V1, isApproved: true },
}

/** The tiny world as a chain has it, with a parcel of a seller who offers it on a marketplace server. */
export class OfferStory {
  readonly clock = testClock()
  readonly marketplace: MarketplaceSimulator
  readonly db: Db
  private blocks = 0

  constructor(db: Db, marketplace: MarketplaceSimulator) {
    this.db = db
    this.marketplace = marketplace
  }

  /** Replaces the world, and makes its first block. */
  async newWorld(): Promise<void> {
    const { db, clock } = this
    const report = await importSnapshot(db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })
    const chain = { chainId: 1, contractsHash: hashOf('contracts'), rulesVersion: 1 }
    await inTransaction(db, (tx) => startPosition(tx, report.worldId!, { ...chain, block: START }))
    await this.block([OWNED, APPROVED])
  }

  /** Offers the parcel for 5 MANA, unless the draft says otherwise. */
  offer(id: string, draft: Partial<ListingDraft> = {}): void {
    const nowMs = this.clock.nowMs()
    const trade = signListing({
      ...{ id, key: SELLER_KEY, chainId: 1, marketplace: V1, mana: CONTRACTS.mana },
      ...{ registry: CONTRACTS.registries.land, tokenId: String(encodeTokenId({ x: 1, y: 1 })) },
      ...{ amount: `5${'0'.repeat(18)}`, createdAt: nowMs - HOUR_MS, expiration: nowMs + DAY_MS * 30 },
      ...draft,
    })
    this.marketplace.trades.set(id, trade)
  }

  /** Offers the parcel for rent, for 20 MANA a day or 15 for more than a week, unless the draft says otherwise. */
  offerRent(id: string, draft: Partial<RentalDraft> = {}): void {
    const nowMs = this.clock.nowMs()
    const listing = signRental({
      ...{ id, key: SELLER_KEY, chainId: 1, rentals: RENTALS.rentals, isEstate: false },
      ...{ registry: RENTALS.registries.land, tokenId: String(encodeTokenId({ x: -2, y: -2 })) },
      periods: [
        { minDays: 1, maxDays: 7, pricePerDay: `20${'0'.repeat(18)}` },
        { minDays: 8, maxDays: 30, pricePerDay: `15${'0'.repeat(18)}` },
      ],
      ...{ createdAt: nowMs - HOUR_MS, expiration: nowMs + DAY_MS * 30 },
      ...draft,
    })
    this.marketplace.rentals.set(id, listing)
  }

  /** A block with these facts, after undoing some. */
  async block(facts: readonly LandFact[], undone = 0): Promise<void> {
    const { worldId, epoch, finalized, blocks } = (await readChainPosition(this.db))!
    const parent = blocks.at(-1 - undone)!
    this.blocks += 1
    const name = `block ${this.blocks}`
    const [number, nowMs] = [parent.number + 1, this.clock.nowMs()]
    const at = { blockNumber: number, timeMs: nowMs, txHash: hashOf(name) }
    const added = {
      ...{ number, hash: hashOf(name), parentHash: parent.hash, timeS: 2, logsDigest: undefined },
      events: facts.map((fact, logIndex) => ({ ...fact, at: { ...at, logIndex } })),
    }
    const step = { worldId, epoch, finalized, from: blocks.at(-1)!, undoTo: parent, blocks: [added] }
    const context = ruleContextOf(MAINNET)
    await inTransaction(this.db, (tx) =>
      followChain(tx, step, { nowMs, apply: (rows, event) => applyEvent(rows, event, context) }),
    )
  }

  /** The seller, or a stranger, cancels a stored offer. */
  async cancelled(id: string, by: string): Promise<LandFact> {
    const { signature_key } = await this.db
      .selectFrom('signed_trade')
      .select('signature_key')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return { kind: 'signature-cancelled', marketplace: V1, by, signatureKey: signature_key }
  }
}
