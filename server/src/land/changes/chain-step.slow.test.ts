import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { addressOf, bidRow, estateRow, hashOf, publicationRow } from '../../../test/support/land/land-rows.ts'
import { TINY_WORLD, tinySnapshot } from '../../../test/support/land/tiny-world.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction, type Tx } from '../../db/transaction.ts'
import type { LandEvent } from '../events/land-event.ts'
import type { EstateRow, LandRows, ParcelRow } from '../events/land-rows.ts'
import { importSnapshot } from '../snapshot/import.ts'
import {
  type KnownChain,
  PositionMovedError,
  readChainPosition,
  readPositionRow,
  releaseLease,
  type StoredBlock,
  startPosition,
  takeLease,
} from './chain-position.ts'
import { type ChainStep, followChain, type NewBlock } from './chain-step.ts'
import { readChangedAssets } from './change-journal.ts'
import type { ApplyEvent } from './changes.ts'
import { EVENT_TABLES, SHOWN_TABLES } from './event-tables.ts'
import { readLandHead } from './land-head.ts'

/** What an event of a test does to rows. Its numbers pick from what there is. */
interface Draft {
  readonly what: (typeof WHATS)[number]
  readonly pick: number
  readonly other: number
}

const WHATS = [
  'owner',
  'owner',
  'estate of a parcel',
  'text',
  'new parcel',
  'create estate',
  'remove estate',
  'open publication',
  'open publication',
  'close publication',
  'remove publication',
  'bid',
  'mortgage',
  'grant right',
  'revoke right',
  'signature',
  'index',
  'nothing',
] as const
const draft: fc.Arbitrary<Draft> = fc.record({
  what: fc.constantFrom(...WHATS),
  pick: fc.nat({ max: 1_000 }),
  other: fc.nat({ max: 1_000 }),
})
const drafts = fc.array(fc.array(draft, { maxLength: 4 }), { minLength: 1, maxLength: 3 })

/** A step along the chain: how many of the blocks that can be undone are, and the drafts of the new ones. */
const walk = fc.array(fc.record({ undone: fc.nat({ max: 4 }), blocks: drafts, final: fc.nat({ max: 12 }) }), {
  minLength: 3,
  maxLength: 5,
})

const START: StoredBlock = block(100, '', 'start')
const CHAIN = { chainId: 1, contractsHash: hashOf('contracts'), rulesVersion: 1 }
const KNOWN: KnownChain = { ...CHAIN, hasGrownFrom: () => false }

