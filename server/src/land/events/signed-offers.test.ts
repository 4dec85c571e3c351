import { type Coord, encodeTokenId, parseCoord } from '@landpass/client/grid'
import { ethers } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ALICE, BOB, hash, LandStory, RENTALS } from '../../../test/support/land/land-story.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import type { OfferState } from '../records/statuses.ts'
import type { LandFact } from './land-event.ts'
import { judgeOffer, readOfferFacts, type SignedOffer } from './signed-offers.ts'

const MARKET = `0x${'d1'.repeat(20)}`
const PARCEL = { type: 'parcel', id: '1,1' } as const
const ESTATE = { type: 'estate', id: '7' } as const
const KEY = hash('key')
const NOW = { nowMs: 1_600_000_000_000, isUnseen: false }

const OFFER: SignedOffer = {
  ...{ marketplace: MARKET, signer: ALICE, signature_key: KEY, is_signed: true, wallet_asked_at_ms: null },
  ...{ asset_type: 'parcel', asset_id: '1,1', fingerprint: '0x' },
  ...{ uses: '2', contract_index: '0', signer_index: '0', asset_index: null },
  ...{ effective_at_ms: NOW.nowMs - 1, expires_at_ms: NOW.nowMs + 1 },
}

const given = (to: string): LandFact => ({ kind: 'asset-transferred', asset: PARCEL, from: null, to })
const approve: LandFact = { kind: 'operator-set', asset: PARCEL, operator: MARKET }
const used: LandFact = { kind: 'signature-used', marketplace: MARKET, signer: ALICE, signatureKey: KEY }
const cancelledBy = (by: string): LandFact => ({
  ...{ kind: 'signature-cancelled', marketplace: MARKET, by, signatureKey: KEY },
})
const raised = (signer: string | null): LandFact => ({
  ...{ kind: 'signature-index-raised', marketplace: MARKET, signer, index: 1n },
})
const paused = (isPaused: boolean) => ({ kind: 'marketplace-paused', marketplace: MARKET, isPaused }) as const

describe('an offer of a parcel', () => {
  const open = [given(ALICE), approve]
  test.each<[OfferState, string, readonly LandFact[], Partial<SignedOffer>?]>([
    ['open', 'that its owner has approved', open],
    ['open', 'that is used once of twice', [...open, used]],
    ['used', 'that is used as often as allowed', [...open, used, used, cancelledBy(ALICE)]],
    ['open', 'that is used once of as often as anybody wants', [...open, used], { uses: '0' }],
    ['open', 'that a stranger cancels', [...open, cancelledBy(BOB)]],
    ['cancelled', 'that its signer cancels', [...open, cancelledBy(ALICE)]],
    ['cancelled', 'of an older index of the signer', [...open, raised(ALICE)]],
    ['cancelled', 'of an older index of the contract', [...open, raised(null)]],
    ['cancelled', 'of an index that is not reached yet', open, { signer_index: '1' }],
    ['open', 'of the index that is reached', [...open, raised(ALICE)], { signer_index: '1' }],
    ['owner_changed', 'that is sold to another one', [...open, given(BOB)]],
    ['not_approved', 'whose approval ended with a transfer', [...open, given(BOB), given(ALICE)]],
    ['owner_changed', 'of nobody', []],
    ['owner_changed', 'that is rented out', [...open, given(RENTALS)]],
    ['paused', 'while the marketplace is paused', [...open, paused(true)]],
    ['open', 'when it goes on', [...open, paused(true), paused(false)]],
    ['expired', 'at its last second', open, { expires_at_ms: NOW.nowMs }],
    ['not_yet', 'before its first second', open, { effective_at_ms: NOW.nowMs + 1 }],
    ['bad_signature', 'that nobody signed', open, { is_signed: false }],
  ])('is %s: one %s', async (state, _, facts, offer) => {
    const story = new LandStory()
    for (const fact of facts) await story.transaction(fact)
    expect(await stateOf(story, { ...OFFER, ...offer })).toBe(state)
  })

  const RENT: Partial<SignedOffer> = { marketplace: RENTALS, asset_index: '1', uses: '1' }
  const mayRent: LandFact = { kind: 'operator-set', asset: PARCEL, operator: RENTALS }
  const indexIs = (index: bigint, signer = ALICE): LandFact => ({
    ...{ kind: 'asset-index-raised', marketplace: RENTALS, signer, asset: PARCEL, index },
  })
  const rentsPaused = (isPaused: boolean): LandFact => ({ ...paused(isPaused), marketplace: RENTALS })
  const rented = (days: number): readonly LandFact[] => [
    given(RENTALS),
    { kind: 'asset-rented', asset: PARCEL, lessor: ALICE, tenant: BOB, days, isExtension: false },
  ]
  test.each<[OfferState, string, readonly LandFact[]]>([
    ['open', 'of the index that is reached', [given(ALICE), mayRent, indexIs(1n)]],
    ['cancelled', 'of an index that is not reached yet', [given(ALICE), mayRent]],
    ['cancelled', 'of an older index', [given(ALICE), mayRent, indexIs(1n), indexIs(2n)]],
    ['open', 'whose index another one raises', [given(ALICE), mayRent, indexIs(1n), indexIs(5n, BOB)]],
    ['not_approved', 'that the contract may not hold', [given(ALICE), indexIs(1n)]],
    [
      'paused',
      'while the contract of rents is paused',
      [given(ALICE), mayRent, indexIs(1n), rentsPaused(true)],
    ],
    ['owner_changed', 'of land that is rented out', [...rented(99_999), indexIs(1n)]],
    ['open', 'of land whose rent is over, and was not claimed', [...rented(1), indexIs(1n)]],
    ['owner_changed', 'of land that was given away', [given(ALICE), mayRent, indexIs(1n), given(BOB)]],
  ])('to rent it is %s: one %s', async (state, _, facts) => {
    const story = new LandStory()
    for (const fact of facts) await story.transaction(fact)
    expect(await stateOf(story, { ...OFFER, ...RENT })).toBe(state)
  })

  test('to rent let land is due a millisecond after the rent, from when it is open', async () => {
    const story = new LandStory()
    for (const fact of [...rented(1), indexIs(1n)]) await story.transaction(fact)
    const offer = { ...OFFER, ...RENT, effective_at_ms: 0, expires_at_ms: Number.MAX_SAFE_INTEGER }
    const facts = await readOfferFacts(story.rows, offer)
    const judgedAt = (nowMs: number) => judgeOffer(offer, facts, { nowMs, isUnseen: false })
    const { state, dueAtMs } = judgedAt(facts.rentedUntilMs!)
    expect([state, dueAtMs]).toEqual(['owner_changed', facts.rentedUntilMs! + 1])
    expect(judgedAt(dueAtMs!).state).toBe('open')
  })

  test('is unseen only where nothing else is against it', async () => {
    const story = new LandStory()
    await story.transaction(...open)
    const judged = judgeOffer(OFFER, await readOfferFacts(story.rows, OFFER), { ...NOW, isUnseen: true })
    expect(judged).toEqual({
      state: 'unseen',
      reason: 'The server that the offer was read from does not name it any more.',
      dueAtMs: OFFER.expires_at_ms,
    })
  })
})

