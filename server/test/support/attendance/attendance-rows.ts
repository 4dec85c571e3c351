import { sql } from 'kysely'
import type { Grant } from '../../../src/attendance/grants/grant-queries.ts'
import type { Grants } from '../../../src/attendance/grants/grants.ts'
import type { NewToken } from '../../../src/attendance/issuers/own/tokens/token-queries.ts'
import type { Vault } from '../../../src/attendance/secrets/vault.ts'
import type { Db } from '../../../src/db/engine.ts'
import { eventually } from '../processes/landpass.ts'

const TABLES = [
  'attendance_event',
  'claim_code',
  'claim',
  'captcha',
  'seen_request',
  'edit_code_guess',
  'organiser_pass_generation',
  'issuer_token',
  'attendance_refusal',
  'attendance_rehearsal',
  'issuer_failure',
  'event_place',
  'made_event',
  'made_event_change',
  'attendance_gift',
  'event_edit_code',
  'token_key',
  'token',
  'token_log',
  'removed_revocation',
  'attendance_blocked',
  'code_load',
  'grant_secret',
  'attendance_grant',
] as const

/** Every row of the attendance tables, a line of JSON each; bytes as `\x` and hex digits. */
export async function attendanceDump(db: Db): Promise<string> {
  const lines: string[] = []
  for (const table of TABLES) {
    const { rows } = await sql<{
      line: string
    }>`select to_jsonb(t)::text as line from ${sql.table(table)} t`.execute(db)
    lines.push(...rows.map(({ line }) => `${table} ${line}`))
  }
  return lines.join('\n')
}

/** What a person reads in the image of a captcha, and what else decided how it looks. */
export async function readCaptcha(
  db: Db,
  vault: Vault,
  uuid: string,
): Promise<{ readonly answer: string; readonly seed: string }> {
  const row = await db
    .selectFrom('captcha')
    .select('encrypted')
    .where('uuid', '=', uuid)
    .executeTakeFirstOrThrow()
  const [answer = '', seed = ''] = vault.decrypt('captcha', row.encrypted, uuid).split(' ')
  return { answer, seed }
}

/** The issuer's access token, encrypted; undefined where none was asked for. */
export async function encryptedToken(db: Db): Promise<Buffer | undefined> {
  const row = await db.selectFrom('issuer_token').select('encrypted').executeTakeFirstOrThrow()
  return row.encrypted ?? undefined
}

/** How many claims are in which state. */
export async function claimsByState(db: Db): Promise<Readonly<Record<string, number>>> {
  const rows = await db.selectFrom('claim').select('state').orderBy('state').execute()
  return countStates(rows)
}

/** How many codes are in which state. */
export async function codesByState(db: Db): Promise<Readonly<Record<string, number>>> {
  const rows = await db.selectFrom('claim_code').select('state').orderBy('state').execute()
  return countStates(rows)
}

function countStates(rows: readonly { readonly state: string }[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

export function claimsOf(db: Db, eventId: number) {
  return db
    .selectFrom('claim')
    .select(['address', 'state', 'code_id', 'next_step_at_ms'])
    .where('event_id', '=', eventId)
    .execute()
}

/** The message of a token as a claim stores it whose token is not signed yet, without the claim. */
export async function insertMessage(db: Db, { eventId, address, token, number }: Message): Promise<void> {
  const { id, signer, timeS: time_s, eventName: event_name, eventLocation: event_location, salt } = token
  const message = { id, signer, time_s, event_name, event_location, salt, uid: null, signature: null }
  const unrevoked = { revoked_at_s: null, revoked_reason: null }
  await db
    .insertInto('token')
    .values({ event_id: eventId, address, number, ...message, ...unrevoked })
    .execute()
}

interface Message {
  readonly eventId: number
  readonly address: string
  readonly token: NewToken
  readonly number: number
}

/** As if so much time had passed that what a dead process took is anybody's. */
export async function endLeases(db: Db): Promise<void> {
  await db.updateTable('claim').set({ next_step_at_ms: 0 }).where('state', '=', 'reserved').execute()
}

/** As if the time had come to ask the issuer for codes that wait for their approval. */
export async function endLoadWaits(db: Db): Promise<void> {
  await db.updateTable('code_load').set({ next_try_at_ms: 0 }).execute()
}

/** Waits until the server has stored that it sent the answers of new events: it does so after them. */
export async function untilAnswered(db: Db, eventIds: readonly number[]): Promise<void> {
  await eventually(
    () => db.selectFrom('made_event').select(['event_id', 'is_answered']).execute(),
    (rows) => eventIds.every((id) => rows.some((row) => row.event_id === id && row.is_answered)),
    20_000,
  )
}

/** When the issuer was last asked for codes that wait, for each stored edit code. */
export async function lastLoadTries(db: Db): Promise<readonly (number | null)[]> {
  const rows = await db.selectFrom('code_load').select('last_try_at_ms').execute()
  return rows.map(({ last_try_at_ms }) => last_try_at_ms)
}

/** Gives a grant as if it was signed with the current secret of its event, which is made where there is none. */
export async function giveGrant(
  grants: Grants,
  db: Db,
  grant: Grant,
): Promise<Awaited<ReturnType<Grants['give']>>> {
  const current = db.selectFrom('grant_secret').select('id').where('event_id', '=', grant.eventId)
  const findCurrent = () => current.where('valid_until_ms', 'is', null).executeTakeFirst()
  if (!(await findCurrent())) await grants.makeSecret(grant.eventId)
  return grants.give(grant, (await findCurrent())!.id)
}
