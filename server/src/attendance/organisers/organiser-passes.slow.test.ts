import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { HOUR_MS } from '../../clock.ts'
import { Vault } from '../secrets/vault.ts'
import { OrganiserPasses } from './organiser-passes.ts'

const DAY_MS = 24 * HOUR_MS

describeOnBothEngines('the passes of organisers', (open) => {
  test('a pass is valid for its event, until it expires or is revoked', async () => {
    const clock = testClock()
    const { db } = await open()
    const make = (key: number) =>
      new OrganiserPasses({ db, clock, vault: new Vault(Buffer.alloc(32, key)), ttlMs: 30 * DAY_MS })
    const passes = make(1)
    const [event, neighbour] = [2 ** 31 - 1, 2 ** 31 - 2]
    const { pass, expires_at } = await passes.make(event)
    const others = await passes.make(event)

    expect(Date.parse(expires_at)).toBe(clock.nowMs() + 30 * DAY_MS)
    expect(await passes.check(event, pass)).toEqual({ id: expect.any(String), isOld: false })
    expect((await passes.check(event, others.pass))?.id).not.toBe((await passes.check(event, pass))?.id)
    for (const text of ['', pass.slice(1), `${pass}x`, pass.replace(/.$/, '_'), pass.replace('.', '.z')]) {
      expect(await passes.check(event, text), text).toBeUndefined()
    }
    expect(await passes.check(neighbour, pass), 'of another event').toBeUndefined()
    expect(await make(2).check(event, pass), 'of another key').toBeUndefined()

    clock.set(clock.nowMs() + 24 * DAY_MS)
    expect(await passes.check(event, pass)).toMatchObject({ isOld: true })
    const kept = await passes.make(neighbour)
    for (let time = 0; time < 2; time++) {
      const { pass: before } = await passes.make(event)
      await passes.revokeAll(event)
      expect(await passes.check(event, before), 'revoked').toBeUndefined()
    }
    expect(await passes.check(neighbour, kept.pass)).toMatchObject({ isOld: false })
    const { pass: last } = await passes.make(event)
    clock.set(clock.nowMs() + 30 * DAY_MS)
    expect(await passes.check(event, last), 'expired').toBeUndefined()
  })

  test('while ATTENDANCE_KEY is changed, passes of all keys are accepted', async () => {
    const clock = testClock()
    const { db } = await open()
    const [before, after] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
    const make = (key: Buffer, otherKeys: Buffer[]) =>
      new OrganiserPasses({ db, clock, vault: new Vault(key, { otherKeys }), ttlMs: 30 * DAY_MS })
    const [notYet, changed] = [make(before, [after]), make(after, [before])]
    const event = 2 ** 31 - 3

    for (const [maker, checker] of [
      [make(before, []), changed],
      [changed, notYet],
    ] as const) {
      const { pass } = await maker.make(event)
      expect(await checker.check(event, pass)).toMatchObject({ isOld: false })
      await maker.revokeAll(event)
      expect(await checker.check(event, pass), 'revoked').toBeUndefined()
    }
  })
})
