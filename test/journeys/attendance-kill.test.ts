import { attendance, createClient, LandpassError, signGrant } from '@landpass/client'
import { CodeCountCache } from '@landpass/server/attendance/events/code-count-cache'
import { Approvals } from '@landpass/server/attendance/issuers/own/made-events/approvals'
import { FIRST_OWN_EVENT_ID } from '@landpass/server/attendance/issuers/own/own-event-ids'
import { HOUR_MS, MINUTE_MS, SECOND_MS, SYSTEM_CLOCK } from '@landpass/server/clock'
import type { Db, Engine } from '@landpass/server/db/engine'
import { openEngine } from '@landpass/server/db/open-engine'
import {
  attendanceDump,
  claimsOf,
  endLeases,
  endLoadWaits,
  lastLoadTries,
  untilAnswered,
} from '@landpass/server/test/support/attendance/attendance-rows'
import {
  type OutsideWorld,
  startAttendance,
  startOutsideWorld,
} from '@landpass/server/test/support/attendance/attendance-server'
import { makesEvents } from '@landpass/server/test/support/attendance/attendance-stage'
import { freshDatabaseUrl, freshDataDir, TEST_SETTINGS } from '@landpass/server/test/support/database/engines'
import { findSecrets, withBytesAsText } from '@landpass/server/test/support/http/find-secrets'
import { testClock } from '@landpass/server/test/support/http/land-server'
import { killHard } from '@landpass/server/test/support/processes/children'
import { type Env, eventually, type Serving, serve } from '@landpass/server/test/support/processes/landpass'
import { makePlayer, type SimulatedPlayer } from '@landpass/simulators/player/player'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/**
 * Small versions of what `npm run faults` does for hours: processes die or stop in the middle of claims. The simulated
 * issuer gives a player as many tokens as are asked for, so its ledger shows every token too many.
 */

const EDIT_CODE = '123456'
const PLAYERS = 16
/** Longer than any step takes here. */
const SETTLED_MS = 20 * SECOND_MS
const CALM = { delay_ms: 0, error_rate: 0, late_rate: 0, one_per_player: false }

let outside: OutsideWorld
beforeAll(async () => {
  outside = await startOutsideWorld()
  await outside.issuerSettings(CALM)
})

