import { sql } from 'kysely'
import type { Tx } from '../../db/transaction.ts'

/**
 * Writes the rights over all land of an owner as rows of their own, where a snapshot has them only at the parcels and estates of
 * that owner. An owner without any has none then. A parcel in an estate has the rights over that estate, and rented land those of
 * the contract that holds it.
 */
export async function fillRights(tx: Tx, worldId: number): Promise<void> {
  for (const registry of ['parcel', 'estate'] as const) {
    const ofItself = registry === 'parcel' ? sql`estate_id is null` : sql`true`
    for (const [kind, column] of [
      ['approval', 'approvals_for_all'],
      ['manager', 'update_managers'],
    ] as const)
      await sql`
        insert into land_right (world_id, kind, registry, owner, operator)
        select distinct world_id, ${kind}::text, ${registry}::text, coalesce(holder, owner), unnest(${sql.ref(column)})
        from ${sql.table(registry)}
        where world_id = ${worldId} and owner is not null and ${ofItself} and ${sql.ref(column)} is not null`.execute(
        tx,
      )
  }
}