describeOnBothEngines('a step along the chain', (open, kind) => {
  let db: Db
  let worldId: number
  let names = 0
  beforeAll(async () => {
    db = (await open()).db
    worldId = await startWorld()
  })

  async function startWorld(): Promise<number> {
    const clock = { nowMs: () => 1_000 }
    const report = await importSnapshot(db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })
    expect(report.errors).toEqual([])
    await inTransaction(db, (tx) => startPosition(tx, report.worldId!, { ...CHAIN, block: START }))
    return report.worldId!
  }

  /** Takes a step from where the world is. */
  async function step(more: Partial<ChainStep> & Pick<ChainStep, 'blocks'>): Promise<void> {
    const { worldId, epoch, blocks, finalized } = (await readChainPosition(db))!
    const all = { worldId, epoch, from: blocks.at(-1)!, finalized, ...more }
    return inTransaction(db, (tx) => followChain(tx, all, { nowMs: 2_000, apply }))
  }

  /** Makes the block of the world final, so that nothing before it can be undone. */
  async function finalHead(): Promise<StoredBlock> {
    const head = (await readChainPosition(db))!.blocks.at(-1)!
    await step({ blocks: [], finalized: head })
    return head
  }

  test('undone to any block that is kept, the tables are row by row what they were at that block', async () => {
    await fc.assert(
      fc.asyncProperty(walk, async (steps) => {
        const start = await finalHead()
        const tablesAt = new Map([[start.hash, await tablesOf(worldId)]])
        for (const { undone, blocks, final } of steps) {
          const kept = (await readChainPosition(db))!.blocks
          const ancestor = kept.at(-1 - undone) ?? kept[0]!
          const added = blocksAfter(ancestor, blocks)
          const [before, tablesBefore] = [await readLandHead(db), await tablesOf(worldId)]

          await step({ undoTo: ancestor, blocks: added })

          const [after, together] = [await readLandHead(db), await tablesOf(worldId)]
          const hasChanged = SHOWN_TABLES.some(
            (table) => !isDeepStrictEqual(together[table], tablesBefore[table]),
          )
          expect(after.revision - before.revision).toBe(hasChanged ? 1 : 0)
          const range = { afterRevision: before.revision, toRevision: after.revision }
          expect(await readChangedAssets(db, worldId, range)).toBeDefined()
          await step({ undoTo: ancestor, blocks: [] })
          expect(await tablesOf(worldId)).toEqual(tablesAt.get(ancestor.hash))
          for (const block of added) {
            await step({ blocks: [block] })
            tablesAt.set(block.hash, await tablesOf(worldId))
          }
          expect(await tablesOf(worldId)).toEqual(together)
          const { blocks: stored } = (await readChainPosition(db))!
          expect(stored).toEqual([...kept.slice(0, kept.indexOf(ancestor) + 1), ...added.map(withoutEvents)])
          await step({ blocks: [], finalized: stored[Math.max(0, final - 8)] ?? stored.at(-1)! })
          for (const hash of tablesAt.keys())
            tablesAt.set(
              hash,
              withoutFinal(tablesAt.get(hash)!, (await readChainPosition(db))!.finalized.number),
            )
        }
      }),
      { numRuns: runs(kind === 'postgres' ? 6 : 2), endOnFailure: true },
    )
  })

  test('a row that is put unread by a final block, and again by the next one, is undone to what the final one put', async () => {
    const start = await finalHead()
    const put = (value: string) => async (rows: LandRows) =>
      rows.put('trade_index', { marketplace: '0xunread', signer: '', value, is_paused: false })
    const values = new Map<number, string>()
    const applyPut: ApplyEvent = (rows, event) => put(values.get(event.at.logIndex)!)(rows)
    const stepWith = async (blocks: readonly NewBlock[], more: Partial<ChainStep> = {}) => {
      const { worldId, epoch, blocks: kept, finalized } = (await readChainPosition(db))!
      const all = { worldId, epoch, from: kept.at(-1)!, finalized, blocks, ...more }
      await inTransaction(db, (tx) => followChain(tx, all, { nowMs: 2_000, apply: applyPut }))
    }
    for (const value of ['1', '2', '3']) values.set(Number(value), value)
    const blocks = blocksAfter(start, [[], [], []]).map((block, i) => ({
      ...block,
      events: [event(i + 1, { what: 'nothing', pick: 1, other: 1 })],
    }))
    await stepWith(blocks.slice(0, 1))
    await stepWith([], { finalized: blocks[0]! })

    await stepWith(blocks.slice(1), { finalized: blocks[1]! })
    await stepWith([], { undoTo: blocks[1]! })

    const rows = await db
      .selectFrom('trade_index')
      .select('value')
      .where('world_id', '=', worldId)
      .where('marketplace', '=', '0xunread')
      .execute()
    expect(rows).toEqual([{ value: '2' }])
  })

  test('leaves out no block after one that is not final: it could be of another branch', async () => {
    const start = await finalHead()
    const [orphan] = blocksAfter(start, [[]]) as [NewBlock]
    await step({ blocks: [orphan] })
    const far = { ...block(orphan.number + 7, hashOf('unrelated'), 'far'), events: [] }

    await expect(step({ blocks: [far], finalized: far })).rejects.toThrow(RangeError)
    await finalHead()
    await step({ blocks: [far], finalized: far })
    expect((await readChainPosition(db))!.blocks.map(({ hash }) => hash)).toEqual([far.hash])
  })

  test('moves the position alone where nothing shows, and keeps no images of final blocks', async () => {
    const before = await readLandHead(db)
    const start = await finalHead()
    const quiet = blocksAfter(start, [[], [{ what: 'nothing', pick: 1, other: 1 }], [grant]])
    await step({ blocks: quiet })
    const hidden = await readLandHead(db)
    await finalHead()
    const final = block(start.number + 20, 'far below', 'final')
    const loud = { ...final, events: [event(0, { what: 'owner', pick: 3, other: 3 })] }
    await step({ blocks: [loud], finalized: final })

    expect(hidden.revision).toBe(before.revision)
    expect((await readLandHead(db)).revision).toBe(before.revision + 1)
    expect(await db.selectFrom('chain_undo').selectAll().where('world_id', '=', worldId).execute()).toEqual(
      [],
    )
    const position = (await readChainPosition(db))!
    expect(position).toMatchObject({
      ...CHAIN,
      worldId,
      finalized: { number: final.number, hash: final.hash },
    })
    expect(position.blocks).toEqual([final])
    const rights = await db.selectFrom('land_right').select('owner').where('world_id', '=', worldId).execute()
    expect(rights).toContainEqual({ owner: '0x9' })
  })

  test('a lease keeps others waiting until it ends or is given back, and each new leader has another epoch', async () => {
    const take = (holder: string, nowMs: number) =>
      takeLease(db, { holder, nowMs, leaseMs: 100, known: KNOWN })

    const { epoch } = (await readChainPosition(db))!
    expect(await take('one', 0)).toMatchObject({ kind: 'leads', epoch: epoch + 1 })
    expect(await take('two', 99)).toEqual({ kind: 'waits', untilMs: 100 })
    expect(await take('one', 50)).toMatchObject({ kind: 'leads', epoch: epoch + 1 })
    expect(await take('two', 100)).toEqual({ kind: 'waits', untilMs: 150 })
    expect(await take('two', 150)).toMatchObject({ kind: 'leads', epoch: epoch + 2 })
    await releaseLease(db, 'one')
    expect(await take('one', 151)).toMatchObject({ kind: 'waits' })
    await releaseLease(db, 'two')
    expect(await take('one', 151)).toMatchObject({ kind: 'leads', epoch: epoch + 3 })
    await releaseLease(db, 'one')
  })

  test.each([
    ['of another chain', { chainId: 2 }],
    ['of other contracts', { contractsHash: hashOf('others') }],
    ['of newer rules', { rulesVersion: 0 }],
  ])('a world %s gives no lease, and its blocks are not read for that', async (_name, known) => {
    const { epoch, newest, blocks } = (await readChainPosition(db))!
    const request = { holder: 'stranger', nowMs: 1_000, leaseMs: 100, known: { ...KNOWN, ...known } }

    expect(await takeLease(db, request)).toEqual({ kind: 'no position' })
    expect(await readPositionRow(db)).toMatchObject({ epoch, holder: undefined, newest })
    expect(blocks.at(-1)).toMatchObject(newest)
    expect(await takeLease(db, { ...request, known: { ...KNOWN, rulesVersion: 2 } })).toMatchObject({
      kind: 'leads',
    })
    await releaseLease(db, 'stranger')
  })

  test('a world of fewer contracts than the process knows is followed', async () => {
    const known = {
      ...CHAIN,
      contractsHash: hashOf('more'),
      hasGrownFrom: (hash: string) => hash === CHAIN.contractsHash,
    }
    const request = { nowMs: 1_000, leaseMs: 100, known }
    expect(await takeLease(db, { ...request, holder: 'newer' })).toMatchObject({ kind: 'leads', worldId })
    expect(await takeLease(db, { ...request, holder: 'other' })).toEqual({ kind: 'waits', untilMs: 1_100 })
    await releaseLease(db, 'newer')
  })

  test('is taken by one of two processes that both believe they lead', async () => {
    const start = await finalHead()
    const { epoch, finalized } = (await readChainPosition(db))!
    const { db: other } = await open()
    const branches = [blocksAfter(start, [[grant], []]), blocksAfter(start, [[grant]])]
    const results = await Promise.allSettled(
      branches.map((blocks, i) =>
        inTransaction(i === 0 ? db : other, (tx) =>
          followChain(tx, { worldId, epoch, from: start, blocks, finalized }, { nowMs: 2_000, apply }),
        ),
      ),
    )

    const winner = results.findIndex(({ status }) => status === 'fulfilled')
    expect(results[1 - winner]).toMatchObject({ status: 'rejected', reason: { reason: 'another block' } })
    const { blocks } = (await readChainPosition(db))!
    expect(blocks).toEqual([start, ...branches[winner]!.map(withoutEvents)])
  })

  if (kind === 'postgres')
    test('that waits for another one is refused where that has made final what it would undo', async () => {
      const start = await finalHead()
      const added = blocksAfter(start, [[grant], [grant], [grant], [grant]])
      await step({ blocks: added })
      const [first, , third, last] = added as [NewBlock, NewBlock, NewBlock, NewBlock]
      const { epoch } = (await readChainPosition(db))!
      const { db: waiting } = await open()
      const at = { worldId, epoch, from: last, blocks: [] }
      const stale = { ...at, undoTo: first, finalized: start }
      let late: Promise<unknown> | undefined

      await inTransaction(db, async (tx) => {
        await followChain(tx, { ...at, finalized: third }, { nowMs: 2_000, apply })
        late = inTransaction(waiting, (other) => followChain(other, stale, { nowMs: 2_000, apply })).catch(
          (error: unknown) => error,
        )
        await untilAwaited(tx)
      })

      const refusal = await late
      expect(refusal).toBeInstanceOf(PositionMovedError)
      expect(refusal).toMatchObject({
        message: expect.stringContaining(`block ${third.number} and those before it are final`),
      })
      const position = (await readChainPosition(db))!
      expect(position.finalized).toMatchObject({ number: third.number, hash: third.hash })
      expect(position.blocks).toEqual([third, last].map(withoutEvents))
    })

  test('is refused, and changes nothing, where the world is not where the step was made for', async () => {
    const old = worldId
    const start = await finalHead()
    const [first, second] = blocksAfter(start, [[grant], []]) as [NewBlock, NewBlock]
    await step({ blocks: [first] })
    const { epoch } = (await readChainPosition(db))!
    await takeLease(db, { holder: 'other', nowMs: 5, leaseMs: 10, known: KNOWN })
    const tables = await tablesOf(old)
    const refusal = (more: Partial<ChainStep> & Pick<ChainStep, 'blocks'>) =>
      step(more).catch((error: unknown) => (error instanceof PositionMovedError ? error.reason : error))

    expect(await refusal({ blocks: [second], epoch })).toBe('another leader')
    expect(await refusal({ blocks: [second], from: start })).toBe('another block')
    expect(await refusal({ blocks: [second], from: { ...first, hash: hashOf('x') } })).toBe('another block')
    expect(await refusal({ blocks: [], undoTo: { ...start, hash: hashOf('x') } })).toBe('another block')
    expect(await refusal({ blocks: [], undoTo: { ...start, number: start.number - 1 } })).toBe(
      'another block',
    )
    expect(await refusal({ blocks: [], finalized: { ...start, hash: hashOf('x') } })).toBe('another block')
    expect(await refusal({ blocks: blocksAfter(start, [[]]) })).toBeInstanceOf(RangeError)
    expect(await refusal({ blocks: [], finalized: second })).toBeInstanceOf(RangeError)
    expect(await tablesOf(old)).toEqual(tables)

    // An import beside it: its world has no position, and the step was made for the one before.
    const clock = { nowMs: () => 1_000 }
    const imported = await importSnapshot(db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })
    expect(await readChainPosition(db)).toBeUndefined()
    const request = { holder: 'me', nowMs: 5, leaseMs: 10, known: KNOWN }
    expect(await takeLease(db, request)).toEqual({ kind: 'no position' })
    const late = { worldId: old, epoch: epoch + 1, from: first, blocks: [second], finalized: start }
    const take = (worldId: number) =>
      inTransaction(db, (tx) => followChain(tx, { ...late, worldId }, { nowMs: 3, apply }))
    await expect(take(old)).rejects.toMatchObject({ reason: 'another world' })
    await expect(take(imported.worldId!)).rejects.toMatchObject({ reason: 'not followed' })
    expect(await tablesOf(old)).toEqual(tables)
  })

  /** Each table that events change, and the images, each row as text. */
  async function tablesOf(worldId: number): Promise<Record<string, string[]>> {
    const tables: Record<string, string[]> = {}
    for (const table of [...EVENT_TABLES, 'chain_undo']) {
      const { rows } = await sql<{ text: string }>`
        select to_jsonb(${sql.ref(table)})::text as text from ${sql.table(table)}
        where world_id = ${worldId} order by 1`.execute(db)
      tables[table] = rows.map(({ text }) => text)
    }
    return tables
  }

  function blocksAfter(parent: StoredBlock, of: readonly (readonly Draft[])[]): NewBlock[] {
    let last = parent
    return of.map((list) => {
      const number = last.number + 1
      const next = block(number, last.hash, `block ${names++}`)
      last = next
      return { ...next, events: list.map((one, logIndex) => event(logIndex, one)) }
    })
  }
})

