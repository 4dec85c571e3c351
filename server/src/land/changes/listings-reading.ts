import { sql } from 'kysely'
import { DAY_MS, HOUR_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { ListingsReadingTable } from '../../db/schema.ts'
import { inTransaction } from '../../db/transaction.ts'

/** What reads offers for sale, and what reads offers to rent. Each stored offer names the one that it comes from. */
export const READINGS = ['listings', 'rentals'] as const
export type ReadingName = (typeof READINGS)[number]

/** What each of them reads, in messages. */
export const SERVERS = {
  listings: 'marketplace server',
  rentals: 'rentals server',
} as const satisfies Record<ReadingName, string>

/**
 * How long an offer is kept open that whole readings of the marketplace server do not name any more: a server leaves out offers at times, and
 * everybody who has the signature can still accept it.
 */
export const UNSEEN_AFTER_MS = DAY_MS

/** Whether this process may read the server, and what was done with its offers. */
export interface ListingsLease {
  readonly isHeld: boolean
  /** The world that is shown; null where none is. */
  readonly shownWorldId: number | null
  /** The world that offers are judged in. */
  readonly judgedWorldId: number | null
  /** Whether the offers of that world are among the publications. */
  readonly isShown: boolean
}

/**
 * Takes or renews the lease: one process of a deployment reads a server.
 *
 * @param hasEnded whether the process of this name has certainly ended: its lease does not count then
 */
export async function takeListingsLease(
  db: Db,
  { name, holder, nowMs, leaseMs, hasEnded }: LeaseRequest,
): Promise<ListingsLease> {
  const current = await readListings(db, name)
  const isFree =
    !current?.holder ||
    current.holder === holder ||
    current.lease_until_ms <= nowMs ||
    hasEnded(current.holder)
  const isHeld =
    isFree && (await writeLease(db, { name, holder, nowMs, leaseMs, before: current?.holder ?? null }))
  const { world_id: shownWorldId } = await db
    .selectFrom('land_state')
    .select('world_id')
    .executeTakeFirstOrThrow()
  return {
    isHeld,
    shownWorldId,
    judgedWorldId: current?.world_id ?? null,
    isShown: current?.is_shown ?? false,
  }
}

export interface LeaseRequest {
  readonly name: ReadingName
  readonly holder: string
  readonly nowMs: number
  readonly leaseMs: number
  readonly hasEnded: (holder: string) => boolean
}

/** @returns false where another process has taken it meanwhile */
async function writeLease(
  db: Db,
  {
    name,
    holder,
    nowMs,
    leaseMs,
    before,
  }: Omit<LeaseRequest, 'hasEnded'> & { readonly before: string | null },
): Promise<boolean> {
  const row = await db
    .insertInto('listings_reading')
    .values({ name, holder, lease_until_ms: nowMs + leaseMs, is_shown: false, state: 'reading' })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ holder, lease_until_ms: nowMs + leaseMs })
        .where(sql<boolean>`listings_reading.holder is not distinct from ${before}`),
    )
    .returning('name')
    .executeTakeFirst()
  return row !== undefined
}

/** Lets another process read at once. */
export async function releaseListingsLease(db: Db, name: ReadingName, holder: string): Promise<void> {
  await db
    .updateTable('listings_reading')
    .set({ holder: null, lease_until_ms: 0 })
    .where('name', '=', name)
    .where('holder', '=', holder)
    .execute()
}

/** Says how far the readings are. */
export async function noteListings(
  db: Db,
  name: ReadingName,
  facts: Partial<Pick<ListingsReadingTable, 'read_at_ms' | 'state' | 'reason'>>,
): Promise<void> {
  await db.updateTable('listings_reading').set(facts).where('name', '=', name).execute()
}

export async function readListings(db: Db, name: ReadingName): Promise<ListingsReadingTable | undefined> {
  return db.selectFrom('listings_reading').selectAll().where('name', '=', name).executeTakeFirst()
}

/** A trade that was named since is not written again: most of them are named with each reading. */
const SEEN_AGAIN_MS = HOUR_MS

/** Which of these trades are stored with a signature that is right. Notes that the server named them, to the hour. */
export async function noteSeen(
  db: Db,
  name: ReadingName,
  ids: readonly string[],
  seenAtMs: number,
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string; is_signed: boolean; isOld: boolean }>`
    select id, is_signed, seen_at_ms < ${seenAtMs - SEEN_AGAIN_MS}::bigint as "isOld" from signed_trade
    where reading = ${name} and id = any(${[...ids]}::text[])`.execute(db)
  const old = rows.flatMap(({ id, isOld }) => (isOld ? [id] : []))
  if (old.length > 0)
    // In the order of the ids: no other writer then waits for this one while this one waits for it.
    await inTransaction(db, (tx) =>
      sql`update signed_trade set seen_at_ms = ${seenAtMs} where id in (
        select id from signed_trade where id = any(${old}::text[]) order by id for update
      )`.execute(tx),
    )
  return new Set(rows.flatMap(({ id, is_signed }) => (is_signed ? [id] : [])))
}

/**
 * Deletes offers that ended long ago, or that the server has not named for long. Open ones stay: they have publications, and
 * are `unseen` after the next whole reading. Those that were bought for dollars stay, too: they have the price of a sale.
 *
 * @returns how many are left
 */
export function dropOldTrades(db: Db, name: ReadingName, beforeMs: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    await sql`delete from signed_trade where id in (
        select id from signed_trade
        where reading = ${name} and state <> 'open' and not (state = 'used' and currency = 'usd')
          and (expires_at_ms < ${beforeMs} or seen_at_ms < ${beforeMs})
        order by id for update
      )`.execute(tx)
    const { rows } = await sql<{
      count: number
    }>`select count(*)::integer as count from signed_trade where reading = ${name}`.execute(tx)
    return rows[0]!.count
  })
}

export const LISTINGS_STATES = ['off', 'reading', 'following', 'failing'] as const

/** What everyone may know of the readings. */
export interface ListingsStatus {
  readonly state: (typeof LISTINGS_STATES)[number]
  readonly readAtMs: number | null
  /** Offers that are stored, and those that can be accepted now. */
  readonly offers: number
  readonly open: number
  /** Whether open ones are among the publications. */
  readonly isShown: boolean
  readonly reason: string | null
}

const OFF: ListingsStatus = { state: 'off', readAtMs: null, offers: 0, open: 0, isShown: false, reason: null }

/** How far the readings are, whichever process does them. */
export async function readListingsStatus(db: Db, name: ReadingName, nowMs: number): Promise<ListingsStatus> {
  const { rows } = await sql<ListingsReadingTable & { offers: number; open: number }>`
    select listings_reading.*, counted.* from listings_reading, lateral (
      select count(*)::integer as offers,
        (count(*) filter (where signed_trade.state = 'open' and expires_at_ms > ${nowMs}))::integer as open
      from signed_trade where reading = name
    ) as counted
    where name = ${name}`.execute(db)
  const [row] = rows
  if (!row) return OFF
  const { read_at_ms: readAtMs, is_shown: isShown, offers, open } = row
  const isRead = row.holder !== null && row.lease_until_ms > nowMs
  const now = isRead
    ? { state: row.state, reason: row.reason }
    : ({ state: 'off', reason: `No process reads the ${SERVERS[name]} now.` } as const)
  return { ...now, readAtMs, offers, open, isShown }
}