test('an offer of a large estate in the older form is named as such', async () => {
  const story = new LandStory()
  await story.transaction({ kind: 'asset-transferred', asset: ESTATE, from: null, to: ALICE })
  await story.transaction({ kind: 'operator-set', asset: ESTATE, operator: MARKET })
  const parcels = Array.from({ length: 19 }, (_, x) => ({ x, y: 5 }))
  const offer = { ...OFFER, asset_type: 'estate', asset_id: '7' } as const
  for (const [at, parcel] of parcels.entries()) {
    await story.transaction({ kind: 'parcel-joined-estate', estateId: '7', parcel })
    const inOlder = { ...offer, fingerprint: firstFingerprint(parcels.slice(0, at + 1)) }
    const judged = judgeOffer(inOlder, await readOfferFacts(story.rows, inOlder), NOW)
    expect(judged.state).toBe(at < 18 ? 'open' : 'estate_changed')
    if (at === 18) expect(judged.reason).toContain('more than 18 parcels')
  }
})

test('whatever is logged, an offer has the state that follows from all of the logs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 40 }), fc.nat(), async (facts, signedAt) => {
      const story = new LandStory()
      for (const fact of facts) await story.transaction(fact)
      const seen = parcelsAfter(facts.slice(0, signedAt % facts.length))
      for (const offer of [
        OFFER,
        { ...OFFER, signer_index: '1' },
        { ...OFFER, ...ofEstate, fingerprint: firstFingerprint(seen) },
        { ...OFFER, ...ofEstate, fingerprint: secondFingerprint(seen) },
      ])
        expect(await stateOf(story, offer)).toBe(referenceState(offer, facts))
    }),
    { numRuns: runs(150) },
  )
})

async function stateOf({ rows }: LandStory, offer: SignedOffer): Promise<OfferState> {
  return judgeOffer(offer, await readOfferFacts(rows, offer), NOW).state
}

