import { coordText, decodeTokenId } from '@landpass/client/grid'
import type { Contracts } from './contracts/contracts.ts'
import type { LandToken } from './contracts/tokens.ts'
import { hashOfText, hexOf, type Word } from './encoding/words.ts'

/** The parts of the state, for `GET /truth?parts=…`. */
export const TRUTH_PARTS = [
  'parcels',
  'estates',
  'orders',
  'bids',
  'approvals_for_all',
  'update_managers',
  'mortgages',
  'rentals',
  'signatures',
] as const
export type TruthPart = (typeof TRUTH_PARTS)[number]

type Rows = readonly Readonly<Record<string, unknown>>[]

/**
 * What the contracts have stored after a block: what a follower has to find out from the logs. Amounts, token ids and
 * large numbers are decimal texts, other bytes are hex, addresses are in lower case, null is nobody. Owners are those of
 * the registries: of a parcel in an estate it is the estate registry, of a rented one the contract of rentals.
 */
export function truthAt(
  contracts: Contracts,
  block: number,
  parts: readonly TruthPart[],
): Readonly<Record<string, Rows>> {
  return Object.fromEntries(parts.map((part) => [part, PARTS[part](contracts, block)]))
}

const PARTS: Readonly<Record<TruthPart, (contracts: Contracts, block: number) => Rows>> = {
  parcels: ({ land, estates }, block) =>
    [...land.owners.entries(block)].map(([id]) => {
      const place = decodeTokenId(BigInt(id))
      const estate = estates.estateOfParcel.get(id, block)
      return {
        id: place ? coordText(place) : null,
        ...landRow(land, id, block),
        estate_id: estate === undefined ? null : decimal(estate),
      }
    }),
  estates: ({ estates }, block) =>
    [...estates.owners.entries(block)].map(([id]) => ({
      ...landRow(estates, id, block),
      fingerprint: estates.firstFingerprint(id, block),
      parcels: estates.parcelsOf(id, block).map(placeOf).sort(),
    })),
  orders: (contracts, block) =>
    [contracts.legacyMarket, contracts.market].flatMap((market) =>
      [...market.orders.entries(block)].flatMap(([key, order]) => {
        const [token, id] = key.split(' ') as [string, Word]
        const registry = registryOf(contracts, token)
        if (!registry) return []
        return {
          marketplace: market.address,
          ...{ token_address: token, token_id: decimal(id) },
          ...{ id: order.id, seller: order.seller, price_wei: String(order.priceWei) },
          expires_at: String(order.expiresAt),
          // False: dead as long as the asset is with somebody else.
          seller_is_owner: registry.ownerOf(id, block) === order.seller,
        }
      }),
    ),
  bids: (contracts, block) =>
    [...contracts.bids.bids.entries(block)].flatMap(([key, bids]) => {
      const [token, id] = key.split(' ') as [string, Word]
      const registry = registryOf(contracts, token)
      if (!registry) return []
      const isEstate = token === contracts.estates.address
      return bids.map((bid) => ({
        ...{ token_address: token, token_id: decimal(id), id: bid.id, bidder: bid.bidder },
        ...{ price_wei: String(bid.priceWei), expires_at_s: String(bid.expiresAtS) },
        fingerprint: bid.fingerprint,
        fingerprint_fits: !isEstate || contracts.estates.verifyFingerprint(id, bid.fingerprint, block),
        owner: registry.ownerOf(id, block),
      }))
    }),
  approvals_for_all: ({ land, estates }, block) =>
    [land, estates].flatMap((token) => [...rightRows(token, token.approvalsForAll.entries(block))]),
  update_managers: ({ land, estates }, block) =>
    [land, estates].flatMap((token) => [...rightRows(token, token.updateManagers.entries(block))]),
  mortgages: ({ mortgages, engine }, block) =>
    [...mortgages.mortgages.entries(block)].map(([id, mortgage]) => {
      const { terms, lender, ...loan } = engine.get(mortgage.loanId, block)
      return {
        ...{ id, loan_id: String(mortgage.loanId), parcel: placeOf(mortgage.landId) },
        ...{ borrower: mortgage.owner, status: mortgage.status, loan_status: loan.status },
        ...{ lender: BigInt(lender) === 0n ? null : lender, paid_wei: String(loan.paidWei) },
        ...{ lent_at_s: loan.lentAtS, due_at_s: String(engine.dueTimeS({ ...loan, lender, terms })) },
        ...{ amount_wei: String(terms.amountWei), interest_rate: String(terms.interestRate) },
        punitory_interest_rate: String(terms.punitoryInterestRate),
        ...{ dues_in_s: String(terms.duesInS), cancelable_at_s: String(terms.cancelableAtS) },
        expires_at: String(terms.expiresAt),
      }
    }),
  rentals: ({ rentals }, block) =>
    [...rentals.rentals.entries(block)].map(([key, rental]) => {
      const [token, id] = key.split(' ') as [string, Word]
      const { lessor, tenant, endS } = rental
      return { token_address: token, token_id: decimal(id), lessor, tenant, ends_at_s: endS }
    }),
  signatures: ({ trades, rentals, land }, block) => [
    ...[...rentals.indexEntries(block)].map(([key, uses]) => {
      const [signer, token, id] = key.split(' ') as [string, string, Word]
      const at = decodeTokenId(BigInt(id))
      const asset = token === land.address ? `parcel ${at?.x},${at?.y}` : `estate ${BigInt(id)}`
      return { kind: 'used', marketplace: rentals.address, signer, signature_key: hashOfText(asset), uses }
    }),
    ...trades.flatMap((trade) => {
      const marketplace = trade.address
      const split = (key: string) => key.split(' ') as [string, string]
      return [
        ...[...trade.uses.entries(block)].map(([key, uses]) => {
          const [signer, signature] = split(key)
          return { kind: 'used', marketplace, signer, signature_key: signature, uses }
        }),
        ...[...trade.cancelled.entries(block)].map(([key]) => {
          const [by, signature] = split(key)
          return { kind: 'cancelled', marketplace, by, signature_key: signature }
        }),
        ...[...trade.indexes.entries(block)].map(([key, index]) => ({
          ...{ kind: 'index', marketplace, signer: key === 'contract' ? null : key, index },
        })),
      ]
    }),
  ],
}

function landRow(token: LandToken, id: Word, block: number) {
  return {
    token_id: decimal(id),
    owner: token.ownerOf(id, block),
    operator: token.operators.get(id, block) ?? null,
    update_operator: token.updateOperators.get(id, block) ?? null,
    text: hexOf(token.texts.get(id, block) ?? new Uint8Array()),
  }
}

function* rightRows(token: LandToken, entries: Iterable<readonly [string, true]>) {
  for (const [key] of entries) {
    const [owner, operator] = key.split(' ')
    yield { token_address: token.address, owner, operator }
  }
}

function registryOf({ land, estates }: Contracts, token: string): LandToken | undefined {
  return [land, estates].find(({ address }) => address === token)
}

function placeOf(id: Word): string {
  const place = decodeTokenId(BigInt(id))
  return place ? coordText(place) : decimal(id)
}

function decimal(word: Word): string {
  return String(BigInt(word))
}
