import fc from 'fast-check'
import { CompiledQuery, type KyselyPlugin, sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import {
  CALLS,
  type Call,
  ContractModel,
  MODEL_ESTATES,
  MODEL_PARCELS,
} from '../../../test/support/land/contract-model.ts'
import { applyLandChanges } from '../../../test/support/land/land-changes.ts'
import { hashOf } from '../../../test/support/land/land-rows.ts'
import { ALICE, BOB, LandStory, STORY_CONTEXT } from '../../../test/support/land/land-story.ts'
import { type Records, TINY_WORLD, tinyRecords, tinySnapshot } from '../../../test/support/land/tiny-world.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction } from '../../db/transaction.ts'
import { applyEvent } from '../events/apply-event.ts'
import type { EventTable } from '../events/land-rows.ts'
import { emptyParcel } from '../events/new-rows.ts'
import { importSnapshot } from '../snapshot/import.ts'
import { type BlockId, type StoredBlock, startPosition } from './chain-position.ts'
import { followChain, type NewBlock } from './chain-step.ts'
import { readChangedRows } from './changed-rows.ts'
import type { ApplyEvent } from './changes.ts'
import { EVENT_TABLES } from './event-tables.ts'
import { MONEY_COLUMNS } from './json-rows.ts'
import { readLandHead } from './land-head.ts'
import { TableRows } from './table-rows.ts'

const call: fc.Arbitrary<Call> = fc.record({
  does: fc.constantFrom(...CALLS),
  who: fc.nat(2),
  asset: fc.nat(6),
  other: fc.nat(2),
  isOdd: fc.boolean(),
})
const transactions = fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), {
  minLength: 15,
  maxLength: 30,
  size: 'max',
})
/** How many blocks a step has, and how many of those before it are undone and applied again. */
const cuts = fc.array(fc.record({ length: fc.integer({ min: 1, max: 6 }), undone: fc.nat(8) }), {
  minLength: 1,
})

const START: StoredBlock = {
  number: 0,
  hash: hashOf('start'),
  parentHash: '',
  timeS: 0,
  logsDigest: undefined,
}
const apply: ApplyEvent = (rows, event) => applyEvent(rows, event, STORY_CONTEXT)

