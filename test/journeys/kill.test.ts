import { once } from 'node:events'
import { MINUTE_MS, SYSTEM_CLOCK } from '@landpass/server/clock'
import type { Db, Engine } from '@landpass/server/db/engine'
import { openEngine } from '@landpass/server/db/open-engine'
import { readLandHead } from '@landpass/server/land/changes/land-head'
import { dropRetiredWorlds, LEASE_MS } from '@landpass/server/land/snapshot/worlds'
import {
  copyOfDatabase,
  copyOfDataDir,
  type EngineKind,
  freshDatabaseUrl,
  freshDataDir,
  TEST_SETTINGS,
} from '@landpass/server/test/support/database/engines'
import { demoSnapshot } from '@landpass/server/test/support/land/demo-snapshots'
import { importWorld, leftovers, shownWorld } from '@landpass/server/test/support/land/worlds'
import { killHard, startChildWith } from '@landpass/server/test/support/processes/children'
import {
  type Env,
  eventually,
  type Running,
  type Serving,
  serve,
  startLandpass,
} from '@landpass/server/test/support/processes/landpass'
import { Random } from '@landpass/simulators/random'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'

/**
 * More rounds find rarer losses: LANDPASS_KILL_ROUNDS=30 before a release. Two for a process alone and one for each
 * beside a server are the fewest with which every phase is met once: see `nextPhase`.
 */
const IMPORT_ROUNDS = Number(process.env.LANDPASS_KILL_ROUNDS ?? 2)
const JOINED_ROUNDS = Number(process.env.LANDPASS_KILL_ROUNDS ?? 1)
const WRITE_ROUNDS = Number(process.env.LANDPASS_KILL_ROUNDS ?? 2)
/** Time limit of a round. */
const ROUND_LIMIT_MS = 200_000
/** Another seed kills at other times. */
const SEED = Number(process.env.LANDPASS_KILL_SEED ?? 1)

const RADIUS = 12
/** A change takes a few milliseconds; on a busy machine some tens. */
const CHANGE_MS = 20
const BIDDER = `0x${'c'.repeat(40)}`
/** Where an import can be killed: this long after it said that the phase begins, at most. */
const PHASES = { spawn: 900, check: 80, load: 120, attach: 150, show: 20, tidy: 60 } as const
type Phase = keyof typeof PHASES
/** In an order that the seed decides. */
const phases = new Random(SEED).fork('phases').shuffle(Object.keys(PHASES) as Phase[])
let killedImports = 0

/**
 * An import that was killed blocks other imports until its lease has ended. The test does not wait for that: the imports
 * after a kill have a clock that is ahead.
 */
const LATER = { nowMs: () => SYSTEM_CLOCK.nowMs() + LEASE_MS + MINUTE_MS }

describe.each(['embedded', 'postgres'] as const)('on the %s engine', (kind) => {
  test(
    'an import that is killed at any time leaves the old world or the new one, and nothing else',
    async () => {
      const scenario = await KilledImports.begin(kind, 'importer')
      for (let round = 0; round < IMPORT_ROUNDS; round++) {
        const importing = startLandpass(['import', scenario.nextFolder], scenario.env)
        await scenario.killAtRandom(importing, () => killHard(importing.child))

        await scenario.withDatabase((db) => scenario.checkAfterKill(db))
      }
      scenario.report(`killed importer on ${kind}`)
    },
    IMPORT_ROUNDS * ROUND_LIMIT_MS,
  )

  test(
    'a process that is killed while it changes the land loses no acknowledged change',
    async () => {
      const { copy } = await bothWorlds(kind)
      const scenario = await KilledWrites.on(await copy(), kind)
      for (let round = 0; round < WRITE_ROUNDS; round++) {
        const writer = scenario.startWriter()
        await writer.untilAcknowledged(3 + scenario.random.below(20))
        await scenario.shortPause()
        await killHard(writer.child)
        await writer.ended

        await scenario.withDatabase((db) => scenario.check(db))
      }
      scenario.report(`killed writer on ${kind}`)
    },
    WRITE_ROUNDS * ROUND_LIMIT_MS,
  )
})

