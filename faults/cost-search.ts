import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { SCRAPE_UNITS } from '@landpass/server/http/health'
import { MAINNET_REGISTRIES } from '@landpass/server/land/records/contracts'
import { memoryMb, startServer } from '@landpass/server/test/support/processes/measured-processes'
import { Random } from '@landpass/simulators/random'
import { costOf, cpuMs, type ProcessCost } from './process-cost.ts'
import {
  addressOf,
  type KnownValues,
  type MadeRequest,
  type ReadRoute,
  RequestMaker,
  readRoutes,
} from './request-maker.ts'
import { inParallel, type ScriptOptions, sized, type Verdict } from './script.ts'

/** The bounds for each request. */
export const MAX_CPU_MS = 250
export const MAX_MEMORY_MB = 64
/** Random requests of each route, and mutations of its most expensive ones. */
const RANDOM_REQUESTS = 16
const MUTATIONS = 36
/** How many requests of a route are mutated further. */
const PARENTS = 3
/** Each candidate is measured once; the most expensive ones of a route again, because a garbage collection costs too. */
const MEASURED_AGAIN = 3
const WARM_UP_REQUESTS = 200
const UNIT_REQUESTS = 2_000
const UNIT_WIDTH = 8
/** The server is idle when it used less than this in a tenth of a second. */
const IDLE_CPU_MS = 2
const IDLE_POLL_MS = 100
const IDLE_AT_MOST_POLLS = 50

/** Routes that are not the land interface, or whose answers stay open. */
export const isSearched = (path: string) =>
  !/^\/(?:event|addcodes|claim|captcha|tokens|\.well-known|health|v2\/ping|v2\/ready|translations|openapi\.json)|\/(?:changes|addresses\/\{address\}\/tokens)$/.test(
    path,
  )

interface Measured extends ProcessCost {
  readonly request: MadeRequest
  readonly status: number
  readonly bytes: number
  /** Units that the server charged for it. */
  readonly charged: number
}

