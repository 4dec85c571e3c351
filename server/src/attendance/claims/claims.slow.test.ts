import type { KyselyPlugin } from 'kysely'
import { expect, test } from 'vitest'
import { freshEngine } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import { getEvent, saveEvent } from '../events/event-queries.ts'
import { Vault } from '../secrets/vault.ts'
import { Claims } from './claims.ts'
import { insertClaim } from './reserve-queries.ts'

const EVENT = 90_001
const ADDRESS = `0x${'a'.repeat(40)}`
const open = freshEngine('postgres')

/** Calls a function after the first statement, before the second one. */
function afterFirstStatement(between: () => Promise<void>): KyselyPlugin {
  let statements = 0
  return {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      statements += 1
      if (statements === 1) await between()
      return result
    },
  }
}

test('a player to whom another process gives the last code meanwhile gets that claim, and no refusal', async () => {
  const { db } = await open()
  const clock = testClock()
  const nowMs = clock.nowMs()
  const event = { eventId: EVENT, record: { id: EVENT }, coordinates: '0,0', expiresAtMs: undefined, nowMs }
  await saveEvent(db, event)
  const otherProcess = afterFirstStatement(async () => {
    const listed = [{ code: 'last', isClaimed: false }]
    await mergeCodes(db, new Vault(Buffer.alloc(32, 3)), { eventId: EVENT, listed, nowMs })
    const claim = { eventId: EVENT, address: ADDRESS, nowMs, nextStepAtMs: nowMs }
    const { made } = await insertClaim(db, claim, { request: undefined, wait: false })
    expect(made).toBeDefined()
  })
  const claims = new Claims({
    db: db.withPlugin(otherProcess),
    clock,
    worker: { hasRoom: false, take: () => {}, waitForStep: async () => undefined },
    signedFetch: { assertFirstUse: () => {} },
    codeCounts: { forget: () => {}, isRefused: async () => false },
    grants: { assertGranted: async () => {} },
    prepareToken: async () => undefined,
    waitMs: 0,
  })

  const claim = await claims.claim(await getEvent(db, { eventId: EVENT }), ADDRESS)

  expect(claim).toMatchObject({ address: ADDRESS, state: 'reserved' })
})
