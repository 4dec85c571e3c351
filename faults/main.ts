import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { crowd } from './attendance/crowd.ts'
import { grantKill } from './attendance/grant-kill.ts'
import { grantMutations } from './attendance/grant-mutations.ts'
import { guesses } from './attendance/guesses.ts'
import { issuerFaults } from './attendance/issuer-faults.ts'
import { kill } from './attendance/kill.ts'
import { mutations } from './attendance/mutations.ts'
import { onePlayer } from './attendance/one-player.ts'
import { ssrf } from './attendance/ssrf.ts'
import { throughput } from './attendance/throughput.ts'
import { caches } from './caches.ts'
import { chain } from './chain.ts'
import { citus } from './citus.ts'
import { costs } from './costs.ts'
import { dependencies } from './dependencies.ts'
import { failover } from './failover.ts'
import { largeEvent } from './large-event.ts'
import { neighbours } from './neighbours.ts'
import { overload } from './overload.ts'
import { patroni } from './patroni.ts'
import { pipelining } from './pipelining.ts'
import { rollingRestart } from './rolling-restart.ts'
import { type EngineKind, type IssuerKind, type Script, type ScriptOptions, Verdict } from './script.ts'
import { soak } from './soak.ts'

/** `npm run faults <script>`: faults/README.md says what each of them proves. */
const SCRIPTS: Readonly<Record<string, Script>> = {
  crowd,
  'one-player': onePlayer,
  'issuer-faults': issuerFaults,
  kill,
  mutations,
  'grant-mutations': grantMutations,
  'grant-kill': grantKill,
  ssrf,
  guesses,
  throughput,
  'large-event': largeEvent,
  costs,
  caches,
  dependencies,
  failover,
  pipelining,
  neighbours,
  overload,
  soak,
  'rolling-restart': rollingRestart,
  chain,
  citus,
  patroni,
}

/** Scripts that can run with events that are made here. */
const OWN_ISSUER_SCRIPTS = ['crowd', 'one-player', 'issuer-faults', 'kill', 'grant-kill', 'throughput']
const SHOWN = 20

const USAGE = [
  'Usage: npm run faults -- <script> [--seed N] [--engine postgres|embedded] [--issuer simulated|own] [--processes N] [--rounds N] [--seeds N] [--connections N] [--scale 0..1]',
  '',
  ...Object.entries(SCRIPTS).map(([name, { about }]) => `  ${name.padEnd(16)} ${about}`),
].join('\n')

const wanted = readArguments()
if (wanted === undefined) {
  console.error(USAGE)
  process.exitCode = 2
} else {
  await run(wanted.name, wanted.script, wanted.options)
}

async function run(name: string, script: Script, options: ScriptOptions): Promise<void> {
  const { seed, engine, issuer, processes, rounds, scale } = options
  console.log(`${name}: ${script.about}`)
  console.log(
    `seed ${seed}, engine ${engine}, issuer ${issuer}, processes ${processes}, rounds ${rounds ?? 'as the script has'}, scale ${scale}; ` +
      `node ${process.version}, ${cpus().length} cores`,
  )
  const verdict = new Verdict()
  const startedMs = performance.now()
  try {
    await script.run(options, verdict)
  } catch (error) {
    // First in the list, because other failures may follow from it
    verdict.broken.unshift(`the script failed: ${error instanceof Error ? error.stack : error}`)
  }
  console.log(`took ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
  if (verdict.broken.length === 0) {
    console.log('held')
    return
  }
  for (const what of verdict.broken.slice(0, SHOWN)) console.log(`BROKEN: ${what}`)
  if (verdict.broken.length > SHOWN) console.log(`BROKEN: and ${verdict.broken.length - SHOWN} more`)
  process.exitCode = 1
}

/** Undefined for invalid arguments. */
function readArguments(): { name: string; script: Script; options: ScriptOptions } | undefined {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      engine: { type: 'string', default: 'postgres' },
      issuer: { type: 'string', default: 'simulated' },
      processes: { type: 'string', default: '1' },
      rounds: { type: 'string' },
      seeds: { type: 'string' },
      connections: { type: 'string' },
      scale: { type: 'string', default: '1' },
    },
  })
  const [name = ''] = positionals
  const script = SCRIPTS[name]
  const [seed, processes, scale] = [values.seed, values.processes, values.scale].map(Number)
  const [rounds, seeds, connections] = [values.rounds, values.seeds, values.connections].map((text) =>
    text === undefined ? undefined : Number(text),
  )
  const isValid =
    isCount(seed!) &&
    isCount(processes!) &&
    scale! > 0 &&
    scale! <= 1 &&
    [rounds, seeds, connections].every((count) => count === undefined || isCount(count))
  const isEngine = values.engine === 'postgres' || (values.engine === 'embedded' && processes === 1)
  const isIssuer =
    values.issuer === 'simulated' || (values.issuer === 'own' && OWN_ISSUER_SCRIPTS.includes(name))
  if (!script || !isValid || !isEngine || !isIssuer) return undefined
  return {
    name,
    script,
    options: {
      seed: seed!,
      engine: values.engine as EngineKind,
      issuer: values.issuer as IssuerKind,
      processes: processes!,
      rounds,
      seeds,
      connections,
      scale: scale!,
    },
  }
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1
}
