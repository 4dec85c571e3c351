import { keccak256 } from '../ethereum/keccak256.ts'
import { word } from '../ethereum/words.ts'
import type { ReceivedAsset, SignedTrade, TradeAsset, TradeChecks } from './signed-trade.ts'

/** Where a trade can be settled: a contract on a chain. */
export interface TradeDomain {
  readonly chainId: number
  /** Lower case. */
  readonly contract: string
}

const EXTERNAL_CHECK = 'ExternalCheck(address contractAddress,bytes4 selector,bytes value,bool required)'
const CHECKS = `Checks(uint256 uses,uint256 expiration,uint256 effective,bytes32 salt,uint256 contractSignatureIndex,uint256 signerSignatureIndex,bytes32 allowedRoot,ExternalCheck[] externalChecks)${EXTERNAL_CHECK}`
const SENT = 'AssetWithoutBeneficiary(uint256 assetType,address contractAddress,uint256 value,bytes extra)'
const RECEIVED =
  'Asset(uint256 assetType,address contractAddress,uint256 value,bytes extra,address beneficiary)'
const TRADE = `Trade(Checks checks,AssetWithoutBeneficiary[] sent,Asset[] received)${RECEIVED}${SENT}${CHECKS}`
const DOMAIN = 'EIP712Domain(string name,string version,address verifyingContract,bytes32 salt)'

/** The hashes of the types that are signed, in hex without `0x`. */
export const TYPE_HASHES = {
  externalCheck: hashOfText(EXTERNAL_CHECK),
  checks: hashOfText(CHECKS),
  sent: hashOfText(SENT),
  received: hashOfText(RECEIVED),
  trade: hashOfText(TRADE),
  domain: hashOfText(DOMAIN),
}
const NAME = hashOfText('DecentralandMarketplaceEthereum')
const VERSION = hashOfText('1.0.0')

/**
 * The part of a digest that is the same for all trades of a contract: 32 bytes in hex with `0x`. The number of the chain is its
 * salt.
 *
 * @example
 * domainSeparator({ chainId: 1, contract: '0x2d6b3508f9aca32d2550f92b2addba932e73c1ff' }) // '0x9a8d1de1…'
 */
export function domainSeparator({ chainId, contract }: TradeDomain): string {
  return `0x${hashOfHex([TYPE_HASHES.domain, NAME, VERSION, addressWord(contract), word(chainId)])}`
}

/**
 * What the signer of a trade signed (EIP-712): 32 bytes.
 *
 * @param separator see {@link domainSeparator}
 */
export function tradeDigest(
  { checks, sent, received }: Pick<SignedTrade, 'checks' | 'sent' | 'received'>,
  separator: string,
): Uint8Array {
  const trade = hashOfHex([
    TYPE_HASHES.trade,
    checksHash(checks),
    hashOfHex(sent.map((asset) => hashOfHex([TYPE_HASHES.sent, ...assetWords(asset)]))),
    hashOfHex(received.map(receivedHash)),
  ])
  return keccak256(Buffer.from(`1901${separator.slice(2)}${trade}`, 'hex'))
}

function checksHash(checks: TradeChecks): string {
  return hashOfHex([
    TYPE_HASHES.checks,
    word(checks.uses),
    word(checks.expirationS),
    word(checks.effectiveS),
    checks.salt.slice(2),
    word(checks.contractSignatureIndex),
    word(checks.signerSignatureIndex),
    checks.allowedRoot.slice(2),
    hashOfHex(
      checks.externalChecks.map(({ contractAddress, selector, value, required }) =>
        hashOfHex([
          TYPE_HASHES.externalCheck,
          addressWord(contractAddress),
          selector.slice(2).padEnd(64, '0'),
          hashOfHex([value.slice(2)]),
          word(required ? 1 : 0),
        ]),
      ),
    ),
  ])
}

function receivedHash(asset: ReceivedAsset): string {
  return hashOfHex([TYPE_HASHES.received, ...assetWords(asset), addressWord(asset.beneficiary)])
}

function assetWords({ assetType, contractAddress, value, extra }: TradeAsset): readonly string[] {
  return [word(assetType), addressWord(contractAddress), word(value), hashOfHex([extra.slice(2)])]
}

export function addressWord(address: string): string {
  return address.slice(2).padStart(64, '0')
}

/** In hex without `0x`. */
export function hashOfText(text: string): string {
  return Buffer.from(keccak256(Buffer.from(text))).toString('hex')
}

/** @param parts hex digits without `0x`, one after the other */
export function hashOfHex(parts: readonly string[]): string {
  return Buffer.from(keccak256(Buffer.from(parts.join(''), 'hex'))).toString('hex')
}
