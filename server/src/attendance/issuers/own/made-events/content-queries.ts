import { sql } from 'kysely'
import type { Db } from '../../../../db/engine.ts'
import type { Approval } from '../../../../db/schema.ts'
import type { Tx } from '../../../../db/transaction.ts'
import { findWaitingChange, type StoredChange } from '../../../events/change-queries.ts'
import { type Event, getEvent } from '../../../events/event-queries.ts'
import { openPlaces } from '../../../events/place-queries.ts'

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
  readonly event: Event
  readonly record: Readonly<Record<string, unknown>>
  readonly approval: Approval
  /** Whether its picture was drawn from the map of its places. */
  readonly draws_image: boolean
  /** Raised with every change of what the operator reads, and with every answer. */
  readonly version: number
}

/** A picture of an event. */
export interface Picture {
  /** The bytes of a PNG. */
  readonly file: Buffer
  /** Whether it was drawn from the map of the event's places. */
  readonly isDrawn: boolean
}

/** Fields that a change does not have are null. */
type ChangedContent = { readonly [Field in keyof Content]?: Content[Field] | null | undefined } & {
  readonly image?: Picture | undefined
}

const TEXTS = ['name', 'description', 'event_url'] as const
const FIELDS = [...TEXTS, 'coordinates', 'supply'] as const satisfies readonly (keyof Content)[]

/** @returns undefined for an event that was not made here */
export async function lockContent(tx: Tx, eventId: number): Promise<LiveEvent | undefined> {
  const made = await tx
    .selectFrom('made_event')
    .select(['supply', 'approval', 'version', 'draws_image'])
    .where('event_id', '=', eventId)
    .forUpdate()
    .executeTakeFirst()
  if (!made) return undefined
  // A row that is joined in the statement that waits for the lock is read as it was before the wait. Claims, which refer to
  // the event, do not wait for this lock
  await sql`select from attendance_event where event_id = ${eventId} for no key update`.execute(tx)
  const event = await getEvent(tx, { eventId })
  const { issuer_record: record, coordinates } = event
  const textOf = (field: (typeof TEXTS)[number]) => {
    const text = record[field]
    return typeof text === 'string' ? text : ''
  }
  const texts = { name: textOf('name'), description: textOf('description'), event_url: textOf('event_url') }
  return { eventId, event, record, coordinates, ...texts, ...made }
}

/** Makes a change live. Fields without a value stay as they are. */
export async function applyContent(
  tx: Tx,
  live: LiveEvent,
  { change, nowMs }: { readonly change: ChangedContent; readonly nowMs: number },
): Promise<void> {
  const { image } = change
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
    .set({ supply, ...(image && columnsOf(image)) })
    .where('event_id', '=', eventId)
    .execute()
  await openPlaces(tx, eventId)
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
  const before = await findWaitingChange(tx, eventId)
  const merged = Object.fromEntries(
    FIELDS.map((field) => {
      const value = change[field] ?? before?.[field] ?? null
      return [field, value === live[field] ? null : value]
    }),
  ) as Pick<StoredChange, (typeof FIELDS)[number]>
  const { image } = change
  const hadImage = before?.has_image === true
  const isDrawn = image ? image.isDrawn : hadImage && before.draws_image
  // The live picture shows the live places already
  const hasImage = (image !== undefined || hadImage) && !(isDrawn && live.draws_image && !merged.coordinates)
  const isSameImage = hasImage === hadImage && !(hasImage && image)
  if (isSameImage && FIELDS.every((field) => merged[field] === (before?.[field] ?? null))) return
  if (!hasImage && FIELDS.every((field) => merged[field] === null)) await deleteChange(tx, eventId)
  else {
    const picture = isSameImage && hadImage ? {} : columnsOf(hasImage ? image : undefined)
    const row = { ...merged, ...picture, is_refused: false, reason: null, sent_at_ms: nowMs }
    await tx
      .insertInto('made_event_change')
      .values({ event_id: eventId, ...row })
      .onConflict((conflict) => conflict.column('event_id').doUpdateSet(row))
      .execute()
  }
  await raiseVersion(tx, eventId)
}

function columnsOf(picture: Picture | undefined) {
  return { image: picture?.file ?? null, draws_image: picture?.isDrawn ?? false }
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
