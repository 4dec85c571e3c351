import { randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { freshEngine } from '../../../../../test/support/database/engines.ts'
import type { Db } from '../../../../db/engine.ts'
import { inTransaction } from '../../../../db/transaction.ts'
import { insertMadeEvent } from '../made-events/made-event-queries.ts'
import { TokenPictures } from './token-pictures.ts'

const open = freshEngine('postgres')
const EVENTS = 26
const TOKENS = 2
const PICTURE_BYTES = 787_000
const LIMIT_BYTES = 16 * 1024 * 1024

/** An event with a picture. @returns the ids of its tokens */
async function makeEvent(db: Db): Promise<readonly string[]> {
  const event = await inTransaction(db, (tx) =>
    insertMadeEvent(tx, {
      ...{ record: () => ({}), coordinates: '0,0', requiresCaptcha: false, requiresPresence: false },
      ...{
        startAtMs: null,
        endAtMs: null,
        timeZone: null,
        expiresAtMs: 0,
        editCodeHash: Buffer.alloc(32),
        supply: TOKENS,
      },
      ...{ approval: 'approved', hidesHolders: false, nowMs: 0 },
      image: { file: randomBytes(PICTURE_BYTES), isDrawn: false },
    }),
  )
  const rows = Array.from({ length: TOKENS }, (_, at) => ({
    ...{ id: randomUUID(), event_id: event.event_id, address: `0x${at}`, signer: '0x1', time_s: at },
    ...{ event_name: 'E', event_location: '0,0', salt: Buffer.alloc(32), number: at + 1 },
    ...{ uid: Buffer.alloc(32), signature: Buffer.alloc(65), revoked_at_s: null, revoked_reason: null },
  }))
  await db.insertInto('token').values(rows).execute()
  return rows.map(({ id }) => id)
}

test('tokens of many events, read in turn, hold no more pictures than the cache counts', async () => {
  const { db } = await open()
  const pictures = new TokenPictures(db)
  const tokens: (readonly string[])[] = []
  for (let n = 0; n < EVENTS; n++) tokens.push(await makeEvent(db))
  const read = async (id: string) => {
    const { png } = await pictures.ofToken(id, async () => {})
    expect(png).toHaveLength(PICTURE_BYTES)
  }
  for (let at = 0; at < TOKENS; at++) for (const ofEvent of tokens) await read(ofEvent[at]!)

  const held = new Set(tokens.flat().flatMap((id) => pictures.cached(id)?.png ?? []))
  expect(held.size).toBeGreaterThan(1)
  expect(held.size * PICTURE_BYTES).toBeLessThanOrEqual(LIMIT_BYTES)
  // Tokens of an event share its picture
  const last = tokens.at(-1)!
  expect(pictures.cached(last[0]!)).toBe(pictures.cached(last[1]!))
  expect(pictures.cached(last[0]!)?.png).toHaveLength(PICTURE_BYTES)
})
