import { SIGNATURE_ERRORS } from '@landpass/server/attendance/signed-fetch/signature-errors'
import { Random } from '@landpass/simulators/random'
import { inParallel, type Script, sized, tally, type Verdict } from '../script.ts'
import { isRefusedWith, outcomeOf } from './calls.ts'
import { makePlayers, type Player } from './players.ts'
import { type BenchEvent, PLACE, type Rig, withRig } from './rig.ts'
import { honest, MUTATIONS, respelled, type Scene } from './signed-mutations.ts'

const REQUESTS = 10_000
const PLAYERS = 64
const WIDTH = 32
/** After so many mutations an unchanged request must be accepted, and its replays must be refused. */
const HONEST_EVERY = 25
const REPLAYS = 8

/** Refusals for a missing or wrong signature. Any other answer means that the signature was accepted. */
const REFUSALS: ReadonlySet<string> = new Set<string>([
  ...SIGNATURE_ERRORS,
  'captcha_required', // a claim without a signature is one of the old booth
  'header_too_large',
  'bad_request',
  'invalid_body',
  'invalid_parameter',
  'not_found',
  'method_not_allowed',
])

export const mutations: Script = {
  about: '10,000 mutated signed requests: none is accepted, and no request is accepted twice',
  run: async ({ seed, engine, processes, scale }, verdict) => {
    const forgers = makePlayers(seed, 'mutations', PLAYERS)
    const honestPlayers = makePlayers(seed, 'honest', Math.ceil(REQUESTS / HONEST_EVERY))
    await withRig({ engine, processes }, async (rig) => {
      await rig.presence.putCrowd(
        [...forgers, ...honestPlayers].map(({ address }) => address),
        PLACE,
      )
      const events = [await rig.newEvent(honestPlayers.length), await rig.newEvent(1)] as const
      const stage = { rig, events, forgers, honestPlayers, random: new Random(seed) }
      await mutate(stage, sized(REQUESTS, scale), verdict)
      for (const { id } of events) {
        const { claims } = await rig.records(id)
        const forged = claims.filter(({ address }) => forgers.some((forger) => forger.address === address))
        verdict.equal(`claims of event ${id} by mutated requests`, forged.length, 0)
        console.log(`event ${id}: ${claims.length} claims, ${forged.length} of them forged`)
      }
    })
  },
}

interface Stage {
  readonly rig: Rig
  readonly events: readonly [BenchEvent, BenchEvent]
  readonly forgers: readonly Player[]
  readonly honestPlayers: readonly Player[]
  readonly random: Random
}

/** Sends each mutation in turn, and unchanged requests between them. */
async function mutate(stage: Stage, count: number, verdict: Verdict): Promise<void> {
  const { rig, forgers, honestPlayers, random } = stage
  const names = Object.keys(MUTATIONS)
  const planned = Array.from({ length: count }, (_, i) => names[i % names.length]!)
  const outcomes = await inParallel(planned, WIDTH, async (name, i) => {
    const call = MUTATIONS[name]!(sceneOf(stage, random.pick(forgers)), random)
    const reply = await rig.caller.send(rig.originOf(i), call)
    verdict.expect(isRefusedWith(REFUSALS, reply), `${name}: ${outcomeOf(reply)} to ${JSON.stringify(call)}`)
    if (i % HONEST_EVERY === 0) {
      const scene = sceneOf(stage, honestPlayers[i / HONEST_EVERY]!)
      for (const fault of await honestOnce(rig, scene, random)) verdict.expect(false, fault)
    }
    return outcomeOf(reply)
  })
  console.log(`mutations: ${tally(outcomes)}`)
}

function sceneOf({ events, forgers, random }: Stage, player: Player): Scene {
  const [path, otherPath] = events.map(({ uuid }) => `/claim/${uuid}`)
  return {
    player,
    stranger: random.pick(forgers.filter((one) => one !== player)),
    method: 'POST',
    ...random.pick([
      { path: '/captcha', otherPath: path!, body: '' },
      { path: path!, otherPath: otherPath!, body: '{}' },
    ]),
    nowMs: Date.now(),
  }
}

/** Sends a request several times at once, then in other spellings: it must be accepted exactly once. */
async function honestOnce(rig: Rig, scene: Scene, random: Random): Promise<string[]> {
  const call = honest(scene)
  const together = await Promise.all(
    Array.from({ length: REPLAYS }, (_, i) => rig.caller.send(rig.originOf(i), call)),
  )
  const later = await Promise.all(
    Array.from({ length: REPLAYS }, (_, i) => rig.caller.send(rig.originOf(i), respelled(call, random))),
  )
  const accepted = together.filter(({ status }) => status === 200).length
  const replayed = later.filter((reply) => !isRefusedWith(REFUSALS, reply))
  return [
    ...(accepted === 1
      ? []
      : [`an honest request was accepted ${accepted} times: ${tally(together.map(outcomeOf))}`]),
    ...replayed.map((reply) => `a replay in another spelling was not refused: ${outcomeOf(reply)}`),
  ]
}
