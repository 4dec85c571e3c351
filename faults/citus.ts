import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { TokenLog } from '@landpass/server/attendance/issuers/own/log/token-log'
import { SYSTEM_CLOCK } from '@landpass/server/clock'
import { distribute, TABLES_BY_EVENT, TABLES_ON_EVERY_NODE } from '@landpass/server/db/distribution'
import type { Db } from '@landpass/server/db/engine'
import { migrate } from '@landpass/server/db/migrate'
import { openEngine } from '@landpass/server/db/open-engine'
import {
  CITUS_NEEDED,
  citusPrograms,
  createCitusDatabase,
  startCitus,
  type TestCitus,
} from '@landpass/server/test/support/database/citus'
import { DURABLE } from '@landpass/server/test/support/database/postgres'
import { programPath } from '@landpass/server/test/support/run/programs'
import { Random } from '@landpass/simulators/random'
import { sql } from 'kysely'
import { outcomeOf } from './attendance/calls.ts'
import { checkWhenSettled, claimWithRetries, killServer, retry } from './attendance/kill-rounds.ts'
import { makePlayers, type Player, signedClaim } from './attendance/players.ts'
import { type BenchEvent, PLACE, type Rig, withRig } from './attendance/rig.ts'
import { inParallel, type Script, sized, tally, type Verdict } from './script.ts'

const WORKERS = 2
const SERVERS = 2
const EVENTS = 64
const PLAYERS = 20_000
const KILLS = 10
/** Claims that lie in the database before its tables are distributed. */
const STORED_CLAIMS = 100_000
const DISTRIBUTE_KILLS = 5
/** Databases that are compared: how many workers they have, and how many events lie on them. */
const WORKER_COUNTS = [1, 2, 4] as const
const SPREAD_EVENTS = 16
const MEASURED_FROM_SCALE = 0.1
const WIDTH = 64
const DOWN_MS = 2_000
/** A token of the other issuer is looked for after 10 s, and a claim whose server has lost it goes on after a lease of 30 s. */
const ENDED_WITHIN_MS = 120_000

export const citus: Script = {
  about:
    '100,000 claims are distributed by a command that is killed five times; then 20,000 players claim while workers are killed ten times: none lost, none doubled',
  run: async ({ seed, rounds, scale }, verdict) => {
    if (citusPrograms() === undefined) throw new Error(`This script ${CITUS_NEEDED}.`)
    const nodes = await startCitus(WORKERS, { ...DURABLE, 'citus.enable_stat_counters': 'on' })
    try {
      await distributeUnderKills(nodes, { seed, scale }, verdict)
      await claimUnderKills(
        nodes,
        { seed, scale, kills: rounds ?? Math.max(2, sized(KILLS, scale)) },
        verdict,
      )
    } finally {
      await nodes.stop()
    }
    // A short run measures nothing
    if (scale >= MEASURED_FROM_SCALE) await claimOnWorkers({ seed, scale }, verdict)
  },
}

interface Size {
  readonly seed: number
  readonly scale: number
}

