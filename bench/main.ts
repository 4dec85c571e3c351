import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startPostgres } from '@landpass/server/test/support/database/postgres'
import { type LoadResult, load, median } from '@landpass/server/test/support/processes/load'
import {
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
import { measurePages } from './page-figures.ts'
import { changeToStreams, STREAM_SETTINGS, STREAMS } from './stream-figures.ts'
import { tileRows } from './tile-rows.ts'
import { tokenRows } from './token-rows.ts'

/**
 * Measures the server with a full world on both engines. Each figure is a ratio to a bare `node:http` server that
 * answers 2 kB. Both are measured in turn, so that other load on the machine affects both.
 */

const ROUNDS = 3
const BASELINE_SECONDS = 1
/** How long a server is idle before its memory is read. */
const REST_MS = 5_000
/** Pictures of tokens that were not asked for before, as a part of what the baseline answers. */
const COLD_IMAGE = 0.05
const GENESIS = fileURLToPath(new URL('../../../shared/data/genesis', import.meta.url))

/**
 * `npm run bench`: everything. `npm run bench map`: only the rows of the map; also `land`, `attendance`, `tokens`, `pages`
 * and `chain` (with `--logs`, `--empty-blocks` and `--only history`, `readers` or `head`).
 */
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: 'string', default: 'postgres,embedded' },
    data: { type: 'string' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    logs: { type: 'string', default: '3000000' },
    'empty-blocks': { type: 'string', default: '10000' },
  },
})
const seconds = Number(options.seconds)
const parts = positionals.length > 0 ? positionals : ['land', 'map', 'attendance', 'tokens', 'pages', 'chain']
const scratch = mkdtempSync(join(tmpdir(), 'landpass-bench-'))
const baseline = await startBaseline()
try {
  const engines = options.engine.split(',') as EngineKind[]
  if (parts.includes('land') || parts.includes('map')) {
    const data = await fullWorld()
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
  rmSync(scratch, { recursive: true, force: true })
}

async function fullWorld(): Promise<string> {
  return options.data ?? (existsSync(GENESIS) ? GENESIS : await demoData())
}

async function demoData(): Promise<string> {
  const folder = join(scratch, 'demo')
  await writeDemoSnapshot(1, folder)
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
    await measureRows(engine, rig.serverOf(0), rows)
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
  const postgres = engine === 'postgres' ? await startPostgres() : undefined
  const env: Record<string, string> = postgres
    ? { ...STREAM_SETTINGS, DATABASE_URL: postgres.url, DATA_DIR: join(scratch, 'postgres') }
    : { ...STREAM_SETTINGS, DATA_DIR: join(scratch, 'embedded') }
  try {
    console.log(`\n## ${engine}\n`)
    const imported = await runCommand(['import', data], env)
    const wantedSeconds = postgres ? 40 : 60
    console.log(
      `import: ${imported.seconds.toFixed(1)} s (at most ${wantedSeconds}), peak ${imported.peakMb.toFixed(0)} MB (900)`,
    )
    const server = await startServer(env)
    try {
      await measureServer(engine, server, data, env)
    } finally {
      await server.stop()
    }
    const again = await startServer(env)
    console.log(`ready again, with the copy of the land: ${again.readySeconds.toFixed(1)} s`)
    await again.stop()
  } finally {
    await postgres?.stop()
  }
}

async function measureServer(
  engine: 'postgres' | 'embedded',
  server: Running & { readySeconds: number },
  data: string,
  env: Record<string, string>,
): Promise<void> {
  const { pid } = server.child
  await setTimeout(REST_MS)
  console.log(`ready on a filled database: ${server.readySeconds.toFixed(1)} s (at most 10)`)
  console.log(
    `memory at rest: ${memoryMb(pid, 'VmRSS').toFixed(0)} MB (at most ${engine === 'postgres' ? 300 : 450})`,
  )
  if (parts.includes('land')) {
    const map = await wholeMap(server)
    console.log(
      `whole-world /map: first byte ${map.firstByteMs.toFixed(0)} ms (50), ${(map.bytes / 1e6).toFixed(1)} MB, ` +
        `memory +${map.growthMb.toFixed(0)} MB (32)`,
    )
    await measureRows(engine, server, await landRows(server.origin))
    await measureStreams(server, env)
  }
  if (parts.includes('map')) {
    await measureRows(engine, server, await mapRows(server.origin))
    await measureRows(engine, server, await tileRows(server.origin))
  }
  if (parts.includes('land')) await measureImportDuringReads(server, data, env)
  console.log(`\nmemory: now ${memoryMb(pid, 'VmRSS').toFixed(0)} MB`)
}

async function measureRows(
  engine: 'postgres' | 'embedded',
  server: Running,
  rows: readonly Row[],
): Promise<void> {
  console.log('\n| request | ratio | at least | bytes | p50 ms | p99 ms | peak MB | unexpected |')
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|')
  for (const row of rows) {
    if (!row.name.includes(options.only)) continue
    await measureRow(engine, server, row)
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

async function measureRow(engine: 'postgres' | 'embedded', server: Running, row: Row): Promise<void> {
  const bare: number[] = []
  const results: LoadResult[] = []
  resetPeak(server.child.pid)
  const ask = row.load ?? load
  for (let round = 0; round < ROUNDS; round++) {
    bare.push((await ask(baseline.origin, row.requests, BASELINE_SECONDS, 200)).perSecond)
    results.push(await ask(server.origin, row.requests, seconds, row.status))
  }
  const ratio = median(results.map(({ perSecond }) => perSecond)) / median(bare)
  const of = (pick: (result: LoadResult) => number) => median(results.map(pick))
  const wanted = row.wanted[engine]
  console.log(
    `| ${row.name} | ${ratio.toFixed(3)}${ratio < wanted ? ' MISSED' : ''} | ${wanted} | ` +
      `${of(({ bytesPerAnswer }) => bytesPerAnswer).toFixed(0)} | ${of(({ p50Ms }) => p50Ms).toFixed(2)} | ` +
      `${of(({ p99Ms }) => p99Ms).toFixed(2)} | ${memoryMb(server.child.pid, 'VmHWM').toFixed(0)} | ${results.reduce((sum, { unexpected }) => sum + unexpected, 0)} |`,
  )
}
