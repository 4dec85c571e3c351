import { setTimeout } from 'node:timers/promises'
import { HOUR_MS } from '@landpass/server/clock'
import { inParallel, type Script, type Verdict } from '../script.ts'
import { type Call, jsonCall, outcomeOf, type Reply } from './calls.ts'
import { grantsOf } from './grant-mutations.ts'
import {
  checkWhenSettled,
  GIVE_UP_MS,
  killDuring,
  killServer,
  RETRY_MS,
  WIDTH,
  withKillRig,
} from './kill-rounds.ts'
import { makePlayers, type Player, signedClaim } from './players.ts'
import type { BenchEvent, Rig } from './rig.ts'
import { honestGrant } from './signed-grants.ts'

const ROUNDS = 50
const PLAYERS_PER_KILL = 100
/** One player of so many gets no grant. */
const WITHOUT_GRANT = 10

export const grantKill: Script = {
  about: '50 times kill -9 while grants and claims arrive: no grant lost, none used twice',
  run: (options, verdict) =>
    withKillRig(options, ROUNDS, async ({ rig, random, kills }) => {
      const players = makePlayers(options.seed, 'grant kill', kills * PLAYERS_PER_KILL)
      const game = await startGame(rig, await rig.newEvent(players.length))
      const accepted = new Set<string>()
      const tools = { rig, game, accepted, verdict }
      for (let round = 1; round <= kills; round++) {
        const name = `round ${round}`
        const some = players.slice((round - 1) * PLAYERS_PER_KILL, round * PLAYERS_PER_KILL)
        await killDuring(random, name, {
          play: () => playRound(tools, some, name),
          killAndRestart: () => killServer(rig, random.below(options.processes)),
        })
      }
      await checkAtEnd(tools, players)
    }),
}

/** An event that requires a grant, and what signs the grants. */
interface Game {
  readonly event: BenchEvent
  readonly secret: string
}

interface Round {
  readonly rig: Rig
  readonly game: Game
  /** Players whose claim was accepted. */
  readonly accepted: Set<string>
  readonly verdict: Verdict
}

async function startGame(rig: Rig, event: BenchEvent): Promise<Game> {
  const { editCode, uuid } = event
  const options = [
    ['requires_grant', true],
    ['requires_presence', false],
  ]
  const send = async (call: Call) => {
    const reply = await rig.caller.send(rig.origins[0]!, call)
    if (reply.status !== 200) throw new Error(`${call.path}: ${reply.text}`)
    return reply.data
  }
  await send(jsonCall('PATCH', `/event/${uuid}`, { editCode, options }))
  const { secret } = (await send(jsonCall('POST', `/event/${uuid}/grant-secret`, { editCode }))) as Game
  return { event, secret }
}

/** Each player gets a grant, claims, and the game sends the grant again: all until there is an answer. */
async function playRound(round: Round, players: readonly Player[], name: string): Promise<string[]> {
  const { game, accepted, verdict } = round
  const outcomes: string[] = []
  await inParallel(players, WIDTH, async (player, i) => {
    const isGranted = i % WITHOUT_GRANT !== 0
    const grant = grantOf(game, player)
    if (isGranted) expectOk(verdict, `${name}: a grant`, await untilAnswered(round, () => grant, outcomes))
    const claim = () => signedClaim(player, game.event.uuid)
    const reply = await untilAnswered(round, claim, outcomes)
    if (reply.status === 200) accepted.add(player.address)
    const wanted = isGranted ? ['200', '409 already_claimed'] : ['403 grant_required']
    verdict.expect(wanted.includes(outcomeOf(reply)), `${name}: a claim was answered ${outcomeOf(reply)}`)
    if (isGranted) expectOk(verdict, `${name}: a repeat`, await untilAnswered(round, () => grant, outcomes))
  })
  return outcomes
}

function grantOf({ event: { uuid }, secret }: Game, { address }: Player): Call {
  const scene = { event: { uuid, secret }, other: { uuid, secret }, endedSecret: '', usedNonce: '' }
  return honestGrant(
    { ...scene, address, stranger: address, nonce: `quest-${address}`, nowMs: Date.now() },
    { expires: new Date(Date.now() + HOUR_MS).toISOString() },
  )
}

async function untilAnswered({ rig }: Round, next: () => Call, outcomes: string[]): Promise<Reply> {
  const startedMs = performance.now()
  for (let attempt = 0; ; attempt++) {
    const reply = await rig.caller.send(rig.originOf(attempt), next())
    outcomes.push(outcomeOf(reply))
    const isAnswered = reply.status !== 0 && reply.status !== 503
    if (isAnswered || performance.now() - startedMs > GIVE_UP_MS) return reply
    await setTimeout(RETRY_MS)
  }
}

function expectOk(verdict: Verdict, what: string, reply: Reply): void {
  verdict.expect(reply.status === 200, `${what} was answered ${outcomeOf(reply)}`)
}

async function checkAtEnd(
  { rig, game, accepted, verdict }: Round,
  players: readonly Player[],
): Promise<void> {
  const granted = players.filter((_, i) => (i % PLAYERS_PER_KILL) % WITHOUT_GRANT !== 0)
  await checkWhenSettled({ rig, verdict }, game.event, granted, accepted, 'at the end')
  const { open, used, expired } = await grantsOf(rig, game.event)
  verdict.equal('grants that are open', open, 0)
  verdict.equal('grants that were used', used, granted.length)
  verdict.equal('grants that expired', expired, 0)
  console.log(`${granted.length} grants: ${open} open, ${used} used, ${expired} expired`)
}
