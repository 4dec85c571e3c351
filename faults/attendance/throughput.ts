import { SECOND_MS } from '@landpass/server/clock'
import type { Db } from '@landpass/server/db/engine'
import { median } from '@landpass/server/test/support/processes/load'
import { startBaseline } from '@landpass/server/test/support/processes/measured-processes'
import { sql } from 'kysely'
import { cpuMs, familyCpuMs } from '../process-cost.ts'
import { type EngineKind, type IssuerKind, type Script, sized, type Verdict } from '../script.ts'
import { bytesOf, type ClaimLoad, loadClaims } from './claim-load.ts'
import { compareWithLedger } from './event-records.ts'
import { makePlayers, signedClaims } from './players.ts'
import { PLACE, SETTLE_AT_MOST_MS, withRig } from './rig.ts'

const ROUNDS = 3
const CLAIMS_PER_ROUND: Readonly<Record<EngineKind, number>> = { postgres: 3_000, embedded: 1_500 }
/** Claims before the first round: V8 compiles meanwhile, which takes a sixth of the CPU time of the first thousands. */
const WARM_UP = 3_000
/**
 * Claims under way at the same time, and requests to the baseline. A claim passes through four threads and processes in
 * batches: with fewer claims all of them are in one batch at times, and a core waits. docs/speed.md has what 64 give.
 */
const CONNECTIONS = 256
const BASELINE_SECONDS = 2
const SHOWN_BYTES = 20
/** Claims per second, as a part of what a bare node:http server answers. */
const WANTED: Readonly<Record<IssuerKind, Readonly<Record<EngineKind, number>>>> = {
  simulated: { postgres: 0.02, embedded: 0.01 },
  own: { postgres: 0.05, embedded: 0.03 },
}

export const throughput: Script = {
  about:
    'claims accepted per second against an instant issuer (or, with --issuer own, tokens signed), as a ratio to a bare node:http server',
  run: ({ seed, engine, issuer, processes, rounds, connections, scale }, verdict) =>
    measureClaims(
      { seed, engine, ...(issuer && { issuer }), processes, scale, rounds, connections },
      verdict,
    ),
}

/**
 * Measures signed claims, each of another player. Presence comes from the server's cached list of all players. The
 * baseline is measured in turn, with the same bytes over as many connections.
 */
export async function measureClaims(
  options: {
    seed: number
    engine: EngineKind
    issuer?: IssuerKind
    processes?: number
    rounds?: number | undefined
    connections?: number | undefined
    scale?: number
  },
  verdict: Verdict,
): Promise<void> {
  const { seed, engine, issuer = 'simulated', processes = 1, scale = 1 } = options
  const { rounds = ROUNDS, connections = CONNECTIONS } = options
  const perRound = sized(CLAIMS_PER_ROUND[engine], scale)
  const players = makePlayers(seed, 'throughput', WARM_UP + rounds * perRound)
  const baseline = await startBaseline()
  try {
    await withRig({ engine, issuer, processes }, async (rig) => {
      await rig.presence.putCrowd(
        players.map(({ address }) => address),
        PLACE,
      )
      const event = await rig.newEvent(players.length)
      const origin = rig.originOf(0)
      const warmUp = signedClaims(players.slice(0, WARM_UP), event.uuid).map(bytesOf)
      await loadClaims(origin, warmUp, { connections })
      const bare: Measured[] = []
      const results: Measured[] = []
      const cpu = {
        bare: () => familyCpuMs(baseline.child.pid!),
        server: () => familyCpuMs(rig.pidOf(0)!),
        database: () => (rig.postgres ? familyCpuMs(rig.postgres.pid) : 0),
        generator: () => cpuMs(process.pid),
      }
      for (let round = 0; round < rounds; round++) {
        const from = WARM_UP + round * perRound
        const requests = signedClaims(players.slice(from, from + perRound), event.uuid).map(bytesOf)
        const again = { connections, seconds: BASELINE_SECONDS }
        bare.push(await measured(cpu, () => loadClaims(baseline.origin, requests, again)))
        results.push(await measured(cpu, () => loadClaims(origin, requests, { connections })))
      }
      report({ engine, issuer, connections }, bare, results, verdict)
      const { records, tookMs } = await rig.settle(event.id, SETTLE_AT_MOST_MS)
      console.log(
        `${engine}: ${records.minted.length} minted, settled ${(tookMs / SECOND_MS).toFixed(1)} s later`,
      )
      verdict.equal(`${engine}: minted claims`, records.minted.length, players.length)
      console.log(
        `bytes of the database for each claim: ${await rig.withDatabase((db) => bytesOfClaim(db, records.minted.length))}`,
      )
      if (issuer === 'own') compareWithLedger(verdict, `${engine}, own`, records, await rig.mintsOf(event.id))
    })
  } finally {
    await baseline.stop()
  }
}

