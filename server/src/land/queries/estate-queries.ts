import type { Db } from '../../db/engine.ts'
import { ESTATE, type EstateTable } from '../records/estate.ts'
import { columnsWithoutText, NO_TEXT } from './without-text.ts'

const COLUMNS = columnsWithoutText<EstateTable>(ESTATE.columns)

const PAGE_ROWS = 1000

/** All estates of a world, in the order of their ids as texts: in short queries, between which others can run. */
export async function allEstates(db: Db, worldId: number): Promise<EstateTable[]> {
  const rows: EstateTable[] = []
  for (let lastId = ''; ; lastId = rows.at(-1)!.id) {
    const page = await db
      .selectFrom('estate')
      .select(['world_id', ...COLUMNS, NO_TEXT])
      .where('world_id', '=', worldId)
      .where('id', '>', lastId)
      .orderBy('id')
      .limit(PAGE_ROWS)
      .execute()
    rows.push(...page)
    if (page.length < PAGE_ROWS) return rows
  }
}
