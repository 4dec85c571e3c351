import { parseCoord } from '@landpass/client/grid'
import type { AssetName, AssetType } from '../records/assets.ts'
import type { OfferState } from '../records/statuses.ts'
import { fingerprintOf, fingerprintTest, MOST_PARCELS_OF_FIRST, registryOrder } from './fingerprints.ts'
import type {
  Awaitable,
  EstateRow,
  LandRows,
  ParcelRow,
  TradeIndexRow,
  TradeSignatureRow,
} from './land-rows.ts'
import { assetIndexKey } from './trades.ts'

/**
 * The life of an offer that was signed off the chain. It is never changed by events: its state is computed from what
 * the logs have said so far, and the first of these that is true is its state:
 *
 *   bad_signature   its signer did not sign it
 *   used            it was accepted as often as the signer allowed
 *   cancelled       by its signer, or with all offers of an older index, of the signer or of the contract
 *   owner_changed   the signer does not hold the asset          comes back when the asset returns
 *   estate_changed  the estate has other parcels than the signer saw       comes back with them
 *   not_approved    the contract may not transfer the asset     comes back with the approval
 *   paused          the contract settles nothing                comes back
 *   expired         by the clock
 *   not_yet         by the clock; opens by itself
 *   unseen          it could be accepted, but the marketplace server has not named it for long
 *   open            everybody can accept it
 */

/** What an offer says that decides about its state. Addresses and hashes in lower case. */
export interface SignedOffer {
  readonly marketplace: string
  readonly signer: string
  /** Under which the marketplace counts its uses and cancellations. */
  readonly signature_key: string
  readonly is_signed: boolean
  /** When a wallet that is a contract was asked whether it signed it; null where none was. */
  readonly wallet_asked_at_ms: number | null
  readonly asset_type: AssetType
  readonly asset_id: string
  /** The fingerprint of the estate when it was signed, in hex. */
  readonly fingerprint: string
  /** This and the next two: decimal digits, up to 256 bits. */
  readonly uses: string
  readonly contract_index: string
  readonly signer_index: string
  /** The index of an offer to rent the asset out; null for an offer to sell it. Decimal digits, up to 256 bits. */
  readonly asset_index: string | null
  readonly effective_at_ms: number
  readonly expires_at_ms: number
}

/** What the logs say of what an offer is about. */
export interface OfferFacts {
  readonly signature: Pick<TradeSignatureRow, 'is_cancelled' | 'uses'> | undefined
  /** Undefined where it was never raised. */
  readonly contractIndex: Pick<TradeIndexRow, 'value' | 'is_paused'> | undefined
  readonly signerIndex: Pick<TradeIndexRow, 'value'> | undefined
  /** Who holds the token of the asset; null where it does not exist. */
  readonly holder: string | null
  /** The index of signer and asset, which offers to rent it out must have. */
  readonly assetIndex: number
  /** When the rent of an asset that the contract of rents holds for the signer ends, or has ended; else null. */
  readonly rentedUntilMs: number | null
  /** Whether the marketplace may transfer it. */
  readonly isApproved: boolean
  /** Whether the registry takes the fingerprint; `older`: not any more for so many parcels. */
  readonly fingerprint: 'taken' | 'other' | 'older'
}

/** A state, and why it is that, in a sentence; null while the offer is open. */
export interface JudgedOffer {
  readonly state: OfferState
  readonly reason: string | null
  /** From then on it has another state, though nothing is logged: milliseconds since 1970. */
  readonly dueAtMs?: number
}

/** What of the state does not come from the chain. */
export interface OfferTimes {
  readonly nowMs: number
  /** Whether the marketplace server has not named it for long. */
  readonly isUnseen: boolean
}

/**
 * The state of an offer.
 *
 * @example
 * judgeOffer(offer, facts, { nowMs: offer.expires_at_ms, isUnseen: false }) // { state: 'expired', reason: 'The offer has expired.' }
 */
