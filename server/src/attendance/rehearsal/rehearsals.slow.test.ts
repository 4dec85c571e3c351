import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeAll, expect, test, vi } from 'vitest'
import { giveGrant } from '../../../test/support/attendance/attendance-rows.ts'
import { buildClaimRules } from '../../../test/support/attendance/claim-rules.ts'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import { HOUR_MS, MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import type { ClaimRules } from '../claims/claim-rules.ts'
import type { ClaimsOptions } from '../claims/claims.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import type { BlockedPlayers } from '../events/blocked-players.ts'
import { changeEvent, type Event, getEvent, saveEvent } from '../events/event-queries.ts'
import type { Grants } from '../grants/grants.ts'
import { newToken } from '../issuers/own/tokens/token-queries.ts'
import { Vault } from '../secrets/vault.ts'
import type { Rehearsals } from './rehearsals.ts'

const clock = testClock()
const NOW = clock.nowMs()
const vault = new Vault(Buffer.alloc(32, 9))
const PLAYERS = 3
let lastNumber = 0

interface Step {
  readonly player: number
  readonly isRehearsed: boolean
  /** The refusal that a rehearsal chooses. A real claim sends it too, which has no effect. */
  readonly rehearse: string | undefined
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    player: fc.nat(PLAYERS - 1),
    isRehearsed: fc.boolean(),
    rehearse: fc.constantFrom(undefined, undefined, 'not_at_event', 'no_codes_left', 'already_claimed', 'x'),
  }),
  { minLength: 1, maxLength: 8 },
)

