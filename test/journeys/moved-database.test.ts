import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { readConfig } from '@landpass/server/config/config'
import type { Engine } from '@landpass/server/db/engine'
import { openEngine } from '@landpass/server/db/open-engine'
import { importSnapshot } from '@landpass/server/land/snapshot/import'
import { StateKeeper } from '@landpass/server/state/state-keeper'
import {
  emptyDir,
  freshDatabaseUrl,
  freshDataDir,
  TEST_SETTINGS,
} from '@landpass/server/test/support/database/engines'
import { EventReader } from '@landpass/server/test/support/http/event-reader'
import {
  type LandServer,
  readInBundledThread,
  startLandServer,
  testClock,
} from '@landpass/server/test/support/http/land-server'
import { applyLandChanges } from '@landpass/server/test/support/land/land-changes'
import { TINY_WORLD, tinySnapshot } from '@landpass/server/test/support/land/tiny-world'
import { eventually, landpass } from '@landpass/server/test/support/processes/landpass'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'

/**
 * A restored copy carries lineage and revision of its original along. Both go on: the same revision then means other
 * bytes, so neither may confirm a tag of the other one.
 */

const clock = testClock()
const PATHS = ['/v1/parcels/0/0', '/v2/tiles', '/v2/feed', '/v1/map?nw=-1,1&se=1,-1'] as const

/** A database, and how a server or a tool opens it. */
interface Place {
  readonly dataDir: string
  readonly databaseUrl?: string
}

const open = (place: Place) => openEngine({ ...TEST_SETTINGS, ...place })

async function withEngine<T>(place: Place, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await open(place)
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

interface Served {
  readonly engine: Engine
  readonly server: LandServer
  rename(name: string): Promise<void>
}

async function serve(place: Place, dataDir = place.dataDir): Promise<Served> {
  const engine = await open(place)
  const env = { DATA_DIR: dataDir, WORLD: '-2,-2,2,2' }
  const server = await startLandServer(engine, clock, env, { readLand: readInBundledThread })
  let isOpen = true
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    await server.close()
    await engine.close()
  }
  onTestFinished(close)
  const rename = async (name: string) => {
    const revision = await applyLandChanges(
      engine.db,
      [{ kind: 'change-parcel', x: 0, y: 0, to: { name } }],
      clock.nowMs(),
    )
    await server.app.keeper.refresh()
    expect(server.app.keeper.revision).toBe(revision)
  }
  return { engine, server: { ...server, close }, rename }
}

/** The original, as a server left it that has ended: its place is known, and `dataDir` has the copy of its state. */
async function original(place: Place): Promise<string> {
  return withEngine(place, async (engine) => {
    await importSnapshot(engine.db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })
    const config = readConfig({ DATA_DIR: place.dataDir, WORLD: '-2,-2,2,2' })
    const log = { debug() {}, info() {}, warn: expect.fail, error: expect.fail }
    const keeper = new StateKeeper(engine, { ...config, readLand: readInBundledThread }, log, clock)
    await keeper.start()
    await keeper.close()
    return keeper.current().parts.lineage
  })
}

const lineageOf = ({ app }: LandServer) => app.keeper.current().parts.lineage

async function postgresPlace(): Promise<Required<Place>> {
  return { dataDir: emptyDir(), databaseUrl: await freshDatabaseUrl() }
}

/** What `pg_dump` and a restore into another database make. */
async function restoredCopy({ databaseUrl, dataDir }: Required<Place>): Promise<Required<Place>> {
  const url = new URL(databaseUrl)
  const name = `copy_${randomBytes(6).toString('hex')}`
  const template = url.pathname.slice(1)
  url.pathname = '/postgres'
  await withEngine({ dataDir, databaseUrl: url.href }, ({ db }) =>
    sql.raw(`create database ${name} template ${template}`).execute(db),
  )
  url.pathname = `/${name}`
  return { dataDir: emptyDir(), databaseUrl: url.href }
}

async function copiedFolder({ dataDir }: Place): Promise<Place> {
  const copy = emptyDir()
  fs.cpSync(dataDir, copy, { recursive: true })
  fs.rmSync(path.join(copy, 'lock'), { recursive: true, force: true })
  return { dataDir: copy }
}

/** Answers of one server, and what the other one says to a client that has them. */
async function expectNothingConfirmed(known: LandServer, other: LandServer): Promise<void> {
  for (const path of PATHS) {
    const { headers, text } = await known.get(path)
    const tag = headers.get('etag')!
    const answer = await other.get(path, { 'if-none-match': tag })
    expect(answer.status, `${path} ${tag}`).toBe(200)
    expect(answer.headers.get('etag'), path).not.toBe(tag)
    if (path === '/v1/parcels/0/0') expect(answer.text).not.toBe(text)
    const dated = await other.get(path, {
      'if-none-match': tag,
      'if-modified-since': new Date().toUTCString(),
    })
    expect(dated.status, path).toBe(200)
  }
  const { state } = stateOf(known)
  const since = await other.get(`/v2/feed?since=${state}`)
  expect(since.text.length, 'the whole feed').toBe((await other.get('/v2/feed')).text.length)
  const stream = await EventReader.open(`${other.origin}/v2/changes?since=${state}`)
  expect((await stream.next()).kind).toBe('reset')
  stream.close()
}

