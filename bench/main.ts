import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readConfig } from '@landpass/server/config/config'
import { startPostgres } from '@landpass/server/test/support/database/postgres'
import { type LoadResult, median } from '@landpass/server/test/support/processes/load'
import {
  cpuMs,
  memoryMb,
  type Running,
  resetPeak,
  runCommand,
  startBaseline,
  startServer,
} from '@landpass/server/test/support/processes/measured-processes'
import { TEST_DIR_VARIABLE } from '@landpass/server/test/support/run/prepared'
import { writeDemoSnapshot } from '@landpass/simulators/demo/write-snapshot'
import { bytesOf, loadClaims } from '../faults/attendance/claim-load.ts'
import { withRig } from '../faults/attendance/rig.ts'
import { measureClaims } from '../faults/attendance/throughput.ts'
import { type EngineKind, Verdict } from '../faults/script.ts'
import { measureChain } from './chain/measure-chain.ts'
import { importDuringReads, wholeMap } from './land-figures.ts'
import { landRows, type Row } from './land-rows.ts'
import { mapRows } from './map-rows.ts'
import { buildVersion, type OtherVersion } from './other-version.ts'
import { measurePages } from './page-figures.ts'
import { rawLoad } from './raw-load.ts'
import { changeToStreams, STREAM_SETTINGS, STREAMS } from './stream-figures.ts'
import { firstWindows, tileRows } from './tile-rows.ts'
import { tokenRows } from './token-rows.ts'

/**
 * Measures the server with a full world on both engines. The figure of a row is the CPU time of a bare `node:http` server for an
 * answer of 2 kB, as a part of that of our server for its answer: rates depend on the generator and on what else the machine does.
 * Both are measured in turn, so that other load on the machine affects both.
 */

const ROUNDS = 3
const BASELINE_SECONDS = 1
/** How long a server is idle before its memory is read: V8 collects garbage after some eight seconds. */
const REST_MS = 15_000
/** Pictures of tokens that were not asked for before, as a part of what the baseline answers. */
const COLD_IMAGE = 0.05

/** An area is left out: its time depends on the memory of the machine. */
const SHORT: ReadonlySet<string> = new Set([
  '/parcels/:x/:y',
  '/parcels/:x/:y/encodedId',
  '/parcels?status=open',
  '/addresses/:address/parcels',
  '/districts',
  '/parcels/:x/:y, unchanged',
  '/parcels?status=open, unchanged',
  '/map.png 500/10, cold',
  '/map.png 500/10, warm',
  '/v2/parcels/:x/:y',
])
const SHORT_SECONDS = 0.5
/** The part of its bound below which a row fails: beside programs that use the memory of the machine, figures fell to 0.4 of those of an idle one. */
const FAR = 1 / 3
/** How often such a row is measured again. */
const MEASURED_AGAIN = 2

/** Ten times the parcels of the usual world. */
const LARGE_WORLD = '-476,-476,475,475'

