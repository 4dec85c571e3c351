import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  CALLS,
  type Call,
  ContractModel,
  MODEL_ESTATES,
  MODEL_PARCELS,
} from '../../../test/support/land/contract-model.ts'
import {
  LandStory,
  LEGACY_MARKETPLACE,
  MARKETPLACE,
  STORY_CONTEXT,
} from '../../../test/support/land/land-story.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import { findAsset, ZERO_ADDRESS } from '../records/assets.ts'
import { weiOf } from './amounts.ts'
import { applyEvent } from './apply-event.ts'
import type { LandEvent } from './land-event.ts'
import { type EventTable, KEY_COLUMNS } from './land-rows.ts'
import { MemoryRows } from './memory-rows.ts'

const TABLES = Object.keys(KEY_COLUMNS) as EventTable[]

const call: fc.Arbitrary<Call> = fc.record({
  does: fc.constantFrom(...CALLS),
  who: fc.nat(2),
  asset: fc.nat(5),
  other: fc.nat(2),
  isOdd: fc.boolean(),
})
/** Transactions of several calls: what contract wallets send. */
const transactions = fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), {
  minLength: 20,
  maxLength: 60,
  size: 'max',
})

test('the rows say what the contracts say, whatever is called in which order', async () => {
  await fc.assert(
    fc.asyncProperty(transactions, async (sent) => {
      const { story, model } = await play(sent)

      await expectSame(story, model)
    }),
    { numRuns: runs(60) },
  )
})

test('any cut of the events into batches gives the same rows, also where a batch is applied again to the rows before it', async () => {
  const cuts = fc.array(fc.record({ length: fc.integer({ min: 1, max: 30 }), isRepeated: fc.boolean() }), {
    minLength: 1,
  })
  await fc.assert(
    fc.asyncProperty(transactions, cuts, async (sent, lengths) => {
      const { story } = await play(sent)

      expect(everything(await inBatches(story.events, lengths))).toEqual(everything(story.rows))
    }),
    { numRuns: runs(15) },
  )
})

/** Plays the calls on the contracts, and applies what these log. Everybody has something from the start. */
async function play(sent: readonly (readonly Call[])[]): Promise<{ story: LandStory; model: ContractModel }> {
  const model = new ContractModel()
  const story = new LandStory()
  const mints = [...MODEL_PARCELS, ...MODEL_ESTATES].map(
    (_, asset): Call => ({ does: 'mint', who: asset % 2, asset, other: 0, isOdd: false }),
  )
  for (const calls of [mints, ...sent]) {
    const timeMs = story.nowMs + 15_000
    await story.transaction(...calls.flatMap((one) => model.call(one, timeMs)))
  }
  return { story, model }
}

async function expectSame(story: LandStory, model: ContractModel): Promise<void> {
  for (const id of [...MODEL_PARCELS, ...MODEL_ESTATES]) {
    const asset = findAsset(id, undefined)
    const row = asset.type === 'parcel' ? await story.parcel(id) : await story.estate(id)
    const rental = model.rentals.get(id)
    const titleOf = model.estateOf.get(id) ?? id
    expect({
      holder: row.holder ?? row.owner,
      operator: row.operator,
      update_operator: row.update_operator,
      approvals_for_all: row.approvals_for_all ?? [],
      update_managers: row.update_managers ?? [],
      rent: rental && [row.owner, row.tenant, row.rented_until_ms],
    }).toEqual({
      holder: model.ownerOf.get(id),
      operator: model.approved.get(id) ?? null,
      update_operator: model.updateOperator.get(id) ?? null,
      approvals_for_all: model.operatorsOf('approval', titleOf).sort(),
      update_managers: model.operatorsOf('manager', titleOf).sort(),
      rent: rental && [rental.lessor, rental.tenant, rental.endsMs],
    })
    if ('estate_id' in row) expect(row.estate_id).toBe(model.estateOf.get(id) ?? null)
    else {
      expect(new Set(await story.members(id))).toEqual(new Set(model.membersOf(id)))
      expect(row.fingerprint).toBe(model.fingerprintOf(id))
    }
    await expectSameListings(story, model, id)
    await expectSameBids(story, model, id, row.owner)
  }
  expect(salesIn(story)).toEqual(model.sales.toSorted())
}

/** The listing that each marketplace stores, which is open where it can be bought. */
async function expectSameListings(story: LandStory, model: ContractModel, id: string): Promise<void> {
  const rows = await story.listings(id)
  expect(rows).toHaveLength(model.listed.get(id) ?? 0)
  for (const market of [MARKETPLACE, LEGACY_MARKETPLACE]) {
    const order = model.orders.get(`${market} ${id}`)
    const stored = rows.filter(
      ({ status, closed_by, marketplace_address }) =>
        marketplace_address === market && (status === 'open' || closed_by === 'moved'),
    )
    expect(stored.map((one) => [one.contract_id, one.owner, weiOf(one.price), one.status])).toEqual(
      order
        ? [[order.id, order.seller, order.priceWei, model.isForSale(market, id) ? 'open' : 'cancelled']]
        : [],
    )
  }
}

/** Those that the contract keeps, open where they could be accepted; offered to the owner that the rows name. */
async function expectSameBids(
  story: LandStory,
  model: ContractModel,
  id: string,
  owner: string | null,
): Promise<void> {
  const kept = (await story.bids(id)).filter(
    ({ status, closed_by }) => status === 'open' || closed_by === 'fingerprint',
  )
  const described = kept.map((one) => [
    one.bidder,
    one.id,
    weiOf(one.price),
    one.status === 'open',
    one.seller,
  ])
  const bids = [...(model.bids.get(id)?.values() ?? [])]
  const awaited = bids.map((one) => [
    one.bidder,
    one.id,
    one.priceWei,
    model.isForSameParcels(id, one),
    owner ?? ZERO_ADDRESS,
  ])
  expect(described.sort()).toEqual(awaited.sort())
}

function salesIn({ rows }: LandStory): string[] {
  const sold = rows.rowsOf('publication').filter(({ status }) => status === 'sold')
  return sold
    .map((one) => [one.marketplace_address, one.asset_id, one.owner, one.buyer, weiOf(one.price)].join(' '))
    .sort()
}

/** Each batch starts from rows that were written and read again, as the head of the chain does. */
async function inBatches(
  events: readonly LandEvent[],
  cuts: readonly { readonly length: number; readonly isRepeated: boolean }[],
): Promise<MemoryRows> {
  let rows = new MemoryRows()
  for (let from = 0, at = 0; from < events.length; at++) {
    const { length, isRepeated } = cuts[at % cuts.length]!
    const batch = events.slice(from, from + length)
    const before = isRepeated ? structuredClone(everything(rows)) : undefined
    const next = copyOf(rows)
    for (const event of batch) await applyEvent(next, event, STORY_CONTEXT)
    if (before) {
      expect(everything(rows)).toEqual(before)
      const again = copyOf(rows)
      for (const event of batch) await applyEvent(again, event, STORY_CONTEXT)
      rows = again
    } else rows = next
    from += length
  }
  return rows
}

function copyOf(rows: MemoryRows): MemoryRows {
  const copy = new MemoryRows()
  for (const table of TABLES) for (const row of rows.rowsOf(table)) copy.put(table, { ...row })
  return copy
}

function everything(rows: MemoryRows): Record<string, readonly object[]> {
  return Object.fromEntries(TABLES.map((table) => [table, rows.rowsOf(table)]))
}
