import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { applyLandChanges, type LandChange } from '../../../test/support/land/land-changes.ts'
import { publicationRow } from '../../../test/support/land/land-rows.ts'
import {
  address,
  BOB,
  CLEO,
  hash,
  iso,
  jsonLine,
  type Records,
  TINY_WORLD,
  type TinyManifest,
  tinyRecords,
  tinySnapshot,
} from '../../../test/support/land/tiny-world.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import { MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction } from '../../db/transaction.ts'
import { ExactNumber } from '../records/exact-json.ts'
import type { PublicationRecord } from '../records/publication.ts'
import { LAND_TABLES } from '../records/tables.ts'
import { exportSnapshot } from './export.ts'
import { DATA_SETS } from './format.ts'
import { type ImportOptions, importSnapshot } from './import.ts'
import {
  attachWorld,
  beginWorld,
  dropRetiredWorlds,
  dropWorld,
  LEASE_MS,
  Lease,
  RETIRED_GRACE_MS,
  showWorld,
} from './worlds.ts'

/** A clock that stands still until it is moved. */
const clock = { ms: Date.parse('2021-01-01T00:00:00.000Z'), nowMs: () => clock.ms }
const importInto = (db: Db, folder: string, more: Partial<ImportOptions> = {}) =>
  importSnapshot(db, folder, { world: TINY_WORLD, clock, dryRun: false, ...more })