/**
 * `npm run bench`: everything. `npm run bench map`: only the rows of the map; also `land`, `attendance`, `tokens`, `pages`
 * and `chain` (with `--logs`, `--empty-blocks` and `--only history`, `readers` or `head`).
 *
 * `--against <commit>` also measures the server of that commit, in turn with this one, and prints for each row of `land` and `map`
 * how many times its CPU time ours is. `--world large` does the same with a world of ten times the size and the usual one.
 * `--short` measures the ten rows of {@link SHORT}, and fails where one misses a third of what is
 * wanted three times.
 */
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: 'string', default: 'postgres,embedded' },
    data: { type: 'string' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    against: { type: 'string' },
    world: { type: 'string', default: 'usual' },
    short: { type: 'boolean', default: false },
    logs: { type: 'string', default: '3000000' },
    'empty-blocks': { type: 'string', default: '10000' },
  },
})
const isShort = options.short
const seconds = isShort ? SHORT_SECONDS : Number(options.seconds)
const baselineSeconds = isShort ? SHORT_SECONDS : BASELINE_SECONDS
const all = isShort ? ['land', 'map'] : ['land', 'map', 'attendance', 'tokens', 'pages', 'chain']
const parts = positionals.length > 0 ? positionals : all
const scratch = mkdtempSync(join(tmpdir(), 'landpass-bench-'))
const baseline = await startBaseline()
const isLarge = options.world === 'large'
let otherVersion: OtherVersion | undefined
try {
  const engines = options.engine.split(',') as EngineKind[]
  if (parts.includes('land') || parts.includes('map')) {
    const data = await fullWorld()
    if (options.against) otherVersion = buildVersion(options.against, join(scratch, 'against'))
    console.log(`node ${process.version}, ${cpus().length} cores, world: ${data}`)
    for (const engine of engines) await measure(engine, data)
  }
  if (parts.includes('attendance')) {
    for (const engine of engines) await measureAttendance(engine)
  }
  if (parts.includes('tokens')) {
    for (const engine of engines) await measureTokens(engine)
  }
  if (parts.includes('pages')) await measurePagesOn(await fullWorld())
  if (parts.includes('chain'))
    await measureChain({
      logs: Number(options.logs),
      emptyBlocks: Number(options['empty-blocks']),
      only: options.only,
      scratch,
    })
} finally {
  await baseline.stop()
  otherVersion?.remove()
  rmSync(scratch, { recursive: true, force: true })
}

async function fullWorld(): Promise<string> {
  return options.data ?? (await demoData())
}

async function demoData(world?: string): Promise<string> {
  const folder = join(scratch, world ? 'demo-large' : 'demo')
  await writeDemoSnapshot(1, folder, undefined, world ? { world: readConfig({ WORLD: world }).world } : {})
  return folder
}

async function measureAttendance(engine: EngineKind): Promise<void> {
  const verdict = new Verdict()
  await measureClaims({ seed: 1, engine }, verdict)
  await measureClaims({ seed: 1, engine, issuer: 'own' }, verdict)
  for (const what of verdict.broken) console.log(`BROKEN: ${what}`)
}

/** Tokens that the server has signed, and their pictures: the land is served too, so these are maps. */
async function measureTokens(engine: EngineKind): Promise<void> {
  console.log(`\n## tokens, ${engine}\n`)
  await withRig({ engine, issuer: 'own', processes: 1, demoSeed: 1 }, async (rig) => {
    const { cold, rows } = await tokenRows(rig)
    const bare = await rawGet(baseline.origin, Array(cold.length).fill('/'))
    const first = await rawGet(rig.originOf(0), cold)
    const ratio = first / bare
    console.log(
      `token image, cold: ${ratio.toFixed(3)}${ratio < COLD_IMAGE ? ' MISSED' : ''} (at least ${COLD_IMAGE})`,
    )
    await measureRows(engine, { server: rig.serverOf(0), rows })
  })
}

/** Sends each request once. @returns answers a second */
async function rawGet(origin: string, paths: readonly string[]): Promise<number> {
  const requests = paths.map((path) => bytesOf({ method: 'GET', path, headers: {} }))
  const { perSecond, unexpectedCount } = await loadClaims(origin, requests, { connections: 16 })
  if (unexpectedCount > 0) throw new Error(`${unexpectedCount} answers were not 200`)
  return perSecond
}

/** Measured on one engine: the answers for pages come from memory. */
async function measurePagesOn(data: string): Promise<void> {
  const env = { DATA_DIR: join(scratch, 'pages') }
  await runCommand(['import', data], env)
  process.env[TEST_DIR_VARIABLE] ??= scratch // where the browser of the tests is unpacked
  const server = await startServer(env)
  try {
    await measurePages(server.origin)
  } finally {
    await server.stop()
  }
}

