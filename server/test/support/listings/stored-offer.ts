import type { Clock } from '../../../src/clock.ts'
import type { Db } from '../../../src/db/engine.ts'
import type { SignedTradeTable } from '../../../src/db/schema.ts'
import { hashOf } from '../land/land-rows.ts'
import { ANN, BOB } from '../land/tiny-world.ts'

/** Later than the tests. */
const FAR = Date.UTC(2100, 0)

/**
 * Stores an offer that was signed off the chain, in a state that the chain was found to give it, as a process that reads offers does:
 * one for MANA, unless the facts say otherwise.
 */
export async function storeOffer(
  db: Db,
  clock: Clock,
  facts: Pick<SignedTradeTable, 'asset_id' | 'price' | 'state'> & Partial<SignedTradeTable>,
): Promise<void> {
  const { world_id } = await db.selectFrom('land_state').select('world_id').executeTakeFirstOrThrow()
  const nowMs = clock.nowMs()
  const { reading = 'listings' } = facts
  await db
    .insertInto('listings_reading')
    .values({
      ...{ name: reading, holder: 'a process', lease_until_ms: FAR, is_shown: true, world_id },
      state: 'following',
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const name = JSON.stringify(facts)
  await db
    .insertInto('signed_trade')
    .values({
      ...{ id: name, reading, trade: '{}', marketplace: ANN, signer: BOB, is_signed: true },
      ...{
        signature_hash: hashOf(name),
        signature_key: hashOf(name),
        asset_type: 'parcel',
        currency: 'mana',
      },
      ...{ fingerprint: '', uses: '1', contract_index: '0', signer_index: '0' },
      asset_index: reading === 'rentals' ? '0' : null,
      ...{ effective_at_ms: 0, expires_at_ms: FAR, created_at_ms: nowMs, seen_at_ms: nowMs },
      ...facts,
    })
    .execute()
}