const stateOf = (server: LandServer) => {
  const { origin, revision, parts } = server.app.keeper.current()
  return { state: `1.${origin}.${revision}.0`, lineage: parts.lineage, revision }
}

describe.each(['postgres', 'embedded'] as const)('two copies that go on (%s)', (kind) => {
  test('do not confirm tags of each other; a new lineage can be made beside a running server', async () => {
    const place = kind === 'postgres' ? await postgresPlace() : { dataDir: await freshDataDir() }
    const lineage = await original(place)
    const copy =
      kind === 'postgres' ? await restoredCopy(place as Required<Place>) : await copiedFolder(place)

    const [one, two] = [await serve(place), await serve(copy)]
    await one.rename('of the original')
    await two.rename('of the copy')

    expect(lineageOf(one.server), 'a database that stays where it is keeps its lineage').toBe(lineage)
    await expectNothingConfirmed(one.server, two.server)
    await expectNothingConfirmed(two.server, one.server)

    if (kind === 'postgres') return // the next test makes one there
    const { code, json } = await landpass(['new-lineage'], { DATA_DIR: place.dataDir })
    expect({ code, json }).toEqual({ code: 0, json: [{ ok: true, from: lineage, to: expect.any(String) }] })
    await eventually(
      () => lineageOf(one.server),
      (now) => now === json[0]!.to,
      5_000,
    )
  })
})

test('a running server follows a new lineage that an operator makes, and one after an older content came back', async () => {
  const place = await postgresPlace()
  await original(place)
  const { engine, server, rename } = await serve(place)
  await rename('before the backup')
  const first = stateOf(server)
  const { headers } = await server.get('/v1/parcels/0/0')
  const stream = await EventReader.open(`${server.origin}/v2/changes?since=${first.state}`)
  expect((await stream.next()).kind).not.toBe('reset')

  const command = await landpass(['new-lineage'], {
    DATABASE_URL: place.databaseUrl,
    DATA_DIR: place.dataDir,
  })

  expect(command).toMatchObject({ code: 0, stderr: '', json: [{ ok: true, from: first.lineage }] })
  await eventually(
    () => stateOf(server),
    ({ lineage }) => lineage === command.json[0]!.to,
    5_000,
  )
  expect((await stream.next()).kind).toBe('reset')
  stream.close()
  const answer = await server.get('/v1/parcels/0/0', { 'if-none-match': headers.get('etag')! })
  expect(answer.status).toBe(200)

  // A restore of data alone, under the running server: the place is the same, but the revision is an older one
  await rename('after the backup')
  const shown = stateOf(server)
  await sql`update parcel set name = 'before the backup' where x = 0 and y = 0`.execute(engine.db)
  await sql`update land_state set revision = revision - 1`.execute(engine.db)
  await eventually(
    () => stateOf(server),
    ({ lineage }) => lineage !== shown.lineage,
    5_000,
  )
  expect((await server.get('/v1/parcels/0/0')).text).toContain('before the backup')
})

test('a copy that accepts no changes is served with a lineage of the process, until it does', async () => {
  const place = await postgresPlace()
  const lineage = await original(place)
  const copy = await restoredCopy(place)
  const one = await serve(place)
  await setReadOnly(copy, 'on')

  const two = await serve(copy)
  const ofProcess = lineageOf(two.server)
  expect(ofProcess).not.toBe(lineage)
  expect((await two.server.get('/v1/parcels/0/0')).status).toBe(200)
  await two.server.app.keeper.refresh()
  expect(lineageOf(two.server), 'the same one as long as it takes').toBe(ofProcess)
  expect(fs.readdirSync(copy.dataDir), 'and never in the copy on disk').toEqual([])

  await setReadOnly(copy, 'off')
  await eventually(
    () => lineageOf(two.server),
    (now) => now !== ofProcess,
    5_000,
  )
  const head = await two.engine.db.selectFrom('land_state').select('lineage').executeTakeFirstOrThrow()
  expect(head.lineage).toBe(lineageOf(two.server))
  await one.rename('of the original')
  await two.rename('of the copy')
  await expectNothingConfirmed(one.server, two.server)
})

/** For new connections, so the present ones are ended. */
async function setReadOnly({ databaseUrl, dataDir }: Required<Place>, value: 'on' | 'off'): Promise<void> {
  const url = new URL(databaseUrl)
  const name = url.pathname.slice(1)
  url.pathname = '/postgres'
  await withEngine({ dataDir, databaseUrl: url.href }, async ({ db }) => {
    await sql`alter database ${sql.id(name)} set default_transaction_read_only = ${sql.lit(value)}`.execute(
      db,
    )
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`.execute(db)
  })
}
