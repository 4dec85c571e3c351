import { countPlaces } from '@landpass/server/attendance/events/place-queries'
import { Vault } from '@landpass/server/attendance/secrets/vault'
import type { Db } from '@landpass/server/db/engine'
import type { ClaimState, CodeState } from '@landpass/server/db/schema'
import { inSnapshot } from '@landpass/server/db/transaction'
import type { Verdict } from '../script.ts'
import { ownCode } from './own-mints.ts'
import type { Mint } from './simulators.ts'

export interface ClaimRecord {
  readonly address: string
  readonly state: ClaimState
  readonly reason: string | null
  /** Decrypted, or the name of its place; undefined when the claim has none. */
  readonly code: string | undefined
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Claims and codes of one event in the database. */
export interface EventRecords {
  readonly claims: readonly ClaimRecord[]
  /** Claims for which it is not known whether there will be a token. */
  readonly reserved: readonly ClaimRecord[]
  /** Claims that are reserved or minting. */
  readonly underWay: readonly ClaimRecord[]
  readonly minted: readonly ClaimRecord[]
  /** How many codes are in each state. */
  readonly codes: Readonly<Record<CodeState, number>>
}

export async function readEventRecords(db: Db, eventId: number, key: string): Promise<EventRecords> {
  const vault = new Vault(Buffer.from(key, 'hex'))
  // One snapshot: between two queries a claim and its code could change
  const { codeRows, claimRows, places } = await inSnapshot(db, async (tx) => ({
    codeRows: await tx
      .selectFrom('claim_code')
      .select(['id', 'encrypted', 'state'])
      .where('event_id', '=', eventId)
      .execute(),
    claimRows: await tx
      .selectFrom('claim')
      .leftJoin('token', (join) =>
        join.onRef('token.event_id', '=', 'claim.event_id').onRef('token.address', '=', 'claim.address'),
      )
      .selectAll('claim')
      .select('number')
      .where('claim.event_id', '=', eventId)
      .execute(),
    places: await countPlaces(tx, eventId),
  }))
  const encryptedById = new Map(codeRows.map(({ id, encrypted }) => [id, encrypted]))
  const claims = claimRows.map((row) => {
    const encrypted = row.code_id === null ? undefined : encryptedById.get(row.code_id)
    return {
      address: row.address,
      state: row.state,
      reason: row.reason,
      code:
        row.number === null
          ? encrypted && vault.decrypt('claim-code', Buffer.from(encrypted), String(eventId))
          : ownCode(eventId, row.number),
      createdAtMs: row.created_at_ms,
      updatedAtMs: row.updated_at_ms,
    }
  })
  const codes = { free: 0, held: 0, used: 0, used_elsewhere: 0, void: 0 }
  for (const { state } of codeRows) codes[state] += 1
  if (places) {
    codes.free = places.places - places.taken
    codes.held = claims.filter(({ state }) => state === 'reserved').length
    codes.used = places.taken - codes.held
  }
  return {
    claims,
    reserved: claims.filter(({ state }) => state === 'reserved'),
    underWay: claims.filter(({ state }) => state === 'reserved' || state === 'minting'),
    minted: claims.filter(({ state }) => state === 'minted'),
    codes,
  }
}

/**
 * Compares the database with the issuer's ledger: no claim is under way, every token has a claim with its player and
 * code, no code and no player occurs twice, and a claim without a token has none at the issuer.
 */
export function compareWithLedger(
  verdict: Verdict,
  where: string,
  records: EventRecords,
  mints: readonly Mint[],
): void {
  verdict.equal(`${where}: claims under way`, records.underWay.length, 0)
  verdict.equal(`${where}: codes held by no minted claim`, records.codes.held, 0)
  verdict.equal(`${where}: codes used`, records.codes.used, records.minted.length)
  verdict.equal(`${where}: tokens of a code that was used before`, repeated(mints.map(({ code }) => code)), 0)
  verdict.equal(`${where}: further tokens of one player`, repeated(mints.map(({ address }) => address)), 0)
  const atIssuer = new Set(mints.map(({ address, code }) => `${address} ${code}`))
  const claimed = new Set(records.minted.map(({ address, code }) => `${address} ${code}`))
  verdict.equal(`${where}: tokens without a claim`, countMissing(atIssuer, claimed), 0)
  verdict.equal(`${where}: claims without their token`, countMissing(claimed, atIssuer), 0)
}

function repeated(values: readonly string[]): number {
  return values.length - new Set(values).size
}

function countMissing(of: ReadonlySet<string>, from: ReadonlySet<string>): number {
  return [...of].filter((one) => !from.has(one)).length
}
