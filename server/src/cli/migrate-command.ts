import type { Command } from 'commander'
import { readConfig } from '../config/config.ts'
import { migrate } from '../db/migrate.ts'
import { openEngine } from '../db/open-engine.ts'
import { engineSettings } from './open-database.ts'

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('bring the tables of the database up to this version (serve and import do it by themselves)')
    .action(async () => {
      const engine = await openEngine(engineSettings(readConfig(process.env), 'tool'))
      try {
        const applied = await migrate(engine)
        console.log(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`)
      } finally {
        await engine.close()
      }
    })
}