describe('a server on the embedded engine', () => {
  // These tests run one after the other on one database; each begins with the server that the one before left.
  let imports: KilledImports
  let server: Serving
  beforeAll(async () => {
    imports = await KilledImports.begin('embedded', 'imports beside a server')
    server = await serve({ ...imports.env, LOG_LEVEL: 'error' })
  })

  test(
    'goes on when an import that joined it is killed',
    async () => {
      for (let round = 0; round < JOINED_ROUNDS; round++) {
        const importing = startLandpass(['import', imports.nextFolder], imports.env)
        await imports.killAtRandom(importing, () => killHard(importing.child))

        await imports.withDatabase((db) => imports.checkAfterKill(db))
        expect(await revisionShownBy(server.origin, imports.revision)).toBe(imports.revision)
      }
      expect(server.stdout()).not.toContain('"level":50')
      imports.report('killed importers that joined a server')
    },
    JOINED_ROUNDS * ROUND_LIMIT_MS,
  )

  test(
    'that is killed while an import has joined it starts again with the old world or the new one',
    async () => {
      for (let round = 0; round < JOINED_ROUNDS; round++) {
        const importing = startLandpass(['import', imports.nextFolder], imports.env)
        await imports.killAtRandom(importing, () => killHard(server.child))

        const { code, stderr } = await importing.ended
        // It may have come too late to join, and then opened the folder itself
        if (code !== 0) expect(stderr).toMatch(/^landpass: \S.*\n$/)
        server = await serve(imports.env)
        await imports.withDatabase((db) => imports.checkAfterKill(db))
        expect(await revisionShownBy(server.origin, imports.revision)).toBe(imports.revision)
      }
      imports.report('killed servers that an importer joined')
    },
    JOINED_ROUNDS * ROUND_LIMIT_MS,
  )

  test(
    'that is killed while another process changes the land loses no change that was acknowledged',
    async () => {
      const scenario = await KilledWrites.on(imports.env, 'a server')
      for (let round = 0; round < JOINED_ROUNDS; round++) {
        const writer = scenario.startWriter()
        await writer.untilAcknowledged(3 + scenario.random.below(20))
        await scenario.shortPause()
        await killHard(server.child)
        await writer.ended // its next statement found no server

        server = await serve(scenario.env)
        await scenario.withDatabase((db) => scenario.check(db))
        expect(await revisionShownBy(server.origin, scenario.revision)).toBe(scenario.revision)
      }
      scenario.report('killed server under a writer')
    },
    JOINED_ROUNDS * ROUND_LIMIT_MS,
  )
})

/** What the scenarios of this file share: a database, and random numbers from a seed. */
abstract class KillScenario {
  readonly env: Env
  readonly random: Random

  constructor(env: Env, name: string) {
    this.env = env
    this.random = new Random(SEED).fork(name)
  }

  /** Less than the time of a change, so that the kill does not always come at the beginning of one. */
  shortPause(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.random.below(CHANGE_MS)))
  }

  /** Opens the database as it is now, or joins the server that has it. */
  async withDatabase<T>(work: (db: Db, engine: Engine) => Promise<T>): Promise<T> {
    const engine = await openEngine({
      ...TEST_SETTINGS,
      databaseUrl: this.env.DATABASE_URL,
      dataDir: this.env.DATA_DIR ?? '',
      mode: 'join',
    })
    try {
      if (engine.kind === 'postgres') await untilOthersAreGone(engine.db)
      return await work(engine.db, engine)
    } finally {
      await engine.close()
    }
  }
}

/** Imports of two worlds in turn, each killed somewhere. */
class KilledImports extends KillScenario {
  revision = 0
  private readonly folders: readonly [string, string]
  private readonly worlds: readonly [string, string]
  /** Which of the two is shown. */
  private shown: 0 | 1 = 0
  private outcomes: Record<string, number> = {}
  private phase: Phase = 'spawn'