describeOnBothEngines('the rules over tables', (open, kind) => {
  test('give the rows that they give in memory, however the blocks are cut, undone and applied again', async () => {
    const { db } = await open()
    const worldId = await emptyWorld(db)
    const step = (from: BlockId, undoTo: BlockId | undefined, blocks: readonly NewBlock[]) => {
      const all = { worldId, epoch: 0, from, undoTo, blocks, finalized: START }
      return inTransaction(db, (tx) => followChain(tx, all, { nowMs: 1_000, apply }))
    }
    await fc.assert(
      fc.asyncProperty(transactions, cuts, async (sent, lengths) => {
        const story = await play(sent)
        const chain: readonly StoredBlock[] = [START, ...blocksOf(story)]
        let at = 0
        for (let i = 0; at < chain.length - 1; i++) {
          const { length, undone } = lengths[i % lengths.length]!
          const to = Math.min(at + length, chain.length - 1)
          const ancestor = Math.max(at - undone, 0)
          await step(chain[at]!, chain[ancestor], chain.slice(ancestor + 1, to + 1) as NewBlock[])
          at = to
        }

        for (const table of EVENT_TABLES)
          expect(await tableOf(db, worldId, table), table).toEqual(sorted(story.rows.rowsOf(table)))
        await step(chain[at]!, START, [])
        for (const table of EVENT_TABLES) expect(await tableOf(db, worldId, table), table).toEqual([])
      }),
      { numRuns: runs(kind === 'postgres' ? 4 : 1), endOnFailure: true },
    )
  })

  test('know no mortgage and no loan whose number no column can hold', async () => {
    const { db } = await open()
    const worldId = await emptyWorld(db)
    const story = new LandStory()
    for (const id of [2n ** 53n, 2n ** 63n, 2n ** 256n - 1n]) {
      const [mortgage, loan] = [{ mortgageId: id }, { loanId: id }]
      await story.transaction(
        { kind: 'mortgage-requested', ...mortgage, ...loan, borrower: ALICE, parcel: { x: 1, y: 1 } },
        { kind: 'mortgage-started', ...mortgage },
        { kind: 'mortgage-cancelled', ...mortgage },
        { kind: 'mortgage-claimed', ...mortgage },
        { kind: 'mortgage-defaulted', ...mortgage },
        { kind: 'loan-lent', ...loan, lender: BOB },
        { kind: 'loan-transferred', ...loan, to: ALICE },
        { kind: 'loan-partly-paid', ...loan, amountWei: 1n },
        { kind: 'loan-paid', ...loan },
        { kind: 'loan-pardoned', ...loan },
      )
    }
    const all = {
      worldId,
      epoch: 0,
      from: START,
      undoTo: undefined,
      blocks: blocksOf(story),
      finalized: START,
    }
    await inTransaction(db, (tx) => followChain(tx, all, { nowMs: 1_000, apply }))

    expect(await tableOf(db, worldId, 'mortgage')).toEqual([])
    expect(story.rows.rowsOf('mortgage')).toEqual([])
  })

  test('need few statements for a block, and none of them reads the parcels that it does not ask for', async () => {
    const { db } = await open()
    const worldId = await worldWithOwners(db)
    const held = await readLandHead(db)
    const executed: CompiledQuery[] = []
    const noting = noteQueries(db, executed)
    const [block] = blocksOf(await play([])) as [NewBlock]
    const moved = [14, 15].map((x, logIndex) => {
      const asset = { type: 'parcel', id: `${x},0` } as const
      const at = { ...block.events[0]!.at, logIndex }
      return { kind: 'asset-transferred', at, asset, from: '0x7', to: ALICE } as const
    })
    const step = { worldId, epoch: 0, from: START, finalized: START, blocks: [{ ...block, events: moved }] }

    await inTransaction(db, (tx) =>
      followChain(tx.withPlugin(noting) as typeof tx, step, { nowMs: 1_000, apply }),
    )
    expect(executed, 'position, rows that are read, all that is written').toHaveLength(3)
    const changed = await readChangedRows(db.withPlugin(noting), { ...held, worldId }, 10)
    expect(changed?.parcels.map(({ owner }) => owner)).toEqual([ALICE, ALICE])
    expect(executed, 'for the readers').toHaveLength(3 + 1)

    const [, read, , ofReaders] = executed as [CompiledQuery, CompiledQuery, CompiledQuery, CompiledQuery]
    for (const query of [read, ofReaders]) await expectFewParcelsRead(db, query)
  })

  test('find the land of an owner without reading all the others', async () => {
    const { db } = await open()
    const worldId = await worldWithOwners(db)
    const executed: CompiledQuery[] = []
    const owned = await inTransaction(db, (tx) =>
      new TableRows(tx.withPlugin(noteQueries(db, executed)) as typeof tx, worldId).assetsOf('parcel', '0x7'),
    )

    expect(owned.map(({ x, y }) => [x, y])).toEqual([
      [14, 0],
      [15, 0],
    ])
    expect(executed).toHaveLength(1)
    await expectFewParcelsRead(db, executed[0]!)
  })

  test('read no number that is too large for a number: it would silently be another one', async () => {
    const { db } = await open()
    const worldId = await worldWithOwners(db)
    const held = await readLandHead(db)
    await applyLandChanges(db, [{ kind: 'change-parcel', x: 1, y: 0, to: { name: 'one' } }], 2_000)
    await sql`update parcel set updated_at_ms = 9007199254740993 where (x, y) = (1, 0)`.execute(db)
    const parcel = [{ x: 1, y: 0 }]
    const read = (more: readonly [EventTable, readonly object[]][]) =>
      inTransaction(db, (tx) => new TableRows(tx, worldId).readRows(new Map([['parcel', parcel], ...more])))

    await expect(read([])).rejects.toThrow(RangeError)
    await expect(read([['estate', [{ id: '1' }]]])).rejects.toThrow(RangeError)
    await expect(readChangedRows(db, { ...held, worldId }, 10)).rejects.toThrow(RangeError)
  })

  test('read sums of money as text: as numbers they would lose digits', async () => {
    const { db } = await open()
    const { rows } = await sql<{ readonly column_name: string }>`
      select distinct column_name from information_schema.columns
      where table_name = any(${EVENT_TABLES}::text[])
        and data_type in ('numeric', 'real', 'double precision')`.execute(db)
    expect(new Set(rows.map(({ column_name }) => column_name))).toEqual(MONEY_COLUMNS)
  })
})

