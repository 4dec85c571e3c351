import { signRental } from '@landpass/simulators/listings/signed-rental'
import { ethers } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import '../../test/support/run/property-seed.ts'
import { type Json, mutated, mutations } from '../../test/support/listings/mutated-offers.ts'
import { RENTALS } from '../../test/support/listings/offer-story.ts'
import {
  checkRental,
  parseRentalListing,
  rentalDigest,
  rentalSeparator,
  usablePeriods,
} from './rental-listing.ts'
import { UnfitTradeError } from './signed-trade.ts'

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

test('none of 10,000 offers is taken that differ from a signed one', () => {
  const json = { ...listing } as unknown as Json
  const notSigned = [
    ...['id', 'category', 'rentalContractAddress', 'nftId', 'searchText', 'network', 'chainId', 'status'],
    ...['createdAt', 'updatedAt', 'tenant', 'startedAt', 'rentedDays'],
  ]
  expect(isTaken(json)).toBe(true)
  fc.assert(
    fc.property(mutations, (mutation) => {
      const changed = mutated(json, mutation, notSigned)
      if (isTaken(changed)) expect.fail(JSON.stringify(changed))
    }),
    { numRuns: 10_000 },
  )
})

function isTaken(json: Json): boolean {
  try {
    return checkRental(parseRentalListing(json), separator).isSigned
  } catch (error) {
    if (error instanceof UnfitTradeError) return false
    throw error
  }
}

test('periods that the contract refuses are left out: of no day, or of a hundred years and more', () => {
  const years = 2n ** 256n - 1n
  const days = [
    [8n, 7n],
    [0n, 7n],
    [0n, 0n],
    [years, years],
    [2n, years],
    [7n, 7n],
  ] as const
  const periods = days.map(([minDays, maxDays]) => ({ minDays, maxDays, pricePerDay: 1n }))
  expect(usablePeriods({ periods }).map(({ minDays, maxDays }) => [minDays, maxDays])).toEqual([
    [2n, 36_525n],
    [7n, 7n],
  ])
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
