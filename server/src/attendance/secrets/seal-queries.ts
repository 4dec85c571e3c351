import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { SecretKind } from './vault.ts'

/** The access token of the issuer belongs to no row of others. */
export const TOKEN_BINDING = 'issuer'

/** What names a code. */
export interface CodePlace {
  readonly event_id: number
  readonly id: number
}

export interface SealedCode extends CodePlace {
  readonly sealed: Buffer
}

/** A stored secret of an event. */
export interface SealedSecret {
  readonly kind: Extract<SecretKind, 'claim-code' | 'edit-code' | 'grant-secret'>
  readonly sealed: Buffer
  readonly eventId: number
}

/**
 * The first and the last secret of each table that keeps them for long: an interrupted change of keys leaves different keys at
 * the two ends. Edit codes and secrets of grants that have ended are left out: nothing uses them, and they are deleted. A
 * captcha lives for two minutes, and the access token of the issuer is requested anew.
 */
export async function firstAndLastSecrets(db: Db, nowMs: number): Promise<readonly SealedSecret[]> {
  const load = sql`select 'edit-code', sealed, event_id from code_load where until_ms > ${nowMs}`
  const secret = sql`
    select 'grant-secret', sealed, event_id from grant_secret where valid_until_ms is null or valid_until_ms > ${nowMs}`
  const { rows } = await sql<SealedSecret>`
    (select 'claim-code' as kind, sealed, event_id as "eventId" from claim_code order by event_id, id limit 1)
    union all
    (select 'claim-code', sealed, event_id from claim_code order by event_id desc, id desc limit 1)
    union all
    (${load} order by event_id limit 1)
    union all
    (${load} order by event_id desc limit 1)
    union all
    (${secret} order by event_id, id limit 1)
    union all
    (${secret} order by event_id desc, id desc limit 1)`.execute(db)
  return rows
}

/** How many codes are not sealed as `prefix` says: see `currentPrefix` of the vault. */
export async function countOutdatedCodes(db: Db, prefix: Buffer): Promise<number> {
  const row = await db
    .selectFrom('claim_code')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(isOutdated(prefix))
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

/** Codes after one of them that are not sealed as `prefix` says, in the order of their events and ids. */
export async function outdatedCodes(
  db: Db,
  { prefix, after, limit }: { readonly prefix: Buffer; readonly after: CodePlace; readonly limit: number },
): Promise<readonly SealedCode[]> {
  return db
    .selectFrom('claim_code')
    .select(['id', 'event_id', 'sealed'])
    .where(sql<boolean>`(event_id, id) > (${after.event_id}::integer, ${after.id}::bigint)`)
    .where(isOutdated(prefix))
    .orderBy('event_id')
    .orderBy('id')
    .limit(limit)
    .execute()
}

function isOutdated(prefix: Buffer) {
  return sql<boolean>`substring(sealed from 1 for ${prefix.length}::integer) <> ${prefix}::bytea`
}

export interface ResealedCode extends CodePlace {
  readonly old: Buffer
  readonly sealed: Buffer
  readonly fingerprint: Buffer
}

/** Replaces sealed codes and their keyed hashes, except codes that were replaced since. @returns how many */
export async function replaceCodes(db: Db, codes: readonly ResealedCode[]): Promise<number> {
  const hex = (value: Buffer) => value.toString('hex')
  const { rows } = await sql`
    update claim_code
    set sealed = decode(given.sealed, 'hex'), fingerprint = decode(given.fingerprint, 'hex')
    from unnest(
      ${codes.map(({ event_id }) => event_id)}::integer[], ${codes.map(({ id }) => id)}::bigint[],
      ${codes.map(({ old }) => hex(old))}::text[],
      ${codes.map(({ sealed }) => hex(sealed))}::text[], ${codes.map(({ fingerprint }) => hex(fingerprint))}::text[]
    ) as given (event_id, id, old, sealed, fingerprint)
    where claim_code.event_id = given.event_id and claim_code.id = given.id and claim_code.sealed = decode(given.old, 'hex')
    returning claim_code.id`.execute(db)
  return rows.length
}

export async function pendingCaptchas(db: Db, prefix: Buffer) {
  return db.selectFrom('captcha').select(['uuid', 'sealed']).where(isOutdated(prefix)).execute()
}

export async function replaceCaptchaSeal(
  db: Db,
  { uuid, old, sealed }: { readonly uuid: string; readonly old: Buffer; readonly sealed: Buffer },
): Promise<void> {
  await db.updateTable('captcha').set({ sealed }).where('uuid', '=', uuid).where('sealed', '=', old).execute()
}

/** Edit codes that wait until the issuer approves codes, and are not sealed as `prefix` says. */
export async function waitingEditCodes(db: Db, prefix: Buffer) {
  return db
    .selectFrom('code_load')
    .select(['event_id', 'sealed', 'until_ms'])
    .where(isOutdated(prefix))
    .execute()
}

export async function replaceEditCodeSeal(
  db: Db,
  { eventId, old, sealed }: { readonly eventId: number; readonly old: Buffer; readonly sealed: Buffer },
): Promise<void> {
  const query = db.updateTable('code_load').set({ sealed })
  await query.where('event_id', '=', eventId).where('sealed', '=', old).execute()
}

export async function grantSecrets(db: Db, prefix: Buffer) {
  return db
    .selectFrom('grant_secret')
    .select(['id', 'event_id', 'sealed', 'valid_until_ms'])
    .where(isOutdated(prefix))
    .execute()
}

export async function replaceGrantSecret(
  db: Db,
  { event_id, id, old, sealed }: CodePlace & { readonly old: Buffer; readonly sealed: Buffer },
): Promise<void> {
  await db
    .updateTable('grant_secret')
    .set({ sealed })
    .where('event_id', '=', event_id)
    .where('id', '=', id)
    .where('sealed', '=', old)
    .execute()
}

export async function replaceTokenSeal(db: Db, old: Buffer, sealed: Buffer): Promise<void> {
  await db.updateTable('issuer_token').set({ sealed }).where('sealed', '=', old).execute()
}

/**
 * Only one process at a time adds codes while keys are being changed. The constraint of the table compares keyed hashes
 * of one key only: two processes with different keys could add the same code at the same time.
 */
export async function lockCodes(db: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('landpass claim codes'))`.execute(db)
}