/** Until another transaction waits for this one. */
async function untilAwaited(tx: Tx): Promise<void> {
  for (let isWaiting = false; !isWaiting; ) {
    const { rows } = await sql`
      select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`.execute(tx)
    isWaiting = rows.length > 0
  }
}

/** Nothing else grants it. */
const grant: Draft = { what: 'grant right', pick: 9, other: 1 }

function block(number: number, parentHash: string, name: string): StoredBlock {
  return { number, hash: hashOf(name), parentHash, timeS: number * 12, logsDigest: `digest of ${name}` }
}

function withoutEvents({ events, ...block }: NewBlock): StoredBlock {
  return block
}

/** The tables without the images of blocks that have become final. */
function withoutFinal(tables: Record<string, string[]>, final: number): Record<string, string[]> {
  const isKept = (image: string) => (JSON.parse(image) as { block_number: number }).block_number > final
  return { ...tables, chain_undo: tables.chain_undo!.filter(isKept) }
}

/** An event whose text is the draft: the rules of this test are made up, and reach states that the real ones do not. */
function event(logIndex: number, draft: Draft): LandEvent {
  return {
    kind: 'asset-described',
    asset: { type: 'parcel', id: `${(draft.pick % 5) - 2},${(draft.other % 5) - 2}` },
    text: Buffer.from(JSON.stringify(draft)),
    at: { blockNumber: 0, timeMs: 0, txHash: hashOf('tx'), logIndex },
  }
}