const ofEstate = { asset_type: 'estate', asset_id: '7' } as const
const assets = fc.constantFrom(PARCEL, ESTATE)
const owners = fc.constantFrom(ALICE, ALICE, BOB)
/** Likely to leave an offer open: what is against one is rarer. */
const steps: fc.Arbitrary<LandFact> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('asset-transferred'),
      asset: assets,
      from: fc.constant(null),
      to: owners,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('operator-set'),
      asset: assets,
      operator: fc.constantFrom(MARKET, MARKET, BOB),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ kind: fc.constant('approval-for-all-set'), registry: fc.constantFrom('parcel', 'estate') },
      ...{ owner: owners, operator: fc.constantFrom(MARKET, BOB), isApproved: fc.boolean() },
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('parcel-joined-estate', 'parcel-joined-estate', 'parcel-left-estate'),
      estateId: fc.constant('7'),
      parcel: fc.record({ x: fc.integer({ min: 20, max: 23 }), y: fc.constant(3) }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      used,
      cancelledBy(BOB),
      cancelledBy(ALICE),
      raised(null),
      raised(ALICE),
      raised(BOB),
    ),
  },
  { weight: 1, arbitrary: fc.boolean().map(paused) },
) as fc.Arbitrary<LandFact>

/** The same from the whole list of events, as the contracts would decide it. */
function referenceState(offer: SignedOffer, facts: readonly LandFact[]): OfferState {
  const { signer, asset_id: id, asset_type } = offer
  const all = <Kind extends LandFact['kind']>(kind: Kind) =>
    facts.filter((fact): fact is Extract<LandFact, { kind: Kind }> => fact.kind === kind)
  const indexOf = (who: string | null) =>
    all('signature-index-raised').findLast((one) => one.signer === who)?.index ?? 0n
  if (all('signature-used').length >= Number(offer.uses)) return 'used'
  if (all('signature-cancelled').some(({ by }) => by === signer)) return 'cancelled'
  if (indexOf(null) !== BigInt(offer.contract_index)) return 'cancelled'
  if (indexOf(signer) !== BigInt(offer.signer_index)) return 'cancelled'
  if (all('asset-transferred').findLast(({ asset }) => asset.id === id)?.to !== signer) return 'owner_changed'
  if (asset_type === 'estate') {
    const parcels = parcelsAfter(facts)
    const taken = [firstFingerprint(parcels), secondFingerprint(parcels)]
    if (!taken.includes(offer.fingerprint)) return 'estate_changed'
  }
  const lastTransfer = facts.findLastIndex((one) => one.kind === 'asset-transferred' && one.asset.id === id)
  const ofToken = facts
    .slice(lastTransfer)
    .findLast((one) => one.kind === 'operator-set' && one.asset.id === id)
  const ofOwner = facts.findLast(
    (one) =>
      one.kind === 'approval-for-all-set' &&
      one.registry === asset_type &&
      one.owner === signer &&
      one.operator === MARKET,
  )
  const isOperator = ofToken?.kind === 'operator-set' && ofToken.operator === MARKET
  const isForAll = ofOwner?.kind === 'approval-for-all-set' && ofOwner.isApproved
  if (!isOperator && !isForAll) return 'not_approved'
  return all('marketplace-paused').at(-1)?.isPaused ? 'paused' : 'open'
}

/** The parcels of the estate, as the registry keeps them: the last one takes the place of one that leaves. */
function parcelsAfter(facts: readonly LandFact[]): readonly Coord[] {
  const parcels: string[] = []
  for (const fact of facts) {
    if (!('estateId' in fact) || !('parcel' in fact)) continue
    const name = `${fact.parcel.x},${fact.parcel.y}`
    const at = parcels.indexOf(name)
    if (fact.kind === 'parcel-joined-estate' && at < 0) parcels.push(name)
    if (fact.kind !== 'parcel-left-estate' || at < 0) continue
    const last = parcels.pop()!
    if (at < parcels.length) parcels[at] = last
  }
  return parcels.map((name) => parseCoord(name)!)
}

function firstFingerprint(parcels: readonly Coord[]): string {
  const start = BigInt(ethers.solidityPackedKeccak256(['string', 'uint256'], ['estateId', 7]))
  const hashes = parcels.map((parcel) =>
    BigInt(ethers.solidityPackedKeccak256(['uint256'], [encodeTokenId(parcel)])),
  )
  return ethers.toBeHex(
    hashes.reduce((sum, one) => sum ^ one, start),
    32,
  )
}

function secondFingerprint(parcels: readonly Coord[]): string {
  const ids = parcels.map((parcel) => encodeTokenId(parcel))
  const types = ['string', 'uint256', 'uint256[]']
  return ethers.keccak256(ethers.AbiCoder.defaultAbiCoder().encode(types, ['estateId', 7, ids]))
}
