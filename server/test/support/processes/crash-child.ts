import { sql } from 'kysely'
import { openEngine } from '../../../src/db/open-engine.ts'
import { TEST_SETTINGS } from '../database/settings.ts'

/** Writes numbers into `counted` for as long as it lives, and sends each number once it is committed. */
const [dataDir = '', first = '0'] = process.argv.slice(2)
const engine = await openEngine({ ...TEST_SETTINGS, dataDir, syncToDisk: true })
await sql`create table if not exists counted (n integer primary key, padding text)`.execute(engine.db)
for (let n = Number(first); ; n++) {
  await sql`insert into counted values (${n}, repeat('x', 500))`.execute(engine.db)
  process.send?.(n)
}
