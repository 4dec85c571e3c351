import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyToken } from '@landpass/client/tokens'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { describeOnOneEngine } from '../../../test/support/engines.ts'
import { testClock } from '../../../test/support/land-server.ts'
import type { Engine } from '../../db/engine.ts'
import { getEvent } from '../events/event-queries.ts'
import { insertMadeEvent } from './made-event-queries.ts'
import { ownCode } from './own-codes.ts'
import { hashOf, OwnIssuer } from './own-issuer.ts'
import { holdersCsv } from './token-json.ts'
import { TokenKeys } from './token-keys.ts'
import { holdersOfEvent } from './token-list-queries.ts'
import { attestationOf, tokenPackage } from './token-message.ts'
import { findTokenOf, insertToken, isSigned, type SignedToken, tokens } from './token-queries.ts'

const PLAYERS = 24
const PROCESSES = 3
/** Two batches and a bit of a third. */
const ROWS = 401

/** `npm run faults -- kill --issuer own` does the same with processes that are killed. */
describeOnOneEngine('processes that die while they sign', (open) => {
  const clock = testClock()
  let engine: Engine
  let keys: TokenKeys
  let signers: readonly OwnIssuer[]
  let eventId: number

  beforeAll(async () => {
    engine = await open()
    const { db } = engine
    const path = join(mkdtempSync(join(tmpdir(), 'landpass-signing-')), 'token.key')
    keys = new TokenKeys({ db, clock, path })
    await keys.open()
    signers = Array.from({ length: PROCESSES }, () => new OwnIssuer({ db, clock, keys }))
    eventId = await insertMadeEvent(db, {
      record: ({ eventId: id }) => ({ id, name: 'Lanterns' }),
      ...{ coordinates: '1,2', requiresCaptcha: false, requiresPresence: false },
      ...{ startAtMs: null, endAtMs: null, expiresAtMs: clock.nowMs() },
      ...{ editCodeHash: hashOf('0'), supply: 100, approval: 'approved', hidesHolders: false, image: null },
      nowMs: clock.nowMs(),
    })
  })

  const addressOf = (player: number) => `0x${player.toString(16).padStart(40, '0')}`
  const death = async () => {
    throw new Error('killed')
  }
  /** What a process does in a step of a claim; its death comes between signing and storing. */
  const sign = (signer: OwnIssuer, player: number, dies: boolean) =>
    signer.mint(
      { code: ownCode({ eventId, number: player }), address: addressOf(player) },
      dies ? death : async () => {},
    )
  const signedOf = async () =>
    (await tokens(engine.db).where('token.event_id', '=', eventId).execute()).filter(isSigned)

  test('a token that was signed and not stored is signed with the same bytes by another process', async () => {
    const player = 99
    const event = await getEvent(engine.db, { eventId })
    await insertToken(engine.db, {
      ...{ eventId, address: addressOf(player) },
      token: await signers[0]!.prepare(event),
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
    const steps = Array.from({ length: PLAYERS }, (_, player) =>
      Array.from({ length: PROCESSES }, (_, process) => {
        const dies = (7 * player + 3 * process) % 5 < 3
        return sign(signers[process]!, player, dies)
      }),
    )
    await Promise.allSettled(steps.flat())
    for (let player = 0; player < PLAYERS; player++)
      expect(await sign(signers[player % PROCESSES]!, player, false)).toBe('made')

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

  test('the CSV of many holders is read in batches: every row once, by number', async () => {
    const { db } = engine
    const name = {
      record: ({ eventId: id }: { eventId: number }) => ({ id, name: 'Fair' }),
      coordinates: '1,2',
    }
    const many = await insertMadeEvent(db, {
      ...{ ...name, requiresCaptcha: false, requiresPresence: false, startAtMs: null, endAtMs: null },
      ...{
        expiresAtMs: 1,
        editCodeHash: hashOf('0'),
        supply: ROWS,
        approval: 'approved',
        hidesHolders: false,
      },
      ...{ image: null, nowMs: clock.nowMs() },
    })
    await sql`
      insert into token (id, event_id, address, signer, time_s, event_name, event_location, salt, number, uid, signature)
      select gen_random_uuid(), ${many}, '0x' || lpad(to_hex(n), 40, '0'), '0x', 1, 'Fair', '1,2', '', n, '\\x07', ''
      from generate_series(1, ${ROWS}::int) as n`.execute(db)
    const pieces: string[] = []
    for await (const piece of holdersCsv(holdersOfEvent(db, many))) pieces.push(piece)
    const [header, ...lines] = pieces.join('').split('\r\n')
    expect([header, lines.pop()]).toEqual(['number,address,time,uid,revoked', ''])
    expect(lines.map((line) => Number.parseInt(line, 10))).toEqual(
      Array.from({ length: ROWS }, (_, at) => at + 1),
    )
    expect(Math.max(...pieces.map((piece) => piece.split('\r\n').length))).toBeLessThanOrEqual(201)
  })
})
