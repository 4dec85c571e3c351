import Type from 'typebox'
import { ASSET_TYPES } from '../../land/records/assets.ts'
import { addressText, closedObject, digitsText, epochMs, oneOf, orNull } from '../../schema-parts.ts'
import { shapeRef } from '../common/schemas.ts'

/** For a number that JSON may not have exactly. */
const numberOrDigits = () => Type.Union([Type.Integer(), digitsText()])
const ofNetwork = { network: oneOf(['ETHEREUM']), chainId: Type.Integer() }

const order = closedObject(
  {
    id: Type.String(),
    tradeId: Type.String({ description: 'Empty: an order on the chain.' }),
    marketplaceAddress: addressText(),
    contractAddress: addressText(),
    tokenId: digitsText(),
    owner: addressText(),
    buyer: Type.Literal(''),
    price: digitsText('In wei of MANA, or of dollars: its trade says which.'),
    status: oneOf(['open']),
    expiresAt: epochMs(),
    createdAt: epochMs(),
    updatedAt: epochMs(),
    ...ofNetwork,
    issuedId: Type.Null(),
  },
  'An open offer to sell land, as public marketplace servers answer it.',
)

const tradeAsset = Type.Object({
  assetType: Type.Integer({ description: '1: MANA. 2: dollars. 3: a token.' }),
  contractAddress: addressText(),
  extra: Type.String(),
  amount: Type.Optional(digitsText()),
  tokenId: Type.Optional(digitsText()),
  beneficiary: Type.Optional(addressText()),
})

const trade = closedObject(
  {
    id: Type.String(),
    signer: addressText(),
    signature: Type.String(),
    contract: addressText(),
    type: oneOf(['public_nft_order']),
    ...ofNetwork,
    createdAt: epochMs(),
    checks: Type.Object({
      uses: numberOrDigits(),
      expiration: epochMs(),
      effective: epochMs(),
      salt: Type.String(),
      contractSignatureIndex: numberOrDigits(),
      signerSignatureIndex: numberOrDigits(),
      allowedRoot: Type.String(),
      externalChecks: Type.Array(Type.Unknown()),
    }),
    sent: Type.Array(shapeRef('TradeAsset')),
    received: Type.Array(shapeRef('TradeAsset')),
  },
  'What was signed, as public marketplace servers answer it. Amounts are wei.',
)

const rentalListing = closedObject(
  {
    id: Type.String(),
    nftId: Type.String(),
    category: oneOf(ASSET_TYPES),
    searchText: Type.Literal(''),
    ...ofNetwork,
    lessor: addressText(),
    tenant: Type.Null(),
    status: oneOf(['open']),
    signature: Type.String(),
    nonces: Type.Array(digitsText()),
    tokenId: digitsText(),
    contractAddress: addressText(),
    rentalContractAddress: addressText(),
    expiration: epochMs(),
    createdAt: epochMs(),
    updatedAt: epochMs(),
    startedAt: Type.Null(),
    rentedDays: Type.Null(),
    target: addressText(),
    periods: Type.Array(
      Type.Object({ minDays: numberOrDigits(), maxDays: numberOrDigits(), pricePerDay: digitsText() }),
    ),
  },
  'An open offer to rent land, as public rentals servers answer it. Prices are wei.',
)

/** Named schemas of openapi.json. */
export const SOURCE_SHAPES = {
  Order: order,
  Trade: trade,
  TradeAsset: tradeAsset,
  RentalListing: rentalListing,
} as const

const ofPage = { total: Type.Integer(), cursor: orNull(Type.String()) }

export const ordersSchema = Type.Object({ data: Type.Array(shapeRef('Order')), ...ofPage })
export const tradeSchema = shapeRef('Trade')
export const rentalListingsSchema = Type.Object({
  results: Type.Array(shapeRef('RentalListing')),
  page: Type.Integer(),
  pages: Type.Integer(),
  limit: Type.Integer(),
  ...ofPage,
})