const apply: ApplyEvent = async (rows, event) => {
  if (event.kind !== 'asset-described') return
  const draft = JSON.parse(Buffer.from(event.text).toString()) as Draft
  await DEEDS[draft.what](rows, draft, event.asset.id)
}

type Deed = (rows: LandRows, draft: Draft, parcelId: string) => Promise<void>

const parcelOf = async (rows: LandRows, { pick, other }: Draft): Promise<ParcelRow | undefined> =>
  rows.parcel({ x: (pick % 5) - 2, y: (other % 5) - 2 })

const DEEDS: Readonly<Record<Draft['what'], Deed>> = {
  owner: async (rows, draft) => {
    const parcel = await parcelOf(rows, draft)
    rows.put('parcel', { ...parcel!, owner: addressOf(`owner ${draft.pick % 3}`) })
  },
  'estate of a parcel': async (rows, draft) => {
    const parcel = await parcelOf(rows, draft)
    const id = String(1 + (draft.pick % 4))
    const others = await rows.parcelsOfEstate(id)
    const joined = { estate_id: id, estate_position: (others.at(-1)?.estate_position ?? -1) + 1 }
    rows.put('parcel', {
      ...parcel!,
      ...(draft.other % 3 ? joined : { estate_id: null, estate_position: null }),
    })
  },
  text: async (rows, draft) => {
    const parcel = await parcelOf(rows, draft)
    rows.put('parcel', {
      ...parcel!,
      data_text: `0x${'00ff'.repeat(draft.pick % 5)}`,
      name: `a "name"\n${draft.pick}`,
    })
  },
  'new parcel': async (rows, { pick, other }) => {
    const [model, at] = [await rows.parcel({ x: 0, y: 0 }), { x: 5 + (pick % 2), y: other % 2 }]
    const known = await rows.parcel(at)
    if (known) rows.remove('parcel', known)
    else rows.put('parcel', { ...model!, ...at, road_district_id: null, plaza_district_id: null })
  },
  'create estate': async (rows, { pick }) => {
    rows.put('estate', { ...NO_FACTS, ...estateRow(String(1 + (pick % 5))), name: `${pick}` } as EstateRow)
  },
  'remove estate': async (rows, { pick }) => {
    const estate = await rows.estate(String(1 + (pick % 5)))
    if (estate) rows.remove('estate', estate)
  },
  'open publication': async (rows, { pick }, asset_id) => {
    const price = ['7', '7.50', '12345678901234567890.000000000000000001'][pick % 3]!
    const facts = publicationRow(`offer ${pick}`, { asset_id, price })
    rows.put('publication', { ...facts, key: await rows.nextKey('publication') })
  },
  'close publication': async (rows, _draft, id) => {
    for (const row of await rows.publicationsOf({ type: 'parcel', id }))
      rows.put('publication', {
        ...row,
        status: 'cancelled',
        closed_by: 'moved',
        block_time_updated_at_ms: 5,
      })
  },
  'remove publication': async (rows, _draft, id) => {
    const last = (await rows.publicationsOf({ type: 'parcel', id })).at(-1)
    if (last) rows.remove('publication', last)
  },
  bid: async (rows, { pick }, asset_id) => {
    const open = await rows.bidsOf({ type: 'parcel', id: asset_id })
    for (const row of open) rows.put('bid', { ...row, status: 'cancelled', closed_by: 'replaced' })
    rows.put('bid', { ...bidRow(`bid ${pick % 2}`, { asset_id }), key: await rows.nextKey('bid') })
  },
  mortgage: async (rows, { pick }) => {
    const known = await rows.mortgage({ loanId: 600 })
    if (known) rows.put('mortgage', { ...known, paid: `${pick}.5`, due_in_s: pick })
  },
  'grant right': async (rows, draft) => rows.put('land_right', rightOf(draft)),
  'revoke right': async (rows, draft) => rows.remove('land_right', rightOf(draft)),
  signature: async (rows, { pick, other }) => {
    const key = { marketplace: '0xm', signer: `0x${pick % 2}`, signature_key: `0x${other % 2}` }
    const known = await rows.tradeSignature(key.marketplace, key.signer, key.signature_key)
    rows.put('trade_signature', { ...key, is_cancelled: pick % 3 === 0, uses: (known?.uses ?? 0) + 1 })
  },
  index: async (rows, { pick }) => {
    // Not read first: what is stored is found out when the rows are written.
    rows.put('trade_index', {
      marketplace: '0xm',
      signer: '',
      value: String(pick % 4),
      is_paused: pick % 3 === 0,
    })
  },
  nothing: async (rows, draft) => {
    const parcel = await parcelOf(rows, draft)
    rows.put('parcel', { ...parcel! })
  },
}

function rightOf({ pick, other }: Draft) {
  const [owner, operator] = [`0x${pick === 9 ? 9 : pick % 2}`, `0x${other % 3}`]
  return { kind: 'approval', registry: 'parcel', owner, operator } as const
}

const NO_FACTS = {
  approvals_for_all: null,
  update_managers: null,
  data_text: null,
  holder: null,
  tenant: null,
  rented_until_ms: null,
  fingerprint: null,
}
