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
 *
 * A command that another process has started with an IPC channel also stops when that channel closes: when the other
 * process has ended, or needs it no more. It then prints no sentence.
 *
 * @param whenStopped what is printed when `signal` ended the work
 */
export async function runCommand(
  work: (signal: AbortSignal) => Promise<void>,
  whenStopped = 'Stopped. Nothing was changed.',
): Promise<void> {
  const abort = new AbortController()
  const stop = () => abort.abort(new CommandError(whenStopped))
  const stops = ['SIGINT', 'SIGTERM', 'disconnect'] as const
  for (const event of stops) process.once(event, stop)
  if (isParentGone()) stop()
  try {
    await work(abort.signal)
  } catch (error) {
    if (isParentGone()) process.exitCode = EXIT_FAILED
    else fail(error)
  } finally {
    for (const event of stops) process.off(event, stop)
  }
}

/** Whether this process was started with an IPC channel that is closed by now. */
function isParentGone(): boolean {
  return process.send !== undefined && !process.connected
}

/**
 * A line in which control characters are escaped: texts of tokens, events, logs and other servers could change the operator's terminal.
 *
 * @example
 * printable('a\u001b[2Jb') // 'a\\u001b[2Jb'
 */
export function printable(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\p{Surrogate}\p{Zl}\p{Zp}]/gu, (character) => {
    const hex = character.codePointAt(0)!.toString(16).padStart(4, '0')
    return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`
  })
}

/** The result: a line of JSON for a program, sentences for a person. */
export function writeResult(result: object, sentences: readonly string[]): void {
  const text = process.stdout.isTTY ? sentences.join('\n') : JSON.stringify(result)
  process.stdout.write(`${text}\n`)
}

/** Prints why a command line failed, and makes the process end with 1: for errors that no command has caught. */
export function reportFailure(error: unknown): void {
  if (error instanceof CommandError) console.error(`landpass: ${error.message}`)
  else console.error('landpass: this should not have happened:', error)
  process.exitCode = EXIT_FAILED
}

function fail(error: unknown): void {
  const sentence = error instanceof Error ? error.message : String(error)
  process.exitCode = EXIT_FAILED
  process.stderr.write(`landpass: ${sentence}\n`)
  if (process.stdout.isTTY) return
  // A server that has started this command answers the public text to everyone, and never the whole sentence.
  const publicText = error instanceof CommandError ? error.publicText : undefined
  const failure = { ok: false, error: sentence, ...(publicText !== undefined && { public: publicText }) }
  process.stdout.write(`${JSON.stringify(failure)}\n`)
}