describeOnBothEngines('rehearsals', (open, kind) => {
  let db: Db
  let rehearsals: Rehearsals
  let rules: ClaimRules
  let grants: Grants
  let blocked: BlockedPlayers

  beforeAll(async () => {
    db = (await open()).db
    const prepareToken: ClaimsOptions['prepareToken'] = async ({ uuid, coordinates }) => ({
      ...newToken({ uuid, name: 'Lanterns', coordinates }, { signer: newAddress(), nowMs: NOW }),
      ...{ uid: Buffer.alloc(32), signature: Buffer.alloc(65) },
    })
    ;({ rules, rehearsals, grants, blocked } = buildClaimRules({ db, clock, vault, prepareToken }))
  })

  test('no sequence of rehearsed and real claims changes a code, a token or a claim by a rehearsal', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(PLAYERS), async (sequence, codes) => {
        const event = await givenEvent(codes)
        const twin = await givenEvent(codes)
        const players = Array.from({ length: PLAYERS }, newAddress)

        const answers: string[] = []
        const expected: string[] = []
        for (const step of sequence) {
          const before = step.isRehearsed ? await stateOf(event) : undefined
          const answer = await answerOf(event, players[step.player]!, step)
          if (before) expect(await stateOf(event)).toEqual(before)
          if (step.isRehearsed) continue
          // The twin gets the real claims alone
          answers.push(answer)
          expected.push(await answerOf(twin, players[step.player]!, step))
        }

        expect(answers).toEqual(expected)
        expect(await countsOf(event)).toEqual(await countsOf(twin))
        expect(await rehearsals.count(event.event_id)).toEqual(expectedCounts(sequence))
      }),
      { numRuns: runs(kind === 'postgres' ? 25 : 8) },
    )
  })

  test('a rehearsal that begins again forgets the claims of the one before', async () => {
    const event = await givenEvent(1)
    const ann = newAddress()
    const claim = () => answerOf(event, ann, REHEARSED)

    expect([await claim(), await claim()]).toEqual(['minting', 'already_claimed'])
    await rehearsals.begin(event.event_id)
    expect([await claim(), await claim()]).toEqual(['minting', 'already_claimed'])
    expect(await rehearsals.count(event.event_id)).toEqual({ claims: 1, refusals: 1 })
  })

  test('a rehearsal remembers a thousand players; the next ones are answered, and not remembered', async () => {
    const event = await givenEvent(0)
    await sql`insert into attendance_rehearsal (event_id, address, claimed_at_ms, refusals, at_ms)
      select ${event.event_id}::integer, 'player ' || n, 0, 0, ${NOW}::bigint
      from generate_series(1, 999) as n`.execute(db)
    const [last, next] = [newAddress(), newAddress()]

    const answers = []
    for (const player of [last, last, next, next]) answers.push(await answerOf(event, player, REHEARSED))
    await answerOf(event, next, { ...REHEARSED, rehearse: 'not_at_event' })

    expect(answers).toEqual(['minting', 'already_claimed', 'minting', 'minting'])
    expect(await rehearsals.count(event.event_id)).toEqual({ claims: 1_000, refusals: 1 })
  })

  test('a rehearsal needs a grant where the event does, and leaves it for the real claim', async () => {
    const event = await givenEvent(1, { requires_grant: true })
    const [ann, ben] = [newAddress(), newAddress()]
    const ofAnn = { eventId: event.event_id, address: ann, nonce: 'quest', expiresAtMs: NOW + MINUTE_MS }
    await giveGrant(grants, db, ofAnn)
    const before = await stateOf(event)

    expect(await answerOf(event, ann, REHEARSED)).toBe('minting')
    expect(await answerOf(event, ben, REHEARSED)).toBe('grant_required')
    expect(await stateOf(event)).toEqual(before)
    expect(await answerOf(event, ann, REAL)).toBe('reserved')
    expect(await answerOf(event, ann, REHEARSED), 'the grant is used now').toBe('grant_required')
  })

  test('a rehearsal refuses a blocked player', async () => {
    const event = await givenEvent(1)
    const [ann, ben] = [newAddress(), newAddress()]
    await blocked.change(event.event_id, { add: [ann], remove: [] })

    expect(await answerOf(event, ann, REHEARSED)).toBe('player_blocked')
    expect(await answerOf(event, ben, REHEARSED)).toBe('minting')
    expect(await rehearsals.count(event.event_id)).toEqual({ claims: 1, refusals: 1 })
  })

  test('a refusal is marked although it cannot be counted, and one of a limit is not counted', async () => {
    const event = await givenEvent(1)
    const refused = (code: ErrorCode) =>
      expect(
        rules.claim({
          event,
          proof: () => ({
            kind: 'signed-request',
            signed: signedBy(newAddress()),
            body: {},
            from: '198.51.100.7',
          }),
          place: () => expect.fail('the player was looked for'),
          countPlayer: async () => {
            throw new AppError(code, 'No.')
          },
        }),
      ).rejects.toMatchObject({ code, data: { rehearsal: true } })

    const failing = vi.spyOn(rehearsals, 'noteRefusal').mockRejectedValue(new Error('no database'))
    await refused('bad_signature')
    failing.mockRestore()
    expect(await rehearsals.count(event.event_id)).toEqual({ claims: 0, refusals: 0 })
    await refused('too_many_requests')
    expect(await rehearsals.count(event.event_id)).toEqual({ claims: 0, refusals: 0 })
    await refused('bad_signature')
    expect(await rehearsals.count(event.event_id)).toEqual({ claims: 0, refusals: 1 })
  })

  test('what players did is deleted after a week, and with its event; a rehearsal ends at its time', async () => {
    const event = await givenEvent(0)
    const gone = await givenEvent(0)
    for (const one of [event, gone]) await answerOf(one, newAddress(), REHEARSED)

    await db.deleteFrom('attendance_event').where('event_id', '=', gone.event_id).execute()
    clock.set(NOW + HOUR_MS)
    await rehearsals.cleanUp()
    const ended = await getEvent(db, { eventId: event.event_id })
    const kept = await rehearsals.count(event.event_id)
    clock.set(NOW + 8 * 24 * HOUR_MS)
    await rehearsals.cleanUp()
    clock.set(NOW)

    expect(await rehearsals.count(gone.event_id)).toEqual({ claims: 0, refusals: 0 })
    expect(ended.rehearsal_until_ms).toBeNull()
    expect(kept).toEqual({ claims: 1, refusals: 0 })
    expect(await rehearsals.count(event.event_id)).toEqual({ claims: 0, refusals: 0 })
  })

  async function givenEvent(codes: number, options: Partial<Event> = {}): Promise<Event> {
    const eventId = ++lastNumber
    await saveEvent(db, {
      eventId,
      record: { id: eventId },
      coordinates: '3,-4',
      expiresAtMs: undefined,
      nowMs: NOW,
    })
    const listed = Array.from({ length: codes }, (_, at) => ({ code: `${eventId}-${at}`, isClaimed: false }))
    if (codes > 0) await mergeCodes(db, vault, { eventId, listed, nowMs: NOW })
    return changeEvent(db, eventId, { ...options, rehearsal_until_ms: NOW + HOUR_MS }, NOW)
  }

  /** The state of the claim, or the code of the refusal. */
  async function answerOf(event: Event, address: string, { isRehearsed, rehearse }: Omit<Step, 'player'>) {
    try {
      const { state, isRehearsal = false } = await rules.claim({
        event,
        proof: () => ({
          kind: 'signed-request',
          signed: signedBy(address, isRehearsed),
          body: {},
          from: '198.51.100.7',
        }),
        place: async () => (isRehearsed ? expect.fail('the player was looked for') : 'present'),
        countPlayer: async () => {},
        rehearse,
      })
      expect(isRehearsal).toBe(isRehearsed)
      return state
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      expect(error.data.rehearsal === true, error.message).toBe(isRehearsed)
      return error.code
    }
  }

  /** Everything that tells of codes, claims and tokens of an event, row by row. */
  async function stateOf({ event_id }: Event) {
    const rows: unknown[] = []
    for (const table of [
      'claim_code',
      'claim',
      'token',
      'event_count',
      'attendance_refusal',
      'attendance_grant',
    ] as const) {
      const { rows: found } = await sql`
        select to_jsonb(t)::text as row from ${sql.table(table)} t
        where event_id = ${event_id} order by 1`.execute(db)
      rows.push(found)
    }
    return rows
  }

  async function countsOf({ event_id }: Event) {
    const counts: number[] = []
    for (const table of ['claim_code', 'claim', 'token'] as const) {
      const { count } = await db
        .selectFrom(table)
        .select(({ fn }) => fn.countAll<string>().as('count'))
        .where('event_id', '=', event_id)
        .executeTakeFirstOrThrow()
      counts.push(Number(count))
    }
    return counts
  }
})

/** A signed request, of a preview unless told otherwise. */
function signedBy(address: string, isPreview = true) {
  const hash = createHash('sha256').update(`rehearsals ${++lastNumber}`).digest()
  return { address, hash, expiresAtMs: NOW + MINUTE_MS, isBodySigned: true, isPreview, isGuest: false }
}

const REHEARSED = { isRehearsed: true, rehearse: undefined }
const REAL = { isRehearsed: false, rehearse: undefined }
function newAddress(): string {
  return `0x${(++lastNumber).toString(16).padStart(40, '0')}`
}

/** Per player the first claim without a chosen refusal succeeds, all others are refused. */
function expectedCounts(sequence: readonly Step[]) {
  const rehearsed = sequence.filter(({ isRehearsed }) => isRehearsed)
  const claimed = rehearsed.filter(({ rehearse }) => rehearse === undefined).map(({ player }) => player)
  const claims = new Set(claimed).size
  return { claims, refusals: rehearsed.length - claims }
}
