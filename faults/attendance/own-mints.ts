import { MAINNET_DOMAIN, verifyToken } from '@landpass/client/tokens'
import { tokenPackage } from '@landpass/server/attendance/issuers/own/signing/token-message'
import { isSigned, tokens } from '@landpass/server/attendance/issuers/own/tokens/token-queries'
import type { Db } from '@landpass/server/db/engine'
import type { Mint } from './simulators.ts'

/** A place of an event that was made here, as a ledger names a code. */
export function ownCode(eventId: number, number: number): string {
  return `own:${eventId}:${number}`
}

/**
 * The tokens of an event that was made here, as a ledger has them. One without a signature, or with one that the verifier
 * refuses, has a code that no claim has.
 */
export async function readOwnMints(db: Db, eventId: number): Promise<Mint[]> {
  const rows = await tokens(db).where('token.event_id', '=', eventId).execute()
  const keys = await db.selectFrom('token_key').select('address').execute()
  const issuers = keys.map(({ address }) => ({ address, state: 'active' as const }))
  return rows.map((token) => {
    const mint = { event_id: eventId, address: token.address, at: token.timeS }
    if (!isSigned(token)) return { ...mint, code: `unsigned ${token.id}` }
    const trust = { issuers, domain: MAINNET_DOMAIN, nowMs: Date.now() }
    const { verdict, signed } = verifyToken(tokenPackage(token, token), trust)
    const isRight = verdict === 'genuine' && signed?.uid === `0x${token.uid.toString('hex')}`
    const code = isRight ? ownCode(eventId, token.number) : `${verdict} ${token.id}`
    return { ...mint, code }
  })
}
