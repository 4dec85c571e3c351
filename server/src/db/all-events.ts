import { type RawBuilder, sql } from 'kysely'
import { MINUTE_MS, SECOND_MS } from '../clock.ts'
import { type TABLES_BY_EVENT, workerStates } from './distribution.ts'
import type { Db } from './engine.ts'
import { databaseUnavailable, isDatabaseRefusal } from './statement-error.ts'

/** For so long a worker that was down is taken to be down: a statement for all would wait for a silent one until it is cut off. */
const ASK_AGAIN_MS = 10 * SECOND_MS
/** Rows whose time is over are deleted so much later, because a process with a slow clock may still use them. */
export const CLOCK_DIFFERENCE_MS = MINUTE_MS
/** How many rows one statement deletes: it takes some 20 ms, and others can run between two. */
export const DELETE_BATCH_ROWS = 1_000

export interface DeleteOptions {
  readonly nowMs: number
  /** How many rows one statement may delete: the embedded engine has one connection, which other work needs. */
  readonly batchRows: number
}

interface Lost {
  readonly untilMs: number
  /** Workers that are down, by host and port. */
  readonly nodes: readonly string[]
}

const lostOf = new WeakMap<Db, Lost>()

/** Reads rows of a table by event. The builder is the table itself, or its rows on one node. */
export type ReadRows<Row> = (table: RawBuilder<unknown>) => RawBuilder<Row>

/**
 * Reads rows of all events: in one statement or, while workers of a database of several servers are down, in one for each of
 * the others. Then each node answers on its own, so an order or a limit is that of a node, and rows of the nodes alternate.
 *
 * For work in the background. A request that needs it must go on without it after a time: it waits where a worker falls silent.
 *
 * @param read its columns and its parameters are texts or numbers, and it has no per cent sign: a node gets it as a formatted text
 * @throws {AppError} `database_unavailable` where the database itself is away, or a node that was not down gives an error
 * @example
 * await readAllEvents(db, 'code_load', (table) =>
 *   sql<{ event_id: number }>`select event_id from ${table} where until_ms <= ${nowMs} limit 5`)
 */
export async function readAllEvents<Row>(
  db: Db,
  table: (typeof TABLES_BY_EVENT)[number],
  read: ReadRows<Row>,
): Promise<readonly Row[]> {
  const all = await unlessWorkerLost(db, () => read(sql.table(table)).execute(db))
  return all ? all.rows : readNodes(db, table, read)
}

/**
 * Runs a statement for all events, unless workers of a database of several servers are down and others are not.
 *
 * @returns undefined where they are: the statement failed, or was not begun
 */
export async function unlessWorkerLost<Result>(
  db: Db,
  run: () => Promise<Result>,
): Promise<Result | undefined> {
  const lost = lostOf.get(db)
  if (lost) {
    if (performance.now() < lost.untilMs) return undefined
    noteLost(db, lost.nodes) // calls during the question do not ask it too
    if (await isWorkerLost(db).catch(() => true)) return undefined // a silent worker can make the question fail
    lostOf.delete(db)
  }
  try {
    return await run()
  } catch (error) {
    if (!isDatabaseRefusal(error) || !(await isWorkerLost(db).catch(() => false))) throw error
    return undefined
  }
}

/** Whether the last read of all events left out workers that are down. */
export function isPartial(db: Db): boolean {
  return lostOf.has(db)
}

function noteLost(db: Db, nodes: Lost['nodes']): void {
  lostOf.set(db, { untilMs: performance.now() + ASK_AGAIN_MS, nodes })
}

/** Asks the workers, and notes those that are down where others are not. */
async function isWorkerLost(db: Db): Promise<boolean> {
  const states = [...(await workerStates(db))]
  const down = states.filter(([, answers]) => !answers).map(([node]) => node)
  if (down.length === 0 || down.length === states.length) return false
  noteLost(db, down)
  return true
}

