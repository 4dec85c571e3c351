import { sql } from 'kysely'
import { openEngine } from '../../../src/db/open-engine.ts'
import { inTransaction } from '../../../src/db/transaction.ts'
import { TEST_SETTINGS } from '../database/settings.ts'

/**
 * Joins the engine of a folder, says so, and obeys: 'write' writes a row into `note` and tells; 'begin' leaves a
 * transaction open with a row written.
 */
const [dataDir = ''] = process.argv.slice(2)
const engine = await openEngine({ ...TEST_SETTINGS, dataDir, mode: 'join' })
process.on('message', async (order) => {
  if (order === 'write') {
    await sql`insert into note (text) values ('from another process')`.execute(engine.db)
    await sql`select pg_notify('note', 'written')`.execute(engine.db)
    process.send?.('written')
  }
  if (order === 'begin') {
    await inTransaction(engine.db, async (tx) => {
      await sql`insert into note (text) values ('never committed')`.execute(tx)
      process.send?.('begun')
      await new Promise(() => {})
    })
  }
  if (order === 'close') {
    await engine.close()
    process.disconnect()
  }
})
process.send?.('joined')
