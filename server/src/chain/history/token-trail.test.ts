import { expect, test } from 'vitest'
import type { LandEvent, LandFact } from '../../land/events/land-event.ts'
import { MissingLogsError, TokenTrail } from './token-trail.ts'

const [ALICE, BOB, CAROL] = ['0xa', '0xb', '0xc']

function transfer(id: string, from: string | null, to: string | null): LandFact {
  return { kind: 'asset-transferred', asset: { type: id.includes(',') ? 'parcel' : 'estate', id }, from, to }
}

/** Each list of facts is a transaction in a block of its own. */
function trailOf(...transactions: readonly (readonly LandFact[])[]): TokenTrail {
  const trail = new TokenTrail()
  for (const [at, facts] of transactions.entries())
    for (const [logIndex, fact] of facts.entries()) {
      const place = { blockNumber: 100 + at, timeMs: 0, txHash: `0x${at}`, logIndex }
      trail.note({ ...fact, at: place } as LandEvent)
    }
  trail.finish()
  return trail
}

const join = (parcel: { x: number; y: number }, estateId: string): LandFact => ({
  kind: 'parcel-joined-estate',
  estateId,
  parcel,
})

test('whole histories pass: new tokens, sales, burnt parcels, and tokens that come back', () => {
  const trail = trailOf(
    [transfer('1,1', null, ALICE), transfer('1,2', null, ALICE), transfer('1,3', null, BOB)],
    [transfer('1,1', ALICE, BOB)],
    [transfer('1,1', BOB, ALICE), transfer('1,1', ALICE, BOB)],
    [transfer('1,2', ALICE, null)],
    [transfer('7', null, BOB), join({ x: 1, y: 1 }, '7'), transfer('1,1', BOB, '0xestates')],
  )
  expect(trail.parcels).toBe(2)
})

test('the order of the logs within one transaction does not matter', () => {
  trailOf(
    [transfer('1,1', null, ALICE)],
    [transfer('1,1', BOB, CAROL), transfer('1,1', ALICE, BOB)],
    [transfer('1,1', CAROL, ALICE)],
    [join({ x: 1, y: 1 }, '7'), transfer('7', null, ALICE)],
  )
})

test.each([
  {
    missing: 'a sale',
    transactions: [[transfer('1,1', null, ALICE)], [], [transfer('1,1', BOB, CAROL)]],
    reason: `in block 102 the parcel 1,1 leaves ${BOB}, but by the logs before it belongs to ${ALICE}`,
    knownUntil: 100,
  },
  {
    missing: 'a new parcel',
    transactions: [[transfer('1,1', null, ALICE)], [transfer('1,2', ALICE, CAROL)]],
    reason: `in block 101 the parcel 1,2 leaves ${ALICE}, but by the logs before it belongs to nobody`,
    knownUntil: undefined,
  },
  {
    missing: 'a new estate',
    transactions: [[transfer('1,1', null, ALICE)], [join({ x: 1, y: 1 }, '7')]],
    reason: 'in block 101 a parcel joins the estate 7, whose creation is missing',
    knownUntil: undefined,
  },
  {
    missing: 'the sale of an estate',
    transactions: [[transfer('7', null, ALICE)], [transfer('7', BOB, CAROL)]],
    reason: `in block 101 the estate 7 leaves ${BOB}`,
    knownUntil: 100,
  },
])('$missing that was left out is found', ({ transactions, reason, knownUntil }) => {
  const thrown = (() => {
    try {
      return trailOf(...transactions)
    } catch (error) {
      return error
    }
  })()
  expect(thrown).toBeInstanceOf(MissingLogsError)
  expect((thrown as Error).message).toContain(reason)
  expect((thrown as MissingLogsError).knownUntil).toBe(knownUntil)
})

test('an update operator is known from logs until the next transfer', () => {
  const asset = { type: 'parcel', id: '1,1' } as const
  const set: LandFact = { kind: 'update-operator-set', asset, operator: null }
  expect(trailOf([transfer('1,1', null, ALICE)]).hasLoggedOperator(asset)).toBe(false)
  expect(trailOf([transfer('1,1', null, ALICE)], [set]).hasLoggedOperator(asset)).toBe(true)
  const later = trailOf([transfer('1,1', null, ALICE)], [set], [transfer('1,1', ALICE, BOB)])
  expect(later.hasLoggedOperator(asset)).toBe(false)
})
