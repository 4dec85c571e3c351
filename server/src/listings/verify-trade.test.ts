import { encodeTokenId } from '@landpass/client/grid'
import { ethers } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import '../../test/support/run/property-seed.ts'
import { type Json, mutated, mutations } from '../../test/support/listings/mutated-offers.ts'
import { MAINNET, SEPOLIA } from '../chain/networks/known-networks.ts'
import { parseTrade, UnfitTradeError } from './signed-trade.ts'
import { tradeContractsOf } from './trade-contracts.ts'
import { domainSeparator, TYPE_HASHES } from './trade-digest.ts'
import { TradeVerifier } from './verify-trade.ts'

const CONTRACTS = tradeContractsOf(MAINNET)!
const [V1, V2, V3] = CONTRACTS.marketplaces.map(({ address }) => address) as [string, string, string]
const MANA = CONTRACTS.mana
const LAND = CONTRACTS.registries.land
const ESTATE = CONTRACTS.registries.estate
const NOBODY = `0x${'0'.repeat(40)}`
const seller = new ethers.Wallet(`0x${'11'.repeat(32)}`)
const verifier = new TradeVerifier(CONTRACTS)

const parcelForMana = {
  sent: [
    { assetType: 3, contractAddress: LAND, tokenId: String(encodeTokenId({ x: -48, y: 29 })), extra: '' },
  ],
  received: [
    {
      assetType: 1,
      contractAddress: MANA,
      amount: `15${'0'.repeat(20)}`,
      extra: '0x',
      beneficiary: seller.address,
    },
  ],
}
const estateForDollars = {
  sent: [{ assetType: 3, contractAddress: ESTATE, tokenId: '4711', extra: `0x${'ab'.repeat(32)}` }],
  received: [
    { assetType: 2, contractAddress: MANA, amount: `99${'0'.repeat(18)}`, extra: '0x', beneficiary: NOBODY },
  ],
}
const bidForParcel = {
  sent: [{ assetType: 1, contractAddress: MANA, amount: '7', extra: '0x' }],
  received: [{ ...parcelForMana.sent[0], beneficiary: seller.address }],
}

const TYPES = {
  ExternalCheck: typed('address contractAddress,bytes4 selector,bytes value,bool required'),
  Checks: typed(
    'uint256 uses,uint256 expiration,uint256 effective,bytes32 salt,uint256 contractSignatureIndex,uint256 signerSignatureIndex,bytes32 allowedRoot,ExternalCheck[] externalChecks',
  ),
  AssetWithoutBeneficiary: typed('uint256 assetType,address contractAddress,uint256 value,bytes extra'),
  Asset: typed('uint256 assetType,address contractAddress,uint256 value,bytes extra,address beneficiary'),
  Trade: typed('Checks checks,AssetWithoutBeneficiary[] sent,Asset[] received'),
}

function typed(fields: string) {
  return fields.split(',').map((field) => {
    const [type, name] = field.split(' ') as [string, string]
    return { type, name }
  })
}

/** Signs as the wallets of players do, with another library. */
async function signed(sides: Json, contract: string, checks: Json = {}): Promise<Json> {
  const trade = {
    ...{ id: '5f0c4a4e-0001', signer: seller.address, type: 'public_nft_order', network: 'ETHEREUM' },
    ...{ chainId: 1, contract, createdAt: 1_760_000_000_000.4 },
    checks: {
      ...{ uses: 1, expiration: 1_790_000_000_999, effective: 1_760_000_000_000, salt: '0x1234' },
      ...{ contractSignatureIndex: 0, signerSignatureIndex: 2, allowedRoot: '0x', externalChecks: [] },
      ...checks,
    },
    ...sides,
  } as Json & { checks: Json }
  const assets = (side: Json[]) =>
    side.map((one) => ({ ...one, value: one.tokenId ?? one.amount, extra: one.extra || '0x' }))
  const signature = await seller.signTypedData(
    {
      ...{ name: 'DecentralandMarketplaceEthereum', version: '1.0.0', verifyingContract: contract },
      salt: ethers.zeroPadValue('0x01', 32),
    },
    TYPES,
    {
      checks: {
        ...trade.checks,
        expiration: Math.floor((trade.checks.expiration as number) / 1_000),
        effective: Math.floor((trade.checks.effective as number) / 1_000),
        salt: ethers.zeroPadValue(trade.checks.salt as string, 32),
        allowedRoot: ethers.zeroPadValue(trade.checks.allowedRoot as string, 32),
      },
      sent: assets(sides.sent as Json[]),
      received: assets(sides.received as Json[]),
    },
  )
  return { ...trade, signature }
}

test('types and domains have the hashes of the contracts', () => {
  const { trade, received, sent, checks, externalCheck } = TYPE_HASHES
  const begins = [trade, received, sent, checks, externalCheck].map((hash) => hash.slice(0, 8))
  expect(begins).toEqual(['1bb41340', 'e5f9e1eb', '7be57332', 'cae85973', '8d4afe92'])
  const sepolia = tradeContractsOf(SEPOLIA)!
  const separators = [
    ...CONTRACTS.marketplaces
      .slice(0, 2)
      .map(({ address }) => domainSeparator({ chainId: 1, contract: address })),
    ...sepolia.marketplaces
      .slice(0, 2)
      .map(({ address }) => domainSeparator({ chainId: sepolia.chainId, contract: address })),
  ]
  expect(separators).toEqual([
    '0x9a8d1de1325020a0fb556a6272a5657629bf513ee8982f2ae45d0ba19751dac5',
    '0xd1f4df0ef24bbcca2929c0afd33ac4ccb7be4e071a2db7b8024e8ed9027a2efd',
    '0x794ab483f318ad8a68116b8b4f108ccc309eb9878c443336e9f805bc0178f22a',
    '0xd19bb20f8a6a777362470a4db9e48fbaea0f5691fdbf30fba2eed60e47853fa9',
  ])
})

