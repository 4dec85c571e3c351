import type { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import { distribute, type MovedRows, storedTables, tableParts } from '../db/distribution.ts'
import type { Db } from '../db/engine.ts'
import { withDatabase } from './open-database.ts'
import { ProgressShow } from './progress.ts'
import { EXIT_FAILED, runCommand, writeResult } from './run-command.ts'

/** `landpass distribute` */
export function addDistributeCommand(program: Command): void {
  program
    .command('distribute')
    .description(
      'spread the tables of attendance over the nodes of a database with the extension Citus, by event',
    )
    .option('--check', 'only say which table is stored where')
    .action(({ check = false }: { check?: boolean }) =>
      runCommand(() =>
        withDatabase(readConfig(process.env), ({ db }) => (check ? runCheck(db) : runDistribute(db))),
      ),
    )
}

async function runDistribute(db: Db): Promise<void> {
  const show = new ProgressShow()
  const onMoved = ({ table, rows, total }: MovedRows) => show.update({ phase: table, done: rows, total })
  const moved = await distribute(db, onMoved).finally(() => show.stop())
  writeResult({ ok: true, moved }, [
    moved.length === 0
      ? 'All tables are distributed already.'
      : `${moved.length} tables are distributed. "landpass distribute --check" says where they are.`,
  ])
}

/** Ends with 1 where a table is not stored as it should be. */
async function runCheck(db: Db): Promise<void> {
  const tables = await storedTables(db)
  const isDone = tables.every(({ storage, wanted }) => storage === wanted)
  const parts = tables.some(({ storage }) => storage !== 'on the coordinator') ? await tableParts(db) : []
  writeResult({ ok: isDone, tables, parts }, [
    ...tables.map(({ table, storage }) => {
      const places = parts
        .filter((part) => part.table === table)
        .map(({ node, shards, bytes }) => `${node}: ${shards} shards, ${Math.ceil(bytes / 1024)} kB`)
      return [`${table} is stored ${storage}`, ...places].join('; ')
    }),
    isDone ? 'All tables are distributed.' : 'Tables are not distributed yet: run "landpass distribute".',
  ])
  if (!isDone) process.exitCode = EXIT_FAILED
}
