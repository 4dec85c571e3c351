import { expect, test } from 'vitest'
import { describeOnOneEngine } from '../../test/support/engines.ts'
import { testClock } from '../../test/support/land-server.ts'
import { readConfig } from '../config/config.ts'
import type { Db } from '../db/engine.ts'
import { mergeCodes } from './codes/code-queries.ts'
import { putLoad } from './codes/load-queries.ts'
import { saveEvent } from './events/event-queries.ts'
import { replaceSecret } from './grants/grant-queries.ts'
import { checkVault, halfSetCredentials } from './setup-problem.ts'
import { Vault } from './vault.ts'

const ALL = { ISSUER_API_KEY: 'key', ISSUER_CLIENT_ID: 'client', ISSUER_CLIENT_SECRET: 'secret' }
const saidOf = (env: Record<string, string>) => halfSetCredentials(readConfig(env).attendance.issuer)

test('the log warns where credentials of the other issuer are set in part', () => {
  const { ISSUER_API_KEY, ISSUER_CLIENT_ID } = ALL
  expect(saidOf({ ISSUER_API_KEY })).toMatch(/without ISSUER_CLIENT_ID, ISSUER_CLIENT_SECRET$/)
  expect(saidOf({ ISSUER_API_KEY, ISSUER_CLIENT_ID })).toMatch(/without ISSUER_CLIENT_SECRET$/)
  expect([saidOf({}), saidOf(ALL)]).toEqual([undefined, undefined])
})

describeOnOneEngine('the check of the key at the start', (open) => {
  const nowMs = testClock().nowMs()
  const [right, wrong] = [Buffer.alloc(32, 3), Buffer.alloc(32, 4)]
  const vault = new Vault(right)
  const untilMs = nowMs + 1
  let eventId = 0

  test.each<[string, (db: Db) => Promise<unknown>]>([
    [
      'claim codes',
      (db) => mergeCodes(db, vault, { eventId, listed: [{ code: 'k3v9zq', isClaimed: false }], nowMs }),
    ],
    [
      'edit codes',
      (db) =>
        putLoad(db, { eventId, sealed: vault.seal('edit-code', '012345', `${eventId}`), untilMs }, nowMs),
    ],
    [
      'secrets of grants',
      (db) => {
        const sealed = vault.seal('grant-secret', 'lps_one', `${eventId}`)
        return replaceSecret(db, { eventId, sealed, nowMs, previousUntilMs: nowMs })
      },
    ],
  ])('finds one that does not decrypt the stored %s', async (words, store) => {
    const { db } = await open()
    for (const table of ['claim_code', 'code_load', 'grant_secret'] as const)
      await db.deleteFrom(table).execute()
    eventId += 1
    await saveEvent(db, { eventId, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs })
    expect(await checkVault(db, new Vault(wrong)), 'nothing is stored').toBeUndefined()
    await store(db)

    expect(await checkVault(db, new Vault(right))).toBeUndefined()
    expect(await checkVault(db, new Vault(wrong, { otherKeys: [right] }))).toBeUndefined()
    expect(await checkVault(db, new Vault(wrong))).toEqual({
      settings: ['ATTENDANCE_KEY'],
      reason: `with an ATTENDANCE_KEY that does not decrypt the stored ${words}`,
    })
  })

  test('looks at both ends: a change of keys that was interrupted leaves the new one at the first', async () => {
    const { db } = await open()
    await db.deleteFrom('grant_secret').execute()
    for (const key of [wrong, right]) {
      eventId += 1
      await saveEvent(db, { eventId, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs })
      const sealed = new Vault(key).seal('grant-secret', 'lps_one', `${eventId}`)
      await replaceSecret(db, { eventId, sealed, nowMs, previousUntilMs: nowMs })
    }

    expect(await checkVault(db, new Vault(wrong))).toMatchObject({ settings: ['ATTENDANCE_KEY'] })
    expect(await checkVault(db, new Vault(right))).toMatchObject({ settings: ['ATTENDANCE_KEY'] })
  })
})