describe.each([V1, V2, V3])('at the marketplace %s', (contract) => {
  test('a parcel for MANA, an estate for dollars and a bid are read, and who signed them', async () => {
    const trades = await Promise.all(
      [parcelForMana, estateForDollars, bidForParcel].map((sides) => signed(sides, contract)),
    )
    const found = trades.map((trade) => verifier.verify(parseTrade(trade)))
    expect(found.map((one) => one?.isSigned)).toEqual([true, true, true])
    expect(found.map((one) => one?.offer)).toEqual([
      {
        ...{ kind: 'sale', asset: { type: 'parcel', id: '-48,29' }, currency: 'mana' },
        ...{ price: 1_500n * 10n ** 18n, fingerprint: '0x', isForEverybody: true },
      },
      {
        ...{ kind: 'sale', asset: { type: 'estate', id: '4711' }, currency: 'usd' },
        ...{ price: 99n * 10n ** 18n, fingerprint: `0x${'ab'.repeat(32)}`, isForEverybody: true },
      },
      {
        ...{ kind: 'bid', asset: { type: 'parcel', id: '-48,29' }, currency: 'mana' },
        ...{ price: 7n, fingerprint: '0x', isForEverybody: true },
      },
    ])
    const { signatureHash, signatureKey } = found[0]!
    expect(signatureHash).toBe(ethers.keccak256(trades[0]!.signature as string))
    expect(signatureKey === signatureHash).toBe(contract !== V3)
  })
})

test('an offer to a list of addresses, or with conditions, is signed and not for everybody', async () => {
  const check = { contractAddress: MANA, selector: '0x70a08231', value: '0x07', required: true }
  for (const checks of [{ allowedRoot: `0x${'cd'.repeat(32)}` }, { externalChecks: [check] }]) {
    const found = verifier.verify(parseTrade(await signed(parcelForMana, V2, checks)))
    expect([found?.isSigned, found?.offer.isForEverybody]).toEqual([true, false])
  }
})

test('trades of other contracts, other tokens, or several assets are no offers of land', async () => {
  const [land, price] = [parcelForMana.sent[0]!, parcelForMana.received[0]!]
  const others = [
    { sent: [land, land], received: [price] },
    { sent: [land], received: [] },
    { sent: [{ ...land, contractAddress: MANA }], received: [price] },
    { sent: [land], received: [{ ...price, contractAddress: LAND }] },
    { sent: [{ ...land, assetType: 4 }], received: [price] },
  ]
  for (const sides of others) expect(verifier.verify(parseTrade(await signed(sides, V1)))).toBeUndefined()
  expect(verifier.verify(parseTrade(await signed(parcelForMana, MANA)))).toBeUndefined()
})

test('none of 10,000 trades is taken that differ from a signed one', async () => {
  const trades = [
    await signed(parcelForMana, V1),
    await signed(estateForDollars, V2),
    await signed(bidForParcel, V3, {
      externalChecks: [{ contractAddress: MANA, selector: '0x70a08231', value: '0x07', required: true }],
    }),
  ]
  for (const trade of trades) expect(isTaken(trade)).toBe(true)
  const changes = fc.record({ trade: fc.nat(2), mutation: mutations })
  fc.assert(
    fc.property(changes, ({ trade, mutation }) => {
      const changed = mutated(trades[trade]!, mutation, NOT_SIGNED)
      if (isTaken(changed)) expect.fail(JSON.stringify(changed))
    }),
    { numRuns: 10_000 },
  )
})

/** What no signature covers. */
const NOT_SIGNED = ['id', 'createdAt', 'type', 'network', 'chainId', 'sent.0.assetName']

function isTaken(trade: Json): boolean {
  try {
    return verifier.verify(parseTrade(trade))?.isSigned ?? false
  } catch (error) {
    if (error instanceof UnfitTradeError) return false
    throw error
  }
}

test('the other form of a signature is refused, as the contracts do', async () => {
  const trade = await signed(parcelForMana, V1)
  const { r, s, yParity } = ethers.Signature.from(trade.signature as string)
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const twin = ethers.toBeHex(order - BigInt(s), 32)
  const short = (trade.signature as string).replace(/..$/, yParity === 0 ? '00' : '01')
  expect(isTaken({ ...trade, signature: ethers.concat([r, twin, yParity === 0 ? '0x1c' : '0x1b']) })).toBe(
    false,
  )
  expect(isTaken({ ...trade, signature: short })).toBe(false)
})

test.each([
  ['trade', null],
  ['id', { id: '<b>' }],
  ['signer', { signer: 'nobody' }],
  ['signature', { signature: '0x' }],
  ['checks', { checks: [] }],
  ['sent', { sent: Array(17).fill(parcelForMana.sent[0]) }],
  ['sent value', { sent: [{ ...parcelForMana.sent[0], tokenId: '-1' }] }],
  ['received extra', { received: [{ ...parcelForMana.received[0], extra: `0x${'00'.repeat(1_025)}` }] }],
  ['createdAt', { createdAt: '2026' }],
])('the field %s of a trade is checked', async (field, change) => {
  const trade = change && { ...(await signed(parcelForMana, V1)), ...change }
  expect(() => parseTrade(trade)).toThrow(
    new UnfitTradeError(`the field ${field} of a trade is missing or does not have its form`),
  )
})
