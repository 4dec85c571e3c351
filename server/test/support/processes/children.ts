import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { programPath } from '../run/programs.ts'
import { V8_OPTIONS } from './v8-options.ts'

/** Runs a program of this folder in a process of its own, which ends with the test at the latest. */
export function startChild(program: string, ...args: string[]): ChildProcess {
  return startChildWith({}, program, ...args)
}

/** Like {@link startChild}, with these variables in its environment besides our own. */
export function startChildWith(
  env: Readonly<Record<string, string>>,
  program: string,
  ...args: string[]
): ChildProcess {
  const child = forkProgram(program, args, env)
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return child
}

/** Runs a program of this folder in a process of its own, which has to end by itself: at the latest on `disconnect`. */
export function forkProgram(
  program: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  return fork(programPath(`test/support/processes/${program}.js`), args, {
    env: { ...process.env, ...env },
    execArgv: [...V8_OPTIONS],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}

/** The next message of the child. @throws when it ends without one. */
export async function nextMessage(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController()
  const onExit = () => ended.abort(new Error(`the child ended without a word, code ${child.exitCode}`))
  child.once('exit', onExit)
  try {
    const [message] = await once(child, 'message', { signal: ended.signal })
    return message
  } finally {
    child.off('exit', onExit)
  }
}

export async function killHard(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** The processes that a process has started and that run. */
export function childrenOf(pid: number): readonly number[] {
  return runningProcesses().flatMap((one) => (one.parent === pid ? [one.pid] : []))
}

export function isAlive(pid: number): boolean {
  return runningProcesses().some((one) => one.pid === pid)
}

/** Without zombies: processes that ended and were not waited for yet. */
function runningProcesses(): { pid: number; parent: number }[] {
  const lines =
    process.platform === 'linux'
      ? linesOfProc()
      : execFileSync('ps', ['-A', '-o', 'pid=,stat=,ppid=']).toString()
  return [...lines.matchAll(/^ *(\d+) +(\S+) +(\d+)/gm)].flatMap(([, pid, state, parent]) =>
    state?.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent) }],
  )
}

/** Small machines have no `ps`. */
function linesOfProc(): string {
  const lines = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      // The name of the program, in brackets, may hold anything
      return [`${name} ${readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) /s, '')}`]
    } catch {
      return [] // it has ended meanwhile
    }
  })
  return lines.join('\n')
}