describe.each(['embedded', 'postgres'] as const)('on the %s engine', (kind) => {
  const eventId = (n: number) => n + (kind === 'embedded' ? 86_000 : 87_000)
  /** Its codes wait for their approval since the first server. */
  const waitingId = eventId(9)
  let place: Place
  beforeAll(async () => {
    place = await placeOf(kind)
  })

  test('a server that is killed during claims and grants loses none, and makes no token twice', async () => {
    const claims = new Claims(kind, eventId(1))
    const quests = new Claims(kind, eventId(3))
    // A dozen calls per second, two of them for a claim: most claims are under way when the first are answered
    const killed = await place.serve({ ISSUER_CALLS_PER_SECOND: '12', CLAIM_WAIT_MS: '20000' })
    const other = kind === 'postgres' ? await place.serveHere() : undefined
    await claims.putEvent(killed, PLAYERS)
    await quests.putEvent(killed, PLAYERS)
    const game = await Game.start(killed, quests.eventId)
    await outside.putEvent(waitingId, { edit_code: EDIT_CODE, codes: 3, approved_after_ms: null })
    await post(killed, `/event/${waitingId}`, { coordinates: '10,20' })
    const waiting = await post(killed, `/addcodes/${waitingId}`, { load_when_approved: true })
    // Done, but answered late: at the kill there are tokens that the server does not know of
    await outside.issuerSettings({ late_rate: 1, late_ms: 1_500 })

    const serverOf = (n: number) => (n % 2 && other ? other : killed)
    const given = await Promise.all(quests.players.map(({ address }) => game.give(killed, address)))
    let answered = 0 // by the server that will be killed
    const claimAt = async (server: AnyServing, of: Claims, player: SimulatedPlayer) => {
      const outcome = await of.claim(server, player)
      if (server === killed) answered += 1
      return outcome
    }
    const claiming = claims.players.map((player, n) =>
      Promise.all([claimAt(serverOf(n), claims, player), claimAt(killed, quests, quests.players[n]!)]),
    )
    const killedOnes = new Set(
      claims.players.filter((_, n) => serverOf(n) === killed).map(({ address }) => address),
    )
    await eventually(
      async () => [await outside.mintsOf(claims.eventId), await outside.mintsOf(quests.eventId)] as const,
      ([mints, questMints]) =>
        answered > 0 &&
        mints.filter(({ address }) => killedOnes.has(address)).length >= 2 &&
        questMints.length >= 2,
      SETTLED_MS,
    )
    await killHard(killed.child)
    const first = await Promise.all(claiming)
    await outside.issuerSettings(CALM)
    await place.withDatabase((db) => endLeases(db)) // as if half a minute had passed
    const survivor = other ?? (await place.serveHere())
    const second = await Promise.all(claims.players.map((player) => claims.claim(survivor, player)))
    const stranger = makePlayer(`${kind} without a grant`)
    const repeated = await Promise.all(quests.players.map(({ address }) => game.give(survivor, address)))
    const secondQuests = await Promise.all(quests.players.map((player) => quests.claim(survivor, player)))

    expect(waiting.data.body).toMatchObject({ waiting_for_issuer: true, loads_until: expect.any(String) })
    for (const at of [0, 1])
      expect(
        first.map((answers) => answers[at]),
        'the kill came too late',
      ).toContain('lost')
    expect([...given, ...repeated]).toEqual([...given, ...repeated].map(() => 'ok'))
    for (const answers of [second, secondQuests])
      for (const [n, answer] of answers.entries())
        expect(['ok', 'already_claimed'], `player ${n}`).toContain(answer)
    expect(await quests.claim(survivor, stranger)).toBe('grant_required')
    await claims.assertSettled(place)
    await quests.assertSettled(place)
    expect(await game.grants(survivor)).toEqual({ open: 0, used: PLAYERS, expired: 0 })
    const text = withBytesAsText(await place.withDatabase(attendanceDump))
    expect(text).toContain(`Event ${claims.eventId}`)
    expect(findSecrets([{ where: 'the database', text }], await outside.secrets())).toEqual([])
    await survivor.stop()
  })

  // What servers do in these two is not about the database
  test.skipIf(kind === 'embedded')(
    'codes that wait for their approval are loaded once, although two servers are killed before',
    async () => {
      expect(await place.withDatabase(lastLoadTries)).toEqual([null])

      await outside.putEvent(waitingId, { edit_code: EDIT_CODE, codes: 3 })
      await outside.issuerSettings({ delay_ms: 3_000 })
      await place.withDatabase(endLoadWaits)
      const asking = await place.serve()
      const untilTries = (isExpected: (tries: readonly (number | null)[]) => boolean) =>
        place.withDatabase((db) => eventually(() => lastLoadTries(db), isExpected, SETTLED_MS))
      await untilTries(([triedAtMs]) => typeof triedAtMs === 'number')
      await killHard(asking.child)
      await outside.issuerSettings(CALM)
      await place.withDatabase(endLoadWaits)
      const loading = await place.serveHere()
      await untilTries((left) => left.length === 0)

      const availability = await fetch(`${loading.origin}/event/${waitingId}/availability`)
      expect(await availability.json()).toMatchObject({ data: { open: true, total: 3, available: 3 } })
      await loading.stop()
    },
  )

  test.skipIf(kind === 'embedded')(
    'a server that is stopped finishes its running steps and leaves the rest to others',
    async () => {
      const claims = new Claims(kind, eventId(2))
      // Two calls per second: four claims are looked after at a time, the others wait
      const stopped = await place.serve({ ISSUER_CALLS_PER_SECOND: '2', CLAIM_WAIT_MS: '0' })
      await claims.putEvent(stopped, PLAYERS)
      await outside.issuerSettings({ delay_ms: 300 })

      const answers = await Promise.all(claims.players.map((player) => claims.claim(stopped, player)))
      const hasBegun = ({ state }: { readonly state: string }) => state !== 'reserved'
      await place.withDatabase((db) =>
        eventually(
          () => claimsOf(db, claims.eventId),
          (made) => made.filter(hasBegun).length >= 4,
          SETTLED_MS,
        ),
      )
      const { code, stderr } = await stopped.stop('SIGTERM')

      expect(answers).toEqual(answers.map(() => 'ok'))
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const left = await place.withDatabase((db) => claimsOf(db, claims.eventId))
      const reserved = left.filter(({ state }) => state === 'reserved')
      expect(left).toHaveLength(PLAYERS)
      expect(reserved.length).toBeGreaterThan(0)
      expect(left.length - reserved.length, 'those that ran').toBeGreaterThanOrEqual(4)
      expect(await outside.mintsOf(claims.eventId)).toHaveLength(left.length - reserved.length)
      for (const { next_step_at_ms } of reserved)
        expect(next_step_at_ms).toBeLessThanOrEqual(SYSTEM_CLOCK.nowMs())

      await outside.issuerSettings(CALM)
      const next = await place.serveHere()
      await claims.assertSettled(place)
      await next.stop()
    },
  )
})

