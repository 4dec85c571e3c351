import { vi } from 'vitest'
import { createProgram } from '../../../src/cli/program.ts'
import { reportFailure } from '../../../src/cli/run-command.ts'
import { emptyDir } from '../database/engines.ts'
import { type Ended, type Env, environmentWithoutSettings, jsonLines } from './landpass.ts'

let lastCommand: Promise<unknown> = Promise.resolve()

/**
 * Runs `landpass <args>` to its end in this process, with these settings and no others, one command after the other. For
 * tests whose subject is what a command does: starting a process costs more than most commands. A command that opens a
 * database needs `DATA_DIR` or `DATABASE_URL`; without `DATA_DIR` it has an empty folder, because the usual one may be that of a
 * server that was tried here. Wrong use of the command line ends a process: see `landpass`.
 *
 * @example
 * const { code, stdout } = await landpassHere(['migrate'], { DATABASE_URL: await freshDatabaseUrl() })
 */
export function landpassHere(args: readonly string[], env: Env = {}): Promise<Ended> {
  const ended = lastCommand.then(() =>
    run(args, { ...environmentWithoutSettings(), DATA_DIR: emptyDir(), ...env }),
  )
  lastCommand = ended.catch(() => {})
  return ended
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  const { env: envBefore, exitCode: exitCodeBefore } = process
  const output = { stdout: '', stderr: '' }
  const take = (name: keyof typeof output) => (text: unknown) => {
    output[name] += String(text)
    return true
  }
  const takeLine = (name: keyof typeof output) => (text: unknown) => void take(name)(`${text}\n`)
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(take('stdout')),
    vi.spyOn(process.stderr, 'write').mockImplementation(take('stderr')),
    vi.spyOn(console, 'log').mockImplementation(takeLine('stdout')),
    vi.spyOn(console, 'error').mockImplementation(takeLine('stderr')),
  ]
  process.env = env
  process.exitCode = undefined
  try {
    await createProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    reportFailure(error)
  } finally {
    for (const spy of spies) spy.mockRestore()
    process.env = envBefore
  }
  const code = Number(process.exitCode ?? 0)
  process.exitCode = exitCodeBefore
  return { code, ...output, json: jsonLines(output.stdout) }
}
