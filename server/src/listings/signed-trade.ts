import { MAX_SIGNATURE_BYTES } from '../ethereum/wallet-call.ts'
import { isObject, type JsonObject } from '../json-object.ts'

/**
 * An offer that was signed off the chain, as the marketplace servers send it. Addresses and hex digits in lower case. What is not
 * signed, is not of use here, or can be computed is left out.
 */
export interface SignedTrade {
  /** By which the server names it: no two trades have the same. */
  readonly id: string
  readonly signer: string
  /** In hex. */
  readonly signature: string
  /** The marketplace contract that settles it. */
  readonly contract: string
  /** Milliseconds since 1970. Not signed: the server says so. */
  readonly createdAtMs: number
  readonly checks: TradeChecks
  /** What the signer gives. */
  readonly sent: readonly TradeAsset[]
  /** What the signer gets. */
  readonly received: readonly ReceivedAsset[]
}

export interface TradeChecks {
  /** How often it can be accepted; 0 is never. */
  readonly uses: bigint
  /** The last second since 1970 in which it can be accepted. */
  readonly expirationS: bigint
  /** The first one. */
  readonly effectiveS: bigint
  /** 32 bytes in hex. */
  readonly salt: string
  readonly contractSignatureIndex: bigint
  readonly signerSignatureIndex: bigint
  /** 32 bytes in hex. Not zero: only addresses of a list can accept it. */
  readonly allowedRoot: string
  /** Who accepts it must pass them. */
  readonly externalChecks: readonly ExternalCheck[]
}

export interface ExternalCheck {
  readonly contractAddress: string
  /** 4 bytes in hex. */
  readonly selector: string
  /** Bytes in hex. */
  readonly value: string
  readonly required: boolean
}

export interface TradeAsset {
  /** See {@link ASSET_KINDS}. */
  readonly assetType: bigint
  readonly contractAddress: string
  /** An amount in the smallest parts, or the number of a token. */
  readonly value: bigint
  /** Bytes in hex: of an estate its fingerprint. */
  readonly extra: string
}

export interface ReceivedAsset extends TradeAsset {
  readonly beneficiary: string
}

/** What `assetType` stands for. The amount of `USD_IN_MANA` is in dollars with 18 decimals, and is paid in MANA. */
export const ASSET_KINDS = { ERC20: 1n, USD_IN_MANA: 2n, ERC721: 3n, ITEM: 4n } as const

/** The most assets of a side, and the most checks: a trade of land has one of each side, and none. */
const MAX_ENTRIES = 16
/** The length of `extra` and of the value of a check, in bytes. */
const MAX_BYTES = 1_024
const MAX_UINT256 = (1n << 256n) - 1n
/** The year 9999: no time of a trade is later. */
const MAX_TIME_MS = 253_402_300_799_999

/** How servers name an offer. */
export const OFFER_ID = /^[\w-]{1,100}$/

export function isOfferId(value: unknown): value is string {
  return typeof value === 'string' && OFFER_ID.test(value)
}

/** A trade does not have the form of the marketplace servers. The message names the field, and not its value. */
export class UnfitTradeError extends Error {
  override readonly name = 'UnfitTradeError'
}

/**
 * Reads the JSON of a trade: the `data` of `GET /v1/trades/{id}` of a marketplace server. Its signature is not looked at.
 *
 * @throws {UnfitTradeError} where a field is missing or has another form
 * @example
 * parseTrade({ id: '5f0c…', signer: '0xAb…', checks: { expiration: 1790000000000, … }, … }).checks.expirationS // 1790000000n
 */