export function judgeOffer(offer: SignedOffer, facts: OfferFacts, times: OfferTimes): JudgedOffer {
  const { signature, contractIndex, signerIndex, fingerprint } = facts
  if (!offer.is_signed)
    return {
      state: 'bad_signature',
      reason:
        offer.wallet_asked_at_ms === null
          ? 'The key of the signer did not sign this offer. If the signer is a contract, a node must be asked whether it did.'
          : 'The signer did not sign this offer.',
    }
  // 0: as often as anybody wants.
  if (BigInt(offer.uses) > 0n && BigInt(signature?.uses ?? 0) >= BigInt(offer.uses))
    return { state: 'used', reason: 'The offer was accepted.' }
  if (signature?.is_cancelled) return { state: 'cancelled', reason: 'The signer has cancelled the offer.' }
  if (BigInt(contractIndex?.value ?? 0) !== BigInt(offer.contract_index))
    return { state: 'cancelled', reason: 'The marketplace has cancelled all offers of that time.' }
  if (BigInt(signerIndex?.value ?? 0) !== BigInt(offer.signer_index))
    return { state: 'cancelled', reason: 'The signer has cancelled all offers of that time.' }
  const isRental = offer.asset_index !== null
  if (isRental && BigInt(facts.assetIndex) !== BigInt(offer.asset_index!))
    return { state: 'cancelled', reason: 'The signer has cancelled the offer, or it was accepted.' }
  const { rentedUntilMs } = facts
  // After a rent its lessor lets the asset again without taking it back.
  const mayLetAgain = isRental && rentedUntilMs !== null && rentedUntilMs < times.nowMs
  if (facts.holder !== offer.signer && !mayLetAgain)
    return {
      ...{ state: 'owner_changed', reason: 'The owner has changed, or the land is rented out.' },
      ...(rentedUntilMs !== null && { dueAtMs: rentedUntilMs + 1 }),
    }
  if (fingerprint === 'other')
    return { state: 'estate_changed', reason: 'The offer was signed before the estate changed.' }
  if (fingerprint === 'older')
    return {
      state: 'estate_changed',
      reason: `The offer was signed in an older form, which is not accepted for estates of more than ${MOST_PARCELS_OF_FIRST} parcels.`,
    }
  if (!facts.isApproved)
    return { state: 'not_approved', reason: 'The owner has not approved the marketplace for the asset.' }
  if (contractIndex?.is_paused) return { state: 'paused', reason: 'The marketplace is paused.' }
  return judgeTimes(offer, times)
}

/** What depends on the clock: of an offer that the chain says nothing against. */
export function judgeTimes(
  { effective_at_ms, expires_at_ms }: Pick<SignedOffer, 'effective_at_ms' | 'expires_at_ms'>,
  { nowMs, isUnseen }: OfferTimes,
): JudgedOffer {
  if (expires_at_ms <= nowMs) return { state: 'expired', reason: 'The offer has expired.' }
  if (effective_at_ms > nowMs)
    return {
      state: 'not_yet',
      reason: 'The offer begins later.',
      dueAtMs: Math.min(effective_at_ms, expires_at_ms),
    }
  if (isUnseen)
    return {
      state: 'unseen',
      reason: 'The server that the offer was read from does not name it any more.',
      dueAtMs: expires_at_ms,
    }
  return { state: 'open', reason: null, dueAtMs: expires_at_ms }
}

/** Reads what the rows say of what an offer is about. */
export async function readOfferFacts(
  rows: LandRows,
  offer: Pick<
    SignedOffer,
    'marketplace' | 'signer' | 'signature_key' | 'asset_type' | 'asset_id' | 'fingerprint' | 'asset_index'
  >,
): Promise<OfferFacts> {
  const { marketplace, signer, signature_key, asset_type, asset_id } = offer
  const isRental = offer.asset_index !== null
  const asset = await findAssetRow(rows, { type: asset_type, id: asset_id })
  const holder = asset?.holder ?? asset?.owner ?? null
  const isLet = isRental && holder === marketplace && asset?.owner === signer
  const assetIndex = isRental
    ? await rows.tradeSignature(marketplace, signer, assetIndexKey({ type: asset_type, id: asset_id }))
    : undefined
  const rights = holder === signer ? await rows.rightsOf(asset_type, signer) : []
  const mayTransferAll = rights.some(({ kind, operator }) => kind === 'approval' && operator === marketplace)
  return {
    signature: await rows.tradeSignature(marketplace, signer, signature_key),
    contractIndex: await rows.tradeIndex(marketplace, ''),
    signerIndex: await rows.tradeIndex(marketplace, signer),
    holder,
    assetIndex: assetIndex?.uses ?? 0,
    rentedUntilMs: isLet ? (asset?.rented_until_ms ?? null) : null,
    isApproved: isLet || mayTransferAll || asset?.operator === marketplace,
    // The tenant names the parcels of an estate, not the signer.
    fingerprint:
      !isRental && asset && 'id' in asset
        ? await compareFingerprint(rows, asset, offer.fingerprint)
        : 'taken',
  }
}

function findAssetRow(rows: LandRows, { type, id }: AssetName): Awaitable<ParcelRow | EstateRow | undefined> {
  if (type === 'estate') return rows.estate(id)
  const at = parseCoord(id)
  return at && rows.parcel(at)
}

async function compareFingerprint(
  rows: LandRows,
  estate: EstateRow,
  value: string,
): Promise<OfferFacts['fingerprint']> {
  const members = await rows.parcelsOfEstate(estate.id)
  const fingerprint = await fingerprintOf(rows, estate)
  const parcels = registryOrder(estate, members)
  if (fingerprintTest({ id: estate.id, fingerprint, parcels })(value)) return 'taken'
  return value === fingerprint ? 'older' : 'other'
}
