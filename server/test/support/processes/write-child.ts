import { createHash } from 'node:crypto'
import { readConfig } from '../../../src/config/config.ts'
import { openEngine } from '../../../src/db/open-engine.ts'
import { TEST_SETTINGS } from '../database/settings.ts'
import { REFERENCE_TIME_MS } from '../http/land-server.ts'
import { applyLandChanges, type LandChange } from '../land/land-changes.ts'

/**
 * Changes the land for as long as it lives: a bid and the name of a parcel, both with the number of the write, in
 * one transaction. Sends each revision once it is acknowledged, with the number of the write that made it.
 */
const [first = '0', bidder = ''] = process.argv.slice(2)
const config = readConfig(process.env)
const engine = await openEngine({
  ...TEST_SETTINGS,
  ...config,
  syncToDisk: config.databaseSync,
  mode: 'join',
})
try {
  for (let number = Number(first); ; number++) {
    const revision = await applyLandChanges(engine.db, changes(number), REFERENCE_TIME_MS + number)
    process.send?.({ number, revision })
  }
} catch {
  // The server that it had joined was killed. Messages are still sent before the channel is closed.
  process.once('disconnect', () => process.exit(1))
  process.disconnect?.()
}

function changes(number: number): LandChange[] {
  const id = `0x${createHash('sha256').update(`${bidder} ${number}`).digest('hex')}`
  return [
    { kind: 'change-parcel', x: 0, y: 0, to: { name: `write ${number}` } },
    {
      kind: 'place-bid',
      bid: {
        id,
        token_address: `0x${'a'.repeat(40)}`,
        token_id: '0',
        bidder,
        seller: `0x${'b'.repeat(40)}`,
        price: String(number),
        expires_at_ms: REFERENCE_TIME_MS + 1,
        fingerprint: '0x',
        status: 'open',
        asset_id: '0,0',
        asset_type: 'parcel',
        block_number: number,
        block_time_created_at_ms: REFERENCE_TIME_MS,
        block_time_updated_at_ms: REFERENCE_TIME_MS,
        created_at_ms: REFERENCE_TIME_MS,
        updated_at_ms: REFERENCE_TIME_MS,
        tx_hash: null,
        log_index: null,
        contract_address: null,
        closed_by: null,
        closed_tx_hash: null,
        sold_size: null,
        sold_log_index: null,
      },
    },
  ]
}