describeOnBothEngines('a snapshot', (open, kind) => {
  const exportFrom = async (db: Db) => {
    const folder = join(mkdtempSync(join(tmpdir(), 'landpass-export-')), 'world')
    const report = await exportSnapshot(db, folder, { inOneTransaction: kind === 'postgres' })
    return { folder, report }
  }

  test('names the block of a world that is followed on a chain', async () => {
    const { db } = await open()
    const { worldId } = await importInto(db, tinySnapshot())
    const manifestOf = (folder: string) =>
      JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as { chain?: object }
    expect(manifestOf((await exportFrom(db)).folder)).not.toHaveProperty('chain')

    const chain = { chain_id: 1, block_number: 18_000_000, block_hash: `0x${'ab'.repeat(32)}` }
    await db
      .insertInto('chain_position')
      .values({
        ...chain,
        world_id: worldId!,
        contracts_hash: '',
        rules_version: 1,
        block_time_s: 1,
        finalized_number: 18_000_000,
        finalized_hash: chain.block_hash,
        holder: null,
        lease_until_ms: 0,
        epoch: 0,
      })
      .execute()
    const { folder } = await exportFrom(db)
    expect(manifestOf(folder).chain).toEqual(chain)
    expect((await importInto(db, folder)).ok).toBe(true)
  })

  test('comes out with the records that went in, and with the same bytes every further time', async () => {
    const { db } = await open()
    const records = tinyRecords()

    const report = await importInto(db, tinySnapshot({ records }))
    const first = await exportFrom(db)
    await importInto(db, first.folder)
    clock.ms += 60_000
    const second = await exportFrom(db)

    expect(report).toMatchObject({ ok: true, errorCount: 0, counts: first.report.counts })
    for (const set of DATA_SETS) {
      expect(linesIn(first.folder, `${set}.ndjson.gz`)).toEqual(records[set].map(jsonLine))
    }
    expect(filesIn(second.folder)).toEqual(filesIn(first.folder))
  })

  test('keeps what the rules of the chain need, where it has it', async () => {
    const { db } = await open()
    const records = tinyRecords()
    const chainFacts = {
      data_text: '0x302c00ff',
      holder: CLEO,
      tenant: BOB,
      rented_until: '1551398400000',
    }
    Object.assign(records.parcels[3]!, chainFacts, { data_text: `0x${'00ff'.repeat(30_000)}` })
    Object.assign(records.estates[1]!, chainFacts, { fingerprint: `0x${'ab'.repeat(32)}` })
    Object.assign(records.publications[0]!, { log_index: 0 })
    Object.assign(records.publications[3]!, {
      log_index: 7,
      closed_by: 'moved',
      closed_tx_hash: hash(0x778),
    })
    Object.assign(records.mortgages[0]!, { log_index: 3, due_in: '2592000' })
    const [first] = records.bids
    const replaced = { ...first!, status: 'cancelled' as const, closed_by: 'replaced' as const }
    records.bids.unshift(replaced)
    const any = {
      id: hash(0x777),
      fingerprint: '0xabcd',
      status: 'cancelled',
      closed_by: 'fingerprint',
      closed_tx_hash: hash(0x779),
    } as const
    records.bids.push({ ...records.bids[2]!, ...any })

    const { errors } = await importInto(db, tinySnapshot({ records }))

    expect(errors).toEqual([])
    const { folder } = await exportFrom(db)
    for (const set of DATA_SETS)
      expect(linesIn(folder, `${set}.ndjson.gz`)).toEqual(records[set].map(jsonLine))
  })

  test('replaces the world in one step: the next revision, with a notice', async () => {
    const engine = await open()
    const { db } = engine
    const heard: string[] = []
    await engine.listen('land', (payload) => void heard.push(payload))
    const before = await stateOf(db)

    const report = await importInto(db, tinySnapshot())

    expect(report).toMatchObject({ revision: before.revision + 1, worldId: expect.any(Number) })
    expect(await stateOf(db)).toMatchObject({
      world_id: report.worldId,
      revision: report.revision,
      changed_at_ms: clock.ms,
    })
    await expect.poll(() => heard).toContain(String(report.revision))
    const prices = await db
      .selectFrom('publication')
      .select('price')
      .where('world_id', '=', report.worldId!)
      .orderBy('key')
      .execute()
    expect(prices.slice(0, 2).map(({ price }) => price)).toEqual([
      '0.000000000000000001',
      '16787.030000000000000003',
    ])
  })

  test('does not replace a world that was shown while it was loaded, where it must not', async () => {
    const { db } = await open()
    await importInto(db, tinySnapshot())
    const before = await stateOf(db)
    const late = await beginWorld(db, clock)

    await expect(showWorld(db, late, clock.ms, { onlyIfEmpty: true })).rejects.toThrow(
      'The database holds a world already. Nothing was changed.',
    )

    expect(await stateOf(db)).toEqual(before)
    await dropWorld(db, late)
  })

  test('appears in one step to readers that query the tables during the import', async () => {
    const { db } = await open()
    const { db: reader } = await open()
    const small = { ...tinyRecords(), publications: [], contributions: [] }
    await importInto(db, tinySnapshot({ records: small }))
    const seen = new Set<string>()
    let isDone = false
    const reading = (async () => {
      while (!isDone) seen.add(await countsSeenBy(reader))
    })()

    for (const records of [tinyRecords(), small]) await importInto(db, tinySnapshot({ records }))
    isDone = true
    await reading

    expect([...seen].sort()).toEqual(['0 and 0', '5 and 3'])
  })

  test('that is bad, stopped, or only checked changes nothing and leaves nothing', async () => {
    const { db } = await open()
    await importInto(db, tinySnapshot())
    const before = await everythingIn(db)
    const bad = tinySnapshot({ breakRecord: { set: 'contributions', line: 3, with: { land_count: 0 } } })
    const stop = new AbortController()
    const onProgress = ({ phase }: { phase: string }) => phase === 'attach' && stop.abort(new Error('ctrl-C'))

    expect(await importInto(db, bad)).toMatchObject({
      ok: false,
      worldId: null,
      revision: null,
      errorCount: 1,
    })
    expect(await importInto(db, tinySnapshot(), { dryRun: true })).toMatchObject({ ok: true, worldId: null })
    await expect(importInto(db, tinySnapshot(), { signal: stop.signal, onProgress })).rejects.toThrow(
      'ctrl-C',
    )

    expect(await everythingIn(db)).toEqual(before)
  })

  test('cannot be imported while another import runs, and can when that one was killed', async () => {
    const { db } = await open()
    const dead = await beginWorld(db, clock)

    await expect(importInto(db, tinySnapshot())).rejects.toThrow(
      'Another import into this database is running',
    )
    clock.ms += LEASE_MS
    expect(await importInto(db, tinySnapshot())).toMatchObject({ ok: true })

    expect(await partitionsIn(db)).not.toContain(`parcel_w${dead}`)
    const lease = new Lease(db, dead, { nowMs: () => clock.ms + LEASE_MS })
    await expect(lease.renew()).resolves.toBeUndefined() // young enough not to ask
    const stalled = new Lease(db, dead, clock)
    clock.ms += LEASE_MS
    await expect(stalled.renew()).rejects.toThrow('stood still for too long')
  })

  test('leaves the world before it to its readers for a while', async () => {
    const { db } = await open()
    const first = await importInto(db, tinySnapshot())
    await dropRetiredWorlds(db, 0, clock.ms)
    const second = await importInto(db, tinySnapshot())

    expect(await dropRetiredWorlds(db, RETIRED_GRACE_MS, clock.ms + RETIRED_GRACE_MS - 1)).toBe(0)
    expect(await partitionsIn(db)).toContain(`parcel_w${first.worldId}`)
    expect(await dropRetiredWorlds(db, RETIRED_GRACE_MS, clock.ms + RETIRED_GRACE_MS)).toBe(1)

    expect(await partitionsIn(db)).toEqual(LAND_TABLES.map((table) => `${table}_w${second.worldId}`).sort())
    expect(await db.selectFrom('land_world').select('world_id').execute()).toEqual([
      { world_id: second.worldId },
    ])
  })

  test('gets every index of the parent tables, each one once', async () => {
    const { db } = await open()
    const worldId = await beginWorld(db, clock)
    await attachWorld(db, worldId, new Lease(db, worldId, clock))
    const { rows } = await sql<{ parent: number; child: number }>`
      select (select count(*) from pg_indexes where tablename = 'bid') as parent,
             (select count(*) from pg_indexes where tablename = ${`bid_w${worldId}`}) as child`.execute(db)
    expect(rows[0]!.child).toBe(rows[0]!.parent)
    clock.ms += MINUTE_MS
  })

  test('can be imported again where publications were not written in order of creation', async () => {
    const { db } = await open()
    await importInto(db, tinySnapshot())
    const opened = (name: string, madeAtMs: number): LandChange => ({
      kind: 'open-publication',
      publication: publicationRow(name, { asset_id: '2,0', block_time_created_at_ms: madeAtMs }),
    })
    const earliestMs = Date.parse('2018-01-01T00:00:00.000Z')
    await applyLandChanges(
      db,
      [opened('one', 3_000), opened('two', earliestMs), opened('three', 3_000), opened('four', 2_000)],
      clock.ms,
    )

    const first = await exportFrom(db)
    const report = await importInto(db, first.folder)
    const second = await exportFrom(db)

    expect(report.errors).toEqual([])
    expect(report.counts.publications).toBe(5 + 4)
    const published = linesIn(first.folder, 'publications.ndjson.gz').map((line) => JSON.parse(line))
    const nameOf = ({ tx_hash }: { tx_hash: string }) =>
      ['one', 'two', 'three', 'four'].find((name) => publicationRow(name, {}).tx_hash === tx_hash)
    expect(published.map(nameOf).filter(Boolean)).toEqual(['four', 'one', 'three', 'two'])
    expect(filesIn(second.folder)).toEqual(filesIn(first.folder))
    clock.ms += RETIRED_GRACE_MS
  })

  test('starts again when the world changes while it is written, and gives up in the end', async () => {
    const { db } = await open()
    await importInto(db, tinySnapshot())
    const folder = join(mkdtempSync(join(tmpdir(), 'landpass-export-')), 'world')
    const disturb = (times: number) => {
      let left = times
      return async () => {
        if (left-- > 0)
          await db
            .updateTable('land_state')
            .set((eb) => ({ revision: eb('revision', '+', 1) }))
            .execute()
      }
    }
    await expect(exportSnapshot(db, folder, { onProgress: disturb(1000) })).rejects.toThrow('changed 5 times')
    expect(await exportSnapshot(db, folder, { onProgress: disturb(1) })).toMatchObject({ ok: true })
    expect(readdirSync(join(folder, '..'))).toEqual(['world'])
  })

  test('survives with any names, prices and times', async () => {
    const { db } = await open()
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyPublication, { minLength: 1, maxLength: 20 }).map(inOrderOfCreation),
        anyText,
        async (publications, name) => {
          const records = { ...tinyRecords(), publications }
          records.parcels[0]!.data = { version: 0, name, description: name }

          const report = await importInto(db, tinySnapshot({ records }))
          const { folder } = await exportFrom(db)

          expect(report.errors).toEqual([])
          expect(linesIn(folder, 'publications.ndjson.gz')).toEqual(publications.map(jsonLine))
          expect(linesIn(folder, 'parcels.ndjson.gz')).toEqual(records.parcels.map(jsonLine))
          clock.ms += RETIRED_GRACE_MS
        },
      ),
      { numRuns: runs(3) },
    )
  })

  // The others are about records and files: the engine makes no difference
  if (kind === 'embedded') return

  test.each([
    ['amount of 0', ({ mortgages: [pending] }: Records) => Object.assign(pending!, { amount: 0 })],
    [
      'loan of two mortgages',
      ({ mortgages: [, cancelled, , , defaulted] }: Records) =>
        Object.assign(defaulted!, { loan_id: cancelled!.loan_id }),
    ],
    [
      'started loan without a lender',
      ({ mortgages }: Records) => Object.assign(mortgages[2]!, { lender: null }),
    ],
  ])('says that it comes from a chain where it has what no other source has: %s', async (_, change) => {
    const { db } = await open()
    const records = tinyRecords()
    change(records)
    const manifest = (written: TinyManifest) => Object.assign(written, { from_chain: true })
    expect((await importInto(db, tinySnapshot({ records, manifest }))).errors).toEqual([])

    const { folder } = await exportFrom(db)
    expect((await importInto(db, folder)).errors).toEqual([])
  })

  test('refuses a reason of closing that does not fit the status', async () => {
    const { db } = await open()
    const records = tinyRecords()
    const open_ = records.bids.find(({ status }) => status === 'open')!
    Object.assign(open_, { closed_by: 'event' })
    const sold = records.publications.find(({ status }) => status === 'sold')!
    Object.assign(sold, { closed_by: 'moved' })
    const offered = records.publications.find(({ status }) => status === 'open')!
    Object.assign(offered, { closed_tx_hash: hash(0x778) })

    const { errors } = await importInto(db, tinySnapshot({ records }))

    expect(errors.map(({ field, value }) => [field, value])).toEqual([
      ['closed_tx_hash', `"${hash(0x778)}"`],
      ['closed_by', '"moved"'],
      ['closed_by', '"event"'],
    ])
  })

  test('that is changed between its check and its loading is refused', async () => {
    const { db } = await open()
    const before = await everythingIn(db)
    const folder = tinySnapshot({ packed: false })
    const path = join(folder, 'contributions.ndjson')
    const meddle = ({ phase }: { phase: string }) => {
      if (phase === 'load')
        writeFileSync(path, readFileSync(path, 'utf8').replace('"land_count":1', '"land_count":5'))
    }

    const report = await importInto(db, folder, { onProgress: meddle })

    expect(report).toMatchObject({ ok: false, worldId: null })
    expect(report.errors).toMatchObject([{ file: 'contributions.ndjson', field: 'sha256' }])
    expect(await everythingIn(db)).toEqual(before)
  })

  test('is never written over something', async () => {
    const { db } = await open()
    await importInto(db, tinySnapshot())
    const { folder } = await exportFrom(db)
    await expect(exportSnapshot(db, folder)).rejects.toThrow('is not empty')
    await expect(exportSnapshot(db, join(folder, 'manifest.json'))).rejects.toThrow('is a file')
  })
})