export function parseTrade(json: unknown): SignedTrade {
  const trade = objectIn(json, 'trade')
  const checks = objectIn(trade.checks, 'checks')
  return {
    id: textIn(trade.id, 'id', OFFER_ID),
    signer: addressIn(trade.signer, 'signer'),
    signature: signatureIn(trade.signature),
    contract: addressIn(trade.contract, 'contract'),
    createdAtMs: timeIn(trade.createdAt, 'createdAt'),
    checks: {
      uses: numberIn(checks.uses, 'uses'),
      expirationS: secondsIn(checks.expiration, 'expiration'),
      effectiveS: secondsIn(checks.effective, 'effective'),
      salt: wordIn(checks.salt, 'salt'),
      contractSignatureIndex: numberIn(checks.contractSignatureIndex, 'contractSignatureIndex'),
      signerSignatureIndex: numberIn(checks.signerSignatureIndex, 'signerSignatureIndex'),
      allowedRoot: wordIn(checks.allowedRoot, 'allowedRoot'),
      externalChecks: listIn(checks.externalChecks ?? [], 'externalChecks').map((check) =>
        externalCheckIn(objectIn(check, 'externalChecks')),
      ),
    },
    sent: listIn(trade.sent, 'sent').map((asset) => assetIn(objectIn(asset, 'sent'), 'sent')),
    received: listIn(trade.received, 'received').map((one) => {
      const asset = objectIn(one, 'received')
      return {
        ...assetIn(asset, 'received'),
        beneficiary: addressIn(asset.beneficiary, 'beneficiary'),
      }
    }),
  }
}

function externalCheckIn(check: JsonObject): ExternalCheck {
  if (typeof check.required !== 'boolean') return unfit('required')
  return {
    contractAddress: addressIn(check.contractAddress, 'contractAddress'),
    selector: hexIn(check.selector, 'selector', 4),
    value: bytesIn(check.value, 'value'),
    required: check.required,
  }
}

function assetIn(asset: JsonObject, side: string): TradeAsset {
  return {
    assetType: numberIn(asset.assetType, `${side} assetType`),
    contractAddress: addressIn(asset.contractAddress, `${side} contractAddress`),
    value: numberIn(asset.tokenId ?? asset.amount ?? asset.itemId, `${side} value`),
    extra: bytesIn(asset.extra, `${side} extra`),
  }
}

export function objectIn(value: unknown, field: string): JsonObject {
  return isObject(value) ? value : unfit(field)
}

export function listIn(value: unknown, field: string, most = MAX_ENTRIES): readonly unknown[] {
  return Array.isArray(value) && value.length <= most ? value : unfit(field)
}

export function textIn(value: unknown, field: string, form: RegExp): string {
  return typeof value === 'string' && form.test(value) ? value : unfit(field)
}

export function addressIn(value: unknown, field: string): string {
  return textIn(value, field, /^0x[\da-f]{40}$/i).toLowerCase()
}

function hexIn(value: unknown, field: string, bytes: number): string {
  const hex = bytesIn(value, field)
  return hex.length === 2 + 2 * bytes ? hex : unfit(field)
}

/** The signature of a key has 65 bytes; that of a wallet that is a contract any number. */
export function signatureIn(value: unknown): string {
  const hex = textIn(value, 'signature', /^0x(?:[\da-f]{2})+$/i).toLowerCase()
  return hex.length <= 2 + 2 * MAX_SIGNATURE_BYTES ? hex : unfit('signature')
}

/** The servers write no bytes as an empty text, too. */
function bytesIn(value: unknown, field: string): string {
  if (value === '' || value === undefined || value === null) return '0x'
  const hex = textIn(value, field, /^0x(?:[\da-f]{2})*$/i).toLowerCase()
  return hex.length <= 2 + 2 * MAX_BYTES ? hex : unfit(field)
}

/** 32 bytes, filled with zeros from the left. */
function wordIn(value: unknown, field: string): string {
  const hex = bytesIn(value, field)
  return hex.length <= 66 ? `0x${hex.slice(2).padStart(64, '0')}` : unfit(field)
}

export function numberIn(value: unknown, field: string): bigint {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : unfit(field)
  const number = BigInt(textIn(value, field, /^\d{1,78}$/))
  return number <= MAX_UINT256 ? number : unfit(field)
}

export function timeIn(value: unknown, field: string): number {
  const isTime = typeof value === 'number' && value >= 0 && value <= MAX_TIME_MS
  return isTime ? Math.floor(value) : unfit(field)
}

/** Milliseconds as the seconds that were signed. */
function secondsIn(value: unknown, field: string): bigint {
  return BigInt(Math.floor(timeIn(value, field) / 1_000))
}

export function unfit(field: string): never {
  throw new UnfitTradeError(`the field ${field} of a trade is missing or does not have its form`)
}
