import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '@landpass/server/test/support/database/postgres'
import { type Running, startServer } from '@landpass/server/test/support/processes/measured-processes'
import type { BusyClients, BusyReport } from './busy-clients.ts'
import { cpuMs } from './process-cost.ts'
import type { ScriptOptions } from './script.ts'

const BUSY_CLIENTS = fileURLToPath(new URL('./busy-clients.js', import.meta.url))
const CAPACITY_CONNECTIONS = 64
const READY_POLL_MS = 200
const PROBE_EVERY_MS = 33

/** What a server answers when every connection sends its next request at once. */
export interface Capacity {
  readonly perSecond: number
  /** Answers for each millisecond of the server's CPU time: rates depend on the load generator too. */
  readonly perCpuMs: number
}

/**
 * Runs `work` with a process that serves the demo world, when it is ready.
 *
 * @param env its settings, and those of Node.js
 */
export async function withLandServer(
  { engine }: ScriptOptions,
  work: (server: Running) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'landpass-load-'))
  const postgres = engine === 'postgres' ? await startPostgres() : undefined
  let server: Running | undefined
  try {
    const database = postgres ? { DATABASE_URL: postgres.url } : {}
    server = await startServer({ DATA_DIR: scratch, ...database, ...env }, ['--demo', '--only', 'land'])
    while ((await getOnce(server.origin, '/health/ready')) !== '200') await setTimeout(READY_POLL_MS)
    await work(server)
  } finally {
    await server?.stop()
    await postgres?.stop()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** What a server answers of some paths from one address, over so many seconds. */
export async function measureCapacity(
  server: Running,
  paths: readonly string[],
  seconds: number,
): Promise<Capacity> {
  const load = { paths, addresses: ['127.0.0.2'], connections: CAPACITY_CONNECTIONS, perSecond: 0, seconds }
  const { report, perCpuMs } = await measureLoad(server, load)
  return { perSecond: answeredIn(report) / seconds, perCpuMs }
}

/** What clients are answered, as a whole and for each millisecond of the server's CPU time. */
export async function measureLoad(
  server: Running,
  load: Omit<BusyClients, 'origin'>,
): Promise<{ report: BusyReport; perCpuMs: number }> {
  const { pid } = server.child
  const cpuBeforeMs = cpuMs(pid!)
  const report = await runClients(server, load)
  return { report, perCpuMs: answeredIn(report) / (cpuMs(pid!) - cpuBeforeMs) }
}

function answeredIn({ answers }: BusyReport): number {
  return answers['200'] ?? 0
}

/** Runs the busy clients in a process of their own, to their end. */
export async function runClients(
  { origin }: Running,
  load: Omit<BusyClients, 'origin'>,
): Promise<BusyReport> {
  const options: BusyClients = { ...load, origin }
  const child = spawn(process.execPath, [BUSY_CLIENTS, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`the busy clients ended with ${code}`)
  return JSON.parse(output) as BusyReport
}

/** The status of a request with a connection of its own, or why there is none. */
export function getOnce(origin: string, path: string): Promise<string> {
  return new Promise((resolve) => {
    const request = http.get(`${origin}${path}`, { agent: false, timeout: 30_000 }, (response) => {
      response.resume().once('end', () => resolve(String(response.statusCode)))
    })
    request.once('timeout', () => request.destroy())
    request.once('error', ({ message }) => resolve(message))
  })
}

/** Opens a connection for each request, to the paths in turn, at a constant rate until `working` ends. Times in ascending order. */
export async function probe(
  { origin }: Running,
  paths: readonly string[],
  working: Promise<unknown>,
): Promise<{ readonly tookMs: readonly number[]; readonly outcomes: readonly string[] }> {
  const tookMs: number[] = []
  const outcomes: string[] = []
  let isDone = false
  void working.finally(() => {
    isDone = true
  })
  const requests: Promise<void>[] = []
  for (let i = 0; !isDone; i++) {
    const startedMs = performance.now()
    const request = getOnce(origin, paths[i % paths.length]!).then((outcome) => {
      tookMs.push(performance.now() - startedMs)
      outcomes.push(outcome)
    })
    requests.push(request)
    await setTimeout(PROBE_EVERY_MS)
  }
  await Promise.all(requests)
  return { tookMs: tookMs.sort((a, b) => a - b), outcomes }
}
