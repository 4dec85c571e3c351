import { manaText, secondsToMs, weiOf } from '../../land/events/amounts.ts'
import { type FingerprintedEstate, fingerprintTest } from '../../land/events/fingerprints.ts'
import type { CheckedBid } from '../../land/queries/checked-land.ts'
import type { CheckContext, Token } from './check-context.ts'
import { UnansweredError } from './check-errors.ts'
import { FUNCTIONS } from './contract-functions.ts'

/** What the contract keeps of a bid. */
interface KeptBid {
  readonly id: string
  readonly bidder: string
  readonly priceWei: bigint
  readonly expiresAtS: bigint
}

interface Compared {
  readonly token: Token
  /** To whom the bids are offered; null where there is none. */
  readonly owner: string | null
  /** What bids on an estate must name; undefined for a parcel. */
  readonly estate?: FingerprintedEstate
}

/** Compares the bids that the contract keeps on a parcel or an estate: one of each bidder, also if it has expired. */
export async function checkBids(context: CheckContext, compared: Compared): Promise<void> {
  const { network, state, rows, findings, lists } = context
  const contract = network.contracts.ERC721Bid?.address
  const { asset, registry, id, name } = compared.token
  const inTable = rows.bidsOf(name)
  if (contract === undefined) {
    for (const _ of inTable) findings.skip('bid')
    return
  }
  const count = await state.read(contract, FUNCTIONS.bidCounterByToken, registry, id)
  if (!lists.take(count)) throw new UnansweredError(contract, FUNCTIONS.bidCounterByToken.signature)
  const bids: readonly KeptBid[] = await Promise.all(
    Array.from({ length: Number(count) }, (_, at) =>
      state.read(contract, FUNCTIONS.getBidByToken, registry, id, BigInt(at)),
    ),
  )
  for (const bid of bids) {
    const ofBidder = inTable.filter(({ bidder }) => bidder === bid.bidder)
    const row = ofBidder.findLast(isKept)
    if (row) compareBid(context, compared, { row, bid })
    else if (isUnknown(ofBidder, bid, compared)) findings.skip('bid')
    else findings.compare({ asset, field: 'bid', of: bid.bidder }, { table: null, contract: bid.id })
  }
  const kept = inTable.filter(isKept)
  for (const [at, row] of kept.entries()) {
    const isLast = kept.findLastIndex(({ bidder }) => bidder === row.bidder) === at
    if (!isLast || !bids.some(({ bidder }) => bidder === row.bidder))
      findings.compare({ asset, field: 'bid', of: row.bidder }, { table: row.id, contract: null })
  }
}

function compareBid(
  { findings }: CheckContext,
  { token, owner, estate }: Compared,
  { row, bid }: { readonly row: CheckedBid; readonly bid: KeptBid },
): void {
  const compare = (field: string, table: string | number, contract: string | number | null) =>
    findings.compare({ asset: token.asset, field: `bid.${field}`, of: bid.bidder }, { table, contract })
  compare('id', row.id, bid.id)
  compare('price', manaText(weiOf(row.price)), manaText(bid.priceWei))
  compare('expires_at_ms', row.expires_at_ms, secondsToMs(bid.expiresAtS))
  if (owner !== null) compare('seller', row.seller, owner)
  const isOpen = estate === undefined || fingerprintTest(estate)(row.fingerprint)
  compare('status', row.status, isOpen ? 'open' : 'cancelled')
}

function isKept({ status, closed_by }: CheckedBid): boolean {
  return status === 'open' || closed_by === 'fingerprint'
}

/** Whether a snapshot has the bid as closed and does not say why, and the estate has other parcels than the bid names. */
function isUnknown(ofBidder: readonly CheckedBid[], bid: KeptBid, { estate }: Compared): boolean {
  const closed = ofBidder.find(({ id }) => id === bid.id)
  return closed !== undefined && estate !== undefined && !fingerprintTest(estate)(closed.fingerprint)
}