  private constructor(
    env: Env,
    name: string,
    folders: readonly [string, string],
    worlds: readonly [string, string],
  ) {
    super(env, name)
    this.folders = folders
    this.worlds = worlds
  }

  /** A database that has shown both worlds, and now shows the first. */
  static async begin(kind: EngineKind, name: string): Promise<KilledImports> {
    const { folders, worlds, copy } = await bothWorlds(kind)
    return new KilledImports(await copy(), `killed ${name} on ${kind}`, folders, worlds)
  }

  /** The snapshot of the world that is not shown. */
  get nextFolder(): string {
    return this.folders[1 - this.shown]!
  }

  /** Waits for a phase and a while, both by the seed, and kills. An import that is done before is left alone. */
  async killAtRandom(importing: Running, kill: () => Promise<void>): Promise<void> {
    this.phase = nextPhase()
    const afterMs = this.random.below(PHASES[this.phase])
    if (this.phase !== 'spawn') await importing.said(`"phase":"${this.phase}"`)
    await Promise.race([new Promise((resolve) => setTimeout(resolve, afterMs)), importing.ended])
    await kill()
  }

  /** One whole world is shown; it can be tidied up, and the other one can be imported. */
  async checkAfterKill(db: Db): Promise<void> {
    const found = this.worlds.indexOf(await shownWorld(db))
    expect(found, `a mixture after a kill in phase ${this.phase}`).toBeGreaterThanOrEqual(0)
    this.count(found === this.shown ? 'old' : 'new')
    await tidyUp(db)

    this.shown = found === 0 ? 1 : 0
    await importWorld(db, this.folders[this.shown], LATER)

    expect(await shownWorld(db)).toBe(this.worlds[this.shown])
    await tidyUp(db)
    this.revision = (await readLandHead(db)).revision
  }

  /** Says what happened since the last report. */
  report(name: string): void {
    if (IMPORT_ROUNDS > 2) console.info(`${name}: ${IMPORT_ROUNDS} rounds, ${JSON.stringify(this.outcomes)}`)
    this.outcomes = {}
  }

  private count(outcome: string): void {
    const key = `${this.phase}: ${outcome}`
    this.outcomes[key] = (this.outcomes[key] ?? 0) + 1
  }
}

/** All scenarios take their phases from one list, one for each kill, so that every phase occurs. */
function nextPhase(): Phase {
  return phases[killedImports++ % phases.length]!
}

interface Writer {
  readonly child: ReturnType<typeof startChildWith>
  readonly ended: Promise<unknown>
  /** Waits until it has sent so many more writes. */
  untilAcknowledged(count: number): Promise<void>
}

/** Single changes by a process that sends each one once it is acknowledged. */
class KilledWrites extends KillScenario {
  revision = 0
  private firstRevision = 0
  /** How many writes were found in the database after the last kill. */
  private found = 0
  /** The last acknowledged write, and the revision that it made. */
  private lastWrite = { number: -1, revision: 0 }
  private acknowledged = 0
  private unacknowledged = 0

  /** On a database in which nobody has written yet. */
  static async on(env: Env, name: string): Promise<KilledWrites> {
    const scenario = new KilledWrites(env, `killed writes on ${name}`)
    await scenario.withDatabase(async (db) => {
      scenario.firstRevision = (await readLandHead(db)).revision
    })
    return scenario
  }

  startWriter(): Writer {
    const child = startChildWith(this.env, 'write-child', String(this.found), BIDDER)
    // Messages that it sent before its end may arrive after it
    const ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')])
    child.on('message', (write: { number: number; revision: number }) => {
      this.lastWrite = write
      this.acknowledged++
    })
    const untilAcknowledged = async (count: number) => {
      while (this.lastWrite.number < this.found + count) await once(child, 'message')
    }
    return { child, ended, untilAcknowledged }
  }