async function measure(engine: EngineKind, data: string): Promise<void> {
  console.log(`\n## ${engine}\n`)
  const place = await newDatabase(engine)
  const other = isLarge || otherVersion ? await startOther(engine, data) : undefined
  try {
    const { env } = place
    if (isLarge) env.WORLD = LARGE_WORLD
    const ours = isLarge ? await demoData(LARGE_WORLD) : data
    const imported = await runCommand(['import', ours], env)
    const wantedSeconds = engine === 'postgres' ? 40 : 60
    console.log(
      `import: ${imported.seconds.toFixed(1)} s (at most ${wantedSeconds}), peak ${imported.peakMb.toFixed(0)} MB (900)`,
    )
    const server = await startServer(env)
    try {
      await measureServer(engine, server, { data: ours, env, other: other?.server })
    } finally {
      await server.stop()
    }
    if (isShort) return
    const again = await startServer(env)
    console.log(`ready again, with the copy of the land: ${again.readySeconds.toFixed(1)} s`)
    await again.stop()
  } finally {
    await other?.stop()
    await place.stop()
  }
}

/** A server to compare with, on a database of its own: of the other version, or with the usual world. */
async function startOther(engine: EngineKind, data: string) {
  const { env, stop } = await newDatabase(engine)
  try {
    await runCommand(['import', data], env, otherVersion?.main)
    const server = await startServer(env, [], otherVersion?.main)
    return { server, stop: () => server.stop().then(stop) }
  } catch (error) {
    await stop()
    throw error
  }
}

async function newDatabase(engine: EngineKind) {
  const postgres = engine === 'postgres' ? await startPostgres() : undefined
  const env: Record<string, string> = {
    ...STREAM_SETTINGS,
    DATA_DIR: mkdtempSync(join(scratch, 'data-')),
    ...(postgres && { DATABASE_URL: postgres.url }),
  }
  return { env, stop: async () => postgres?.stop() }
}

interface Measured {
  readonly data: string
  readonly env: Record<string, string>
  readonly other: Running | undefined
}

async function measureServer(
  engine: EngineKind,
  server: Running & { readySeconds: number },
  { data, env, other }: Measured,
): Promise<void> {
  const measureBoth = async (rowsOf: (origin: string) => Promise<readonly Row[]>) =>
    measureRows(
      engine,
      { server, rows: await rowsOf(server.origin) },
      other && { server: other, rows: await rowsOf(other.origin) },
    )
  const { pid } = server.child
  if (!isShort) await setTimeout(REST_MS)
  console.log(`ready on a filled database: ${server.readySeconds.toFixed(1)} s (at most 10)`)
  console.log(
    `memory at rest: ${memoryMb(pid, 'VmRSS').toFixed(0)} MB (at most ${engine === 'postgres' ? 150 : 350})`,
  )
  if (parts.includes('land') && !isShort) {
    const first = await wholeMap(server)
    const later = await wholeMap(server)
    console.log(
      `whole-world /map: first byte ${later.firstByteMs.toFixed(0)} ms (50; the first time ${first.firstByteMs.toFixed(0)} ms), ` +
        `${(first.bytes / 1e6).toFixed(1)} MB, memory +${first.growthMb.toFixed(0)} MB (32)`,
    )
  }
  if (parts.includes('land')) await measureBoth(landRows)
  if (parts.includes('land') && !isShort) await measureStreams(server, env)
  if (parts.includes('map')) {
    await measureBoth(mapRows)
    await measureBoth(tileRows)
    if (isLarge) await measureRows(engine, { server, rows: [firstWindows()] })
  }
  if (parts.includes('land') && !isShort) await measureImportDuringReads(server, data, env)
  console.log(`\nmemory: now ${memoryMb(pid, 'VmRSS').toFixed(0)} MB`)
}

interface RowsOf {
  readonly server: Running
  readonly rows: readonly Row[]
}

async function measureRows(engine: EngineKind, ours: RowsOf, other?: RowsOf): Promise<void> {
  console.log(
    `\n| request | CPU us | of the bare answer | at least |${other ? ' times the other' : ''} rate | bytes | p50 ms | p99 ms | peak MB | unexpected |`,
  )
  console.log(`|---|---:|---:|---:|${other ? '---:|' : ''}---:|---:|---:|---:|---:|---:|`)
  for (const [at, row] of ours.rows.entries()) {
    if (!row.name.includes(options.only) || (isShort && !SHORT.has(row.name))) continue
    const one: RowOf = { server: ours.server, row, sent: 0 }
    const another: RowOf | undefined = other && { server: other.server, row: other.rows[at]!, sent: 0 }
    const measure = () => measureRow(engine, one, another)
    const isFar = (ratio: number) => ratio < row.wanted[engine] * FAR
    let ratio = await measure()
    if (!isShort) continue
    // Other load on the machine for a second is no loss of the server.
    for (let again = 0; again < MEASURED_AGAIN && isFar(ratio); again++) ratio = await measure()
    if (isFar(ratio)) process.exitCode = 1
  }
}