describe('two servers on one PostgreSQL', () => {
  let one: Serving
  let two: ServingHere
  let place: Place
  beforeAll(async () => {
    place = await placeOf('postgres')
    ;[one, two] = await Promise.all([place.serve(makesEvents('approved')), place.serveHere()])
  })
  afterAll(() => two.stop())

  test('give one token to a player who claims at both at the same time', async () => {
    const claims = new Claims('both', 88_001)
    const [ann] = claims.players
    await claims.putEvent(one, 5)

    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => claims.claim(n % 2 ? one : two, ann!)),
    )

    expect(answers).toContain('ok')
    expect(answers.filter((answer) => answer !== 'ok' && answer !== 'already_claimed')).toEqual([])
    await claims.assertSettled(place)
    expect(await outside.mintsOf(88_001)).toHaveLength(1)
  })

  test('continue each other’s unfinished claims', async () => {
    const claims = new Claims('unfinished', 88_002)
    const [ben] = claims.players
    await claims.putEvent(one, 5)
    await outside.issuerSettings({ error_rate: 1 })

    const pending = await claims.send(one, ben!)
    const repeated = await claims.send(two, ben!)
    await outside.issuerSettings(CALM)

    expect(pending).toMatchObject({ status: 200, body: { data: { claim: { status: 'pending' } } } })
    expect(withoutWait(repeated)).toEqual(withoutWait(pending))
    await claims.assertSettled(place)
    expect((await claims.send(two, ben!)).body).toMatchObject({ code: 'already_claimed' })
  })

  test('accept a signature once', async () => {
    const claims = new Claims('signature', 88_003)
    const [cleo, dora] = claims.players
    await claims.putEvent(two, 5)
    const captcha = cleo!.sign({ method: 'POST', path: '/captcha', atMs: SYSTEM_CLOCK.nowMs() })
    const claim = dora!.sign({ method: 'POST', path: '/claim/88003', atMs: SYSTEM_CLOCK.nowMs() })

    for (const [path, headers] of [
      ['/captcha', captcha],
      ['/claim/88003', claim],
    ] as const) {
      const answers = await Promise.all(
        [one, two, one, two].map(async ({ origin }) => {
          const response = await fetch(origin + path, { method: 'POST', headers })
          return ((await response.json()) as { code?: string }).code ?? 'ok'
        }),
      )
      expect(answers.sort(), path).toEqual(['ok', 'signature_used', 'signature_used', 'signature_used'])
    }
  })

  test('leave an event that ends by itself when the one is killed before it has noted that its maker got the answer', async () => {
    const make = async () => {
      const today = new Date(SYSTEM_CLOCK.nowMs()).toISOString().slice(0, 10)
      const body = JSON.stringify({ name: 'Lanterns', coordinates: '1,2', start_date: today, tokens: 1 })
      const response = await fetch(`${one.origin}/events`, { method: 'POST', body })
      return ((await response.json()) as { data: { event: { id: number } } }).data.event.id
    }
    await place.withDatabase(async (db) => {
      const clock = testClock(SYSTEM_CLOCK.nowMs())
      const approvals = new Approvals({ db, clock, codeCounts: new CodeCountCache(db) })
      const listed = async () => {
        const { events, total } = await approvals.waiting({ after: 0, limit: 10 })
        return [total, ...events.map(({ event }) => event.event_id)]
      }
      const eventIds = async () =>
        (
          await db
            .selectFrom('attendance_event')
            .select('event_id')
            .where('event_id', '>=', FIRST_OWN_EVENT_ID)
            .execute()
        ).map((one) => one.event_id)
      const answered = await make()
      await untilAnswered(db, [answered])

      const refuseNotes = sql`alter table made_event add constraint unnoted check (not is_answered) not valid`
      await refuseNotes.execute(db)
      const lost = await make()
      await killHard(one.child)

      expect(await listed()).toEqual([2, answered, lost])
      clock.set(clock.nowMs() + 2 * MINUTE_MS)
      expect(await listed()).toEqual([1, answered])
      clock.set(clock.nowMs() + 24 * HOUR_MS)
      await approvals.deleteOld()
      expect(await eventIds()).toEqual([answered])
      // Not before: a statement of the killed server can still be running in the database
      await sql`alter table made_event drop constraint unnoted`.execute(db)
    })
  })
})