  /** Every acknowledged write is there, with all of its rows, and at most one that was not acknowledged. */
  async check(db: Db): Promise<void> {
    const { revision, worldId } = await readLandHead(db)
    const bids = await db
      .selectFrom('bid')
      .select('price')
      .where('world_id', '=', worldId)
      .where('bidder', '=', BIDDER)
      .orderBy('key')
      .execute()
    const parcel = await db
      .selectFrom('parcel')
      .select('name')
      .where('world_id', '=', worldId)
      .where('x', '=', 0)
      .where('y', '=', 0)
      .executeTakeFirst()
    const found = bids.length

    expect(bids.map(({ price }) => Number(price))).toEqual(Array.from({ length: found }, (_, n) => n))
    expect(parcel?.name).toBe(`write ${found - 1}`)
    expect(revision).toBe(this.firstRevision + found)
    expect(this.lastWrite.revision).toBe(this.firstRevision + this.lastWrite.number + 1)
    expect([this.lastWrite.number + 1, this.lastWrite.number + 2]).toContain(found)
    this.unacknowledged += found - this.lastWrite.number - 1
    this.lastWrite = { number: found - 1, revision }
    this.found = found
    this.revision = revision
  }

  report(name: string): void {
    if (WRITE_ROUNDS <= 2) return
    const extra = `${this.unacknowledged} more were committed, but killed before they were acknowledged`
    console.info(`${name}: ${WRITE_ROUNDS} rounds, ${this.acknowledged} acknowledged, none lost; ${extra}`)
  }
}

/** A database that has shown both worlds and now shows the first, to be copied for each scenario. */
interface BothWorlds {
  readonly folders: readonly [string, string]
  /** A hash of each world. */
  readonly worlds: readonly [string, string]
  copy(): Promise<Env>
}

const made = new Map<EngineKind, Promise<BothWorlds>>()

function bothWorlds(kind: EngineKind): Promise<BothWorlds> {
  const known = made.get(kind) ?? makeBothWorlds(kind)
  made.set(kind, known)
  return known
}

async function makeBothWorlds(kind: EngineKind): Promise<BothWorlds> {
  const folders = [await demoSnapshot(1, RADIUS), await demoSnapshot(2, RADIUS)] as const
  const dataDir = kind === 'embedded' ? await freshDataDir() : ''
  const databaseUrl = kind === 'postgres' ? await freshDatabaseUrl() : undefined
  const engine = await openEngine({ ...TEST_SETTINGS, dataDir, databaseUrl })
  const show = async (folder: string) => {
    await importWorld(engine.db, folder, SYSTEM_CLOCK)
    return shownWorld(engine.db)
  }
  const second = await show(folders[1])
  const first = await show(folders[0])
  expect(first).not.toBe(second)
  await engine.close()
  const copy = async (): Promise<Env> =>
    databaseUrl === undefined
      ? { DATA_DIR: copyOfDataDir(dataDir) }
      : { DATABASE_URL: await copyOfDatabase(new URL(databaseUrl).pathname.slice(1)) }
  return { folders, worlds: [first, second], copy }
}

/** PostgreSQL ends what a killed process had begun; until then its statements may still run. */
async function untilOthersAreGone(db: Db): Promise<void> {
  await eventually(
    () =>
      sql`select pid, state, query from pg_stat_activity where datname = current_database()
          and backend_type = 'client backend' and pid <> pg_backend_pid()`.execute(db),
    ({ rows }) => rows.length === 0,
    10_000,
  )
}

async function tidyUp(db: Db): Promise<void> {
  await eventually(
    async () => {
      await dropRetiredWorlds(db, 0, LATER.nowMs())
      return leftovers(db)
    },
    (left) => left.length === 0,
    10_000,
  )
}

/** The revision that a server shows, once it is at least this one. */
function revisionShownBy(origin: string, revision: number): Promise<number> {
  return eventually(
    async () => {
      const response = await fetch(`${origin}/health/ready`)
      const { data } = (await response.json()) as { data: { revision?: number } }
      return data.revision ?? 0
    },
    (shown) => shown >= revision,
    10_000,
  )
}
