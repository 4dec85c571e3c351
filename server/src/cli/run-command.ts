import type { Command } from 'commander'
import { CommandError } from '../errors.ts'

/** 0 done, 1 failed, 2 wrong use: what the commands promise to scripts. */
export const EXIT_FAILED = 1
export const EXIT_WRONG_USE = 2

/** Commander exits with 1 for wrong arguments too. */
export function exitWith2OnWrongUse(command: Command): Command {
  return command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_WRONG_USE))
}

/**
 * Runs a command that can be stopped with ctrl-C: the first one aborts `signal`, so that the work can leave no
 * trace; a second one kills. A failure becomes its sentence on stderr, a JSON line where stdout is piped, exit code 1.
 */
export async function runCommand(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const abort = new AbortController()
  const stop = () => abort.abort(new CommandError('Stopped. Nothing was changed.'))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    await work(abort.signal)
  } catch (error) {
    fail(error)
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}

/** The result: a line of JSON for a program, sentences for a person. */
export function writeResult(result: object, sentences: readonly string[]): void {
  const text = process.stdout.isTTY ? sentences.join('\n') : JSON.stringify(result)
  process.stdout.write(`${text}\n`)
}

function fail(error: unknown): void {
  const sentence = error instanceof Error ? error.message : String(error)
  process.exitCode = EXIT_FAILED
  process.stderr.write(`landpass: ${sentence}\n`)
  if (!process.stdout.isTTY) process.stdout.write(`${JSON.stringify({ ok: false, error: sentence })}\n`)
}
