import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import { runCommand, writeResult } from './run-command.ts'

/** `landpass make-keys` */
export function addMakeKeysCommand(program: Command): void {
  program
    .command('make-keys')
    .description('make the two key files that attendance tokens need on PostgreSQL, in DATA_DIR')
    .action(() => runCommand(makeKeys))
}

/** Makes the files that are not there yet. Neither the output nor an error has a key. */
async function makeKeys(): Promise<void> {
  const { dataDir } = readConfig(process.env)
  const [{ findOrMakeKey, keyPath }, { defaultKeyPath }, { makeTokenKeyFile, readTokenKeys }] =
    await Promise.all([
      import('../attendance/secrets/key-file.ts'),
      import('../attendance/issuers/own/keys/token-keys.ts'),
      import('../attendance/issuers/own/keys/token-key-file.ts'),
    ])
  const [attendanceKey, tokenKey] = [keyPath(dataDir), defaultKeyPath(dataDir)]
  const made = [attendanceKey, tokenKey].filter((path) => !existsSync(path))
  await findOrMakeKey(dataDir)
  await makeTokenKeyFile(tokenKey)
  await readTokenKeys(tokenKey) // says what is wrong with a file that was there
  writeResult({ ok: true, attendanceKey, tokenKey, made }, [
    ...[attendanceKey, tokenKey].map((path) =>
      made.includes(path) ? `Made ${path}.` : `${path} is there already, and stays as it is.`,
    ),
    'A server with this DATA_DIR uses both at its next start. Copy both files to every other server of the database.',
    'ATTENDANCE_KEY (the text of the first file) and TOKEN_KEY_FILE (the path of the second one) name other places.',
    'Keep copies of both apart from the database: docs/attendance/operators.md.',
  ])
}
