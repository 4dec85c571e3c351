import { sql } from 'kysely'
import { HOUR_MS, MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { ReadingName } from './listings-reading.ts'
import { changeOffers } from './signed-offers.ts'

/**
 * Offers of wallets that are contracts. Only the contract can say whether it signed one, and may say something else later, when
 * its owners have changed: so those that it signed are asked about again and again. Others are read again by the hour, and asked
 * about then.
 */

/** How old an answer may be before the wallet is asked again. */
const ASK_AGAIN_MS = 10 * MINUTE_MS
/** How old an answer may be and still count, while no node answers. */
const FORGET_AFTER_MS = HOUR_MS

/** A question to a wallet. */
export interface WalletQuestion {
  /** The id of the offer. */
  readonly id: string
  /** Address of the wallet. */
  readonly signer: string
  /** The call that asks it, in hex. */
  readonly wallet_call: string
}

/** The next wallets to be asked, those whose offers count first. */
export async function dueWalletQuestions(
  db: Db,
  name: ReadingName,
  { nowMs, most }: { readonly nowMs: number; readonly most: number },
): Promise<readonly WalletQuestion[]> {
  const { rows } = await sql<WalletQuestion>`
    select id, signer, wallet_call from signed_trade
    where reading = ${name} and wallet_call is not null
      and (wallet_asked_at_ms is null or (is_signed and wallet_asked_at_ms <= ${nowMs - ASK_AGAIN_MS}::bigint))
    order by is_signed desc, wallet_asked_at_ms, id limit ${most}`.execute(db)
  return rows
}

/** Writes what wallets have said, and judges their offers anew. */
export async function noteWalletAnswers(
  db: Db,
  name: ReadingName,
  {
    nowMs,
    answers,
  }: { nowMs: number; answers: readonly { readonly id: string; readonly isSigned: boolean }[] },
): Promise<void> {
  if (answers.length === 0) return
  const given = JSON.stringify(answers)
  await changeOffers(db, name, nowMs, async (tx) => {
    // Where the same offer has two names, one counts.
    await sql`update signed_trade as trade set wallet_asked_at_ms = ${nowMs}, is_signed = "isSigned" and not exists (
        select from signed_trade as other
        where other.marketplace = trade.marketplace and other.signature_key = trade.signature_key
          and other.is_signed and other.id <> trade.id
      )
      from json_to_recordset(${given}::json) as answer(id text, "isSigned" boolean)
      where trade.id = answer.id`.execute(tx)
    return sql`id = any(${answers.map(({ id }) => id)}::text[])`
  })
}

/** Answers that are too old do not count any more: no node has answered since. */
export async function forgetWalletAnswers(db: Db, name: ReadingName, nowMs: number): Promise<void> {
  const isOld = sql`reading = ${name} and wallet_call is not null and is_signed
    and wallet_asked_at_ms <= ${nowMs - FORGET_AFTER_MS}::bigint`
  const { rows } = await sql<{ id: string }>`select id from signed_trade where ${isOld}`.execute(db)
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id)
  await changeOffers(db, name, nowMs, async (tx) => {
    await sql`update signed_trade set is_signed = false, wallet_asked_at_ms = null
      where id = any(${ids}::text[])`.execute(tx)
    return sql`id = any(${ids}::text[])`
  })
}
