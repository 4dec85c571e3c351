import { quantile } from '@landpass/server/test/support/processes/load'
import { memoryMb, type Running } from '@landpass/server/test/support/processes/measured-processes'
import { measureCapacity, probe, runClients, withLandServer } from './land-load.ts'
import { cpuMs } from './process-cost.ts'
import { type Script, type ScriptOptions, tally, type Verdict } from './script.ts'

const LOAD_S = 60
const CAPACITY_S = 10
const P50_MS = 100
const P99_MS = 500
const GOODPUT = 0.8

const PARCELS = Array.from({ length: 50 }, (_, i) => `/v1/parcels/${i - 25}/${i - 25}`)
const SEARCHES = ['plaza', 'tower', 'garden', 'sea', 'genesis', '0x12', 'road'].map(
  (text) => `/v2/search?q=${text}&limit=50`,
)

interface Load {
  readonly name: string
  readonly paths: readonly string[]
  readonly addresses: number
  readonly connections: number
  /** Requests a second, as a multiple of what the server can answer; undefined: as many as it answers. */
  readonly timesCapacity?: number
}

const LOADS: readonly Load[] = [
  { name: 'one address, 1,900 connections, parcels', paths: PARCELS, addresses: 1, connections: 1_900 },
  { name: 'one address, 1,900 connections, searches', paths: SEARCHES, addresses: 1, connections: 1_900 },
  ...[1, 5, 20].map((times) => ({
    name: `ten addresses, searches at ${times} times the capacity`,
    paths: SEARCHES,
    addresses: 10,
    connections: 4_000,
    timesCapacity: times,
  })),
]

/** Busy clients beside one that opens a new connection for each request. */
export const neighbours: Script = {
  about: 'busy addresses with many connections: new connections of other addresses are answered at once',
  run: (options, verdict) => withLandServer(options, (server) => measure(server, options, verdict)),
}

async function measure(server: Running, { scale }: ScriptOptions, verdict: Verdict): Promise<void> {
  const { pid } = server.child
  const capacityOf = (paths: readonly string[]) =>
    measureCapacity(server, paths, CAPACITY_S * Math.max(scale, 0.1))
  for (const paths of [PARCELS, SEARCHES]) await capacityOf(paths) // compiles the code
  for (const load of LOADS) {
    const seconds = LOAD_S * scale
    const capacity = await capacityOf(load.paths)
    const addresses = Array.from({ length: load.addresses }, (_, i) => `127.0.1.${i + 1}`)
    const perSecond = (load.timesCapacity ?? 0) * capacity.perSecond
    const cpuBeforeMs = cpuMs(pid!)
    const clients = runClients(server, { ...load, addresses, perSecond, seconds })
    const probed = await probe(server, ['/health/live', '/v1/parcels/3/4'], clients)
    const [p50Ms, p99Ms] = [0.5, 0.99].map((part) => quantile(probed.tookMs, part))
    const report = await clients
    const answered = report.answers['200'] ?? 0
    const perCpuMs = answered / (cpuMs(pid!) - cpuBeforeMs)
    // What an answer costs also depends on what else the machine does, so the load is compared with before and after.
    const after = await capacityOf(load.paths)
    const goodput = perCpuMs / ((capacity.perCpuMs + after.perCpuMs) / 2)
    console.log(
      `${load.name} (capacity ${capacity.perSecond.toFixed(0)} a second): new connections p50 ${p50Ms!.toFixed(1)} ms, p99 ${p99Ms!.toFixed(1)} ms, ` +
        `${tally(probed.outcomes)}; goodput ${goodput.toFixed(2)} by CPU time, ${(answered / seconds).toFixed(0)} a second, ${JSON.stringify(report)}, ` +
        `memory ${memoryMb(pid, 'VmRSS').toFixed(0)} MB`,
    )
    const unwanted = Object.keys(report.answers).filter((status) => !['200', '429', '503'].includes(status))
    verdict.equal(`${load.name}: other answers`, unwanted.join(), '')
    verdict.equal(`${load.name}: refusals without Retry-After`, report.withoutRetryAfter, 0)
    verdict.equal(
      `${load.name}: new connections not answered`,
      probed.outcomes.filter((it) => it !== '200').length,
      0,
    )
    if (scale < 1) continue
    verdict.expect(p50Ms! <= P50_MS, `${load.name}: p50 ${p50Ms!.toFixed(1)} ms`)
    verdict.expect(p99Ms! <= P99_MS, `${load.name}: p99 ${p99Ms!.toFixed(1)} ms`)
    verdict.expect(goodput >= GOODPUT, `${load.name}: goodput ${goodput.toFixed(2)}`)
  }
}
