import type { Command } from 'commander'
import { SYSTEM_CLOCK } from '../clock.ts'
import { type Config, readConfig } from '../config/config.ts'
import { CommandError } from '../errors.ts'
import { withDatabase } from './open-database.ts'
import { EXIT_FAILED, runCommand, writeResult } from './run-command.ts'

/** The result counts what cannot be decrypted. */
const SILENT = { info: () => {}, warn: () => {} }

/** `landpass re-encrypt` */
export function addReencryptCommand(program: Command): void {
  program
    .command('re-encrypt')
    .description('encrypt all claim codes anew, with ATTENDANCE_KEY, while servers run')
    .action(() => runCommand((signal) => runReencrypt(readConfig(process.env), signal)))
}

async function runReencrypt(config: Config, signal: AbortSignal): Promise<void> {
  const { openKeys } = await import('../attendance/setup-problem.ts')
  const { reencrypt } = await import('../attendance/reencrypt.ts')
  const result = await withDatabase(config, async (engine) => {
    const { vault, problem } = await openKeys({ config, engine, clock: SYSTEM_CLOCK, log: SILENT })
    if (problem) throw new CommandError(`The codes cannot be encrypted anew ${problem.reason}.`)
    const onProgress = (done: number, total: number) => console.error(`landpass: ${done} of ${total} codes`)
    return reencrypt(engine.db, { vault, clock: SYSTEM_CLOCK, onProgress, signal })
  })
  const { codes, left, editCodesLeft, secretsLeft, isInterrupted } = result
  const isDone = left + editCodesLeft + secretsLeft === 0
  writeResult({ ok: isDone, ...result }, [
    `${codes} codes are encrypted anew.`,
    ...(left > 0 ? [isInterrupted ? stoppedText(left) : unreadableText(`${left} codes`)] : []),
    ...(editCodesLeft > 0
      ? [`${unreadableText(`${editCodesLeft} edit codes`)} Of a lost key, they are deleted after 14 days.`]
      : []),
    ...(secretsLeft > 0
      ? [`${unreadableText(`${secretsLeft} secrets of grants`)} Of a lost key, organisers make new ones.`]
      : []),
  ])
  if (!isDone) process.exitCode = EXIT_FAILED
}

function stoppedText(left: number): string {
  return `It was stopped: run it again, it goes on with the other ${left} codes.`
}

function unreadableText(left: string): string {
  return `${left} cannot be decrypted: put their key into ATTENDANCE_OTHER_KEYS and run it again.`
}
