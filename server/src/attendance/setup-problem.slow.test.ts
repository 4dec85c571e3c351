import { beforeEach, expect, test, vi } from 'vitest'
import { describeOnOneEngine } from '../../test/support/database/engines.ts'
import { testClock } from '../../test/support/http/land-server.ts'
import { readConfig } from '../config/config.ts'
import type { Db } from '../db/engine.ts'
import { mergeCodes } from './codes/code-queries.ts'
import { putLoad } from './codes/load-queries.ts'
import { saveEvent } from './events/event-queries.ts'
import { replaceSecret } from './grants/grant-queries.ts'
import { Vault } from './secrets/vault.ts'
import { checkVault, halfSetCredentials } from './setup-problem.ts'

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
  const warn = vi.fn()
  const check = (db: Db, vault: Vault) => checkVault(db, vault, { nowMs, log: { warn } })
  beforeEach(() => warn.mockReset())
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
        putLoad(
          db,
          { eventId, encrypted: vault.encrypt('edit-code', '012345', `${eventId}`), untilMs },
          nowMs,
        ),
    ],
    [
      'secrets of grants',
      (db) => {
        const encrypted = vault.encrypt('grant-secret', 'lps_one', `${eventId}`)
        return replaceSecret(db, { eventId, encrypted, nowMs, previousUntilMs: nowMs })
      },
    ],
  ])('finds one that does not decrypt the stored %s', async (words, store) => {
    const { db } = await open()
    for (const table of ['claim_code', 'code_load', 'grant_secret'] as const)
      await db.deleteFrom(table).execute()
    eventId += 1
    await saveEvent(db, { eventId, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs })
    expect(await check(db, new Vault(wrong)), 'nothing is stored').toBeUndefined()
    await store(db)

    expect(await check(db, new Vault(right))).toBeUndefined()
    expect(await check(db, new Vault(wrong, { otherKeys: [right] }))).toBeUndefined()
    expect(await check(db, new Vault(wrong))).toEqual({
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
      const encrypted = new Vault(key).encrypt('grant-secret', 'lps_one', `${eventId}`)
      await replaceSecret(db, { eventId, encrypted, nowMs, previousUntilMs: nowMs })
    }

    expect(await check(db, new Vault(wrong))).toMatchObject({ settings: ['ATTENDANCE_KEY'] })
    expect(await check(db, new Vault(right))).toMatchObject({ settings: ['ATTENDANCE_KEY'] })
  })

  /** An event with a claim code that `key` decrypts, and nothing else. */
  async function givenCode(db: Db, key: Buffer): Promise<void> {
    for (const table of ['claim_code', 'code_load', 'grant_secret'] as const)
      await db.deleteFrom(table).execute()
    eventId += 1
    await saveEvent(db, { eventId, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs })
    const listed = [{ code: 'k3v9zq', isClaimed: false }]
    await mergeCodes(db, new Vault(key), { eventId, listed, nowMs })
  }

  const putEditCode = (db: Db, untilMs: number) =>
    putLoad(db, { eventId, encrypted: vault.encrypt('edit-code', '012345', `${eventId}`), untilMs }, nowMs)
  const putSecret = (db: Db, valid_until_ms: number | null) =>
    db
      .insertInto('grant_secret')
      .values({
        ...{ event_id: eventId, created_at_ms: 1, valid_until_ms },
        encrypted: vault.encrypt('grant-secret', 'lps_one', `${eventId}`),
      })
      .execute()

  test('serves with keys that decrypt the claim codes, and warns of what they do not decrypt', async () => {
    const { db } = await open()
    await givenCode(db, wrong)
    await putEditCode(db, untilMs)
    await putSecret(db, null)

    expect(await check(db, new Vault(wrong))).toBeUndefined()
    expect(warn.mock.calls).toEqual([
      [{ event_id: eventId }, expect.stringContaining('do not decrypt stored edit codes')],
      [{ event_id: eventId }, expect.stringContaining('do not decrypt stored secrets of grants')],
    ])
    expect(JSON.stringify(warn.mock.calls)).not.toMatch(/012345|lps_one/)
  })

  test('does not serve with keys that decrypt secrets of grants, but no claim code', async () => {
    const { db } = await open()
    await givenCode(db, wrong)
    await putSecret(db, null)

    expect(await check(db, new Vault(right))).toMatchObject({
      reason: expect.stringMatching(/decrypt the stored claim codes$/),
    })
    expect(warn).not.toHaveBeenCalled()
  })

  test('ignores edit codes and secrets of grants that have ended, with claim codes and without', async () => {
    const { db } = await open()
    await givenCode(db, wrong)
    await putEditCode(db, nowMs)
    await putSecret(db, nowMs)

    expect(await check(db, new Vault(wrong))).toBeUndefined()
    await db.deleteFrom('claim_code').execute()
    expect(await check(db, new Vault(wrong))).toBeUndefined()
    expect(warn).not.toHaveBeenCalled()
  })
})
