import { sql } from 'kysely'
import Type, { type Static } from 'typebox'
import type { Db } from '../../../../db/engine.ts'
import { FIRST_OWN_EVENT_ID } from '../own-event-ids.ts'
import type { Page } from './token-list-queries.ts'

const MINTED = 'minted'

/** A token of the other issuer that was claimed at this server. The issuer has it, so there is nothing to check here. */
export const poapSchema = Type.Object(
  {
    issuer: Type.Literal('poap'),
    event: Type.Object({
      id: Type.Integer({ description: "The issuer's number." }),
      uuid: Type.String(),
      name: Type.String(),
      places: Type.String({ description: '`x,y;x,y`' }),
    }),
    time: Type.String({ description: 'When it was claimed: ISO 8601, UTC.' }),
  },
  { title: 'PoapClaim' },
)

/** What an address has claimed of events of the other issuer, the newest first. @param address in lower case */
export async function poapsOfAddress(
  db: Db,
  address: string,
  { limit, offset }: Page,
): Promise<readonly Static<typeof poapSchema>[]> {
  const rows = await mintedAtPoap(db, address)
    .innerJoin('attendance_event as event', 'event.event_id', 'claim.event_id')
    .select([
      'event.event_id',
      'event.uuid',
      'event.coordinates',
      'event.issuer_record',
      'claim.created_at_ms',
    ])
    .orderBy('claim.created_at_ms', 'desc')
    .orderBy('claim.event_id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return rows.map(({ event_id: id, uuid, coordinates: places, issuer_record: { name }, created_at_ms }) => ({
    issuer: 'poap',
    event: { id, uuid, name: typeof name === 'string' ? name : '', places },
    time: new Date(created_at_ms).toISOString(),
  }))
}

/** How many tokens of the other issuer an address has claimed here, and when the first. */
export interface PoapCount {
  readonly count: number
  /** Seconds since 1970. */
  readonly sinceS: number
}

/**
 * @param address in lower case
 * @param eventId of one event; left out, all of the other issuer
 * @returns undefined where there is none
 */
export async function countPoaps(db: Db, address: string, eventId?: number): Promise<PoapCount | undefined> {
  const ofAll = mintedAtPoap(db, address)
  const { count, since } = await (eventId === undefined ? ofAll : ofAll.where('claim.event_id', '=', eventId))
    .select(({ fn }) => [
      fn.countAll<string | number>().as('count'),
      fn.min<string | number | null>('claim.created_at_ms').as('since'),
    ])
    .executeTakeFirstOrThrow()
  return since === null ? undefined : { count: Number(count), sinceS: Math.floor(Number(since) / 1000) }
}

/** State and number are constants of the statement, as of the index: a parameter would not be compared with these. */
function mintedAtPoap(db: Db, address: string) {
  return db
    .selectFrom('claim')
    .where('claim.address', '=', address)
    .where('claim.state', '=', sql.lit(MINTED))
    .where('claim.event_id', '<', sql.lit(FIRST_OWN_EVENT_ID))
}
