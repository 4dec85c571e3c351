import { signRental } from '@landpass/simulators/listings/signed-rental'
import { ethers } from 'ethers'
import { expect, test } from 'vitest'
import { RENTALS } from '../../test/support/listings/offer-story.ts'
import { checkRental, parseRentalListing, rentalDigest, rentalSeparator } from './rental-listing.ts'

const KEY = Buffer.alloc(32, 0x51)
const NOW_MS = 1_800_000_000_000
const listing = signRental({
  ...{ id: 'one', key: KEY, chainId: 1, rentals: RENTALS.rentals, registry: RENTALS.registries.estate },
  ...{ isEstate: true, tokenId: '7', createdAt: NOW_MS, expiration: NOW_MS + 1_500, indexes: [1, 2, 3] },
  periods: [
    { minDays: 1, maxDays: 7, pricePerDay: '20000000000000000000' },
    { minDays: 8, maxDays: 30, pricePerDay: '15000000000000000000' },
  ],
})
const separator = rentalSeparator(RENTALS)

test('the separator of mainnet is the one that was computed for it elsewhere', () => {
  expect(separator).toBe('0x88029a9d568ac599c733f4638b391253ac313949ee6f70bf5f8ac90fb1c00fee')
})

test('the digest is that of a library', () => {
  const parsed = parseRentalListing(listing)
  const { lessor, registry, tokenId, expirationS, indexes, periods, target } = parsed
  const numbers = 'uint256[]'
  const types = {
    Listing: [
      ...[
        { name: 'signer', type: 'address' },
        { name: 'contractAddress', type: 'address' },
      ],
      ...[
        { name: 'tokenId', type: 'uint256' },
        { name: 'expiration', type: 'uint256' },
      ],
      ...[
        { name: 'indexes', type: 'uint256[3]' },
        { name: 'pricePerDay', type: numbers },
      ],
      ...[
        { name: 'maxDays', type: numbers },
        { name: 'minDays', type: numbers },
      ],
      { name: 'target', type: 'address' },
    ],
  }
  const domain = { name: 'Rentals', version: '1', chainId: 1, verifyingContract: RENTALS.rentals }
  const message = {
    ...{ signer: lessor, contractAddress: registry, tokenId, expiration: expirationS, indexes, target },
    pricePerDay: periods.map(({ pricePerDay }) => pricePerDay),
    maxDays: periods.map(({ maxDays }) => maxDays),
    minDays: periods.map(({ minDays }) => minDays),
  }
  const digest = `0x${Buffer.from(rentalDigest(parsed, separator)).toString('hex')}`
  expect(digest).toBe(ethers.TypedDataEncoder.hash(domain, types, message))
  expect(checkRental(parsed, separator).isSigned).toBe(true)
})

test('no offer whose signed parts were changed is taken for signed', () => {
  const parsed = parseRentalListing(listing)
  const [first, second] = parsed.periods as [(typeof parsed.periods)[number], (typeof parsed.periods)[number]]
  const changes = {
    lessor: RENTALS.rentals,
    registry: RENTALS.registries.land,
    tokenId: 8n,
    expirationS: parsed.expirationS + 1n,
    indexes: [1n, 2n, 4n] as const,
    periods: [second, first],
    target: RENTALS.rentals,
    signature: `${parsed.signature.slice(0, -2)}1d`,
  }
  for (const [field, value] of Object.entries(changes))
    expect(checkRental({ ...parsed, [field]: value }, separator).isSigned, field).toBe(false)
})

test.each([
  ['nonces', { nonces: ['1', '2'] }],
  ['periods', { periods: [] }],
  ['signature', { signature: '0x' }],
  ['target', { target: undefined }],
  ['tokenId', { tokenId: '-1' }],
])('an offer without its %s is refused', (field, change) => {
  expect(() => parseRentalListing({ ...listing, ...change })).toThrow(`the field ${field} of a trade`)
})
