import { randomBytes, randomUUID } from 'node:crypto'
import { GIVEN_BY_ORGANISER } from '@landpass/client/tokens'
import type { Db } from '../../../../db/engine.ts'
import { keySigns } from '../keys/token-key-queries.ts'
import type { TokenMessage } from '../signing/token-message.ts'
import type { TokenSignature } from '../signing/token-signature.ts'

/** The message of a token that a claim is going to get: inserted in the transaction that reserves. */
export interface NewToken {
  readonly id: string
  readonly eventUuid: string
  readonly signer: string
  readonly timeS: number
  readonly eventName: string
  readonly eventLocation: string
  readonly salt: Buffer
}

/** A message with its signature. */
export interface PreparedToken extends NewToken, TokenSignature {}

/** The message of a token of an event now, with ids and salt of its own. */
export function newToken(
  event: { readonly uuid: string; readonly name: string; readonly coordinates: string },
  {
    signer,
    nowMs,
    isGiven = false,
  }: { readonly signer: string; readonly nowMs: number; readonly isGiven?: boolean },
): NewToken {
  const [place = ''] = event.coordinates.split(';')
  const eventLocation = isGiven ? GIVEN_BY_ORGANISER : place
  return {
    id: randomUUID(),
    eventUuid: event.uuid,
    signer,
    timeS: Math.floor(nowMs / 1000),
    eventName: event.name,
    eventLocation,
    salt: randomBytes(32),
  }
}

/** A stored token. */
export interface StoredToken extends TokenMessage {
  readonly eventId: number
  readonly signer: string
  /** Which of the event's tokens it is, from 1 on. */
  readonly number: number
  readonly uid: Buffer | null
  readonly signature: Buffer | null
  readonly revokedAtS: number | null
  readonly revokedReason: string | null
}

/** A token that has its signature: the only ones that are shown. */
export type SignedToken = StoredToken & {
  readonly uid: Buffer
  readonly signature: Buffer
}

export async function findTokenOf(
  db: Db,
  eventId: number,
  address: string,
): Promise<StoredToken | undefined> {
  return tokens(db)
    .where('token.event_id', '=', eventId)
    .where('token.address', '=', address)
    .executeTakeFirst()
}

/**
 * Stores the signature of a token that has none, if its message is still the one that was signed, and the key signs
 * messages of its time.
 *
 * @returns false where the token has a signature, or another message, or the key was rotated or withdrawn
 */
export async function storeSignature(
  db: Db,
  { eventId, id, signer, timeS }: Pick<StoredToken, 'eventId' | 'id' | 'signer' | 'timeS'>,
  { uid, signature }: TokenSignature,
): Promise<boolean> {
  const result = await db
    .updateTable('token')
    .set({ uid: Buffer.from(uid), signature: Buffer.from(signature) })
    .where('event_id', '=', eventId)
    .where('id', '=', id)
    .where('signer', '=', signer)
    .where('time_s', '=', timeS)
    .where('signature', 'is', null)
    .where(keySigns('token'))
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** Gives a message that has no signature to another key, with the time of now. */
export async function renewMessage(
  db: Db,
  { eventId, id }: Pick<StoredToken, 'eventId' | 'id'>,
  { signer, timeS }: Pick<NewToken, 'signer' | 'timeS'>,
): Promise<void> {
  await db
    .updateTable('token')
    .set({ signer, time_s: timeS })
    .where('event_id', '=', eventId)
    .where('id', '=', id)
    .where('signature', 'is', null)
    .execute()
}

/** Tokens with the fields of their messages. */
export function tokens(db: Db) {
  return db
    .selectFrom('token')
    .innerJoin('attendance_event', 'attendance_event.event_id', 'token.event_id')
    .select([
      'token.id',
      'token.event_id as eventId',
      'attendance_event.uuid as eventUuid',
      'token.address',
      'token.signer',
      'token.time_s as timeS',
      'token.event_name as eventName',
      'token.event_location as eventLocation',
      'token.salt',
      'token.number',
      'token.uid',
      'token.signature',
      'token.revoked_at_s as revokedAtS',
      'token.revoked_reason as revokedReason',
    ])
}

export function isSigned<Token extends StoredToken>(token: Token): token is Token & SignedToken {
  return token.signature !== null
}