async function emptyWorld(db: Db): Promise<number> {
  const records = Object.fromEntries(Object.keys(tinyRecords()).map((set) => [set, []])) as unknown as Records
  const clock = { nowMs: () => 1_000 }
  const report = await importSnapshot(db, tinySnapshot({ records }), {
    world: TINY_WORLD,
    clock,
    dryRun: false,
  })
  expect(report.errors).toEqual([])
  const followed = { chainId: 1, contractsHash: '', rulesVersion: 1, block: START }
  await inTransaction(db, (tx) => startPosition(tx, report.worldId!, followed))
  return report.worldId!
}

/** 2,000 parcels, of which each owner has two. */
async function worldWithOwners(db: Db): Promise<number> {
  const worldId = await emptyWorld(db)
  await sql`
    insert into parcel select filled.* from generate_series(0, 1999) as n, jsonb_populate_record(null::parcel,
      ${JSON.stringify(emptyParcel({ x: 0, y: 0 }, 0))}::jsonb || jsonb_build_object('world_id', ${worldId}::integer,
        'x', n % 100, 'y', n / 100, 'owner', '0x' || n / 2)) as filled`.execute(db)
  await sql`analyze parcel`.execute(db)
  return worldId
}

function noteQueries(db: Db, executed: CompiledQuery[]): KyselyPlugin {
  return {
    transformQuery: ({ node, queryId }) => {
      executed.push(db.getExecutor().compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  }
}

interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

/** Runs a query again. Indexes must find its parcels: among so few the planner takes none, unless it has to. */
async function expectFewParcelsRead(db: Db, { sql: text, parameters }: CompiledQuery): Promise<void> {
  const explain = CompiledQuery.raw(`explain (analyze, format json, timing off) ${text}`, [...parameters])
  const { rows } = await inTransaction(db, async (tx) => {
    for (const way of ['seqscan', 'hashjoin', 'mergejoin'])
      await sql`set local ${sql.raw(`enable_${way}`)} = off`.execute(tx)
    return tx.executeQuery<{ readonly 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(explain)
  })
  const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]
  const scans = nodesOf(rows[0]!['QUERY PLAN'][0].Plan).filter((node) =>
    node['Relation Name']?.startsWith('parcel'),
  )
  const counts = scans.map(
    (scan) =>
      scan['Actual Loops'] *
      (scan['Actual Rows'] +
        (scan['Rows Removed by Filter'] ?? 0) +
        (scan['Rows Removed by Index Recheck'] ?? 0)),
  )
  expect(counts).not.toEqual([])
  expect(Math.max(...counts)).toBeLessThanOrEqual(2)
}

async function play(sent: readonly (readonly Call[])[]): Promise<LandStory> {
  const model = new ContractModel()
  const story = new LandStory()
  const mints = [...MODEL_PARCELS, ...MODEL_ESTATES].map(
    (_, asset): Call => ({ does: 'mint', who: asset % 2, asset, other: 0, isOdd: false }),
  )
  for (const calls of [mints, ...sent])
    await story.transaction(...calls.flatMap((one) => model.call(one, story.nowMs + 15_000)))
  return story
}

/** The events in blocks that follow each other. */
function blocksOf({ events }: LandStory): NewBlock[] {
  const numbers = [...new Set(events.map(({ at }) => at.blockNumber))]
  return numbers.map((blockNumber, i) => ({
    number: i + 1,
    hash: hashOf(`block ${blockNumber}`),
    parentHash: i === 0 ? START.hash : hashOf(`block ${numbers[i - 1]}`),
    timeS: i,
    logsDigest: undefined,
    events: events.filter(({ at }) => at.blockNumber === blockNumber),
  }))
}

async function tableOf(db: Db, worldId: number, table: string): Promise<readonly object[]> {
  const { rows } = await sql<{ readonly world_id: number }>`
    select * from ${sql.table(table)} where world_id = ${worldId}`.execute(db)
  return sorted(rows.map(({ world_id, ...row }) => row))
}

function sorted(rows: readonly object[]): readonly object[] {
  const texts = rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))))
  return texts.sort().map((text) => Object.fromEntries(JSON.parse(text) as [string, unknown][]))
}
