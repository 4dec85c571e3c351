import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readRevocationList, verifyToken } from '@landpass/client/tokens'
import Fastify from 'fastify'
import { sql } from 'kysely'
import { PNG } from 'pngjs'
import { beforeAll, expect, test } from 'vitest'
import { insertMessage } from '../../../../test/support/attendance/attendance-rows.ts'
import { describeOnOneEngine } from '../../../../test/support/database/engines.ts'
import { testClock } from '../../../../test/support/http/land-server.ts'
import type { Engine } from '../../../db/engine.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { serveRoutes } from '../../../http/routes.ts'
import { findChange } from '../../events/change-queries.ts'
import { coordinatesText } from '../../events/coordinates.ts'
import { getEvent } from '../../events/event-queries.ts'
import { makeTokenKeyFile, readTokenKeys } from './keys/token-key-file.ts'
import { TokenKeys } from './keys/token-keys.ts'
import { TokenLog } from './log/token-log.ts'
import { findLogPlace } from './log/token-log-queries.ts'
import { Approvals } from './made-events/approvals.ts'
import { findChangedImage } from './made-events/content-queries.ts'
import { hashOfEditCode } from './made-events/edit-code.ts'
import { type EventDescription, EventMaker } from './made-events/event-maker.ts'
import { deleteRefusedImages, findAnyImage, insertMadeEvent } from './made-events/made-event-queries.ts'
import { OwnIssuer } from './own-issuer.ts'
import { revocationRoutes } from './revocations/revocation-routes.ts'
import { attestationOf, tokenPackage } from './signing/token-message.ts'
import { holdersCsv } from './tokens/token-json.ts'
import { holdersOfEvent } from './tokens/token-list-queries.ts'
import { findTokenOf, isSigned, type SignedToken, tokens } from './tokens/token-queries.ts'

const PLAYERS = 24
const PROCESSES = 3
/** Two batches and a bit of a third. */
const ROWS = 401

/** An event whose tokens can be claimed from a time on. */
const lanternsAt = (startAtMs: number): EventDescription => ({
  ...{ name: 'Lanterns', description: '', eventUrl: '', places: [{ x: 1, y: 2 }], tokens: 3 },
  ...{ startDate: '2027-03-06', endDate: '2027-03-06', startAtMs, endAtMs: undefined, timeZone: undefined },
  ...{ picture: undefined, requiresCaptcha: false, requiresPresence: false, hidesHolders: false },
})

