import { Random } from '@landpass/simulators/random'
import { inParallel, type Script, sized, tally, type Verdict } from '../script.ts'
import { type Call, isRefusedWith, jsonCall, outcomeOf, type Reply } from './calls.ts'
import { type BenchEvent, type Rig, withRig } from './rig.ts'
import { GRANT_MUTATIONS, type GrantEvent, type GrantScene, honestGrant } from './signed-grants.ts'

const REQUESTS = 10_000
const WIDTH = 32
/** After so many mutations an unchanged grant must be accepted, as often as it is sent, and count once. */
const HONEST_EVERY = 25
const REPEATS = 4

/** Refusals of a grant. Any other answer means that it was accepted, or that the server failed. */
const REFUSALS: ReadonlySet<string> = new Set([
  'bad_grant',
  'nonce_used',
  'invalid_parameter',
  'invalid_body',
  'body_too_large',
  'not_found',
  'method_not_allowed',
])

export const grantMutations: Script = {
  about: '10,000 mutated grants: none is accepted, and a grant that is sent again counts once',
  run: async ({ seed, engine, processes, scale }, verdict) => {
    await withRig({ engine, processes }, async (rig) => {
      const events = [await rig.newEvent(1), await rig.newEvent(1)] as const
      const stage = await prepareGrants(
        (call, at) => rig.caller.send(rig.originOf(at), call),
        events,
        new Random(seed),
      )
      const { outcomes, honest } = await sendGrantMutations(stage, sized(REQUESTS, scale), verdict)
      console.log(`mutations: ${tally(outcomes)}`)
      for (const event of events) {
        const wanted = event === events[0] ? honest + 1 : 0
        const { open } = await grantsOf(rig, event)
        verdict.equal(`grants of event ${event.id}`, open, wanted)
        console.log(`event ${event.id}: ${open} grants, ${wanted} of them unchanged`)
      }
    })
  },
}

/** Sends a request to one of the processes: the one of this number, in turn. */
export type SendGrant = (call: Call, at: number) => Promise<Pick<Reply, 'status' | 'code' | 'text'>>

export interface GrantStage {
  readonly send: SendGrant
  readonly scene: Omit<GrantScene, 'nonce' | 'address' | 'stranger' | 'nowMs'>
  readonly random: Random
  readonly nowMs: () => number
}

/** Makes the secrets of two events, and a grant whose nonce is then used. */
export async function prepareGrants(
  send: SendGrant,
  events: readonly [Pick<BenchEvent, 'uuid' | 'editCode'>, Pick<BenchEvent, 'uuid' | 'editCode'>],
  random: Random,
  nowMs: () => number = Date.now,
): Promise<GrantStage> {
  const newSecret = async ({
    uuid,
    editCode,
  }: Pick<BenchEvent, 'uuid' | 'editCode'>): Promise<GrantEvent> => {
    const reply = await send(jsonCall('POST', `/event/${uuid}/grant-secret`, { editCode }), 0)
    if (reply.status !== 200) throw new Error(`no secret: ${reply.text}`)
    return { uuid, secret: (JSON.parse(reply.text) as { data: GrantEvent }).data.secret }
  }
  const { secret: endedSecret } = await newSecret(events[0])
  const scene = {
    event: await newSecret(events[0]),
    other: await newSecret(events[1]),
    endedSecret,
    usedNonce: 'used',
  }
  const stage = { send, scene, random, nowMs }
  const first = await send(honestGrant({ ...sceneOf(stage, 0), nonce: scene.usedNonce }), 0)
  if (first.status !== 200) throw new Error(`the first grant was refused: ${first.text}`)
  return stage
}

/** Sends each mutation in turn, and unchanged grants between them. @returns the outcomes, and how many were unchanged */
export async function sendGrantMutations(
  stage: GrantStage,
  count: number,
  verdict: Verdict,
): Promise<{ readonly outcomes: readonly string[]; readonly honest: number }> {
  const names = Object.keys(GRANT_MUTATIONS)
  const planned = Array.from({ length: count }, (_, i) => names[i % names.length]!)
  let honest = 0
  const outcomes = await inParallel(planned, WIDTH, async (name, i) => {
    const call = GRANT_MUTATIONS[name]!(sceneOf(stage, 2 * i + 1), stage.random)
    const reply = await stage.send(call, i)
    verdict.expect(isRefusedWith(REFUSALS, reply), `${name}: ${outcomeOf(reply)} to ${JSON.stringify(call)}`)
    if (i % HONEST_EVERY === 0) {
      honest += 1
      await sendHonestly(stage, 2 * i + 2, verdict)
    }
    return outcomeOf(reply)
  })
  return { outcomes, honest }
}

async function sendHonestly(stage: GrantStage, number: number, verdict: Verdict): Promise<void> {
  const call = honestGrant(sceneOf(stage, number))
  const replies = await Promise.all(Array.from({ length: REPEATS }, (_, i) => stage.send(call, i)))
  verdict.expect(
    replies.every(({ status, text }) => status === 200 && text === replies[0]!.text),
    `an unchanged grant was answered: ${tally(replies.map(outcomeOf))}`,
  )
}

function sceneOf({ scene, nowMs }: GrantStage, number: number): GrantScene {
  const address = (of: number) => `0x${of.toString(16).padStart(40, 'a')}`
  return {
    ...scene,
    address: address(2 * number),
    stranger: address(2 * number + 1),
    nonce: `grant-${number}`,
    nowMs: nowMs(),
  }
}

/** The figures of the report. */
export async function grantsOf(
  rig: Rig,
  { uuid, editCode }: Pick<BenchEvent, 'uuid' | 'editCode'>,
): Promise<{ readonly open: number; readonly used: number; readonly expired: number }> {
  const reply = await rig.caller.send(
    rig.origins[0]!,
    jsonCall('POST', `/event/${uuid}/report`, { editCode }),
  )
  if (reply.status !== 200) throw new Error(`no report: ${outcomeOf(reply)} ${reply.text}`)
  return (reply.data as { grants: { open: number; used: number; expired: number } }).grants
}
