import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { AssetName, AssetType } from '../records/assets.ts'
import {
  type AnsweredPublication,
  PUBLICATION,
  PUBLICATION_SQL_JSON,
  type PublicationTable,
} from '../records/publication.ts'
import type { ListingStatus } from '../records/statuses.ts'

const ANSWERED = sql.raw(PUBLICATION.answerColumns.join(', '))
const JSON_TEXT = sql.raw(PUBLICATION_SQL_JSON)

/** A publication of one asset, and whether it was sold by a trade. */
export interface AssetPublication extends AnsweredPublication, Pick<PublicationTable, 'sold_source'> {}

/** Every publication that an asset ever had, newest first; those of one block in reverse order of creation. */
export async function publicationsOfAsset(
  db: Db,
  worldId: number,
  { type, id }: AssetName,
): Promise<AssetPublication[]> {
  const { rows } = await sql<AssetPublication>`/* prepared */
    select ${ANSWERED}, sold_source from publication
    where world_id = ${worldId} and asset_id = ${id} and asset_type = ${type}
    order by block_time_created_at_ms desc, key desc`.execute(db)
  return rows
}

/** Every publication that these estates ever had, in no particular order. */
export async function publicationsOfEstates(
  db: Db,
  worldId: number,
  ids: readonly string[],
): Promise<PublicationTable[]> {
  if (ids.length === 0) return []
  return db
    .selectFrom('publication')
    .selectAll()
    .where('world_id', '=', worldId)
    .where('asset_type', '=', 'estate')
    .where(sql<boolean>`asset_id = any(${ids}::text[])`)
    .execute()
}

/** The publication that a transaction made; of several the first, by the order of its log. */
export async function findPublication(
  db: Db,
  worldId: number,
  txHash: string,
): Promise<PublicationTable | undefined> {
  return db
    .selectFrom('publication')
    .selectAll()
    .where('world_id', '=', worldId)
    .where('tx_hash', '=', txHash)
    .orderBy('key')
    .limit(1)
    .executeTakeFirst()
}

/**
 * The JSON text of the publications with these keys (at most a page of them), in no particular order. PostgreSQL writes
 * it in less time than we need to read rows. Publications that were signed off the chain are left out: they are never closed.
 */
export async function publicationTexts(
  db: Db,
  worldId: number,
  keys: readonly number[],
): Promise<readonly { readonly key: number; readonly json: string }[]> {
  if (keys.length === 0) return []
  const { rows } = await sql<{ key: number; json: string }>`/* prepared */
    select key, ${JSON_TEXT} as json from publication
    where world_id = ${worldId} and key = any(${keyArray(keys)}::bigint[]) and trade_id is null`.execute(db)
  return rows
}

/** The next publications behind a key, by their keys; -1 begins. */
export async function publicationsAfter(
  db: Db,
  worldId: number,
  lastKey: number,
  limit: number,
): Promise<readonly PublicationTable[]> {
  return db
    .selectFrom('publication')
    .selectAll()
    .where('world_id', '=', worldId)
    .where('key', '>', lastKey)
    .orderBy('key')
    .limit(limit)
    .execute()
}

/** One parameter however many keys there are: the statement's text stays the same. Written as PostgreSQL reads it. */
function keyArray(keys: readonly number[]): string {
  return `{${keys.join(',')}}`
}

export interface NewestQuery {
  readonly type: AssetType
  readonly ids: readonly string[]
  readonly statuses: readonly ListingStatus[]
}

/** The newest publication of each asset with one of the statuses; assets without one are left out. */
export async function newestPublications(
  db: Db,
  worldId: number,
  { type, ids, statuses }: NewestQuery,
): Promise<PublicationTable[]> {
  if (ids.length === 0) return []
  return db
    .selectFrom('publication')
    .distinctOn('asset_id')
    .selectAll()
    .where('world_id', '=', worldId)
    .where('asset_type', '=', type)
    .where('status', 'in', statuses)
    .where(sql<boolean>`asset_id = any(${`{${ids.map((id) => `"${id}"`).join(',')}}`}::text[])`)
    .orderBy('asset_id')
    .orderBy('block_time_created_at_ms', 'desc')
    .orderBy('key', 'desc')
    .execute()
}