/** `npm run faults -- kill --issuer own` does the same with processes that are killed. */
describeOnOneEngine('processes that die while they sign', (open) => {
  const clock = testClock()
  let engine: Engine
  let keys: TokenKeys
  let keysPath: string
  let signers: readonly OwnIssuer[]
  let eventId: number

  beforeAll(async () => {
    engine = await open()
    const { db } = engine
    keysPath = join(mkdtempSync(join(tmpdir(), 'landpass-signing-')), 'token.key')
    keys = new TokenKeys({ db, clock, path: keysPath })
    await keys.open()
    signers = Array.from({ length: PROCESSES }, () => new OwnIssuer({ db, clock, keys }))
    const made = await inTransaction(db, (tx) =>
      insertMadeEvent(tx, {
        record: (id) => ({ id, name: 'Lanterns' }),
        ...{ coordinates: '1,2', requiresCaptcha: false, requiresPresence: false },
        ...{ startAtMs: null, endAtMs: null, timeZone: null, expiresAtMs: clock.nowMs() },
        ...{
          editCodeHash: hashOfEditCode('0'),
          supply: 100,
          approval: 'approved',
          hidesHolders: false,
          image: undefined,
        },
        nowMs: clock.nowMs(),
      }),
    )
    eventId = made.event_id
  })

  const addressOf = (player: number) => `0x${player.toString(16).padStart(40, '0')}`
  const death = async () => {
    throw new Error('killed')
  }
  /** What a process does in a step of a claim; its death comes between signing and storing. */
  const sign = (signer: OwnIssuer, player: number, dies: boolean) =>
    signer.sign({ eventId, address: addressOf(player) }, dies ? death : async () => {})
  const signedOf = async () =>
    (await tokens(engine.db).where('token.event_id', '=', eventId).execute()).filter(isSigned)

  test('a token that was signed and not stored is signed with the same bytes by another process', async () => {
    const player = 99
    const event = await getEvent(engine.db, { eventId })
    await insertMessage(engine.db, {
      ...{ eventId, address: addressOf(player), number: player },
      token: await signers[0]!.prepare(event, addressOf(player)),
    })
    const message = (await findTokenOf(engine.db, eventId, addressOf(player)))!
    const lost = keys.sign(message.signer, attestationOf(message))
    await expect(sign(signers[0]!, player, true)).rejects.toThrow('killed')
    expect(await signedOf()).toEqual([])

    const [one, other] = await Promise.allSettled([
      sign(signers[1]!, player, false),
      sign(signers[2]!, player, false),
    ])
    expect([one.status, other.status]).toContain('fulfilled')
    const [token, ...others] = await signedOf()
    expect(others).toEqual([])
    expect(Buffer.from(token!.signature)).toEqual(Buffer.from(lost))
  })

  test('whatever dies when, each player has one token, and the verifier calls it genuine', async () => {
    const event = await getEvent(engine.db, { eventId })
    for (let player = 0; player < PLAYERS; player++) {
      const address = addressOf(player)
      const token = await signers[0]!.prepare(event, address)
      await insertMessage(engine.db, { eventId, address, token, number: player })
    }
    const steps = Array.from({ length: PLAYERS }, (_, player) =>
      Array.from({ length: PROCESSES }, (_, process) => {
        const dies = (7 * player + 3 * process) % 5 < 3
        return sign(signers[process]!, player, dies)
      }),
    )
    await Promise.allSettled(steps.flat())
    for (let player = 0; player < PLAYERS; player++) await sign(signers[player % PROCESSES]!, player, false)

    const made = (await signedOf()).filter(({ number }) => number < PLAYERS)
    expect(made.map(({ address }) => address).sort()).toEqual(
      Array.from({ length: PLAYERS }, (_, player) => addressOf(player)),
    )
    const trust = {
      issuers: [{ address: await keys.current(), state: 'active' as const }],
      nowMs: clock.nowMs(),
    }
    const verdictOf = (token: SignedToken) => verifyToken(tokenPackage(token, token), trust).verdict
    expect(new Set(made.map(verdictOf))).toEqual(new Set(['genuine']))
  })

  test('the map of the places is drawn again when they change, at once or with an approval, and nothing else is', async () => {
    const { db } = engine
    const maker = new EventMaker({
      ...{ db, clock, keys, who: 'approved', maxWaiting: 9, codeCounts: { forget: () => {} } },
      drawPlaces: (places) => Buffer.from(coordinatesText(places)),
    })
    const approvals = new Approvals({ db, clock, codeCounts: { forget: () => {} } })
    const operator = { isOperator: true }
    const organiser = { isOperator: false }
    const { event } = await maker.make(lanternsAt(clock.nowMs()), {
      ...operator,
      assertMayMake: async () => {},
    })
    const shown = async () => (await findAnyImage(db, event.event_id))?.toString()
    const waiting = async () => (await findChangedImage(db, event.event_id))?.toString()
    expect(await shown()).toBe('1,2')

    await maker.change(event, { coordinates: '3,4' }, operator)
    expect(await shown()).toBe('3,4')
    await maker.change(event, { coordinates: '5,6' }, organiser)
    expect([await shown(), await waiting()]).toEqual(['3,4', '5,6'])
    await maker.change(event, { coordinates: '3,4' }, organiser)
    expect(await findChange(db, event.event_id)).toBeUndefined()
    await maker.change(event, { coordinates: '5,6' }, organiser)
    await approvals.answer(event, { approval: 'approved' })
    expect(await shown()).toBe('5,6')

    const picture = PNG.sync.write(new PNG({ width: 64, height: 64 }))
    await maker.change(event, { picture }, operator)
    const own = await shown()
    await maker.change(event, { coordinates: '7,8' }, operator)
    expect(await shown(), 'the picture of an organiser stays').toBe(own)
    await maker.change(event, { coordinates: '9,9' }, organiser)
    expect(await waiting()).toBeUndefined()
    await maker.change(event, { picture: 'drawn' }, organiser)
    expect([await shown(), await waiting()], 'of the places that wait').toEqual([own, '9,9'])
    await maker.change(event, { coordinates: '10,10' }, organiser)
    expect(await waiting()).toBe('10,10')

    await approvals.answer(event, { approval: 'refused' })
    expect(await findChange(db, event.event_id)).toMatchObject({ is_refused: true, has_image: true })
    await deleteRefusedImages(db, clock.nowMs() + 1)
    expect(await findChange(db, event.event_id)).toMatchObject({ is_refused: true, has_image: false })
    expect(await shown()).toBe(own)
  })

  test('the list of revoked tokens is valid from the first second of a key on', async () => {
    clock.set(clock.nowMs() + 90_500)
    await keys.rotate(0)
    const app = Fastify()
    app.setValidatorCompiler(() => () => true)
    const parts = { db: engine.db, clock, keys, organisers: {} as never, assertConfigured: () => {} }
    await serveRoutes(app, revocationRoutes, {
      ...parts,
      organiserLimit: async () => {},
      tokenAnswers: { forget: () => {} },
    })
    const { body } = await app.inject('/.well-known/attendance-revocations.json')
    const issuers = (await keys.list()).map(({ address, from, until, state }) => ({
      ...{ address, from, until: until ?? undefined, state },
    }))
    expect(issuers.at(-1)?.from).toBe(Math.floor(clock.nowMs() / 1000))
    expect(readRevocationList(JSON.parse(body), { issuers, nowMs: clock.nowMs() })).toBeDefined()
    await app.close()
  })

  test('a withdrawal always leaves a key that signs, and never a time without one', async () => {
    const now = () => Math.floor(clock.nowMs() / 1000)
    const times = async (address: string | undefined) => {
      const { from, until } = (await keys.list()).find((key) => key.address === address)!
      return [from - now(), until === null ? null : until - now()]
    }
    clock.set(clock.nowMs() + 2_000)
    // The key that signs, while another one waits: the new key signs until that one begins
    const first = await keys.current()
    const second = await keys.rotate(600)
    const bridge = await keys.withdraw(first)
    expect(await keys.current()).toBe(bridge)
    expect([await times(bridge), await times(second)]).toEqual([
      [0, 600],
      [600, null],
    ])
    // The key that waits: a new one signs instead of it
    const third = await keys.withdraw(second)
    expect(await keys.current()).toBe(bridge)
    expect(await times(third)).toEqual([600, null])
    clock.set(clock.nowMs() + 600_000)
    expect(await keys.current()).toBe(third)
    expect(await keys.withdraw(bridge!)).toBeUndefined()
  })

  test('keys that are made at once are all in the file, and the last one signs', async () => {
    const path = keysPath
    const others = [0, 1, 2].map(() => new TokenKeys({ db: engine.db, clock, path }))
    const made = await Promise.all(others.map((one) => one.rotate(0)))
    const inFile = (await readTokenKeys(path)).map(({ address }) => address)
    expect(inFile.slice(-3).sort()).toEqual(made.toSorted())
    const open = (await keys.list()).filter(({ until }) => until === null)
    expect(open).toHaveLength(1)
  })

  test('a command makes and publishes no key, and a server makes none where others are published', async () => {
    const before = await keys.list()
    const path = join(mkdtempSync(join(tmpdir(), 'landpass-signing-')), 'mistyped.key')
    const parts = { db: engine.db, clock, path }
    const mistyped = new TokenKeys(parts)
    await expect(mistyped.open({ mayMake: false })).rejects.toThrow('is missing: restore it')
    await expect(mistyped.open()).rejects.toThrow('is missing: restore it')
    await expect(mistyped.rotate(0)).rejects.toThrow('cannot be read')
    expect(existsSync(path)).toBe(false)
    await makeTokenKeyFile(path)
    await expect(mistyped.open({ mayMake: false })).rejects.toThrow('none of the keys')
    expect(await keys.list()).toEqual(before)
    // The path of the embedded database is not mistyped: the file was lost
    const lost = new TokenKeys({ ...parts, path: `${path}.lost`, isDefaultPath: true })
    expect(await lost.open()).toMatchObject({ isNew: true, isReplaced: true, isOpenToOthers: false })
    expect(await keys.list()).toHaveLength(before.length + 1)
    await keys.rotate(0)
  })

  test('a withdrawal notes the tokens of the key before, so that they stay genuine', async () => {
    clock.set(clock.nowMs() + 5_500)
    const address = addressOf(77)
    await insertMessage(engine.db, {
      ...{ eventId, address, number: 77 },
      token: await signers[0]!.prepare(await getEvent(engine.db, { eventId }), address),
    })
    await sign(signers[0]!, 77, false)
    const signer = await keys.current()
    await keys.withdraw(signer)
    clock.set(clock.nowMs() + 5_000)
    await new TokenLog({ db: engine.db, clock }).update()
    const { withdrawnAt } = (await keys.list()).find((key) => key.address === signer)!
    const token = (await findTokenOf(engine.db, eventId, address)) as SignedToken
    const place = await findLogPlace(engine.db, token.id)
    expect(Math.floor(place!.noted_at_ms / 1000)).toBeLessThan(withdrawnAt!)
  })

  test('a key that ends has its newest tokens in its time, also those of a process whose clock is ahead', async () => {
    clock.set(clock.nowMs() + 60_000)
    const ahead = testClock()
    ahead.set(clock.nowMs() + 30_000)
    const { db } = engine
    const aheadKeys = new TokenKeys({ db, clock: ahead, path: keysPath })
    await aheadKeys.open()
    const other = new OwnIssuer({ db, clock: ahead, keys: aheadKeys })
    const signAhead = async (player: number) => {
      aheadKeys.forgetTimes()
      const token = await other.prepare(await getEvent(db, { eventId }), addressOf(player))
      await insertMessage(db, { eventId, address: addressOf(player), token, number: player })
      await sign(other, player, false)
      return token
    }
    const endOf = async (address: string) => (await keys.list()).find((key) => key.address === address)!

    const first = await signAhead(61)
    await keys.rotate(0)
    expect(await endOf(first.signer)).toMatchObject({ until: first.timeS + 1, state: 'active' })

    const second = await signAhead(62)
    expect(second.signer).not.toBe(first.signer)
    await keys.withdraw(second.signer)
    const { until, withdrawnAt } = await endOf(second.signer)
    expect([until, withdrawnAt! > second.timeS]).toEqual([second.timeS + 1, true])
    clock.set(ahead.nowMs() + 1_000)
  })

  test('the CSV of many holders is read in batches: every row once, by number', async () => {
    const { db } = engine
    const name = {
      record: (id: number) => ({ id, name: 'Fair' }),
      coordinates: '1,2',
    }
    const { event_id: many } = await inTransaction(db, (tx) =>
      insertMadeEvent(tx, {
        ...{
          ...name,
          requiresCaptcha: false,
          requiresPresence: false,
          startAtMs: null,
          endAtMs: null,
          timeZone: null,
        },
        ...{
          expiresAtMs: 1,
          editCodeHash: hashOfEditCode('0'),
          supply: ROWS,
          approval: 'approved',
          hidesHolders: false,
        },
        ...{ image: undefined, nowMs: clock.nowMs() },
      }),
    )
    await sql`
      insert into token (id, event_id, address, signer, time_s, event_name, event_location, salt, number, uid, signature)
      select gen_random_uuid(), ${many}, '0x' || lpad(to_hex(n), 40, '0'), '0x', 1, 'Fair', '1,2', '', n, '\\x07', ''
      from generate_series(1, ${ROWS}::int) as n`.execute(db)
    const pieces: string[] = []
    for await (const piece of holdersCsv(holdersOfEvent(db, many))) pieces.push(piece)
    const [header, ...lines] = pieces.join('').split('\r\n')
    expect([header, lines.pop()]).toEqual(['\ufeffnumber,address,time,uid,revoked,reason,given', ''])
    expect(lines.map((line) => Number.parseInt(line, 10))).toEqual(
      Array.from({ length: ROWS }, (_, at) => at + 1),
    )
    expect(Math.max(...pieces.map((piece) => piece.split('\r\n').length))).toBeLessThanOrEqual(201)
  })
})
