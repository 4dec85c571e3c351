import { setTimeout } from 'node:timers/promises'
import { MINUTE_MS, SECOND_MS } from '../../src/clock.ts'
import { Random } from '../../src/demo/random.ts'
import { outcomeOf, type Reply } from './calls.ts'
import { compareWithLedger } from './event-records.ts'
import { makePlayers, type Player, signedClaim } from './players.ts'
import { type BenchEvent, PLACE, type Rig, SETTLE_AT_MOST_MS, withRig } from './rig.ts'
import { inParallel, type Script, sized, tally, type Verdict } from './script.ts'

const ROUNDS = 100
/** So many kills of a server for each of PostgreSQL. */
const SERVER_KILLS_PER_DATABASE_KILL = 5
/** After so many kills the script waits until no claim is under way. */
const KILLS_UNTIL_CHECK = 5
const PLAYERS_PER_KILL = 200
/** The kill comes at a random time in the first part of a round, while claims are under way. */
const KILL_WITHIN_MS = 600
const SETTLE_WITHIN_MS = MINUTE_MS
const WIDTH = 16
const RETRY_MS = 100
/** Limit for the answers to all players of a round; much longer than needed. */
const GIVE_UP_MS = 2 * MINUTE_MS

export const kill: Script = {
  about: '100 times kill -9 of the server, 20 times of PostgreSQL: no accepted claim lost, none doubled',
  run: async ({ seed, engine, issuer, processes, rounds = ROUNDS, scale }, verdict) => {
    const random = new Random(seed)
    const kills = sized(rounds, scale)
    const env = { CLAIM_WAIT_MS: '1000' }
    await withRig({ engine, issuer, processes, env }, async (rig) => {
      await rig.issuer.setFaults({ delay_ms: 20, mint_ms: 500, one_per_player: false })
      const tools = { rig, seed, random, verdict }
      await killRepeatedly(tools, 'server', kills, async () => {
        const victim = random.below(processes)
        await rig.killServer(victim)
        await rig.startServer(victim)
      })
      const { postgres } = rig
      if (!postgres) return
      await killRepeatedly(tools, 'postgres', sized(kills, 1 / SERVER_KILLS_PER_DATABASE_KILL), async () => {
        await postgres.kill()
        await retry(() => postgres.resume())
      })
    })
  },
}

interface Tools {
  readonly rig: Rig
  readonly seed: number
  readonly random: Random
  readonly verdict: Verdict
}

async function killRepeatedly(
  { rig, seed, random, verdict }: Tools,
  what: string,
  kills: number,
  killAndRestart: () => Promise<void>,
): Promise<void> {
  const players = makePlayers(seed, what, kills * PLAYERS_PER_KILL)
  await rig.presence.putCrowd(
    players.map(({ address }) => address),
    PLACE,
  )
  const event = await rig.newEvent(players.length)
  const accepted = new Set<string>()
  for (let round = 1; round <= kills; round++) {
    const name = `${what} ${round}`
    const some = players.slice((round - 1) * PLAYERS_PER_KILL, round * PLAYERS_PER_KILL)
    const afterMs = random.below(KILL_WITHIN_MS)
    const [outcomes] = await Promise.all([
      claimWithRetries(rig, some, event, accepted, name, verdict),
      setTimeout(afterMs).then(killAndRestart),
    ])
    console.log(`${name}: killed after ${afterMs} ms; ${tally(outcomes)}`)
    if (round % KILLS_UNTIL_CHECK === 0 || round === kills) {
      await checkWhenSettled(
        { rig, verdict },
        event,
        players.slice(0, round * PLAYERS_PER_KILL),
        accepted,
        name,
      )
    }
  }
}

/** Every player repeats the claim until there is an answer. @returns the outcomes of all requests */
export async function claimWithRetries(
  rig: Rig,
  players: readonly Player[],
  event: BenchEvent,
  accepted: Set<string>,
  name: string,
  verdict: Verdict,
  alsoExpected: readonly string[] = [],
): Promise<string[]> {
  const outcomes: string[] = []
  await inParallel(players, WIDTH, async (player, i) => {
    const startedMs = performance.now()
    for (let attempt = 0; ; attempt++) {
      const call = signedClaim(player, event.uuid)
      const reply = await rig.caller.send(rig.originOf(i + attempt), call)
      outcomes.push(outcomeOf(reply))
      if (reply.status === 200) accepted.add(player.address)
      if (!isWorthARetry(reply)) return
      if (performance.now() - startedMs > GIVE_UP_MS) {
        verdict.expect(false, `${name}: no answer within ${GIVE_UP_MS / SECOND_MS} s: ${outcomeOf(reply)}`)
        return
      }
      await setTimeout(RETRY_MS)
    }
  })
  const odd = outcomes.filter((outcome) => !EXPECTED.has(outcome) && !alsoExpected.includes(outcome))
  verdict.expect(odd.length === 0, `${name}: unexpected answers: ${tally(odd)}`)
  return outcomes
}

/** Allowed outcomes while a server or the database stops and starts. */
const EXPECTED: ReadonlySet<string> = new Set([
  '200',
  '409 already_claimed',
  'no answer',
  '503 database_unavailable',
  '503 presence_unavailable',
  '503 issuer_unavailable',
])

function isWorthARetry({ status }: Reply): boolean {
  return status === 0 || status === 503
}

/** Waits until no claim is under way, and compares players, claims and tokens. */
export async function checkWhenSettled(
  { rig, verdict }: Pick<Tools, 'rig' | 'verdict'>,
  event: BenchEvent,
  players: readonly Player[],
  accepted: ReadonlySet<string>,
  name: string,
): Promise<void> {
  const first = await rig.settle(event.id, SETTLE_WITHIN_MS, ({ reserved }) => reserved.length === 0)
  const open = first.records.reserved.length
  verdict.expect(
    open === 0,
    `${name}: ${open} claims are open ${SETTLE_WITHIN_MS / SECOND_MS} s after the restart`,
  )
  const { records } = await rig.settle(event.id, SETTLE_AT_MOST_MS)
  const mints = await rig.mintsOf(event.id)
  compareWithLedger(verdict, name, records, mints)
  const got = new Set(records.minted.map(({ address }) => address))
  verdict.equal(
    `${name}: accepted claims that are lost`,
    [...accepted].filter((one) => !got.has(one)).length,
    0,
  )
  verdict.equal(`${name}: players with a token`, got.size, players.length)
  console.log(`${name}: settled after ${(first.tookMs / 1000).toFixed(1)} s, ${mints.length} tokens`)
}

/** Retries, because PostgreSQL does not start while processes of the killed one are still ending. */
export async function retry(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === 100) throw error
      await setTimeout(RETRY_MS)
    }
  }
}
