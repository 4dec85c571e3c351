import { expect, test } from 'vitest'
import type { CheckedEstate, CheckedLand } from '../../land/queries/checked-land.ts'
import { MAINNET } from '../networks/known-networks.ts'
import { type CheckContext, ListLimit } from './check-context.ts'
import { checkEstate } from './check-estate.ts'
import { findMissingAssets } from './check-totals.ts'
import { ContractState } from './contract-state.ts'
import { Findings } from './findings.ts'
import { KnownRights } from './known-rights.ts'
import { LandIndex } from './land-index.ts'

/** A node that answers each call with this number: as many estates, bids and parcels of an estate. */
const ANSWER = 9_000n

function contextOf(answer: bigint) {
  const returned = `0x${answer.toString(16).padStart(64, '0').repeat(6)}`
  const state = new ContractState(async (calls) => calls.map(() => returned))
  const land: CheckedLand = {
    parcels: [],
    estates: [],
    publications: [],
    bids: [],
    mortgages: [],
    offers: [],
    members: [],
    rights: [],
  }
  const rows = new LandIndex(land)
  const rights = new KnownRights({ network: MAINNET, state, rows })
  const context: CheckContext = {
    network: MAINNET,
    state,
    rows,
    rights,
    findings: new Findings(),
    lists: new ListLimit(),
  }
  return context
}

test('of a number of estates that a node has invented, the first ones are named', async () => {
  const context = contextOf(9_000_000n)
  await findMissingAssets(context, { ownedParcels: 1, estateIds: ['2'] })
  const { differences } = context.findings
  expect(differences.slice(0, 4).map(({ asset }) => asset)).toEqual([
    'all parcels',
    'all estates',
    'estate 1',
    'estate 3',
  ])
  expect(differences).toHaveLength(1_002)
})

test('bids and parcels that a node has invented for each asset are not all read', async () => {
  const context = contextOf(ANSWER)
  const estates = Array.from({ length: 20 }, (_, at) => String(at + 1))
  const rows = estates.map((id) => ({ id, registry_order: null }) as CheckedEstate)
  const results = await Promise.allSettled(rows.map((row) => checkEstate(context, row)))
  const reasons = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []))
  expect(new Set(reasons)).toEqual(new Set([expect.stringContaining('bidCounterByToken')]))
  expect(context.state.calls).toBeLessThan(60_000)
})
