import type { Db } from '../../db/engine.ts'
import { parseOwnCode } from '../issuer/own-codes.ts'
import { UnreadableSecretError, type Vault } from '../vault.ts'
import { storeNumbers, unnumberedCodes } from './code-queries.ts'

/**
 * Stores the numbers of codes that a server of an earlier version has stored without them. Codes that no key of this process
 * decrypts are left out.
 */
export async function numberCodes(db: Db, vault: Vault): Promise<void> {
  for (let after = 0; ; ) {
    const codes = await unnumberedCodes(db, after)
    const last = codes.at(-1)
    if (!last) return
    after = last.id
    const numbered = codes.flatMap(({ id, sealed, event_id }) => {
      const number = numberOf(vault, sealed, event_id)
      return number === undefined ? [] : [{ id, number }]
    })
    await storeNumbers(db, numbered)
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
