import type { Db } from '../../db/engine.ts'

/** How often the passes of an event were revoked. */
export async function passGenerationOf(db: Db, eventId: number): Promise<number> {
  const row = await db
    .selectFrom('organiser_pass_generation')
    .select('generation')
    .where('event_id', '=', eventId)
    .executeTakeFirst()
  return row?.generation ?? 0
}

export async function raisePassGeneration(db: Db, eventId: number): Promise<void> {
  await db
    .insertInto('organiser_pass_generation')
    .values({ event_id: eventId, generation: 1 })
    .onConflict((conflict) =>
      conflict
        .column('event_id')
        .doUpdateSet((eb) => ({ generation: eb('organiser_pass_generation.generation', '+', 1) })),
    )
    .execute()
}