async function readNodes<Row>(db: Db, table: string, read: ReadRows<Row>): Promise<readonly Row[]> {
  // A command for a node is a text, without parameters: the coordinator writes them into it, quoted
  const { sql: statement, parameters } = read(sql`%1$s`).compile(db)
  const down = lostOf.get(db)?.nodes ?? []
  const command = statement.replace(/\$(\d+)/g, (_, place) => `%${Number(place) + 1}$L`)
  const { rows: nodes } = await sql<{ success: boolean; result: string }>`
    with node as (
      select nodename, nodeport, string_agg('select * from ' || shard_name(logicalrelid, shardid), ' union all ') as shards
      from pg_dist_shard join pg_dist_placement using (shardid) join pg_dist_node using (groupid)
      where logicalrelid = ${table}::regclass and noderole = 'primary' and isactive
        and nodename || ':' || nodeport <> all(${down}::text[])
      group by nodename, nodeport
    )
    select asked.success, asked.result
    from node cross join lateral master_run_on_worker(
      array[nodename::text], array[nodeport],
      array['select coalesce(json_agg(found), ''[]'') from (' || format(
        ${command}::text, variadic array['(' || shards || ') as rows_of_node']::text[] || ${parameters.map(String)}::text[]
      ) || ') as found'], false
    ) as asked`.execute(db)
  // A table that is not distributed is on the coordinator
  if (nodes.length === 0) return (await read(sql.table(table)).execute(db)).rows
  const failed = nodes.find(({ success }) => !success)
  if (failed) {
    lostOf.set(db, { untilMs: 0, nodes: down }) // the next call asks the workers: this one may be down now
    throw databaseUnavailable(failed.result)
  }
  return alternate(nodes.map(({ result }): Row[] => JSON.parse(result)))
}

/** The first of each list, then the second of each, and so on. */
function alternate<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat()
}

/** Leaves out the rows of these events in a read of {@link readAllEvents}. */
export function exceptEvents(eventIds: readonly number[]): RawBuilder<boolean> {
  return sql`event_id <> all(${`{${eventIds.join(',')}}`}::text::integer[])`
}

/** The events whose work has failed in one call: the others go on, also where those that failed would fill each read. */
export class FailedEvents {
  private readonly ids: number[] = []
  private first: unknown

  get size(): number {
    return this.ids.length
  }

  /** See {@link exceptEvents}. */
  get others(): RawBuilder<boolean> {
    return exceptEvents(this.ids)
  }

  /** @returns what the work returns; undefined where it failed */
  async try<Result>(eventId: number, work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work()
    } catch (error) {
      this.first ??= error
      this.ids.push(eventId)
      return undefined
    }
  }

  /** @throws what failed first, if anything did */
  throwFirst(): void {
    if (this.size > 0) throw this.first
  }
}

/**
 * Deletes rows of all events in batches, each time of the event with the oldest of them.
 *
 * @param isOld which rows are meant
 * @param options.deleteSome deletes some of an event; 0 where other processes have locked what is left
 * @param options.most how many batches: what is left after them is for the next call
 * @returns how many
 */
export async function deleteOldest(
  db: Db,
  table: 'seen_request' | 'attendance_grant',
  isOld: RawBuilder<unknown>,
  { deleteSome, most = Infinity }: { deleteSome(eventId: number): Promise<number>; most?: number },
): Promise<number> {
  const failed = new FailedEvents()
  let deleted = 0
  for (let batches = 0; batches < most; ) {
    const [oldest] = await readAllEvents(
      db,
      table,
      (rows) => sql<{ event_id: number }>`
        select event_id from ${rows} where ${isOld} and ${failed.others} order by expires_at_ms limit 1`,
    )
    if (!oldest) break
    const count = await failed.try(oldest.event_id, () => deleteSome(oldest.event_id))
    if (count === undefined) continue
    if (count === 0) break
    batches += 1
    deleted += count
  }
  failed.throwFirst()
  return deleted
}

/** Tables with rows that end at a time, and the column with that time. */
interface EndingRows {
  readonly code_load: 'until_ms'
  readonly edit_code_guess: 'at_ms'
  readonly attendance_rehearsal: 'at_ms'
  readonly grant_secret: 'valid_until_ms'
}

/** Deletes the rows of all events whose time is `lastMs` or earlier, in a statement for each event. */
export async function deleteUntil<Table extends keyof EndingRows>(
  db: Db,
  table: Table,
  { column, lastMs }: { readonly column: EndingRows[Table]; readonly lastMs: number },
): Promise<void> {
  const isOld = sql`${sql.ref(column)} <= ${lastMs}`
  const events = await readAllEvents(
    db,
    table,
    (rows) => sql<{ event_id: number }>`select distinct event_id from ${rows} where ${isOld}`,
  )
  const failed = new FailedEvents()
  for (const { event_id } of events)
    await failed.try(event_id, () =>
      sql`delete from ${sql.table(table)} where event_id = ${event_id} and ${isOld}`.execute(db),
    )
  failed.throwFirst()
}