/** Searches for the most expensive request of each route of the land interface and of `/metrics`. */
export async function searchLand({ seed, scale }: ScriptOptions, verdict: Verdict): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'landpass-cost-'))
  const env = { DATA_DIR: join(scratch, 'data') }
  try {
    // A second process: the one that imports the demo world keeps the memory of the import.
    await (await startServer(env, ['--demo', '--only', 'land'])).stop()
    const server = await startServer(env, ['--only', 'land'])
    try {
      await search(server.origin, server.child.pid!, new Random(seed), scale, verdict)
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function search(
  origin: string,
  pid: number,
  random: Random,
  scale: number,
  verdict: Verdict,
): Promise<void> {
  const document = await readJson(`${origin}/openapi.json`)
  const known = await knownValues(origin)
  const meter = new Meter(origin, pid)
  await meter.warmUp()
  const unit = await meter.unitMs()
  console.log(
    `one unit (a parcel): ${unit.toFixed(3)} ms of CPU; server ${memoryMb(pid, 'VmRSS').toFixed(0)} MB`,
  )
  console.log('   CPU ms  units charged      MB       bytes  request')
  for (const route of readRoutes(document, isSearched)) {
    const worst = await worstOf(route, new RequestMaker(random.fork(route.path), known), meter, scale)
    if (!worst) {
      verdict.expect(false, `${route.path}: no accepted request was found`)
      continue
    }
    console.log(rowOf(worst, unit))
    verdict.expect(
      worst.cpuMs <= MAX_CPU_MS,
      `${addressOf(worst.request)}: ${worst.cpuMs.toFixed(0)} ms of CPU`,
    )
    verdict.expect(
      worst.memoryMb <= MAX_MEMORY_MB,
      `${addressOf(worst.request)}: ${worst.memoryMb.toFixed(0)} MB`,
    )
  }
}

function rowOf({ request, cpuMs, charged, memoryMb, bytes }: Measured, unit: number): string {
  const columns = [
    cpuMs.toFixed(1).padStart(9),
    (cpuMs / unit).toFixed(0).padStart(6),
    charged.toFixed(0).padStart(7),
    memoryMb.toFixed(1).padStart(7),
    String(bytes).padStart(11),
  ]
  return `${columns.join(' ')}  ${request.encoding.padEnd(8)} ${addressOf(request).slice(0, 120)}`
}

/** The most expensive accepted request that random requests and mutations of them find. */
async function worstOf(
  route: ReadRoute,
  maker: RequestMaker,
  meter: Meter,
  scale: number,
): Promise<Measured | undefined> {
  const isFixed = route.parameters.length === 0
  let worst: Measured[] = []
  const tryOne = async (request: MadeRequest) => {
    const measured = await meter.measure(request)
    if (measured.status !== 200) return
    worst = [...worst, measured].sort((a, b) => b.cpuMs - a.cpuMs).slice(0, PARENTS)
  }
  const randomRequests = sized(RANDOM_REQUESTS, isFixed ? Math.min(scale, 0.5) : scale)
  for (let i = 0; i < randomRequests; i++) await tryOne(maker.make(route))
  for (let i = 0; i < sized(MUTATIONS, scale) && !isFixed && worst.length > 0; i++)
    await tryOne(maker.mutate(worst[i % worst.length]!.request))
  const again: Measured[] = []
  for (const { request } of worst) {
    const runs: Measured[] = []
    for (let i = 0; i < MEASURED_AGAIN; i++) runs.push(await meter.measure(request))
    again.push(cheapest(runs))
  }
  return again.sort((a, b) => b.cpuMs - a.cpuMs)[0]
}

/** The least CPU, because other work such as a garbage collection only adds to it, and the most memory. */
function cheapest(runs: readonly Measured[]): Measured {
  return {
    ...runs[0]!,
    cpuMs: Math.min(...runs.map((run) => run.cpuMs)),
    memoryMb: Math.max(...runs.map((run) => run.memoryMb)),
  }
}

/** Measures single requests to a server that does nothing else. */
class Meter {
  private readonly origin: string
  private readonly pid: number
  private readonly agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  private readonly busyAgent = new http.Agent({ keepAlive: true, maxSockets: UNIT_WIDTH })

  constructor(origin: string, pid: number) {
    this.origin = origin
    this.pid = pid
  }

  async warmUp(): Promise<void> {
    for (let i = 0; i < WARM_UP_REQUESTS; i++) await this.read(`/v1/parcels/${i % 100}/1`, 'identity')
    await this.untilIdle()
  }

  /** CPU of one read of a parcel, several at a time as under load. */
  async unitMs(): Promise<number> {
    const before = cpuMs(this.pid)
    const paths = Array.from({ length: UNIT_REQUESTS }, (_, i) => `/v1/parcels/${i % 100}/2`)
    await inParallel(paths, UNIT_WIDTH, (path) => this.read(path, 'identity', this.busyAgent))
    return (cpuMs(this.pid) - before) / UNIT_REQUESTS
  }

  async measure(request: MadeRequest): Promise<Measured> {
    let answer = { status: 0, bytes: 0 }
    const before = await chargedUnits(this.origin)
    const cost = await costOf(this.pid, async () => {
      answer = await this.read(addressOf(request), request.encoding)
    })
    const after = await chargedUnits(this.origin)
    return { ...cost, ...answer, request, charged: after.total - before.total - after.ofScrape }
  }

  private async untilIdle(): Promise<void> {
    for (let i = 0; i < IDLE_AT_MOST_POLLS; i++) {
      const before = cpuMs(this.pid)
      await setTimeout(IDLE_POLL_MS)
      if (cpuMs(this.pid) - before < IDLE_CPU_MS) return
    }
  }

  private read(
    path: string,
    encoding: string,
    agent = this.agent,
  ): Promise<{ status: number; bytes: number }> {
    return new Promise((resolve, reject) => {
      const options = { agent, headers: { 'accept-encoding': encoding } }
      const request = http.get(this.origin + path, options, (response) => {
        let bytes = 0
        response.on('data', (piece: Buffer) => {
          bytes += piece.length
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes }))
        response.on('error', reject)
      })
      request.on('error', reject)
    })
  }
}

/** What a server has charged since its start, and what of it is for the scrape that reads it. */
export async function chargedUnits(origin: string): Promise<{ total: number; ofScrape: number }> {
  const text = await (await fetch(`${origin}/metrics`)).text()
  return { total: Number(/^landpass_cost_units_total (\S+)$/m.exec(text)?.[1]), ofScrape: SCRAPE_UNITS }
}

/** Owners with most land first, estates with most parcels first, because they are the expensive ones. */
export async function knownValues(origin: string): Promise<KnownValues> {
  const { data: tiles } = (await readJson(`${origin}/v2/tiles`)) as {
    data: Record<string, { x: number; owner?: string; estateId?: string; name?: string }>
  }
  const all = Object.values(tiles)
  const districts = (await readJson(`${origin}/v1/districts`)) as { data: { id: string; name: string }[] }
  const feed = await fetch(`${origin}/v2/feed`, { method: 'HEAD' })
  const state = /"(.*?)[;"]/.exec(feed.headers.get('etag') ?? '')?.[1] ?? 'none'
  const addresses = mostFrequent(all.map(({ owner }) => owner))
  const bids = await firstOf(addresses, async (address) => {
    const { data } = (await readJson(`${origin}/v1/addresses/${address}/bids`)) as { data: { id: string }[] }
    return data.map(({ id }) => id)
  })
  const sold = (await readJson(`${origin}/v1/marketplace?status=sold,open`)) as {
    data: { assets: { publication: { tx_hash: string } }[] }
  }
  const xs = all.map(({ x }) => x)
  return {
    bounds: { min: xs.reduce((a, b) => Math.min(a, b)), max: xs.reduce((a, b) => Math.max(a, b)) },
    addresses,
    contracts: Object.values(MAINNET_REGISTRIES),
    bids,
    transactions: sold.data.assets.map(({ publication }) => publication.tx_hash),
    estates: mostFrequent(all.map(({ estateId }) => estateId)),
    districts: districts.data.map(({ id }) => id),
    names: [...mostFrequent(all.map(({ name }) => name)), 'a', 'e', '1'],
    states: [state, state.replace(/\d+\.(\w+)$/, '1.$1'), state.replace(/\w+$/, '0'), 'none'],
  }
}

/** The first result that is not empty. */
async function firstOf<T>(items: readonly T[], read: (item: T) => Promise<string[]>): Promise<string[]> {
  for (const item of items) {
    const found = await read(item)
    if (found.length > 0) return found
  }
  return []
}

const KNOWN_AT_MOST = 20

function mostFrequent(values: readonly (string | undefined)[]): string[] {
  const counts = new Map<string, number>()
  for (const value of values) if (value) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, KNOWN_AT_MOST)
    .map(([value]) => value)
}

async function readJson(url: string): Promise<object> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return (await response.json()) as object
}
