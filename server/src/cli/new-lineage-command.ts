import type { Command } from 'commander'
import { SYSTEM_CLOCK } from '../clock.ts'
import { readConfig } from '../config/config.ts'
import { folderIdentity } from '../db/folder-identity.ts'
import { renewLineage } from '../land/changes/lineage.ts'
import { withDatabase } from './open-database.ts'
import { runCommand, writeResult } from './run-command.ts'

/** `landpass new-lineage` */
export function addNewLineageCommand(program: Command): void {
  program
    .command('new-lineage')
    .description('after a database was copied or restored: make clients read everything once again')
    .addHelpText(
      'after',
      '\nA restored database must not confirm ETags that its original gave out. The server detects most copies when it\n' +
        'starts; this command is for all others. It works with and without a running server.\n' +
        'Exit code: 0 done, 1 failed, 2 wrong use.',
    )
    .action(() => runCommand(runNewLineage))
}

async function runNewLineage(): Promise<void> {
  const config = readConfig(process.env)
  const { from, to } = await withDatabase(config, ({ db, kind }) =>
    renewLineage(db, {
      folder: kind === 'embedded' ? folderIdentity(config.dataDir) : undefined,
      nowMs: SYSTEM_CLOCK.nowMs(),
    }),
  )
  writeResult({ ok: true, from, to }, [
    `The database has the new lineage ${to}. Clients read everything once again.`,
  ])
}
