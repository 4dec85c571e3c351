import { parentPort, workerData } from 'node:worker_threads'
import { sql } from 'kysely'
import type { EngineSource } from '../../src/db/engine.ts'
import { openLent } from '../../src/db/open-engine.ts'

/** A thread that reads from the engine of its parent, and then sends what it read and the notification that it got. */
const engine = await openLent(workerData as EngineSource)
// An engine that rests does not keep a thread alive; this one waits for a word from outside.
const awake = setInterval(() => undefined, 60_000)
const heard = new Promise<string>((resolve) => {
  void engine.listen('news', resolve).then(() => parentPort?.postMessage({ op: 'listening' }))
})
const row = await engine.db.selectFrom('land_state').select('lineage').executeTakeFirstOrThrow()
await sql`select 1`.execute(engine.db)
parentPort?.postMessage({ op: 'result', lineage: row.lineage, payload: await heard })
await engine.close()
clearInterval(awake)
