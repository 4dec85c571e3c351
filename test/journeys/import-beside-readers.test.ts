import { SECOND_MS, SYSTEM_CLOCK } from '@landpass/server/clock'
import { openEngine } from '@landpass/server/db/open-engine'
import { freshDatabaseUrl, freshDataDir, TEST_SETTINGS } from '@landpass/server/test/support/database/engines'
import { demoSnapshot } from '@landpass/server/test/support/land/demo-snapshots'
import { importWorld } from '@landpass/server/test/support/land/worlds'
import { nextMessage, startChildWith } from '@landpass/server/test/support/processes/children'
import { type Env, eventually } from '@landpass/server/test/support/processes/landpass'
import { demoWorld } from '@landpass/simulators/demo/demo-world'
import { expect, test } from 'vitest'

const RADIUS = 12
const READERS = 4
/** Between two reads of a reader: together they still send hundreds of requests during an import. */
const PAUSE_MS = 5
/** Reading and laying out a small world takes a fraction of it, beside everything else that runs here. */
const SHOWN_WITHIN_MS = 30 * SECOND_MS

interface World {
  readonly name: 'A' | 'B'
  readonly folder: string
}

interface Reader {
  /** Which world each answer of this reader showed, without repetitions: one import makes at most two of them. */
  seen: string[]
  answers: number
  readonly over: Promise<void>
}

test('readers beside an import see the old world or the new one, never a mixture (embedded)', async () => {
  await readWhileImporting({ DATA_DIR: await freshDataDir() }, 1)
})

test('readers of two servers on one PostgreSQL see the old world or the new one, and soon both the new', async () => {
  await readWhileImporting({ DATABASE_URL: await freshDatabaseUrl() }, 2)
})

async function readWhileImporting(env: Env, serverCount: number): Promise<void> {
  const worlds: readonly [World, World] = [
    { name: 'A', folder: await demoSnapshot(1, RADIUS) },
    { name: 'B', folder: await demoSnapshot(2, RADIUS) },
  ]
  const paths = pathsOfManyTables()
  await importBy(env, worlds[0])
  const origins = await Promise.all(Array.from({ length: serverCount }, () => startServer(env)))
  const bodies = { A: await answers(origins[0]!, paths), B: new Map<string, string>() }

  const stop = new AbortController()
  const nameOf = (path: string, body: string) => {
    if (body === bodies.A.get(path)) return 'A'
    // The first other answer is the one that the new world has from then on
    if (!bodies.B.has(path)) bodies.B.set(path, body)
    return body === bodies.B.get(path) ? 'B' : `${path}: ${body.slice(0, 500)}`
  }
  const readers = Array.from({ length: READERS }, (_, i) =>
    startReader({ origin: origins[i % origins.length]!, paths, first: i, nameOf, signal: stop.signal }),
  )
  try {
    await onlySeen(readers, 'A')
    for (const world of worlds.toReversed()) {
      for (const reader of readers) reader.seen = reader.seen.slice(-1)

      await importBy(env, world)

      await onlySeen(readers, world.name)
      const other = world.name === 'A' ? 'B' : 'A'
      for (const { seen } of readers) expect(seen).toEqual([other, world.name])
      expect(await answers(origins[0]!, paths)).toEqual(bodies[world.name])
    }
  } finally {
    stop.abort()
    await Promise.all(readers.map(({ over }) => over))
  }
  expect(Math.min(...readers.map(({ answers }) => answers))).toBeGreaterThan(paths.length)
}

/** Waits until every reader has seen nothing but this world for a while: a whole round of paths. */
async function onlySeen(readers: readonly Reader[], name: string): Promise<void> {
  await eventually(
    () => readers.map(({ seen }) => seen.at(-1)),
    (last) => last.every((one) => one === name),
    SHOWN_WITHIN_MS,
  )
  const before = readers.map(({ answers }) => answers)
  const round = pathsOfManyTables().length + 1
  await eventually(
    () => readers.map(({ answers }, i) => answers - before[i]!),
    (since) => since.every((count) => count >= round),
    10 * SECOND_MS,
  )
  expect(readers.map(({ seen }) => seen.at(-1))).toEqual(readers.map(() => name))
}

interface ReaderOptions {
  readonly origin: string
  readonly paths: readonly string[]
  readonly first: number
  readonly nameOf: (path: string, body: string) => string
  readonly signal: AbortSignal
}

function startReader({ origin, paths, first, nameOf, signal }: ReaderOptions): Reader {
  const reader = { seen: [] as string[], answers: 0, over: Promise.resolve() }
  const read = async () => {
    for (let i = first; !signal.aborted; i++) {
      const path = paths[i % paths.length]!
      const name = nameOf(path, await answerOf(origin, path))
      reader.answers++
      if (reader.seen.at(-1) !== name) reader.seen.push(name)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  return Object.assign(reader, { over: read() })
}

async function answers(origin: string, paths: readonly string[]): Promise<Map<string, string>> {
  return new Map(await Promise.all(paths.map(async (path) => [path, await answerOf(origin, path)] as const)))
}

async function answerOf(origin: string, path: string): Promise<string> {
  const response = await fetch(origin + path)
  return `${response.status} ${await response.text()}`
}

/** As `landpass import` does it: beside a server, or joining the one that has the embedded database. */
async function importBy({ DATA_DIR = '', DATABASE_URL }: Env, { folder }: World): Promise<void> {
  const engine = await openEngine({
    ...TEST_SETTINGS,
    dataDir: DATA_DIR,
    databaseUrl: DATABASE_URL,
    mode: 'join',
  })
  try {
    await importWorld(engine.db, folder, SYSTEM_CLOCK)
  } finally {
    await engine.close()
  }
}

/** A server in a process of its own, whose clock stands still: no offer expires between two answers. */
async function startServer(env: Env): Promise<string> {
  return (await nextMessage(startChildWith({ LOG_LEVEL: 'error', ...env }, 'server-child'))) as string
}

/** Pages that are put together from several tables, and differ between the two worlds. */
function pathsOfManyTables(): readonly string[] {
  const world = demoWorld(1, { radius: RADIUS })
  const bid = world.bids[0]!
  const sold = world.publications.find(({ asset_type }) => asset_type === 'parcel')!
  const parcel = sold.asset_id.replace(',', '/')
  return [
    `/map?nw=-${RADIUS},${RADIUS}&se=${RADIUS},-${RADIUS}`,
    '/v1/map?nw=-5,5&se=5,-5',
    '/parcels?status=open&limit=50',
    `/addresses/${bid.bidder}/bids`,
    `/addresses/${sold.owner}/contributions`,
    `/parcels/${parcel}/publications`,
    '/districts',
    `/estates/${world.estates[0]!.id}`,
    `/publications/${sold.tx_hash}`,
  ]
}