async function measureStreams(server: Running, env: Record<string, string>): Promise<void> {
  const { receivedMs, ratio, kbPerStream } = await changeToStreams(server, baseline, env)
  console.log(
    `\nchange to ${STREAMS.toLocaleString('en')} streams: ${receivedMs.toFixed(0)} ms after the commit, ` +
      `${ratio.toFixed(2)}x as many bare answers (at most 3x); ${kbPerStream.toFixed(0)} kB each`,
  )
}

async function measureImportDuringReads(
  server: Running,
  data: string,
  env: Record<string, string>,
): Promise<void> {
  resetPeak(server.child.pid)
  const reads = await importDuringReads(server, data, env)
  console.log(
    `\nreaders during an import: p99 ${reads.duringMs.toFixed(2)} ms, idle ${reads.idleMs.toFixed(2)} ms, ` +
      `${(reads.duringMs / reads.idleMs).toFixed(1)}x (at most 10x); import meanwhile ${reads.importSeconds.toFixed(1)} s, ` +
      `peak ${memoryMb(server.child.pid, 'VmHWM').toFixed(0)} MB`,
  )
}

interface RowOf {
  readonly server: Running
  readonly row: Row
  /** How many requests were sent. The next round goes on behind them, but for a few of connections that were faster. */
  sent: number
}

interface Answers extends LoadResult {
  /** CPU time of the server for an answer, in microseconds. */
  readonly cpuUs: number
}

/** @returns the part of the bare answer */
async function measureRow(engine: EngineKind, ours: RowOf, other?: RowOf): Promise<number> {
  const { row, server } = ours
  const bare: Answers[] = []
  const results: Answers[] = []
  const others: Answers[] = []
  // Unmeasured: V8 compiles what is called often
  await answersOf(ours, baselineSeconds)
  if (other) await answersOf(other, baselineSeconds)
  resetPeak(server.child.pid)
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await answersOf({ server: baseline, row: { ...row, status: 200 }, sent: 0 }, baselineSeconds))
    results.push(await answersOf(ours, seconds))
    if (other) others.push(await answersOf(other, seconds))
  }
  const of = (pick: (result: Answers) => number, from = results) => median(from.map(pick))
  const cpuUs = of((result) => result.cpuUs)
  const ratio = of((result) => result.cpuUs, bare) / cpuUs
  const times = cpuUs / of((result) => result.cpuUs, others)
  const rate = of(({ perSecond }) => perSecond) / of(({ perSecond }) => perSecond, bare)
  const wanted = row.wanted[engine]
  console.log(
    `| ${row.name} | ${cpuUs.toFixed(1)} | ${ratio.toFixed(3)}${ratio < wanted ? ' MISSED' : ''} | ${wanted} | ` +
      `${other ? `${times.toFixed(2)} | ` : ''}${rate.toFixed(3)} | ` +
      `${of(({ bytesPerAnswer }) => bytesPerAnswer).toFixed(0)} | ${of(({ p50Ms }) => p50Ms).toFixed(2)} | ` +
      `${of(({ p99Ms }) => p99Ms).toFixed(2)} | ${memoryMb(server.child.pid, 'VmHWM').toFixed(0)} | ${results.reduce((sum, { unexpected }) => sum + unexpected, 0)} |`,
  )
  return ratio
}

async function answersOf(one: RowOf, forSeconds: number): Promise<Answers> {
  const { server, row } = one
  const { pid } = server.child
  const before = cpuMs(pid)
  const result = await rawLoad(server.origin, row.requests, forSeconds, row.status, one.sent)
  one.sent += result.count
  return { ...result, cpuUs: ((cpuMs(pid) - before) * 1000) / result.count }
}
