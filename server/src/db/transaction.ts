import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transaction } from 'kysely'
import type { Db } from './engine.ts'
import type { Database } from './schema.ts'

export type Tx = Transaction<Database>

/** The drivers that have a transaction open in this flow of control: see {@link inTransaction}. */
const openDrivers = new AsyncLocalStorage<ReadonlySet<object>>()
let running = 0

/**
 * Runs `work` in a flow of control of its own. While there is one, Node follows every promise of the process, which
 * costs each request some hundredths: so with the last of them it stops.
 */
async function inOwnFlow<T>(work: () => Promise<T>): Promise<T> {
  running += 1
  try {
    // The driver of `db` adds itself when the transaction begins: another database may still be used inside
    return await openDrivers.run(new Set(openDrivers.getStore()), work)
  } finally {
    running -= 1
    if (running === 0) openDrivers.disable()
  }
}

/**
 * Runs `work` in one transaction: all of it is committed, or nothing. Everything inside must go through `tx`. Using
 * `db` in there would wait for a connection that this very transaction holds — for ever on the embedded engine,
 * which has one — so the driver refuses it with a clear error instead (see guarded-driver.ts).
 *
 * @example
 * await inTransaction(db, (tx) => tx.deleteFrom('bid').where('id', '=', id).execute())
 */
export function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return inOwnFlow(() => db.transaction().execute(work))
}

/** Runs `work` on what is committed now: all that it reads through `tx` is of one moment. It can change nothing. */
export function inSnapshot<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return inOwnFlow(() =>
    db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work),
  )
}

/** For drivers: the transaction of this flow of control begins or ends on `driver`. */
export function markTransaction(driver: object, isOpen: boolean): void {
  const open = openDrivers.getStore() as Set<object> | undefined
  if (isOpen) open?.add(driver)
  else open?.delete(driver)
}

/** For drivers: does this flow of control already hold a transaction of `driver`? */
export function isInTransactionOf(driver: object): boolean {
  return openDrivers.getStore()?.has(driver) ?? false
}