/** An answer without how long the player may have to wait: that changes with the time, and each process estimates it. */
function withoutWait(answer: object): unknown {
  return JSON.parse(JSON.stringify(answer), (name, value) =>
    ['queue_length', 'retry_after_s', 'retry-after'].includes(name) ? undefined : value,
  )
}

/** A call of the organiser of an event. */
async function post({ origin }: Serving, path: string, body: object) {
  const response = await fetch(origin + path, {
    method: 'POST',
    body: JSON.stringify({ editCode: EDIT_CODE, ...body }),
  })
  return (await response.json()) as { data: { body: object } }
}

type AnyServing = Pick<Serving, 'origin'>

interface ServingHere extends AnyServing {
  stop(): Promise<void>
}

/** A database, and servers on it. */
interface Place {
  serve(changes?: Env): Promise<Serving>
  /** One that is never killed, inside this process. */
  serveHere(): Promise<ServingHere>
  /** While no server runs on it, where it is embedded. */
  withDatabase<T>(work: (db: Db) => Promise<T>): Promise<T>
}

async function placeOf(kind: 'embedded' | 'postgres'): Promise<Place> {
  const dataDir = kind === 'embedded' ? await freshDataDir() : ''
  const databaseUrl = kind === 'embedded' ? '' : await freshDatabaseUrl()
  // At the end of the file all that was logged is searched for secrets
  const env = { ...(outside.env as Env), DATA_DIR: dataDir, DATABASE_URL: databaseUrl, LOG_LEVEL: 'trace' }
  const settings = databaseUrl === '' ? { dataDir } : { databaseUrl }
  const serving: Serving[] = []
  let here: Engine | undefined
  const open = () => {
    const isServed = serving.some(({ child }) => child.exitCode === null && child.signalCode === null)
    return openEngine({ ...TEST_SETTINGS, ...settings, mode: isServed ? 'join' : 'own' })
  }
  return {
    serve: async (changes = {}) => {
      const server = await serve({ ...env, ...changes }, ['--only', 'attendance'])
      serving.push(server)
      return server
    },
    serveHere: async () => {
      const engine = await open()
      const server = await startAttendance(engine, SYSTEM_CLOCK, outside)
      here = engine
      const stop = async () => {
        here = undefined
        await server.close()
        await engine.close()
      }
      return { origin: server.origin, stop }
    },
    withDatabase: async (work) => {
      if (here) return work(here.db)
      const engine = await open()
      try {
        return await work(engine.db)
      } finally {
        await engine.close()
      }
    },
  }
}

type Outcome = 'ok' | 'already_claimed' | 'lost' | string

/** The players of one event, and the answers that they got. */
class Claims {
  readonly eventId: number
  readonly players: readonly SimulatedPlayer[]
  /** Players whose claim was answered with 200. */
  private readonly promised = new Set<string>()
  private tick = 0

