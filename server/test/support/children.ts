import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

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
  const child = fork(new URL(`./${program}.js`, import.meta.url), args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return child
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
