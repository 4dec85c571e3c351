import { keccak256 } from '@landpass/server/ethereum/keccak256'
import { addressOf, signDigest } from '@landpass/server/ethereum/signatures'
import { parseTrade } from '@landpass/server/listings/signed-trade'
import { domainSeparator, tradeDigest } from '@landpass/server/listings/trade-digest'

/** What a seller offers. Addresses in lower case, times in milliseconds since 1970. */
export interface ListingDraft {
  readonly id: string
  /** The key of the seller, 32 bytes. */
  readonly key: Uint8Array
  readonly chainId: number
  /** The contract that settles it. */
  readonly marketplace: string
  /** Registry of the token. */
  readonly registry: string
  /** Decimal digits. */
  readonly tokenId: string
  readonly mana: string
  /** In wei of MANA; in dollars with 18 decimals where `inDollars`. */
  readonly amount: string
  readonly inDollars?: boolean
  /** The fingerprint of an estate, in hex. */
  readonly fingerprint?: string
  readonly createdAt: number
  readonly expiration: number
  readonly effective?: number
  readonly uses?: number
  readonly contractIndex?: number
  readonly signerIndex?: number
  /** Not zero: only addresses of a list can accept it. */
  readonly allowedRoot?: string
}

/** A trade as marketplace servers answer it. */
export interface TradeJson {
  readonly id: string
  readonly signer: string
  readonly signature: string
  readonly type: string
  readonly network: string
  readonly chainId: number
  readonly contract: string
  readonly createdAt: number
  readonly checks: {
    readonly uses: number
    readonly expiration: number
    readonly effective: number
    readonly salt: string
    readonly contractSignatureIndex: number
    readonly signerSignatureIndex: number
    readonly allowedRoot: string
    readonly externalChecks: readonly unknown[]
  }
  readonly sent: readonly [
    {
      readonly assetType: number
      readonly contractAddress: string
      readonly tokenId: string
      readonly extra: string
    },
  ]
  readonly received: readonly [
    {
      readonly assetType: number
      readonly contractAddress: string
      readonly amount: string
      readonly extra: string
      readonly beneficiary: string
    },
  ]
}

/** Signs an offer as a wallet does: EIP-712, for one marketplace contract of one chain. */
export function signListing(draft: ListingDraft): TradeJson {
  const signer = addressOf(draft.key)
  const trade: TradeJson = {
    id: draft.id,
    signer,
    signature: `0x${'00'.repeat(65)}`,
    type: 'public_nft_order',
    network: 'ETHEREUM',
    chainId: draft.chainId,
    contract: draft.marketplace,
    createdAt: draft.createdAt,
    checks: {
      uses: draft.uses ?? 1,
      expiration: draft.expiration,
      effective: draft.effective ?? draft.createdAt,
      // No two offers have the same signature.
      salt: `0x${Buffer.from(keccak256(Buffer.from(draft.id))).toString('hex')}`,
      contractSignatureIndex: draft.contractIndex ?? 0,
      signerSignatureIndex: draft.signerIndex ?? 0,
      allowedRoot: draft.allowedRoot ?? '0x',
      externalChecks: [],
    },
    sent: [
      {
        assetType: 3,
        contractAddress: draft.registry,
        tokenId: draft.tokenId,
        extra: draft.fingerprint ?? '',
      },
    ],
    received: [
      {
        assetType: draft.inDollars ? 2 : 1,
        contractAddress: draft.mana,
        amount: draft.amount,
        extra: '',
        beneficiary: signer,
      },
    ],
  }
  const separator = domainSeparator({ chainId: draft.chainId, contract: draft.marketplace })
  const { r, s, v } = signDigest(tradeDigest(parseTrade(trade), separator), draft.key)
  const signature = `0x${Buffer.concat([r, s]).toString('hex')}${v.toString(16)}`
  return { ...trade, signature }
}