  constructor(name: string, eventId: number) {
    this.eventId = eventId
    this.players = Array.from({ length: PLAYERS }, (_, n) => makePlayer(`kill ${name} ${eventId} ${n}`))
  }

  async putEvent(server: AnyServing, codes: number): Promise<void> {
    await outside.putEvent(this.eventId, { edit_code: EDIT_CODE, codes })
    for (const { address } of this.players) await outside.stand(address, 10, 20, SYSTEM_CLOCK.nowMs())
    for (const [path, body] of [
      [`/event/${this.eventId}`, { editCode: EDIT_CODE, coordinates: '10,20' }],
      [`/addcodes/${this.eventId}`, { editCode: EDIT_CODE }],
    ] as const) {
      const response = await fetch(server.origin + path, { method: 'POST', body: JSON.stringify(body) })
      expect(response.status, await response.text()).toBe(200)
    }
  }

  /** @returns `lost` where no answer came */
  async claim(server: AnyServing, player: SimulatedPlayer): Promise<Outcome> {
    try {
      const { body } = await this.send(server, player)
      const { ok, code } = body as { ok: boolean; code?: string }
      if (ok || code === 'already_claimed') this.promised.add(player.address)
      return ok ? 'ok' : (code ?? 'no code')
    } catch {
      return 'lost'
    }
  }

  async send(server: AnyServing, player: SimulatedPlayer) {
    const path = `/claim/${this.eventId}`
    this.tick += 1 // no two requests have the same signature
    const headers = player.sign({ method: 'POST', path, atMs: SYSTEM_CLOCK.nowMs() + this.tick })
    const response = await fetch(server.origin + path, { method: 'POST', headers })
    return { status: response.status, body: (await response.json()) as object }
  }

  /** Waits until every claim is settled: then players, claims, codes and tokens are the same ones, each once. */
  async assertSettled(place: Place): Promise<void> {
    const claims = await place.withDatabase((db) =>
      eventually(
        () => claimsOf(db, this.eventId),
        (all) => all.every(({ state }) => state !== 'reserved'),
        SETTLED_MS,
      ),
    )
    const mints = await outside.mintsOf(this.eventId)
    const players = claims.map(({ address }) => address).sort()

    for (const { state, code_id } of claims) {
      expect(['minting', 'minted']).toContain(state)
      expect(code_id).not.toBeNull()
    }
    expect(mints.map(({ address }) => address).sort(), 'a token for each claim').toEqual(players)
    expect(new Set(mints.map(({ code }) => code)).size, 'codes').toBe(mints.length)
    expect(players).toEqual(expect.arrayContaining([...this.promised]))
  }
}

/** The server of a game, which gives grants for an event. */
class Game {
  private readonly uuid: string
  private readonly secret: string
  /** The same in each repeated grant. */
  private readonly expires = new Date(SYSTEM_CLOCK.nowMs() + HOUR_MS).toISOString()

  private constructor({ uuid, secret }: { readonly uuid: string; readonly secret: string }) {
    this.uuid = uuid
    this.secret = secret
  }

  /** Makes the event require a grant in place of presence. */
  static async start(server: AnyServing, eventId: number): Promise<Game> {
    const client = createClient({ baseUrl: server.origin })
    const change = { requires_grant: true, requires_presence: false }
    await client.send(attendance.changeEvent(eventId, EDIT_CODE, change))
    return new Game(await client.send(attendance.makeGrantSecret(eventId, EDIT_CODE)))
  }

  /** @returns `lost` where no answer came */
  async give({ origin }: AnyServing, address: string): Promise<Outcome> {
    const grant = { address, nonce: `quest-${address}`, expires: this.expires }
    const call = attendance.sendGrant(this.uuid, grant, await signGrant(this.secret, this.uuid, grant))
    try {
      await createClient({ baseUrl: origin }).send(call)
      return 'ok'
    } catch (error) {
      return error instanceof LandpassError && error.code !== 'offline' ? error.code : 'lost'
    }
  }

  /** As the report counts them. */
  async grants({ origin }: AnyServing) {
    const report = await createClient({ baseUrl: origin }).send(attendance.report(this.uuid, EDIT_CODE))
    return report.grants
  }
}
