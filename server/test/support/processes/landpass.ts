import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { SETTING_NAMES } from '../../../src/config/settings.ts'
import { emptyDir } from '../database/engines.ts'
import type { Output } from '../http/find-secrets.ts'
import { atEndOfEachFile } from '../run/end-of-file.ts'
import { programPath } from '../run/programs.ts'
import { killHard } from './children.ts'
import { V8_OPTIONS } from './v8-options.ts'

const MAIN = programPath('src/cli/main.js')
/** The pause before asking again, and the part of the time so far that it grows to: asking takes the CPU time that the answer needs. */
const POLL_EVERY_MS = 20
const POLL_PART = 1 / 20

export type Env = Readonly<Record<string, string>>

/** The commands of this test file; those that still run when it ends are killed. */
const started: (Running & { readonly args: readonly string[] })[] = []
atEndOfEachFile(async () => {
  await Promise.all(started.map(({ child }) => killHard(child)))
  started.length = 0
})

/** All output of the commands of this test file so far. */
export function outputOfCommands(): readonly Output[] {
  return started.flatMap(({ args, stdout, stderr }) => [
    { where: `the output of ${args.join(' ')}`, text: stdout() },
    { where: `the errors of ${args.join(' ')}`, text: stderr() },
  ])
}

/** The output of a command, and how it ended. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** The lines of stdout that are JSON. */
  readonly json: readonly Record<string, unknown>[]
}

/** A command of landpass in a process of its own, which ends with the test file at the latest. */
export interface Running {
  readonly child: ChildProcess
  /** Its output so far. */
  stdout(): string
  stderr(): string
  readonly ended: Promise<Ended>
  /** Resolves when stdout has the text. @throws when the process ends before that */
  said(text: string): Promise<void>
}

/** Starts `landpass <args>` with these settings and no others, in an empty folder where no `.env` lies. */
export function startLandpass(args: readonly string[], env: Env = {}): Running {
  return startProgram(MAIN, args, env)
}

/** Starts another program in the same way. @param path of the program */
export function startProgram(path: string, args: readonly string[], env: Env = {}): Running {
  const child = spawn(process.execPath, [...V8_OPTIONS, path, ...args], {
    cwd: emptyDir(),
    env: { ...environmentWithoutSettings(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  const ended = once(child, 'close').then(([code]) => ({
    code: code as number | null,
    ...output,
    json: jsonLines(output.stdout),
  }))
  const said = async (text: string) => {
    const over = ended.then(({ stderr }) => {
      if (!output.stdout.includes(text))
        throw new Error(`landpass ${args[0]} never said "${text}": ${stderr}`)
    })
    while (!output.stdout.includes(text)) await Promise.race([once(child.stdout, 'data'), over])
  }
  const running = { child, stdout: () => output.stdout, stderr: () => output.stderr, ended, said }
  started.push({ ...running, args })
  return running
}

/** Runs `landpass <args>` to its end. */
export function landpass(args: readonly string[], env: Env = {}): Promise<Ended> {
  return startLandpass(args, env).ended
}

/** A running `landpass serve` that accepts connections. */
export interface Serving extends Running {
  readonly origin: string
  /** Ctrl-C, or what a service manager sends. */
  stop(signal?: 'SIGINT' | 'SIGTERM'): Promise<Ended>
}

/** Starts a server and waits until it listens and has loaded its world, if there is one. */
export async function serve(env: Env, args: readonly string[] = []): Promise<Serving> {
  const running = startLandpass(['serve', ...args], { PORT: '0', ...env })
  await running.said('Ctrl-C stops it.')
  const origin = /(http:\/\/[\d.]+:\d+)\/health\/ready/.exec(running.stdout())?.[1]
  if (!origin) throw new Error(`the server did not say where it listens: ${running.stdout()}`)
  const stop = (signal: 'SIGINT' | 'SIGTERM' = 'SIGINT') => {
    running.child.kill(signal)
    return running.ended
  }
  return { ...running, origin, stop }
}

/** The lines that a server logged, or any other lines of JSON. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text.split('\n').flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line)
      return typeof value === 'object' && value !== null ? [value as Record<string, unknown>] : []
    } catch {
      return []
    }
  })
}

/** Waits last at least this long: a test must not fail because the machine is busy. */
const MIN_LIMIT_MS = 60_000

/** Polls until the answer is the expected one. @throws when it is not within the limit */
export async function eventually<T>(
  ask: () => Promise<T> | T,
  isExpected: (answer: T) => boolean,
  limitMs: number,
): Promise<T> {
  const waitMs = Math.max(limitMs, MIN_LIMIT_MS)
  const startedMs = performance.now()
  for (;;) {
    const answer = await ask()
    if (isExpected(answer)) return answer
    const elapsedMs = performance.now() - startedMs
    if (elapsedMs > waitMs) {
      throw new Error(`not within ${waitMs} ms; the last answer was ${JSON.stringify(answer)?.slice(0, 500)}`)
    }
    const pauseMs = Math.max(POLL_EVERY_MS, elapsedMs * POLL_PART)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** Status of an address now; 0 where no server answers. */
export async function statusOf(address: string): Promise<number> {
  const response = await fetch(address).catch(() => undefined)
  await response?.arrayBuffer().catch(() => undefined)
  return response?.status ?? 0
}

/** Takes a port for as long as the test runs. */
export async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** The environment of this process without our settings. */
export function environmentWithoutSettings(): NodeJS.ProcessEnv {
  const names = new Set<string>(SETTING_NAMES)
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.has(name)))
}
