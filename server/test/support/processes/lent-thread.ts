import { parentPort, workerData } from 'node:worker_threads'
import { sql } from 'kysely'
import type { EngineSource } from '../../../src/db/engine.ts'
import { openLent } from '../../../src/db/open-engine.ts'

/** Worker thread that reads from the engine of its parent, then posts the row and the notification that it got. */
const engine = await openLent(workerData as EngineSource)
// An idle engine does not keep a thread alive, but this thread has to wait for the notification.
const awake = setInterval(() => undefined, 60_000)
const payload = new Promise<string>((resolve) => {
  void engine.listen('news', resolve).then(() => parentPort?.postMessage({ op: 'listening' }))
})
const row = await engine.db.selectFrom('land_state').select('lineage').executeTakeFirstOrThrow()
await sql`select 1`.execute(engine.db)
parentPort?.postMessage({ op: 'result', lineage: row.lineage, payload: await payload })
await engine.close()
clearInterval(awake)
