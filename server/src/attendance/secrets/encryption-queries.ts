import { type RawBuilder, sql } from 'kysely'
import { readAllEvents } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import type { SecretKind } from './vault.ts'

/** The access token of the issuer belongs to no row of others. */
export const TOKEN_BINDING = 'issuer'

/** What names a code. */
export interface CodePlace {
  readonly event_id: number
  readonly id: number
}

export interface EncryptedCode extends CodePlace {
  readonly encrypted: Buffer
}

/** A stored secret of an event. */
export interface EncryptedSecret {
  readonly kind: Extract<SecretKind, 'claim-code' | 'edit-code' | 'grant-secret'>
  readonly encrypted: Buffer
  readonly eventId: number
}

/**
 * The first and the last secret of each table that keeps them for long: an interrupted change of keys leaves different keys at
 * the two ends. Edit codes and secrets of grants that have ended are left out: nothing uses them, and they are deleted. A
 * captcha lives for two minutes, and the access token of the issuer is requested anew.
 */
export async function firstAndLastSecrets(db: Db, nowMs: number): Promise<readonly EncryptedSecret[]> {
  const isCurrent = sql`valid_until_ms is null or valid_until_ms > ${nowMs}`
  return [
    ...(await firstAndLast(db, { kind: 'claim-code', table: 'claim_code', condition: sql`true` })),
    ...(await firstAndLast(db, {
      kind: 'edit-code',
      table: 'code_load',
      condition: sql`until_ms > ${nowMs}`,
    })),
    ...(await firstAndLast(db, { kind: 'grant-secret', table: 'grant_secret', condition: isCurrent })),
  ]
}

interface KeptSecrets {
  readonly kind: EncryptedSecret['kind']
  readonly table: 'claim_code' | 'code_load' | 'grant_secret'
  readonly condition: RawBuilder<unknown>
}

async function firstAndLast(
  db: Db,
  { kind, table, condition }: KeptSecrets,
): Promise<readonly EncryptedSecret[]> {
  const id = table === 'code_load' ? sql`event_id` : sql`event_id, id`
  const lastId = table === 'code_load' ? sql`event_id desc` : sql`event_id desc, id desc`
  const found = await readAllEvents(
    db,
    table,
    (secrets) => sql<{ event_id: number; hex: string }>`
      (select event_id, encode(encrypted, 'hex') as hex from ${secrets} where ${condition} order by ${id} limit 1)
      union all
      (select event_id, encode(encrypted, 'hex') from ${secrets} where ${condition} order by ${lastId} limit 1)`,
  )
  return found.map(({ event_id: eventId, hex }) => ({ kind, eventId, encrypted: Buffer.from(hex, 'hex') }))
}

/** How many codes are not encrypted as `prefix` says: see `currentPrefix` of the vault. */
export async function countOutdatedCodes(db: Db, prefix: Buffer): Promise<number> {
  const row = await db
    .selectFrom('claim_code')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(isOutdated(prefix))
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

/** Codes after one of them that are not encrypted as `prefix` says, in the order of their events and ids. */
export async function outdatedCodes(
  db: Db,
  { prefix, after, limit }: { readonly prefix: Buffer; readonly after: CodePlace; readonly limit: number },
): Promise<readonly EncryptedCode[]> {
  return db
    .selectFrom('claim_code')
    .select(['id', 'event_id', 'encrypted'])
    .where(sql<boolean>`(event_id, id) > (${after.event_id}::integer, ${after.id}::bigint)`)
    .where(isOutdated(prefix))
    .orderBy('event_id')
    .orderBy('id')
    .limit(limit)
    .execute()
}

function isOutdated(prefix: Buffer) {
  return sql<boolean>`substring(encrypted from 1 for ${prefix.length}::integer) <> ${prefix}::bytea`
}

export interface ReencryptedCode extends CodePlace {
  readonly old: Buffer
  readonly encrypted: Buffer
  readonly fingerprint: Buffer
}

/** Replaces encrypted codes and their keyed hashes, except codes that were replaced since. @returns how many */
export async function replaceCodes(db: Db, codes: readonly ReencryptedCode[]): Promise<number> {
  const hex = (value: Buffer) => value.toString('hex')
  const { rows } = await sql`
    update claim_code
    set encrypted = decode(given.encrypted, 'hex'), fingerprint = decode(given.fingerprint, 'hex')
    from unnest(
      ${codes.map(({ event_id }) => event_id)}::integer[], ${codes.map(({ id }) => id)}::bigint[],
      ${codes.map(({ old }) => hex(old))}::text[],
      ${codes.map(({ encrypted }) => hex(encrypted))}::text[], ${codes.map(({ fingerprint }) => hex(fingerprint))}::text[]
    ) as given (event_id, id, old, encrypted, fingerprint)
    where claim_code.event_id = given.event_id and claim_code.id = given.id and claim_code.encrypted = decode(given.old, 'hex')
    returning claim_code.id`.execute(db)
  return rows.length
}

export async function pendingCaptchas(db: Db, prefix: Buffer) {
  return db.selectFrom('captcha').select(['uuid', 'encrypted']).where(isOutdated(prefix)).execute()
}

export async function replaceEncryptedCaptcha(
  db: Db,
  { uuid, old, encrypted }: { readonly uuid: string; readonly old: Buffer; readonly encrypted: Buffer },
): Promise<void> {
  await db
    .updateTable('captcha')
    .set({ encrypted })
    .where('uuid', '=', uuid)
    .where('encrypted', '=', old)
    .execute()
}

/** Edit codes that wait until the issuer approves codes, and are not encrypted as `prefix` says. */
export async function waitingEditCodes(db: Db, prefix: Buffer) {
  return db
    .selectFrom('code_load')
    .select(['event_id', 'encrypted', 'until_ms'])
    .where(isOutdated(prefix))
    .execute()
}

export async function replaceEncryptedEditCode(
  db: Db,
  { eventId, old, encrypted }: { readonly eventId: number; readonly old: Buffer; readonly encrypted: Buffer },
): Promise<void> {
  const query = db.updateTable('code_load').set({ encrypted })
  await query.where('event_id', '=', eventId).where('encrypted', '=', old).execute()
}

export async function grantSecrets(db: Db, prefix: Buffer) {
  return db
    .selectFrom('grant_secret')
    .select(['id', 'event_id', 'encrypted', 'valid_until_ms'])
    .where(isOutdated(prefix))
    .execute()
}

export async function replaceGrantSecret(
  db: Db,
  { event_id, id, old, encrypted }: CodePlace & { readonly old: Buffer; readonly encrypted: Buffer },
): Promise<void> {
  await db
    .updateTable('grant_secret')
    .set({ encrypted })
    .where('event_id', '=', event_id)
    .where('id', '=', id)
    .where('encrypted', '=', old)
    .execute()
}

export async function replaceEncryptedToken(db: Db, old: Buffer, encrypted: Buffer): Promise<void> {
  await db.updateTable('issuer_token').set({ encrypted }).where('encrypted', '=', old).execute()
}

/**
 * Only one process at a time adds codes while keys are being changed. The constraint of the table compares keyed hashes
 * of one key only: two processes with different keys could add the same code at the same time.
 */
export async function lockCodes(db: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('landpass claim codes'))`.execute(db)
}
