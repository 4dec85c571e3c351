import { type Coord, parseCoord } from '@landpass/client/grid'
import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { ChangeSubject, LandChangeTable } from '../../db/schema.ts'
import type { Tx } from '../../db/transaction.ts'
import { insertWrites, runWrites, type Write } from './write-rows.ts'

/**
 * Names what each of the newest revisions changed. It is written in the same transaction as the change. A process that
 * holds the state of one revision learns from it what to read again for a later one.
 *
 * A revision whose changes are all named has a row `revision`, and besides it a row for each parcel, estate and
 * publication that it changed (none where a change shows nowhere in the state: a mortgage), and for each bid that became or was a sale. One that is not has a row
 * `anything` (an import, a change too large to name) or no row (its rows were deleted since). So the rows alone show how far back the journal reaches.
 */

/** What changed between two revisions, each asset once. An asset that was changed back is named too. */
export interface ChangedAssets {
  readonly parcels: readonly Coord[]
  readonly estates: readonly string[]
  /** Their keys. */
  readonly publications: readonly number[]
}

export interface RevisionRange {
  readonly afterRevision: number
  /** Included. */
  readonly toRevision: number
}

/** How many rows the journal holds. No answer and no single change names more. */
export const KEPT_ROWS = 20_000
/** Old rows are deleted after this number of revisions, and after a change that wrote this number of rows. */
const TRIM_EVERY = 100

/** What a row of the journal says. */
export type Subject = Pick<LandChangeTable, 'subject' | 'key'>

/** Collects what one revision changes. */
export class ChangedSubjects {
  private readonly named = new Map<string, Subject>()
  private isEverything = false

  add(subject: Exclude<ChangeSubject, 'revision'>, key: string): void {
    this.named.set(`${subject} ${key}`, { subject, key })
  }

  /** For a change that cannot be named: it may show in parcels that are not changed themselves. */
  addEverything(): void {
    this.isEverything = true
  }

  /** The rows of a revision. */
  rows(changedAtMs: number): readonly Subject[] {
    const key = String(changedAtMs)
    if (this.isEverything || this.named.size >= KEPT_ROWS) return [{ subject: 'anything', key }]
    return [{ subject: 'revision', key }, ...this.named.values()]
  }
}

/** Writes what a revision changed, before anyone can see the revision. */
export async function writeJournal(tx: Tx, entry: JournalEntry, subjects: ChangedSubjects): Promise<void> {
  const writes = journalWrites(entry, subjects)
  await runWrites(tx, writes)
  await trimIfDue(tx, entry, writes)
}

/** The parts of statements that write what a revision changed; {@link trimIfDue} follows them. */
export function journalWrites(
  { worldId, revision, changedAtMs }: JournalEntry,
  subjects: ChangedSubjects,
): Write[] {
  const rows = subjects.rows(changedAtMs).map((subject) => ({ ...subject, revision, world_id: worldId }))
  return insertWrites('land_change', rows)
}

/** Deletes old rows of the journal from time to time. @param writes those of the revision */
export async function trimIfDue(
  tx: Tx,
  { revision }: Pick<JournalEntry, 'revision'>,
  writes: readonly Write[],
): Promise<void> {
  const written = writes.reduce((sum, { rows }) => sum + rows, 0)
  if (revision % TRIM_EVERY === 0 || written >= TRIM_EVERY) await trimJournal(tx)
}

/** Empties the journal and starts it again for another world, which replaces the one that is shown. */
export async function startJournal(tx: Tx, entry: JournalEntry): Promise<void> {
  await tx.deleteFrom('land_change').execute()
  const subjects = new ChangedSubjects()
  subjects.addEverything()
  await writeJournal(tx, entry, subjects)
}

/** A revision, and when it was committed. */
export interface JournalEntry {
  readonly worldId: number
  readonly revision: number
  readonly changedAtMs: number
}

/** Deletes the oldest revisions, each with all of its rows. */
async function trimJournal(tx: Tx): Promise<void> {
  await tx
    .deleteFrom('land_change')
    .where('revision', '<=', (eb) =>
      eb.selectFrom('land_change').select('revision').orderBy('revision', 'desc').offset(KEPT_ROWS).limit(1),
    )
    .execute()
}

/**
 * What changed in a world between two revisions of it.
 *
 * @returns undefined where the journal cannot tell, or names more than {@link KEPT_ROWS}: read everything again
 * @example
 * await readChangedAssets(db, 1, { afterRevision: 7, toRevision: 8 }) // { parcels: [{ x: 1, y: 2 }], … }
 */
export async function readChangedAssets(
  db: Db,
  worldId: number,
  { afterRevision, toRevision }: RevisionRange,
): Promise<ChangedAssets | undefined> {
  const revisions = toRevision - afterRevision
  if (revisions < 0 || revisions > KEPT_ROWS) return undefined
  const rows = await db
    .selectFrom('land_change')
    .select(['subject', 'key'])
    .where('world_id', '=', worldId)
    .where('revision', '>', afterRevision)
    .where('revision', '<=', toRevision)
    .orderBy('revision')
    .orderBy('subject')
    .orderBy('key')
    .limit(KEPT_ROWS + 1)
    .execute()
  return changedAssetsOf(rows, { afterRevision, toRevision })
}

/**
 * The assets that rows of the journal name.
 *
 * @param rows of these revisions, in their order
 * @returns undefined where the journal cannot tell what has changed
 */
export function changedAssetsOf(
  rows: readonly Subject[],
  { afterRevision, toRevision }: RevisionRange,
): ChangedAssets | undefined {
  const revisions = toRevision - afterRevision
  const keysOf = (subject: ChangeSubject) =>
    rows.filter((row) => row.subject === subject).map(({ key }) => key)
  if (revisions < 0 || rows.length > KEPT_ROWS || keysOf('revision').length < revisions) return undefined
  return {
    parcels: [...new Set(keysOf('parcel'))].map((key) => parseCoord(key)!),
    estates: [...new Set(keysOf('estate'))],
    publications: [...new Set(keysOf('publication'))].map(Number),
  }
}

/**
 * The revision that a world had at a time, given in milliseconds: the one before the first that was committed later.
 * Where the clock went back, that is an older one than the newest whose time is not later.
 *
 * @returns undefined where the journal does not reach back so far
 * @example
 * await revisionAt(db, 1, Date.now()) // 8
 */
export async function revisionAt(db: Db, worldId: number, timeMs: number): Promise<number | undefined> {
  // Other rows have a key that is no time. PostgreSQL may evaluate it before the condition on `subject`.
  const { rows } = await sql<{ revision: number | null }>`
    with head as (
      select revision, case when subject in ('revision', 'anything') then key::numeric end as time_ms
      from land_change
      where world_id = ${worldId} and subject in ('revision', 'anything')
    ), later as (
      select min(revision) as first from head where time_ms > ${timeMs}::numeric
    )
    select max(head.revision) as revision from head, later
    where later.first is null or head.revision < later.first`.execute(db)
  return rows[0]?.revision ?? undefined
}
