import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import { parseOwnCode } from '../issuer/own-codes.ts'
import { FIRST_OWN_EVENT_ID } from '../issuer/own-event-ids.ts'
import { UnreadableSecretError, type Vault } from '../vault.ts'

/** Codes of one statement: it locks them for some milliseconds. */
const BATCH_CODES = 500

/**
 * Stores the numbers of codes that a server of an earlier version has stored without them. Codes that no key of this process
 * decrypts are left out.
 */
export async function numberCodes(db: Db, vault: Vault): Promise<void> {
  for (let after = 0; ; ) {
    const codes = await db
      .selectFrom('claim_code')
      .select(['id', 'event_id', 'sealed'])
      .where('number', 'is', null)
      .where('event_id', '>=', sql.lit(FIRST_OWN_EVENT_ID)) // a constant: the index has it
      .where('id', '>', after)
      .orderBy('id')
      .limit(BATCH_CODES)
      .execute()
    const last = codes.at(-1)
    if (!last) return
    after = last.id
    const numbered = codes.flatMap(({ id, event_id, sealed }) => {
      const number = numberOf(vault, sealed, event_id)
      return number === undefined ? [] : [{ id, number }]
    })
    await sql`
      update claim_code set number = read.number
      from unnest(${numbered.map(({ id }) => id)}::bigint[], ${numbered.map(({ number }) => number)}::integer[])
        as read (id, number)
      where claim_code.id = read.id`.execute(db)
  }
}

function numberOf(vault: Vault, sealed: Buffer, eventId: number): number | undefined {
  try {
    return parseOwnCode(vault.open('claim-code', sealed, String(eventId)))?.number
  } catch (error) {
    if (error instanceof UnreadableSecretError) return undefined
    throw error
  }
}
