import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../test/support/database/engines.ts'
import { testClock } from '../../test/support/http/land-server.ts'
import type { Db } from '../db/engine.ts'
import { mergeCodes } from './codes/code-queries.ts'
import { putLoad } from './codes/load-queries.ts'
import { countCodes, saveEvent } from './events/event-queries.ts'
import { replaceSecret } from './grants/grant-queries.ts'
import { reencrypt } from './reencrypt.ts'
import { countOutdatedCodes, TOKEN_BINDING } from './secrets/encryption-queries.ts'
import { Vault } from './secrets/vault.ts'

const [OLD, NEXT] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)]
const NOW = testClock().nowMs()
const CODES = Array.from({ length: 450 }, (_, i) => `code${i}`)
const NONE_LEFT = { editCodesLeft: 0, secretsLeft: 0 }
let lastEvent = 0

describeOnBothEngines('a change of keys', (open) => {
  /** An event whose codes are stored with the old key. */
  async function givenEvent(
    db: Db,
  ): Promise<{ eventId: number; listed: { code: string; isClaimed: boolean }[] }> {
    const eventId = ++lastEvent
    await db.deleteFrom('claim_code').execute()
    await saveEvent(db, {
      eventId,
      record: { id: 1 },
      coordinates: '0,0',
      expiresAtMs: undefined,
      nowMs: NOW,
    })
    const listed = CODES.map((code) => ({ code, isClaimed: false }))
    await mergeCodes(db, new Vault(OLD), { eventId, listed, nowMs: NOW })
    return { eventId, listed }
  }

  async function readCodes(db: Db, vault: Vault) {
    const rows = await db.selectFrom('claim_code').selectAll().execute()
    return rows.map(({ encrypted, event_id, fingerprint }) => {
      const code = vault.decrypt('claim-code', encrypted, String(event_id))
      return { code, isCurrent: vault.fingerprint('claim-code', code).equals(fingerprint) }
    })
  }

  test('encrypts codes, captchas, waiting edit codes, secrets of grants and the token anew; interrupted, it goes on where it was', async () => {
    const { db } = await open()
    const { eventId } = await givenEvent(db)
    const old = new Vault(OLD)
    const captcha = {
      uuid: '0d4f0f0a-8d1c-4a55-9a43-9f6c7b1f2a33',
      address: '0xann',
      tries: 3,
      is_preview: false,
    }
    await db.deleteFrom('captcha').execute()
    await db
      .insertInto('captcha')
      .values({ ...captcha, encrypted: old.encrypt('captcha', 'ABCDE 00', captcha.uuid), expires_at_ms: NOW })
      .execute()
    await db
      .updateTable('issuer_token')
      .set({ encrypted: old.encrypt('issuer-token', '{"text":"t"}', TOKEN_BINDING) })
      .execute()
    const waiting = old.encrypt('edit-code', 'an edit code', String(eventId))
    await putLoad(db, { eventId, encrypted: waiting, untilMs: NOW + 1 }, NOW)
    const secrets = ['lps_before', 'lps_current']
    for (const secret of secrets) {
      const encrypted = old.encrypt('grant-secret', secret, String(eventId))
      await replaceSecret(db, { eventId, encrypted, nowMs: NOW, previousUntilMs: NOW + 1 })
    }
    const vault = new Vault(NEXT, { otherKeys: [OLD] })
    const abort = new AbortController()

    const first = await reencrypt(db, {
      clock: testClock(),
      vault,
      signal: abort.signal,
      onProgress: () => abort.abort(),
    })
    const between = await countOutdatedCodes(db, vault.currentPrefix)
    const second = await reencrypt(db, { clock: testClock(), vault })
    const third = await reencrypt(db, { clock: testClock(), vault })

    expect(first).toEqual({ codes: 200, left: 250, ...NONE_LEFT, isInterrupted: true })
    expect(between).toBe(250)
    expect(second).toEqual({ codes: 250, left: 0, ...NONE_LEFT, isInterrupted: false })
    expect(third).toEqual({ codes: 0, left: 0, ...NONE_LEFT, isInterrupted: false })
    const alone = new Vault(NEXT)
    const codes = await readCodes(db, alone)
    expect(codes.map(({ code }) => code).sort()).toEqual([...CODES].sort())
    expect(codes.every(({ isCurrent }) => isCurrent)).toBe(true)
    const { encrypted } = await db.selectFrom('captcha').select('encrypted').executeTakeFirstOrThrow()
    expect(alone.decrypt('captcha', encrypted, captcha.uuid)).toBe('ABCDE 00')
    const load = await db.selectFrom('code_load').select('encrypted').executeTakeFirstOrThrow()
    expect(alone.decrypt('edit-code', load.encrypted, String(eventId))).toBe('an edit code')
    const ofGrants = await db
      .selectFrom('grant_secret')
      .select(['encrypted', 'valid_until_ms'])
      .orderBy('id')
      .execute()
    expect(ofGrants.map((row) => alone.decrypt('grant-secret', row.encrypted, String(eventId)))).toEqual(
      secrets,
    )
    expect(ofGrants.map(({ valid_until_ms }) => valid_until_ms)).toEqual([NOW + 1, null])
    const token = await db.selectFrom('issuer_token').select('encrypted').executeTakeFirstOrThrow()
    expect(alone.decrypt('issuer-token', token.encrypted!, TOKEN_BINDING)).toBe('{"text":"t"}')
  })

  test('codes of an unknown key stay as they are, and are reported', async () => {
    const { db } = await open()
    await givenEvent(db)

    expect(await reencrypt(db, { clock: testClock(), vault: new Vault(NEXT) })).toMatchObject({
      codes: 0,
      left: 450,
    })
    expect(await readCodes(db, new Vault(OLD))).toHaveLength(450)
  })

  test('edit codes and secrets of an unknown key are reported, unless they have ended', async () => {
    const { db } = await open()
    await db.deleteFrom('code_load').execute()
    await db.deleteFrom('grant_secret').execute()
    const old = new Vault(OLD)
    for (const untilMs of [NOW, NOW + 1]) {
      const { eventId } = await givenEvent(db)
      const encrypted = old.encrypt('edit-code', 'an edit code', String(eventId))
      await putLoad(db, { eventId, encrypted, untilMs }, NOW)
      for (const valid_until_ms of [untilMs, null]) {
        const secret = old.encrypt('grant-secret', 'lps_one', String(eventId))
        const values = { event_id: eventId, encrypted: secret, created_at_ms: NOW, valid_until_ms }
        await db.insertInto('grant_secret').values(values).execute()
      }
    }

    expect(await reencrypt(db, { clock: testClock(), vault: new Vault(NEXT) })).toMatchObject({
      ...{ editCodesLeft: 1, secretsLeft: 3 },
    })
    const read = await reencrypt(db, { clock: testClock(), vault: new Vault(NEXT, { otherKeys: [OLD] }) })
    expect(read).toMatchObject(NONE_LEFT)
  })

  test('codes that are committed late, behind the place where it is, are encrypted too', async () => {
    const { db } = await open()
    await givenEvent(db)
    const late = await db
      .deleteFrom('claim_code')
      .where('id', '=', ({ selectFrom }) =>
        selectFrom('claim_code').select(({ fn }) => fn.min('id').as('id')),
      )
      .returningAll()
      .executeTakeFirstOrThrow()
    let inserting: Promise<unknown> | undefined
    const insertOnce = () => {
      inserting ??= sql`
        insert into claim_code (id, event_id, fingerprint, encrypted, state, created_at_ms) overriding system value
        values (${late.id}, ${late.event_id}, ${late.fingerprint}, ${late.encrypted}, 'free', ${NOW})`.execute(
        db,
      )
    }
    const vault = new Vault(NEXT, { otherKeys: [OLD] })

    const reencrypted = await reencrypt(db, { clock: testClock(), vault, onProgress: insertOnce })
    await inserting

    expect(reencrypted).toEqual({ codes: 450, left: 0, ...NONE_LEFT, isInterrupted: false })
    expect(await readCodes(db, new Vault(NEXT))).toHaveLength(450)
  })

  test('loading codes meanwhile adds none twice, with either key first, at the same time', async () => {
    const { db } = await open()
    const { eventId, listed } = await givenEvent(db)
    const [before, after] = [new Vault(OLD, { otherKeys: [NEXT] }), new Vault(NEXT, { otherKeys: [OLD] })]
    const more = [
      ...listed,
      ...Array.from({ length: 40 }, (_, i) => ({ code: `more${i}`, isClaimed: i === 0 })),
    ]
    const load = (vault: Vault) => mergeCodes(db, vault, { eventId, listed: more, nowMs: NOW })

    const [added, reencrypted] = await Promise.all([
      Promise.all([load(before), load(after), load(before), load(after)]),
      reencrypt(db, { clock: testClock(), vault: after }),
    ])

    expect(added.reduce((sum, count) => sum + count, 0)).toBe(40)
    expect(reencrypted.codes).toBeGreaterThanOrEqual(450)
    expect(await countCodes(db, eventId)).toMatchObject({ free: 489, used_elsewhere: 1 })
    await reencrypt(db, { clock: testClock(), vault: after })
    const codes = await readCodes(db, new Vault(NEXT))
    expect(new Set(codes.map(({ code }) => code)).size).toBe(490)
    // Codes that were used elsewhere are found under the old hash too
    const used = more.map(({ code }) => ({ code, isClaimed: true }))
    await mergeCodes(db, before, { eventId, listed: used, nowMs: NOW })
    expect(await countCodes(db, eventId)).toMatchObject({ free: 0, used_elsewhere: 490 })
  })
})