test('there is nothing to export before the first import', async () => {
  // Only this row is read: no engine needed
  const select = () => ({ executeTakeFirstOrThrow: async () => ({ world_id: null }) })
  const db = { selectFrom: () => ({ leftJoin: () => ({ select }) }) }
  await expect(exportSnapshot(db as unknown as Db, 'anywhere')).rejects.toThrow('There is no world to export')
})

/** Any text that a snapshot may hold: whole characters, no NUL. */
const anyText = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\0', ''))
const timeMs = fc.integer({ min: 0, max: 253_402_300_799_999 })
const anyPrice = fc
  .tuple(fc.bigInt(0n, 10n ** 30n), fc.integer({ min: 0, max: 18 }))
  .map(([units, decimals]) => {
    const digits = units.toString().padStart(decimals + 1, '0')
    const text = `${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}`
    return new ExactNumber(text.replace(/\.?0*$/, '') || '0')
  })
  .filter(({ text }) => text !== '0' && !/^0*$/.test(text))
const anyPublication: fc.Arbitrary<PublicationRecord> = fc
  .record({
    price: anyPrice,
    at: timeMs,
    expires_at: fc.maxSafeNat(),
    block_number: fc.maxSafeNat(),
    seed: fc.nat(),
  })
  .map(({ price, at, expires_at, block_number, seed }) => ({
    tx_hash: hash(seed),
    tx_status: 'confirmed',
    owner: address('e'),
    price,
    expires_at,
    status: 'open' as const,
    buyer: null,
    contract_id: hash(seed),
    block_number,
    block_time_created_at: at,
    block_time_updated_at: null,
    asset_id: '2,0',
    asset_type: 'parcel' as const,
    marketplace_address: address('f'),
    created_at: iso(at),
    updated_at: iso(at),
  }))

