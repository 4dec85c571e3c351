import type { Db } from '../../db/engine.ts'

export interface Contribution {
  readonly address: string
  readonly district_id: string
  readonly land_count: number
}

/** What an address contributed, by district: the sums of its contributions. */
export async function contributionsOf(db: Db, worldId: number, address: string): Promise<Contribution[]> {
  return db
    .selectFrom('contribution')
    .select(['address', 'district_id', (eb) => eb.fn.sum<number>('land_count').as('land_count')])
    .where('world_id', '=', worldId)
    .where('address', '=', address)
    .groupBy(['address', 'district_id'])
    .orderBy('district_id')
    .execute()
}
