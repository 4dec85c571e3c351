import type { Db } from '../../../db/engine.ts'
import type { Approval } from '../../../db/schema.ts'
import type { Tx } from '../../../db/transaction.ts'
import { findChange, type StoredChange } from '../../events/change-queries.ts'

/** What the operator reads of an event before an approval, and what can be changed later. The picture is apart: it is large. */
export interface Content {
  readonly name: string
  readonly description: string
  readonly event_url: string
  /** As `coordinatesText` writes them. */
  readonly coordinates: string
  readonly supply: number
}

/** An event as it is live, locked against other changes and answers until the transaction ends. */
export interface LiveEvent extends Content {
  readonly eventId: number
  readonly record: Readonly<Record<string, unknown>>
  readonly approval: Approval
  /** Raised with every change of what the operator reads, and with every answer. */
  readonly version: number
}

/** Fields that a change does not have are null. */
type ChangedContent = { readonly [Field in keyof Content]?: Content[Field] | null | undefined } & {
  /** The file of a PNG. */
  readonly image?: Buffer | null | undefined
}

const TEXTS = ['name', 'description', 'event_url'] as const
const FIELDS = [...TEXTS, 'coordinates', 'supply'] as const satisfies readonly (keyof Content)[]

/** @returns undefined for an event that was not made here */
export async function lockContent(tx: Tx, eventId: number): Promise<LiveEvent | undefined> {
  const row = await tx
    .selectFrom('made_event')
    .innerJoin('attendance_event', 'attendance_event.event_id', 'made_event.event_id')
    .select(['supply', 'approval', 'version', 'coordinates', 'issuer_record'])
    .where('made_event.event_id', '=', eventId)
    .forUpdate('made_event')
    .executeTakeFirst()
  if (!row) return undefined
  const { issuer_record: record, ...others } = row
  const textOf = (field: (typeof TEXTS)[number]) => {
    const text = record[field]
    return typeof text === 'string' ? text : ''
  }
  const texts = { name: textOf('name'), description: textOf('description'), event_url: textOf('event_url') }
  return { eventId, record, ...texts, ...others }
}

/** Makes a change live. Fields without a value stay as they are. */
export async function applyContent(
  tx: Tx,
  live: LiveEvent,
  { change, nowMs }: { readonly change: ChangedContent; readonly nowMs: number },
): Promise<void> {
  const image = change.image ?? undefined
  if (!image && FIELDS.every((field) => (change[field] ?? live[field]) === live[field])) return
  const { eventId, record } = live
  const texts = Object.fromEntries(TEXTS.map((field) => [field, change[field] ?? live[field]]))
  await tx
    .updateTable('attendance_event')
    .set({
      issuer_record: JSON.stringify({ ...record, ...texts }),
      coordinates: change.coordinates ?? live.coordinates,
      updated_at_ms: nowMs,
    })
    .where('event_id', '=', eventId)
    .execute()
  const supply = change.supply ?? live.supply
  await tx
    .updateTable('made_event')
    .set({ supply, ...(image && { image }) })
    .where('event_id', '=', eventId)
    .execute()
  await raiseVersion(tx, eventId)
}

/**
 * Lets a change wait for the operator, together with one that waits already. A field that is as it is live is no change;
 * where none is left, nothing waits any more.
 */
export async function storeChange(
  tx: Tx,
  live: LiveEvent,
  { change, nowMs }: { readonly change: ChangedContent; readonly nowMs: number },
): Promise<void> {
  const { eventId } = live
  const stored = await findChange(tx, eventId)
  const before = stored?.is_refused === false ? stored : undefined
  const merged = Object.fromEntries(
    FIELDS.map((field) => {
      const value = change[field] ?? before?.[field] ?? null
      return [field, value === live[field] ? null : value]
    }),
  ) as Pick<StoredChange, (typeof FIELDS)[number]>
  const image = change.image ?? null
  const hadImage = before?.has_image === true
  if (!image && FIELDS.every((field) => merged[field] === (before?.[field] ?? null))) return
  if (!image && !hadImage && FIELDS.every((field) => merged[field] === null)) await deleteChange(tx, eventId)
  else {
    const row = { ...merged, is_refused: false, reason: null, sent_at_ms: nowMs }
    const keepsImage = !image && hadImage
    await tx
      .insertInto('made_event_change')
      .values({ event_id: eventId, ...row, image })
      .onConflict((conflict) => conflict.column('event_id').doUpdateSet(keepsImage ? row : { ...row, image }))
      .execute()
  }
  await raiseVersion(tx, eventId)
}

export async function refuseChange(tx: Tx, eventId: number, reason: string | null): Promise<void> {
  await tx
    .updateTable('made_event_change')
    .set({ is_refused: true, reason })
    .where('event_id', '=', eventId)
    .execute()
  await raiseVersion(tx, eventId)
}

/** The picture that a change has; undefined where it has none, or was refused. */
export async function findChangedImage(db: Db, eventId: number): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('made_event_change')
    .select('image')
    .where('event_id', '=', eventId)
    .where('is_refused', '=', false)
    .executeTakeFirst()
  return row?.image ? Buffer.from(row.image) : undefined
}

export async function deleteChange(tx: Tx, eventId: number): Promise<void> {
  await tx.deleteFrom('made_event_change').where('event_id', '=', eventId).execute()
}

export async function raiseVersion(tx: Tx, eventId: number): Promise<void> {
  await tx
    .updateTable('made_event')
    .set(({ eb }) => ({ version: eb('version', '+', 1) }))
    .where('event_id', '=', eventId)
    .execute()
}

/** The highest number of a token that was given out or is tied to a claim; 0 where there is none. */
export async function highestGivenOut(tx: Tx, eventId: number): Promise<number> {
  const { highest } = await tx
    .selectFrom('claim_code')
    .select(({ fn }) => fn.max('number').as('highest'))
    .where('event_id', '=', eventId)
    .where('state', 'in', ['held', 'used', 'used_elsewhere'])
    .executeTakeFirstOrThrow()
  return highest ?? 0
}
