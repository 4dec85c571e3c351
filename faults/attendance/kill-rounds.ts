import { setTimeout } from 'node:timers/promises'
import { MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import { Random } from '@landpass/simulators/random'
import { inParallel, type ScriptOptions, sized, tally, type Verdict } from '../script.ts'
import { outcomeOf, type Reply } from './calls.ts'
import { compareWithLedger } from './event-records.ts'
import { type Player, signedClaim } from './players.ts'
import { type BenchEvent, type Rig, SETTLE_AT_MOST_MS, withRig } from './rig.ts'

/** What the scripts share that kill processes while players claim. */

/** The kill comes at a random time in the first part of a round, while requests are under way. */
const KILL_WITHIN_MS = 600
/** Players at a time. */
export const WIDTH = 16
export const RETRY_MS = 100
/** Limit for the answers to all players of a round; much longer than needed. */
export const GIVE_UP_MS = 2 * MINUTE_MS
const SETTLE_WITHIN_MS = MINUTE_MS

export interface KillRig {
  readonly rig: Rig
  readonly random: Random
  /** How many rounds there are. */
  readonly kills: number
}

/** Runs `work` on servers whose claims take long enough to be met by a kill. @param fullRounds of the full size */
export async function withKillRig(
  { seed, engine, issuer, processes, rounds, scale }: ScriptOptions,
  fullRounds: number,
  work: (tools: KillRig) => Promise<void>,
): Promise<void> {
  const env = { CLAIM_WAIT_MS: '1000' }
  await withRig({ engine, issuer, processes, env }, async (rig) => {
    await rig.issuer.setFaults({ delay_ms: 20, mint_ms: 500, one_per_player: false })
    await work({ rig, random: new Random(seed), kills: sized(rounds ?? fullRounds, scale) })
  })
}

/** One round: requests, and a kill at a random time while they are under way. @param name for the line that is printed */
export async function killDuring(
  random: Random,
  name: string,
  { play, killAndRestart }: { play(): Promise<readonly string[]>; killAndRestart(): Promise<void> },
): Promise<void> {
  const afterMs = random.below(KILL_WITHIN_MS)
  const [outcomes] = await Promise.all([play(), setTimeout(afterMs).then(killAndRestart)])
  console.log(`${name}: killed after ${afterMs} ms; ${tally(outcomes)}`)
}

export async function killServer(rig: Rig, victim: number): Promise<void> {
  await rig.killServer(victim)
  await rig.startServer(victim)
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
  { rig, verdict }: { readonly rig: Rig; readonly verdict: Verdict },
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
