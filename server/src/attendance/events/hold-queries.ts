import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { EventHoldTable, HoldReason } from '../../db/schema.ts'
import { countMoves } from './event-count-queries.ts'

/** Contradictory answers for an event; held from the second in a row on. */
export type EventHold = EventHoldTable

/** An event whose claims wait. */
export type HeldEvent = EventHold & { readonly held_at_ms: number; readonly probe_at_ms: number }

export function isHeld(hold: EventHold | undefined): hold is HeldEvent {
  return hold !== undefined && hold.held_at_ms !== null
}

export async function findHold(db: Db, eventId: number): Promise<EventHold | undefined> {
  return db.selectFrom('event_hold').selectAll().where('event_id', '=', eventId).executeTakeFirst()
}

export interface Contradiction {
  readonly eventId: number
  readonly reason: HoldReason
  /** The code that the answer is about, if it becomes void. */
  readonly codeId: number | null
  /** Whether it stands for several contradictory answers. */
  readonly isRepeated?: boolean
  readonly nowMs: number
  /** When one claim asks again, if the event is held now. */
  readonly probeAtMs: number
}

/** Counts a contradictory answer. From the second in a row on the event is held. */
export async function countContradiction(
  db: Db,
  { eventId, reason, codeId, isRepeated = false, nowMs, probeAtMs }: Contradiction,
): Promise<EventHold> {
  return db
    .insertInto('event_hold')
    .values({
      event_id: eventId,
      reason,
      answers: isRepeated ? 2 : 1,
      doubted_code_id: codeId,
      held_at_ms: isRepeated ? nowMs : null,
      probe_at_ms: isRepeated ? probeAtMs : null,
      probes: 0,
    })
    .onConflict((conflict) =>
      conflict.column('event_id').doUpdateSet({
        reason,
        answers: sql`event_hold.answers + 1`,
        held_at_ms: sql`coalesce(event_hold.held_at_ms, ${nowMs})`,
        probe_at_ms: sql`coalesce(event_hold.probe_at_ms, ${probeAtMs})`,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Frees the code of the first contradictory answer of a held event, which was no proof against the code. */
export async function freeDoubtedCode(db: Db, { event_id, doubted_code_id: id }: EventHold): Promise<void> {
  if (id === null) return
  await sql`
    with freed as (
      update claim_code set state = 'free' where event_id = ${event_id} and id = ${id} and state = 'void' returning event_id
    ), ${countMoves({ rows: 'freed', of: 'codes', from: 'void', to: 'free' })}
    select from freed cross join counted`.execute(db)
}

/** Takes the right of one claim to ask the issuer, when it is due. Only one of several processes gets it. */
export async function takeProbe(
  db: Db,
  { event_id, probe_at_ms, probes }: HeldEvent,
  { nowMs, nextProbeAtMs }: { readonly nowMs: number; readonly nextProbeAtMs: number },
): Promise<boolean> {
  const taken = await db
    .updateTable('event_hold')
    .set({ probes: probes + 1, probe_at_ms: nextProbeAtMs })
    .where('event_id', '=', event_id)
    .where('probe_at_ms', '=', probe_at_ms)
    .where('probe_at_ms', '<=', nowMs)
    .returning('event_id')
    .executeTakeFirst()
  return taken !== undefined
}

/** Deletes what was counted for an event: its claims go on, and ask at once. */
export async function endHold(db: Db, eventId: number, nowMs: number): Promise<void> {
  const ended = await db
    .deleteFrom('event_hold')
    .where('event_id', '=', eventId)
    .returningAll()
    .executeTakeFirst()
  if (isHeld(ended)) await wakeClaims(db, ended, nowMs)
}

/** Makes the claims due that wait for the probe of an event. */
export async function wakeClaims(db: Db, { event_id, probe_at_ms }: HeldEvent, nowMs: number): Promise<void> {
  await db
    .updateTable('claim')
    .set({ next_step_at_ms: nowMs })
    .where('event_id', '=', event_id)
    .where('state', '=', 'reserved')
    .where('next_step_at_ms', '=', probe_at_ms)
    .execute()
}

/** How many events are held. */
export async function countHeldEvents(db: Db): Promise<number> {
  const row = await db
    .selectFrom('event_hold')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('held_at_ms', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(row.count)
}
