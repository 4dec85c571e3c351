import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { FOLLOW_ENV, FOLLOW_NODE_OPTIONS } from '@landpass/server/cli/follow-child'
import { end, memoryMb } from '@landpass/server/test/support/processes/measured-processes'
import { NETWORK } from './made-logs.ts'

const MAIN = fileURLToPath(new URL('../../../server/dist/src/cli/main.js', import.meta.url))
const POLL_INTERVAL_MS = 20

/** The made-up node, and its controls. */
export interface MadeNode {
  readonly url: string
  control(change: object): Promise<{ readonly number: number; readonly hash: string }>
  stop(): Promise<void>
}

/** Starts a node with so many logs. @param keep whether it keeps them in memory, so that it is never the slowest part */
export async function startMadeNode(logs: number, { keep }: { readonly keep: boolean }): Promise<MadeNode> {
  const program = fileURLToPath(new URL('./made-node.js', import.meta.url))
  const child = fork(program, ['--logs', String(logs), ...(keep ? ['--keep'] : [])])
  const [{ origin }] = (await once(child, 'message')) as [{ readonly origin: string }]
  return {
    url: origin,
    control: async (change) => {
      const answer = await fetch(`${origin}/control`, { method: 'POST', body: JSON.stringify(change) })
      return (await answer.json()) as { number: number; hash: string }
    },
    stop: () => end(child, 'SIGTERM'),
  }
}

export interface Baseline {
  readonly logs: number
  readonly seconds: number
  readonly cpuSeconds: number
}

/** Requests and parses all logs up to a block, in a process of its own. */
export async function runBaseline(url: string, last: number): Promise<Baseline> {
  const child = fork(fileURLToPath(new URL('./chain-baseline.js', import.meta.url)), [
    ...['--url', url, '--last', String(last)],
  ])
  const [figures] = (await once(child, 'message')) as [Baseline]
  await once(child, 'exit')
  return figures
}

/** Writes the network file. @returns its path */
export function writeNetwork(folder: string): string {
  const path = join(folder, 'network.json')
  writeFileSync(path, JSON.stringify(NETWORK))
  return path
}

/** A line of progress, and when it came. */
interface Line {
  readonly phase?: string
  readonly events?: number
  readonly logs?: number
  readonly error?: string
}

export interface FollowFigures {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakMb: number
  /** Seconds in which each phase gave its lines. */
  readonly phases: Readonly<Record<string, number>>
  readonly events: number
}

/**
 * Runs `landpass follow` to its end, with the memory that a server gives it.
 *
 * @param asOfServer also with the low priority that a server gives it
 * @throws with its error, when it fails
 */
export async function runFollow(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { asOfServer = false }: { readonly asOfServer?: boolean } = {},
): Promise<FollowFigures> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [...FOLLOW_NODE_OPTIONS, MAIN, 'follow', ...args], {
    env: { ...FOLLOW_ENV, ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (asOfServer) setPriority(child.pid!, constants.priority.PRIORITY_LOW)
  const phases: Record<string, number> = {}
  let events = 0
  let error = ''
  let lastMs = startedMs
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as Line
    const nowMs = performance.now()
    const phase = line.phase ?? 'end'
    phases[phase] = (phases[phase] ?? 0) + (nowMs - lastMs) / 1_000
    lastMs = nowMs
    events = line.events ?? events
    error = line.error ?? error
  })
  const use = watch(child)
  const [code] = await once(child, 'close')
  const { peakMb, cpuSeconds } = use.stop()
  if (code !== 0) throw new Error(`landpass follow ${args.join(' ')} ended with ${code}: ${error}`)
  return { seconds: (performance.now() - startedMs) / 1_000, cpuSeconds, peakMb, phases, events }
}

/** Polls peak memory and CPU time of a process until it ends. */
function watch(child: ChildProcess) {
  let peakMb = 0
  let cpuSeconds = 0
  const polling = setInterval(() => {
    const highest = memoryMb(child.pid, 'VmHWM')
    if (highest > peakMb) peakMb = highest // NaN once the process has ended
    cpuSeconds = cpuSecondsOf(child.pid) ?? cpuSeconds
  }, POLL_INTERVAL_MS)
  return {
    stop: () => {
      clearInterval(polling)
      return { peakMb, cpuSeconds }
    },
  }
}

/** CPU time of all threads of a process; undefined where the system does not say it. */
function cpuSecondsOf(pid: number | undefined): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program, in parentheses, may have blanks
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  } catch {
    return undefined
  }
}

const TICKS_PER_SECOND = 100

/**
 * CPU time of the main thread of a process, whose number is that of the process, in milliseconds; NaN where the system does not
 * say it. The scheduler counts it in nanoseconds: `stat` rounds to ticks of 10 ms, as much as a block may cost.
 */
export function mainThreadMs(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return Number.NaN
  }
}
