import { openDatabaseDir } from '../../../src/db/embedded/database-dir.ts'

/** Creates a database, to be killed while it does. */
const [databaseDir = ''] = process.argv.slice(2)
await openDatabaseDir(databaseDir, true)
process.send?.('created')
