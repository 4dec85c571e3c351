import { beforeAll, expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import type { Db } from '../../db/engine.ts'
import { saveEvent } from '../events/event-queries.ts'
import { claimsCsv, placeText, readPlace } from './claim-list.ts'
import { allClaims, LIST_START, listClaims } from './claim-list-queries.ts'
import { exportPieces } from './event-export.ts'

/** Two batches and a bit of a third. */
const CLAIMS = 1_001
const [EVENT, NEIGHBOUR] = [7, 8] as const

describeOnBothEngines('the list of claims', (open) => {
  const nowMs = testClock().nowMs()
  let db: Db
  beforeAll(async () => {
    db = (await open()).db
    for (const eventId of [EVENT, NEIGHBOUR])
      await saveEvent(db, { eventId, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs })
    // Four claims in each millisecond, and the second half is inserted first
    const numbers = Array.from({ length: CLAIMS }, (_, n) => (n + 500) % CLAIMS)
    const rows = numbers.map((n) => ({
      ...{ event_id: EVENT as number, address: addressOf(n), code_id: null, state: 'failed' as const },
      ...{ reason: 'rejected', tx_hash: null, attempts: 1, next_step_at_ms: null },
      ...{ created_at_ms: nowMs + Math.floor(n / 4), updated_at_ms: nowMs },
    }))
    await db.insertInto('claim').values(rows).execute()
    await db
      .insertInto('claim')
      .values({ ...rows[0]!, event_id: NEIGHBOUR })
      .execute()
  })

  test('has every claim of the event once, in the order of time, whatever the size of pages', async () => {
    const seen: string[] = []
    for (let after: string | null = placeText(LIST_START); after; ) {
      const page = await listClaims(db, EVENT, { after: readPlace(after), limit: 301 })
      seen.push(...page.map(({ address }) => address))
      after = page.length === 301 ? placeText(page.at(-1)!) : null
    }

    expect(new Set(seen).size).toBe(CLAIMS)
    expect(seen.map((address) => Math.floor(Number(address) / 4))).toEqual(
      Array.from({ length: CLAIMS }, (_, n) => Math.floor(n / 4)),
    )
  })

  test('is read in pieces, which together are the CSV and the JSON of the export', async () => {
    const csv = await piecesOf(claimsCsv(allClaims(db, EVENT)))
    const json = await piecesOf(exportPieces({ places: [] }, allClaims(db, EVENT)))
    const none = await piecesOf(exportPieces({ places: [] }, allClaims(db, 99)))

    expect(csv).toHaveLength(1 + 3)
    expect(csv[0]).toBe('\ufeffmade_at,address,state,reason,token,tx_hash,given\r\n')
    expect(csv.join('').split('\r\n')).toHaveLength(1 + CLAIMS + 1)
    expect(csv[1]!.split('\r\n')[0]).toMatch(/^2026-11-20T00:00:00.000Z,0x0{38}..,failed,rejected,,,$/)
    expect(json).toHaveLength(1 + 3 + 1)
    expect(JSON.parse(json.join('')).claims).toHaveLength(CLAIMS)
    expect(JSON.parse(none.join(''))).toEqual({ places: [], claims: [] })
  })
})

function addressOf(n: number): string {
  return `0x${n.toString(16).padStart(40, '0')}`
}

async function piecesOf(pieces: AsyncIterable<string>): Promise<readonly string[]> {
  const all: string[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}