/** A round, with the CPU time that it took of each process. */
interface Measured extends ClaimLoad {
  readonly cpuMs: Readonly<Record<Process, number>>
}

const PROCESSES = ['bare', 'server', 'database', 'generator'] as const
type Process = (typeof PROCESSES)[number]

async function measured(
  cpu: Readonly<Record<Process, () => number>>,
  work: () => Promise<ClaimLoad>,
): Promise<Measured> {
  const ofEach = (read: (name: Process) => number) =>
    Object.fromEntries(PROCESSES.map((name) => [name, read(name)])) as Record<Process, number>
  const before = ofEach((name) => cpu[name]())
  const load = await work()
  return { ...load, cpuMs: ofEach((name) => cpu[name]() - before[name]) }
}

/** What all tables with their indexes take, and each that takes SHOWN_BYTES or more. */
async function bytesOfClaim(db: Db, claims: number): Promise<string> {
  const { rows } = await sql<{ table: string; bytes: number }>`
    select relname as table, pg_total_relation_size(oid)::float as bytes from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace order by bytes desc`.execute(db)
  const each = rows.map(({ table, bytes }) => ({ table, bytes: Math.round(bytes / claims) }))
  const all = rows.reduce((sum, { bytes }) => sum + bytes, 0) / claims
  const shown = each
    .filter(({ bytes }) => bytes >= SHOWN_BYTES)
    .map(({ table, bytes }) => `${table} ${bytes}`)
  return `${all.toFixed(0)} (${shown.join(', ')})`
}

function report(
  run: { readonly engine: EngineKind; readonly issuer: IssuerKind; readonly connections: number },
  bare: readonly Measured[],
  results: readonly Measured[],
  verdict: Verdict,
): void {
  const { engine, issuer, connections } = run
  const of = (pick: (load: ClaimLoad) => number) => median(results.map(pick))
  const perSecond = of((load) => load.perSecond)
  const barePerSecond = median(bare.map((load) => load.perSecond))
  const ratio = perSecond / barePerSecond
  const wanted = WANTED[issuer][engine]
  const unexpected = results.reduce((sum, { unexpectedCount }) => sum + unexpectedCount, 0)
  console.log(
    '\n| claims | connections | a second | baseline | ratio | at least | p50 ms | p99 ms | unexpected |',
  )
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|---:|')
  console.log(
    `| ${engine}, ${issuer} | ${connections} | ${perSecond.toFixed(0)} | ${barePerSecond.toFixed(0)} | ` +
      `${ratio.toFixed(4)}${ratio < wanted ? ' MISSED' : ''} | ${wanted} | ${of(({ p50Ms }) => p50Ms).toFixed(1)} | ` +
      `${of(({ p99Ms }) => p99Ms).toFixed(1)} | ${unexpected} |`,
  )
  const cpuOf = (loads: readonly Measured[], name: Process) =>
    median(loads.map(({ cpuMs, answers }) => cpuMs[name] / answers)).toFixed(3)
  console.log(
    `CPU time of a claim: server ${cpuOf(results, 'server')} ms, database ${cpuOf(results, 'database')} ms, ` +
      `generator ${cpuOf(results, 'generator')} ms; of an answer of the baseline: ${cpuOf(bare, 'bare')} ms, ` +
      `generator ${cpuOf(bare, 'generator')} ms`,
  )
  verdict.expect(ratio >= wanted, `${engine}: the ratio is ${ratio.toFixed(4)}, wanted ${wanted}`)
  const shown = results.flatMap(({ unexpected }) => unexpected).slice(0, 3)
  verdict.expect(unexpected === 0, `${engine}: ${unexpected} claims were not accepted: ${shown.join(' | ')}`)
}
