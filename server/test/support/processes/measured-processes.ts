import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SERVER_PROGRAM } from '../run/programs.ts'
import { COMPILE_OPTIONS } from './compile-options.ts'

const POLL_INTERVAL_MS = 20
/** Linux counts the CPU time of processes in hundredths of a second. */
const MS_PER_TICK = 10

export interface Running {
  readonly origin: string
  readonly child: ChildProcess
  stop(): Promise<void>
}

export interface CommandFigures {
  readonly seconds: number
  readonly peakMb: number
}

/**
 * Options of Node.js with which `npm start` and `npm run landpass` start a server (a test compares them). Young objects get 8 MB
 * from the start instead of 1: a server that does little, as one that follows a chain, would else collect garbage twice
 * for each block. They never get 16, the default: a server at rest would take 15 MB more, and answers cost the same. V8 gets two
 * helper threads instead of four: each keeps the memory in which it has compiled WebAssembly.
 */
export const SERVER_NODE_OPTIONS: readonly string[] = [
  '--min-semi-space-size=8',
  '--max-semi-space-size=8',
  '--v8-pool-size=2',
]

/** Runs a command of landpass to its end. @throws with its output, when it fails */
export async function runCommand(
  args: readonly string[],
  env: Record<string, string>,
  main = SERVER_PROGRAM,
): Promise<CommandFigures> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [...COMPILE_OPTIONS, main, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000)
    })
  }
  let peakMb = 0
  const polling = setInterval(() => {
    const highest = memoryMb(child.pid, 'VmHWM')
    if (highest > peakMb) peakMb = highest // NaN once the process has ended
  }, POLL_INTERVAL_MS)
  const [code] = await once(child, 'exit')
  clearInterval(polling)
  if (code !== 0) throw new Error(`landpass ${args.join(' ')} ended with ${code}: ${output}`)
  return { seconds: (performance.now() - startedMs) / 1000, peakMb }
}

/**
 * Starts a server without a limit of cost: scripts send more requests than clients do.
 *
 * @param main the program of another version
 */
export async function startServer(
  env: Record<string, string>,
  args: readonly string[] = [],
  main = SERVER_PROGRAM,
): Promise<Running & { readySeconds: number }> {
  const startedMs = performance.now()
  const child = spawn(
    process.execPath,
    [...SERVER_NODE_OPTIONS, ...COMPILE_OPTIONS, main, 'serve', ...args],
    {
      env: { ...process.env, PORT: '0', LOG_LEVEL: 'warn', READ_COST_PER_MINUTE: '0', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const origin = await readOrigin(child, /(http:\/\/[\d.]+:\d+)\/health\/ready/)
  const readySeconds = (performance.now() - startedMs) / 1000
  return { origin, child, readySeconds, stop: () => stop(child) }
}

/** Starts a simulator: `landpass simulate <what>`. */
export async function startSimulator(what: 'issuer' | 'presence'): Promise<Running> {
  const child = spawn(
    process.execPath,
    [...COMPILE_OPTIONS, SERVER_PROGRAM, 'simulate', what, '--port', '0'],
    {
      env: { ...process.env, LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const origin = await readOrigin(child, /simulator: (http:\/\/[\d.]+:\d+)/)
  return { origin, child, stop: () => stop(child) }
}

/** Waits until a program prints its address. Goes on reading its output, because a full pipe would block the program. */
function readOrigin(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000)
      const found = pattern.exec(output)
      if (found?.[1]) resolve(found[1])
    })
    child.once('exit', (code) => reject(new Error(`the program ended with ${code}: ${output}`)))
  })
}

export async function startBaseline(): Promise<Running> {
  const child = fork(fileURLToPath(new URL('./baseline.js', import.meta.url)))
  const [message] = await once(child, 'message')
  return { origin: (message as { origin: string }).origin, child, stop: () => stop(child) }
}

async function stop(child: ChildProcess): Promise<void> {
  await end(child, 'SIGTERM')
}

/** Ends a process and waits for its exit; does nothing if it has ended. */
export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

/** Memory of a process now (`VmRSS`) or its peak (`VmHWM`), in MB; NaN where the system has no such file. */
export function memoryMb(pid: number | undefined, what: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}

/** CPU time of all threads of a process since its start, in milliseconds; NaN where the system has no such file. */
export function cpuMs(pid: number | undefined): number {
  try {
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    const [user, system] = fields.split(' ').slice(11, 13).map(Number)
    return ((user ?? Number.NaN) + (system ?? Number.NaN)) * MS_PER_TICK
  } catch {
    return Number.NaN
  }
}

/** Resets `VmHWM` to the memory that the process uses now, where the system can do that. */
export function resetPeak(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch {
    // Not possible here: the peak since the start is shown
  }
}
