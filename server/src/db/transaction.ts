import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transaction } from 'kysely'
import type { Db } from './engine.ts'
import { withRetries } from './retries.ts'
import type { Database } from './schema.ts'

export type Tx = Transaction<Database>

/** The drivers that have a transaction open in this asynchronous context: see {@link inTransaction}. */
const openDrivers = new AsyncLocalStorage<ReadonlySet<object>>()
let running = 0

/**
 * Runs `work` in an asynchronous context of its own. While one exists, Node tracks every promise of the process, which
 * makes each request a few percent slower: tracking is switched off when the last context ends.
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
 * After a deadlock or a serialization failure `work` runs again, in a new transaction: it must have no effect outside
 * of `tx`.
 *
 * @example
 * await inTransaction(db, (tx) => tx.deleteFrom('bid').where('id', '=', id).execute())
 */
export function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withRetries(() => inOwnFlow(() => db.transaction().execute(work)))
}

/** Runs `work` in a read-only transaction: all that it reads through `tx` is from the same point in time. */
export function inSnapshot<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  const transaction = () =>
    db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work)
  return withRetries(() => inOwnFlow(transaction))
}

/** For drivers: notes that the transaction of this asynchronous context begins or ends on `driver`. */
export function markTransaction(driver: object, isOpen: boolean): void {
  const open = openDrivers.getStore() as Set<object> | undefined
  if (isOpen) open?.add(driver)
  else open?.delete(driver)
}

/** For drivers: whether this asynchronous context already has a transaction of `driver`. */
export function isInTransactionOf(driver: object): boolean {
  return openDrivers.getStore()?.has(driver) ?? false
}