function inOrderOfCreation(publications: readonly PublicationRecord[]): PublicationRecord[] {
  return publications.toSorted((one, other) => one.block_time_created_at - other.block_time_created_at)
}

function filesIn(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')]),
  )
}

function linesIn(folder: string, name: string): string[] {
  return gunzipSync(readFileSync(join(folder, name)))
    .toString('utf8')
    .split('\n')
    .slice(0, -1)
}

/**
 * Two tables of the world that is shown, in one snapshot of the database: PostgreSQL may have planned a single statement before it attached the tables of the world that
 * the statement then finds as the current one.
 */
function countsSeenBy(db: Db): Promise<string> {
  return inTransaction(db, async (tx) => {
    await sql`set transaction isolation level repeatable read`.execute(tx)
    const { world_id } = await tx.selectFrom('land_state').select('world_id').executeTakeFirstOrThrow()
    const { rows } = await sql<{ counts: string }>`
      select (select count(*) from publication where world_id = ${world_id}) || ' and '
          || (select count(*) from contribution where world_id = ${world_id}) as counts`.execute(tx)
    return rows[0]!.counts
  })
}

function stateOf(db: Db) {
  return db.selectFrom('land_state').selectAll().executeTakeFirstOrThrow()
}

async function partitionsIn(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'r' and relname ~ '_w[0-9]+$' order by relname collate "C"`.execute(
    db,
  )
  return rows.map(({ name }) => name)
}

/** The state, the tables that there are, and all rows of one of them. */
async function everythingIn(db: Db) {
  return {
    state: await stateOf(db),
    worlds: await db.selectFrom('land_world').selectAll().orderBy('world_id').execute(),
    partitions: await partitionsIn(db),
    contributions: await db
      .selectFrom('contribution')
      .selectAll()
      .orderBy('world_id')
      .orderBy('key')
      .execute(),
  }
}