/** Fills a database, kills `landpass distribute` on it again and again, lets it run to its end, and compares all rows. */
async function distributeUnderKills(
  nodes: TestCitus,
  { seed, scale }: Size,
  verdict: Verdict,
): Promise<void> {
  const databaseUrl = await createCitusDatabase(nodes, 'distributed')
  await withDatabase(databaseUrl, async (db) => {
    await fill(db, sized(STORED_CLAIMS, scale))
    const before = await contentsOf(db)
    const random = new Random(seed)
    const kills = Math.max(2, sized(DISTRIBUTE_KILLS, scale))
    for (let kill = 0; kill < kills; kill++) {
      const tables = 1 + random.below(TABLES_BY_EVENT.length)
      const { wasKilled } = await runDistribute(databaseUrl, tables)
      verdict.expect(wasKilled, `distribute ended before it was killed at its table ${tables}`)
      await untilAlone(db)
      verdict.equal(`contents after kill ${kill + 1}`, await contentsOf(db), before)
    }
    const startedMs = performance.now()
    await runDistribute(databaseUrl)
    console.log(`distribute: ${kills} kills, then ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
    verdict.equal('contents after distribute', await contentsOf(db), before)
    verdict.equal('tables that a second run moves', (await distribute(db)).length, 0)
  })
}

/** Runs the command in a process. @param killAt kills it when it begins with the table of this number */
async function runDistribute(
  databaseUrl: string,
  killAt = Number.POSITIVE_INFINITY,
): Promise<{ readonly wasKilled: boolean }> {
  const child = spawn(process.execPath, [programPath('src/cli/main.js'), 'distribute'], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    const tables = new Set([...output.matchAll(/"phase":"(\w+)"/g)].map(([, table]) => table))
    if (tables.size >= killAt) child.kill('SIGKILL')
  })
  const [code, signal] = await once(child, 'close')
  if (signal === null && code !== 0) throw new Error(`distribute ended with ${code}: ${output}`)
  return { wasKilled: signal !== null }
}

/** Until the connection of a killed command has ended at the database. */
async function untilAlone(db: Db): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ others: number }>`
      select count(*)::integer as others from pg_locks
      where relation = 'claim'::regclass and mode = 'AccessExclusiveLock'`.execute(db)
    if (rows[0]!.others === 0) return
    await setTimeout(50)
  }
}

/** Rows as those of many events that are over, of either issuer. */
async function fill(db: Db, claims: number): Promise<void> {
  const events = Math.ceil(claims / 500)
  for (const statement of [
    sql`insert into attendance_event (event_id, uuid, issuer_record, coordinates, enabled, requires_captcha,
        requires_presence, created_at_ms, updated_at_ms)
      select (case when i % 2 = 0 then 0 else 2000000000 end) + 1000 + i, gen_random_uuid(), '{}', '0,0', true, false, false, 0, 0
      from generate_series(1, ${events}::integer) as i`,
    sql`insert into made_event (event_id, edit_code_hash, supply, approval, hides_holders, made_at_ms)
      select event_id, 'x', 1000, 'approved', false, 0 from attendance_event where event_id >= 2000000000`,
    sql`insert into event_place (event_id, places, taken) select event_id, 1000, 500 from made_event`,
    sql`insert into claim_code (event_id, fingerprint, encrypted, state, created_at_ms)
      select event_id, int4send(n), int4send(n), 'used', 0 from attendance_event, generate_series(1, 500) as n
      where event_id < 2000000000`,
    sql`insert into claim (event_id, address, code_id, state, attempts, created_at_ms, updated_at_ms)
      select event_id, '0x' || id, id, 'minted', 0, id, id from claim_code`,
    sql`insert into claim (event_id, address, state, attempts, created_at_ms, updated_at_ms)
      select event_id, '0x' || n, 'minted', 0, n, n from made_event, generate_series(1, 500) as n`,
    sql`insert into token (event_id, id, address, signer, time_s, event_name, event_location, salt, number)
      select event_id, gen_random_uuid(), address, '0x', 0, '', '', 'x', row_number() over (partition by event_id order by id)
      from claim where event_id >= 2000000000`,
    sql`insert into event_count (event_id, hour_ms, stripe, minted)
      select event_id, -1, 0, count(*) from claim group by event_id`,
    sql`insert into attendance_grant (event_id, nonce, address, expires_at_ms, claim_id)
      select event_id, 'n' || id, address, 0, id from claim where id % 10 = 0`,
  ])
    await statement.execute(db)
}

/** A text that differs where any row of the distributed tables does. */
async function contentsOf(db: Db): Promise<string> {
  const texts: string[] = []
  for (const table of [...TABLES_ON_EVERY_NODE, ...TABLES_BY_EVENT]) {
    const { rows } = await sql<{ text: string }>`
      select concat(count(*), ' ', sum(hashtextextended(one::text, 0)::numeric)) as text from ${sql.table(table)} as one`.execute(
      db,
    )
    texts.push(`${table} ${rows[0]!.text}`)
  }
  return texts.join('\n')
}

/** Claims of events made here, on databases of one, two and four workers. */
async function claimOnWorkers({ seed, scale }: Size, verdict: Verdict): Promise<void> {
  for (const workers of WORKER_COUNTS) {
    const nodes = await startCitus(workers, DURABLE)
    try {
      await withDatabase(nodes.url, (db) => distribute(db))
      await withServers(nodes, async (rig) => {
        const players = makePlayers(
          seed,
          `on ${workers} workers`,
          WIDTH + Math.max(SPREAD_EVENTS, sized(PLAYERS / 10, scale)),
        )
        await rig.presence.putCrowd(
          players.map(({ address }) => address),
          PLACE,
        )
        const events: BenchEvent[] = []
        for (let n = 0; n < SPREAD_EVENTS; n++) events.push(await rig.newEvent(players.length, true))
        await claimAll(rig, events, players.slice(0, WIDTH)) // plans are made, connections opened
        const startedMs = performance.now()
        const replies = await claimAll(rig, events, players.slice(WIDTH))
        const tookS = (performance.now() - startedMs) / 1000
        const accepted = replies.filter(({ reply }) => reply.status === 200).length
        verdict.equal(`claims on ${workers} workers`, accepted, replies.length)
        console.log(`${workers} workers: ${(accepted / tookS).toFixed(0)} claims a second`)
      })
    } finally {
      await nodes.stop()
    }
  }
}

/** Servers on a database, which the caller stops. */
function withServers({ url }: TestCitus, work: (rig: Rig) => Promise<void>): Promise<void> {
  const database = { url, stop: async () => {} }
  // Claims of the other issuer are answered while they wait
  const env = { CLAIM_WAIT_MS: '0' }
  return withRig({ engine: 'postgres', issuer: 'own', processes: SERVERS, database, env }, work)
}

interface Claiming {
  readonly rig: Rig
  readonly verdict: Verdict
  readonly accepted: Set<string>
}

/** Players claim at events of both issuers while a worker is killed and comes back, again and again. */
async function claimUnderKills(
  nodes: TestCitus,
  { seed, scale, kills }: Size & { readonly kills: number },
  verdict: Verdict,
): Promise<void> {
  await withDatabase(nodes.url, (db) => distribute(db))
  const random = new Random(seed)
  const count = Math.max(4, sized(EVENTS, scale))
  // The first of them, two of each event, claim immediately before one worker is down, and meanwhile
  const players = makePlayers(seed, 'citus', Math.max(2 * count + 2 * kills, sized(PLAYERS, scale)))
  await withServers(nodes, async (rig) => {
    await rig.issuer.setFaults({ mint_ms: 500, one_per_player: false })
    await rig.presence.putCrowd(
      players.map(({ address }) => address),
      PLACE,
    )
    const events: BenchEvent[] = []
    const places = Math.ceil(players.length / count)
    for (let n = 0; n < count; n++) events.push(await rig.newEvent(places, n % 2 === 0))
    const claiming = { rig, verdict, accepted: new Set<string>() }
    const eventOf = (at: number) => events[at % events.length]!
    await oneNodeDown(claiming, nodes, events, [players.slice(0, count), players.slice(count, 2 * count)])
    const others = players.slice(2 * count)
    const perKill = Math.ceil(others.length / kills)
    for (let kill = 0; kill < kills; kill++) {
      const worker = nodes.workers[random.below(nodes.workers.length)]!
      const startedMs = performance.now()
      const outcomes: string[] = []
      await Promise.all([
        inParallel(others.slice(kill * perKill, (kill + 1) * perKill), WIDTH, async (player, i) => {
          const event = eventOf(kill * perKill + i)
          const name = `kill ${kill + 1}`
          outcomes.push(...(await claimWithRetries(rig, [player], event, claiming.accepted, name, verdict)))
        }),
        setTimeout(random.below(1_000)).then(async () => {
          await worker.kill()
          await setTimeout(random.below(DOWN_MS))
          await retry(() => worker.resume())
        }),
      ])
      const tookS = (performance.now() - startedMs) / 1000
      console.log(`kill ${kill + 1}: ${tally(outcomes)} in ${tookS.toFixed(1)} s`)
    }
    for (const [at, event] of events.entries()) {
      const its = players.filter((_, i) => i % count === at)
      const accepted = new Set(its.map(({ address }) => address).filter((one) => claiming.accepted.has(one)))
      await checkWhenSettled(claiming, event, its, accepted, `event ${event.id}`)
    }
    await rig.withDatabase(async (db) => {
      await checkCounts(db, verdict)
      await printShare(db)
      await checkLog(db, verdict)
    })
  })
}

/**
 * With one worker killed, and a server that starts meanwhile, claims of events on the others are answered, and end, also those that
 * waited before; those of its events are refused with Retry-After.
 *
 * @param players one of each event that claims before the worker is killed, and one that claims meanwhile
 */
async function oneNodeDown(
  { rig, verdict, accepted }: Claiming,
  nodes: TestCitus,
  events: readonly BenchEvent[],
  [before, players]: readonly [readonly Player[], readonly Player[]],
): Promise<void> {
  const earlier = await claimAll(rig, events, before)
  for (const [at, { reply }] of earlier.entries()) {
    verdict.equal('a claim before a worker is down', outcomeOf(reply), '200')
    accepted.add(before[at]!.address)
  }
  const [worker] = nodes.workers
  const { port } = new URL(worker!.url)
  const isOnWorker = await rig.withDatabase((db) => eventsOn(db, Number(port), events))
  await worker!.kill()
  const replies = await claimAll(rig, events, players)
  await killServer(rig, 1)
  const elsewhere = isOnWorker.indexOf(false)
  const repeated = signedClaim(players[elsewhere]!, events[elsewhere]!.uuid)
  const fromNew = await rig.caller.send(rig.origins[1]!, repeated)
  verdict.expect(fromNew.status < 500, `a server that starts while a worker is down: ${outcomeOf(fromNew)}`)
  const metrics = await rig.caller.send(rig.origins[0]!, { method: 'GET', path: '/metrics', headers: {} })
  verdict.expect(
    metrics.text.includes(`landpass_database_worker_up{node="127.0.0.1:${port}"} 0`),
    'the metrics do not name the killed worker',
  )
  const ready = await rig.caller.send(rig.origins[0]!, { method: 'GET', path: '/health/ready', headers: {} })
  verdict.equal(
    'workers that are down, by /health/ready',
    (ready.data as { workersDown?: number }).workersDown,
    1,
  )
  const stepsFromMs = performance.now()
  for (const event of events.filter((_, at) => !isOnWorker[at])) {
    const { records } = await rig.settle(event.id, ENDED_WITHIN_MS)
    verdict.equal(
      `claims of event ${event.id}, elsewhere, that end while a worker is down`,
      records.minted.length,
      2,
    )
  }
  console.log(`their claims ended after ${((performance.now() - stepsFromMs) / 1000).toFixed(1)} s`)
  await retry(() => worker!.resume())
  for (const [at, { reply }] of replies.entries()) {
    const isDown = isOnWorker[at]!
    const wanted = isDown ? '503 database_unavailable' : '200'
    verdict.equal(
      `a claim of an event ${isDown ? 'on the killed worker' : 'elsewhere'}`,
      outcomeOf(reply),
      wanted,
    )
    if (isDown) verdict.expect(Number(reply.headers['retry-after']) > 0, 'a refusal has no Retry-After')
  }
  // Refused ones claim again, as a player would
  for (const [at, player] of players.entries())
    await claimWithRetries(rig, [player], events[at]!, accepted, 'after one worker was down', verdict)
  const lost = isOnWorker.filter(Boolean).length
  const median = (all: typeof replies) =>
    all.flatMap(({ tookMs }, at) => (isOnWorker[at] ? [] : [tookMs])).sort((a, b) => a - b)[
      Math.floor((events.length - lost) / 2)
    ]!
  console.log(
    `one worker down: ${events.length - lost} claims accepted, half of them within ${median(replies).toFixed(0)} ms, before within ${median(earlier).toFixed(0)} ms; ${lost} refused`,
  )
}

async function claimAll(rig: Rig, events: readonly BenchEvent[], players: readonly Player[]) {
  return inParallel(players, WIDTH, async (player, at) => {
    const startedMs = performance.now()
    const reply = await rig.caller.send(
      rig.originOf(at),
      signedClaim(player, events[at % events.length]!.uuid),
    )
    return { reply, tookMs: performance.now() - startedMs }
  })
}

/** For each event whether its rows are on the node with this port. */
async function eventsOn(db: Db, port: number, events: readonly BenchEvent[]): Promise<readonly boolean[]> {
  const { rows } = await sql<{ port: number }>`
    select nodeport as port from unnest(${events.map(({ id }) => id)}::integer[]) with ordinality as event (id, place)
      join pg_dist_placement on shardid = get_shard_id_for_distribution_column('claim', event.id)
      join pg_dist_node using (groupid)
    order by place`.execute(db)
  return rows.map((row) => row.port === port)
}

/** The counts of each event are those of its rows. */
async function checkCounts(db: Db, verdict: Verdict): Promise<void> {
  const { rows } = await sql<{ wrong: number }>`
    select count(*)::integer as wrong from (
      select event_id, count(*) filter (where state = 'minted') as minted, count(*) as all from claim group by event_id
    ) as claimed full join (
      select event_id, sum(minted) as minted, sum(reserved + minting + minted + failed + released) as all
      from event_count where hour_ms = -1 group by event_id
    ) as counted using (event_id)
    where (claimed.minted, claimed.all) is distinct from (counted.minted, counted.all) and counted.all <> 0`.execute(
    db,
  )
  verdict.equal('events whose counts differ from their rows', rows[0]!.wrong, 0)
}

/** How many statements of both servers went to one shard, and how many to all of them. */
async function printShare(db: Db): Promise<void> {
  const { rows } = await sql<{ single: number; multi: number }>`
    select query_execution_single_shard::integer as single, query_execution_multi_shard::integer as multi
    from citus_stat_counters where name = current_database()`.execute(db)
  const { single, multi } = rows[0]!
  const share = (100 * single) / (single + multi)
  console.log(`statements: ${share.toFixed(1)} % of ${single + multi} on one shard`)
}

/** The log has each signed token once, in positions without gaps. */
async function checkLog(db: Db, verdict: Verdict): Promise<void> {
  await new TokenLog({ db, clock: SYSTEM_CLOCK }).update()
  const ofTokens = await sql<{ tokens: number; logged: number }>`
    select count(*)::integer as tokens, count(log.position)::integer as logged
    from token left join token_log as log on log.token_id = token.id and log.uid = token.uid
    where signature is not null`.execute(db)
  const ofLog = await sql<{ entries: number; end: number }>`
    select count(*)::integer as entries, max(position)::integer + 1 as end from token_log`.execute(db)
  const { tokens, logged, entries, end } = { ...ofTokens.rows[0]!, ...ofLog.rows[0]! }
  verdict.equal('tokens in the log', logged, tokens)
  verdict.equal('entries of the log', entries, tokens)
  verdict.equal('the end of the log', end, tokens)
  console.log(`log: ${entries} entries`)
}

async function withDatabase<T>(databaseUrl: string, work: (db: Db) => Promise<T>): Promise<T> {
  const settings = {
    dataDir: '',
    syncToDisk: true,
    poolSize: 2,
    statementTimeoutMs: 0,
    mode: 'join',
  } as const
  const engine = await openEngine({ ...settings, databaseUrl })
  try {
    await migrate(engine)
    return await work(engine.db)
  } finally {
    await engine.close()
  }
}
