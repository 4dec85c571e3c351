import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine } from '@landpass/server/db/engine'
import { migrate } from '@landpass/server/db/migrate'
import { openEngine } from '@landpass/server/db/open-engine'
import { startPostgres } from '@landpass/server/test/support/database/postgres'
import { addCounts } from './chain/findings.ts'
import { SimulatedClock } from './chain/follower-process.ts'
import { NodeServer } from './chain/node-server.ts'
import { kindOf } from './chain/seeds.ts'
import { Simulation, type SimulationDatabase } from './chain/simulation.ts'
import { type Script, type ScriptOptions, sized, type Verdict } from './script.ts'

const SEEDS = 1_000
const BLOCKS = 200
const START_MS = Date.UTC(2026, 0, 16)
const REPORT_EVERY = 10
const ENGINE_SETTINGS = { syncToDisk: false, poolSize: 3, statementTimeoutMs: 0, mode: 'own' } as const

export const chain: Script = {
  about:
    '1,000 seeds of a chain with reorganisations, bad nodes and killed followers: the land is always that of one block',
  run: async (options, verdict) => {
    const scratch = mkdtempSync(join(tmpdir(), 'landpass-chain-'))
    const postgres = await startPostgres()
    const server = await NodeServer.start()
    const opened: Engine[] = []
    const open = async (databaseUrl?: string) => {
      const engine = await openEngine({ ...ENGINE_SETTINGS, dataDir: join(scratch, 'database'), databaseUrl })
      opened.push(engine)
      return engine
    }
    try {
      const engines = { postgres: await open(postgres.url), embedded: await open() }
      for (const engine of Object.values(engines)) await migrate(engine)
      const readers = await open(postgres.url)
      const databases: Readonly<Record<'postgres' | 'embedded', SimulationDatabase>> = {
        postgres: {
          kind: 'postgres',
          db: engines.postgres.db,
          readers: readers.db,
          clock: new SimulatedClock(START_MS),
        },
        embedded: {
          kind: 'embedded',
          db: engines.embedded.db,
          readers: undefined,
          clock: new SimulatedClock(START_MS),
        },
      }
      await runSeeds(options, verdict, { databases, server, scratch })
    } finally {
      await server.close()
      for (const engine of opened) await engine.close()
      await postgres.stop()
      rmSync(scratch, { recursive: true, force: true })
    }
  },
}

interface Rig {
  readonly databases: Readonly<Record<'postgres' | 'embedded', SimulationDatabase>>
  readonly server: NodeServer
  readonly scratch: string
}

async function runSeeds(
  { seed: first, seeds = SEEDS, scale }: ScriptOptions,
  verdict: Verdict,
  { databases, server, scratch }: Rig,
): Promise<void> {
  const [counts, failures] = [new Map<string, number>(), new Map<string, number>()]
  const count = sized(seeds, scale)
  const startCpu = process.cpuUsage()
  for (let done = 0; done < count; done++) {
    const seed = first + done
    const { followers, engine } = kindOf(seed)
    const folder = join(scratch, String(seed))
    mkdirSync(folder)
    const options = { seed, blocks: BLOCKS, followers, database: databases[engine], server, folder }
    const findings = await Simulation.run(options)
    rmSync(folder, { recursive: true, force: true })
    addCounts(counts, findings.counts)
    addCounts(failures, findings.failures)
    for (const problem of findings.problems)
      verdict.expect(false, `seed ${seed} (${engine}, ${followers} followers): ${problem}`)
    if (findings.problems.length > 0)
      console.log([`seed ${seed} is broken:`, ...findings.problems, ...findings.lastLines].join('\n  '))
    if ((done + 1) % REPORT_EVERY === 0)
      console.log(`${done + 1} seeds, ${cpuS(startCpu)} s of CPU without PostgreSQL`)
  }
  for (const [title, map] of [
    ['what happened', counts],
    ['why steps failed', failures],
  ] as const) {
    console.log(`${title}:`)
    for (const [name, times] of [...map].sort()) console.log(`${String(times).padStart(9)}  ${name}`)
  }
}

function cpuS(since: NodeJS.CpuUsage): string {
  const { user, system } = process.cpuUsage(since)
  return ((user + system) / 1e6).toFixed(1)
}
