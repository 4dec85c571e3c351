import { setTimeout } from 'node:timers/promises'
import { MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import type { Db } from '@landpass/server/db/engine'
import { openEngine } from '@landpass/server/db/open-engine'
import { type LossyProxy, startLossyProxy } from '@landpass/server/test/support/database/lossy-proxy'
import { DURABLE, startPostgres } from '@landpass/server/test/support/database/postgres'
import { runCommand } from '@landpass/server/test/support/processes/measured-processes'
import { sql } from 'kysely'
import { outcomeOf, type Reply } from './attendance/calls.ts'
import { compareWithLedger } from './attendance/event-records.ts'
import { makePlayers, type Player, signedClaim } from './attendance/players.ts'
import { type BenchEvent, PLACE, Rig, SETTLE_AT_MOST_MS } from './attendance/rig.ts'
import type { Simulators } from './attendance/simulators.ts'
import { inParallel, type Script, tally, type Verdict } from './script.ts'

const AWAY_MS = 2 * MINUTE_MS
const BACK_WITHIN_MS = 30 * SECOND_MS
/** So many new players claim at the same time, again and again. */
const WIDTH = 4
const PAUSE_MS = 200
/** Claims that were sent in the first part of a fault may still meet the dependency, or its last answer. */
const TRANSITION_MS = 1.5 * SECOND_MS
/** How long an answer of a presence provider is used. */
const PRESENCE_CACHED_MS = 5 * SECOND_MS
const RETRY_MS = 200

export const dependencies: Script = {
  about:
    'dependencies go away one by one and in pairs: reads go on, writes fail with one code, all is back in 30 s',
  run: async ({ seed, engine, rounds, scale }, verdict) => {
    if (engine !== 'postgres') throw new Error('this script needs --engine postgres')
    const postgres = await startPostgres(DURABLE)
    const database: FaultyDatabase = {
      url: postgres.url,
      halt: () => postgres.pause(),
      resume: () => retried(() => postgres.resume()),
      end: () => postgres.stop(),
    }
    await withFaults(database, async (place) => {
      for (const faults of onesAndPairs().slice(0, rounds)) {
        await checkFaults(place, { faults, awayMs: AWAY_MS * scale, seed, verdict })
      }
    })
  },
}

/** The dependencies in the order in which they go away: those that change the database before those that hide it. */
export const FAULTS = ['read-only', 'disk full', 'issuer', 'presence', 'frozen', 'stopped'] as const
export type Fault = (typeof FAULTS)[number]

/** What claims are answered while a dependency is away. The issuer is only needed after the answer. */
const CODE_OF: Readonly<Record<Fault, string>> = {
  'read-only': '503 database_read_only',
  'disk full': '503 database_full',
  issuer: '200',
  presence: '503 presence_unavailable',
  frozen: '503 database_unavailable',
  stopped: '503 database_unavailable',
}

/** A PostgreSQL whose halt and start the caller decides. */
export interface FaultyDatabase {
  readonly url: string
  /** Undefined where it cannot be stopped: then connections to it are refused. */
  readonly halt?: () => Promise<void>
  readonly resume?: () => Promise<void>
  end(): Promise<void>
}

interface Place {
  readonly rig: Rig
  readonly database: FaultyDatabase
  readonly proxies: {
    readonly database: LossyProxy
    readonly issuer: LossyProxy
    readonly presence: LossyProxy
  }
}

/** Starts a server with land and attendance, with a proxy in front of each dependency. */
export async function withFaults(
  database: FaultyDatabase,
  work: (place: Place) => Promise<void>,
): Promise<void> {
  const world = { DATABASE_URL: database.url, WORLD: '-25,-25,25,25' }
  await runCommand(['demo', '--replace'], world)
  const databaseProxy = await startLossyProxy(database.url)
  const others: LossyProxy[] = []
  const via = async ({ issuer, presence }: Simulators) => {
    others.push(await startLossyProxy(issuer.origin), await startLossyProxy(presence.origin))
    const [issuerUrl, presenceUrl] = others.map(({ url }) => new URL(url).origin)
    return { issuer: issuerUrl!, presence: presenceUrl! }
  }
  try {
    const env = {
      ...world,
      DATABASE_URL: databaseProxy.url,
      DATABASE_TIMEOUT_MS: '1000',
      CLAIM_WAIT_MS: '500',
    }
    const rig = await Rig.start({
      engine: 'postgres',
      processes: 1,
      database: { url: database.url, stop: () => database.end() },
      args: [],
      env,
      via,
    })
    try {
      // A player may get several tokens, so that the ledger shows repeated requests
      await rig.issuer.setFaults({ delay_ms: 5, mint_ms: 100, one_per_player: false })
      await work({
        rig,
        database,
        proxies: { database: databaseProxy, issuer: others[0]!, presence: others[1]! },
      })
    } finally {
      await rig.stop()
    }
  } finally {
    for (const proxy of [databaseProxy, ...others]) await proxy.stop()
  }
}

export interface FaultCheck {
  readonly faults: readonly Fault[]
  readonly awayMs: number
  readonly seed: number
  readonly verdict: Verdict
  /**
   * For a short run: no claim is under way when the fault begins, because such a claim is kept until its lease ends, which
   * takes half a minute. And tokens that are being made are asked for at once, not 10 s after the request.
   */
  readonly isCalm?: boolean
}

/** Takes the dependencies away while players claim and read, brings them back, and compares the records. */
export async function checkFaults(place: Place, check: FaultCheck): Promise<void> {
  const { faults, awayMs, seed, verdict, isCalm = false } = check
  const { rig } = place
  const name = faults.join(' + ')
  const players = makePlayers(seed, name, Math.ceil((awayMs / PAUSE_MS + 4) * WIDTH))
  await rig.presence.putCrowd(
    players.map(({ address }) => address),
    PLACE,
  )
  const event = await rig.newEvent(players.length)
  const tries = new Tries(rig, event, players)
  await tries.claim(WIDTH)
  const settle = () => (isCalm ? settleSoon(place, event.id) : rig.settle(event.id, SETTLE_AT_MOST_MS))
  if (isCalm) await settle()

  for (const fault of faults) await START[fault](place)
  const startedMs = performance.now()
  const reads = new Set<string>()
  while (performance.now() - startedMs < awayMs && tries.areLeft) {
    const [land] = await Promise.all([read(rig, '/v1/parcels/1/1'), tries.claim(WIDTH), setTimeout(PAUSE_MS)])
    reads.add(`${outcomeOf(land)}${land.headers['last-modified'] === undefined ? ' without age' : ''}`)
    reads.add(outcomeOf(await read(rig, '/health/live')))
  }
  verdict.equal(`${name}: reads of the land and /health/live`, [...reads].join(', '), '200')
  const duringMs = performance.now() - startedMs
  for (const fault of [...faults].reverse()) await END[fault](place)
  const backMs = await timeUntilBack(tries)
  verdict.expect(backMs <= BACK_WITHIN_MS, `${name}: claims work only ${backMs} ms after the end`)
  checkOutcomes(
    name,
    faults,
    tries.outcomesBetween(startedMs + transitionOf(faults), startedMs + duringMs),
    verdict,
  )

  await tries.retryRefused()
  const { records, tookMs } = await settle()
  compareWithLedger(verdict, name, records, await rig.issuer.mintsOf(event.id))
  const got = new Set(records.minted.map(({ address }) => address))
  const lost = [...tries.accepted].filter((address) => !got.has(address))
  verdict.equal(`${name}: accepted claims that are lost`, lost.length, 0)
  verdict.equal(`${name}: players with a token`, got.size, tries.count)
  console.log(
    `${name}: ${tally(tries.outcomesBetween(startedMs, startedMs + duringMs))}; ` +
      `back after ${(backMs / SECOND_MS).toFixed(1)} s, settled after ${(tookMs / SECOND_MS).toFixed(1)} s`,
  )
}

/** Waits until no claim is under way. The next check of a token that is being made is due at once. */
function settleSoon({ rig, database }: Place, eventId: number): ReturnType<Rig['settle']> {
  return withDb(database.url, async (db) => {
    const hurry = async () => {
      await db
        .updateTable('claim')
        .set({ next_step_at_ms: 0 })
        .where('event_id', '=', eventId)
        .where('state', '=', 'minting')
        .execute()
    }
    const startedMs = performance.now()
    for (;;) {
      await hurry()
      const { records } = await rig.settle(eventId, SECOND_MS)
      const tookMs = performance.now() - startedMs
      if (records.underWay.length === 0 || tookMs > SETTLE_AT_MOST_MS) return { records, tookMs }
    }
  })
}

/** Claims of one player after the other, and what they were answered. */
class Tries {
  readonly accepted = new Set<string>()
  private readonly rig: Rig
  private readonly event: BenchEvent
  private readonly players: readonly Player[]
  private readonly refused: Player[] = []
  private readonly outcomes: { readonly outcome: string; readonly sentMs: number }[] = []
  private next = 0

  constructor(rig: Rig, event: BenchEvent, players: readonly Player[]) {
    this.rig = rig
    this.event = event
    this.players = players
  }

  get areLeft(): boolean {
    return this.next + WIDTH < this.players.length
  }

  /** Players that claimed. */
  get count(): number {
    return this.next
  }

  async claim(count: number): Promise<boolean> {
    const some = this.players.slice(this.next, this.next + count)
    this.next += some.length
    const replies = await Promise.all(some.map((player) => this.claimOf(player)))
    return replies.every(({ status }) => status === 200)
  }

  /** Each player that was refused tries again, as people do, until there is an answer. */
  async retryRefused(): Promise<void> {
    const giveUpAtMs = performance.now() + MINUTE_MS
    await inParallel(this.refused.splice(0), WIDTH, async (player) => {
      for (;;) {
        const { status } = await this.claimOf(player)
        if ((status !== 0 && status < 500) || performance.now() > giveUpAtMs) return
        await setTimeout(RETRY_MS)
      }
    })
  }

  outcomesBetween(fromMs: number, toMs: number): string[] {
    return this.outcomes
      .filter(({ sentMs }) => sentMs >= fromMs && sentMs < toMs)
      .map(({ outcome }) => outcome)
  }

  private async claimOf(player: Player): Promise<Reply> {
    const sentMs = performance.now()
    const reply = await this.rig.caller.send(this.rig.origins[0]!, signedClaim(player, this.event.uuid))
    this.outcomes.push({ outcome: outcomeOf(reply), sentMs })
    if (reply.status === 200) this.accepted.add(player.address)
    else this.refused.push(player)
    return reply
  }
}

/** One code for one fault; of two, the one that a claim meets first. No claim may be accepted that cannot be kept. */
function checkOutcomes(
  name: string,
  faults: readonly Fault[],
  outcomes: readonly string[],
  verdict: Verdict,
): void {
  const failing = faults.map((fault) => CODE_OF[fault]).filter((code) => code !== '200')
  const allowed = new Set(failing.length > 0 ? failing : ['200'])
  const odd = outcomes.filter((outcome) => !allowed.has(outcome))
  verdict.expect(
    odd.length === 0,
    `${name}: claims were answered ${tally(odd)}, wanted ${[...allowed].join(' or ')}`,
  )
}

function transitionOf(faults: readonly Fault[]): number {
  return faults.includes('presence') ? PRESENCE_CACHED_MS + TRANSITION_MS : TRANSITION_MS
}

async function timeUntilBack(tries: Tries): Promise<number> {
  const startedMs = performance.now()
  while (!(await tries.claim(1))) {
    if (performance.now() - startedMs > 2 * BACK_WITHIN_MS || !tries.areLeft) break
    await setTimeout(RETRY_MS)
  }
  return performance.now() - startedMs
}

function read(rig: Rig, path: string): Promise<Reply> {
  return rig.caller.send(rig.origins[0]!, { method: 'GET', path, headers: {} })
}

type Steps = Readonly<Record<Fault, (place: Place) => Promise<void>>>

const START: Steps = {
  'read-only': ({ database }) => setReadOnly(database.url, 'on'),
  'disk full': ({ database }) => withDb(database.url, fillDisk),
  issuer: async ({ proxies }) => proxies.issuer.freeze({ newOnes: true }),
  presence: async ({ proxies }) => proxies.presence.freeze({ newOnes: true }),
  frozen: async ({ proxies }) => proxies.database.freeze({ newOnes: true }),
  stopped: async ({ database, proxies }) => (database.halt ? database.halt() : proxies.database.refuse()),
}

const END: Steps = {
  'read-only': ({ database }) => setReadOnly(database.url, 'off'),
  'disk full': ({ database }) => withDb(database.url, emptyDisk),
  issuer: async ({ proxies }) => proxies.issuer.thaw(),
  presence: async ({ proxies }) => proxies.presence.thaw(),
  frozen: async ({ proxies }) => proxies.database.thaw(),
  stopped: async ({ database, proxies }) => (database.resume ? database.resume() : proxies.database.thaw()),
}

/** A setting of the database applies to new connections, so the present ones are ended, as by a restart. */
async function setReadOnly(databaseUrl: string, value: 'on' | 'off'): Promise<void> {
  await withDb(databaseUrl, async (db) => {
    const name = sql.id(new URL(databaseUrl).pathname.slice(1))
    await allowChanges(db)
    await sql`alter database ${name} set default_transaction_read_only = ${sql.lit(value)}`.execute(db)
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where pid <> pg_backend_pid() and datname = current_database()`.execute(db)
  })
}

/**
 * PostgreSQL answers writes with the error of a full disk. A really full one would also stop PostgreSQL itself as soon
 * as its log has no space, which is the fault `stopped`.
 */
async function fillDisk(db: Db): Promise<void> {
  await allowChanges(db)
  await sql`create or replace function disk_full() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`.execute(
    db,
  )
  for (const table of await attendanceTables(db)) {
    await sql`create trigger disk_full before insert or update on ${sql.table(table)}
      execute function disk_full()`.execute(db)
  }
}

async function emptyDisk(db: Db): Promise<void> {
  await allowChanges(db)
  for (const table of await attendanceTables(db))
    await sql`drop trigger disk_full on ${sql.table(table)}`.execute(db)
}

/** For this connection, where the database is read-only at the same time. */
async function allowChanges(db: Db): Promise<void> {
  await sql`set default_transaction_read_only = off`.execute(db)
}

async function attendanceTables(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select tablename as name from pg_tables
    where schemaname = 'public' and tablename in (select relname from pg_class where relkind = 'r')
      and (tablename like 'claim%' or tablename like 'event%' or tablename like 'signed%')
    order by tablename`.execute(db)
  return rows.map(({ name }) => name)
}

async function withDb<T>(databaseUrl: string, work: (db: Db) => Promise<T>): Promise<T> {
  const settings = { dataDir: '', syncToDisk: true, poolSize: 1, statementTimeoutMs: 0, mode: 'own' } as const
  const engine = await openEngine({ ...settings, databaseUrl })
  try {
    return await work(engine.db)
  } finally {
    await engine.close()
  }
}

function onesAndPairs(): readonly (readonly Fault[])[] {
  const pairs = FAULTS.flatMap((one, i) => FAULTS.slice(i + 1).map((other) => [one, other]))
  return [...FAULTS.map((one) => [one]), ...pairs]
}

/** PostgreSQL does not start while processes of the one before are still ending. */
async function retried(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === 50) throw error
      await setTimeout(RETRY_MS)
    }
  }
}
