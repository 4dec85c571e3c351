import { solveProofOfWork } from '@landpass/client'
import { median } from '@landpass/server/test/support/processes/load'
import { Random } from '@landpass/simulators/random'
import { inParallel, type Script, sized, tally, type Verdict } from '../script.ts'
import { type CallCounter, startCallCounter } from './call-counter.ts'
import { type Call, jsonCall, outcomeOf, type Reply } from './calls.ts'
import { PLACE, type Rig, withRig } from './rig.ts'

const GUESSES = 100_000
const JUDGED_AT_MOST = 5
const WIDTH = 64
const SAMPLES = 400
const MEDIANS_WITHIN = 0.05
/** Far from the numbers that the rig gives its events. */
const UNKNOWN_FROM = 900_001
const INVENTED_FROM = 2_000_001
const VALIDATE = 'POST /event/validate'
/** For an organiser without a pass, with the proof of work. */
const IN_WITHIN_S = 120
const INVENTED = 2_000

export const guesses: Script = {
  about:
    '100,000 guesses of an edit code: 5 are judged; the organiser gets in all the same; a wrong code and an unknown event have equal answers and times; invented event ids cost one call each',
  run: async ({ seed, engine, processes, scale }, verdict) => {
    let counter: CallCounter | undefined
    const via = async ({
      issuer,
      presence,
    }: {
      issuer: { origin: string }
      presence: { origin: string }
    }) => {
      counter = await startCallCounter(issuer.origin)
      return { issuer: counter.origin, presence: presence.origin }
    }
    try {
      await withRig({ engine, processes, via }, async (rig) => {
        const random = new Random(seed)
        for (const isRegistered of [false, true]) {
          await guessOne(rig, counter!, { count: sized(GUESSES / 2, scale), random, isRegistered }, verdict)
        }
        await compareTimes(rig, sized(SAMPLES, scale), random, verdict)
        await inventIds(rig, counter!, sized(INVENTED, scale), verdict)
      })
    } finally {
      await counter?.stop()
    }
  },
}

/** Sends guesses: for a registered event with every call that has an edit code, for other events with registrations. */
async function guessOne(
  rig: Rig,
  { counts }: CallCounter,
  { count, random, isRegistered }: { count: number; random: Random; isRegistered: boolean },
  verdict: Verdict,
): Promise<void> {
  const { id, editCode } = await rig.newIssuerEvent(1)
  if (isRegistered) await rig.register(id, editCode)
  const pass = isRegistered
    ? passIn(await rig.caller.send(rig.originOf(0), registration(id, editCode)))
    : undefined
  const name = `guesses at ${isRegistered ? 'a registered event' : 'an event that is not registered'}`
  const callOf = () => (isRegistered ? random.pick(GUESSES_AT_REGISTERED) : registration)
  const before = counts.get(VALIDATE) ?? 0
  const wrong = Array.from({ length: count }, () => wrongCode(editCode, random))
  const startedMs = performance.now()
  const replies = await inParallel(wrong, WIDTH, (guess, i) =>
    rig.caller.send(rig.originOf(i), callOf()(id, guess)),
  )
  const tookS = (performance.now() - startedMs) / 1000
  const judged = (counts.get(VALIDATE) ?? 0) - before
  const outcomes = replies.map(outcomeOf)
  console.log(`${name}: ${tally(outcomes)} in ${tookS.toFixed(0)} s; the issuer judged ${judged}`)

  verdict.equal(`${name}: judged by the issuer`, judged, JUDGED_AT_MOST)
  const wrongAnswers = outcomes.filter((outcome) => outcome === '401 wrong_edit_code').length
  verdict.expect(wrongAnswers <= JUDGED_AT_MOST, `${name}: ${wrongAnswers} were answered wrong_edit_code`)
  const others = outcomes.filter((outcome) => !/^(401 wrong_edit_code|429 too_many_guesses)$/.test(outcome))
  verdict.expect(others.length === 0, `${name}: unexpected answers: ${tally(others)}`)
  const silent = replies.filter(({ status, headers }) => status === 429 && !Number(headers['retry-after']))
  verdict.equal(`${name}: refusals without Retry-After`, silent.length, 0)
  for (const call of isRegistered ? GUESSES_AT_REGISTERED : [registration]) {
    const right = await rig.caller.send(rig.originOf(0), call(id, editCode))
    verdict.equal(`${name}: the right code without a pass`, outcomeOf(right), '429 too_many_guesses')
    if (pass === undefined) continue
    const withPass = await rig.caller.send(rig.originOf(0), call(id, editCode, { pass }))
    verdict.equal(`${name}: the right code with a pass`, withPass.status, 200)
  }
  await enterWithProof(rig, { id, editCode, name }, counts, verdict)
  await rig.newEvent(1) // throws if the guesses prevent the registration of another event
}

const coordinates = `${PLACE.x},${PLACE.y}`

function registration(id: number, editCode: string, more = {}): Call {
  return jsonCall('POST', `/event/${id}`, { editCode, coordinates, ...more })
}

/** All calls that contain an edit code. */
const GUESSES_AT_REGISTERED: readonly ((id: number, editCode: string, more?: object) => Call)[] = [
  registration,
  (id, editCode, more) =>
    jsonCall('PATCH', `/event/${id}`, { editCode, options: [['coordinates', coordinates]], ...more }),
  (id, editCode, more) => jsonCall('POST', `/addcodes/${id}`, { editCode, ...more }),
  (id, editCode, more) => jsonCall('POST', `/event/${id}/report`, { editCode, ...more }),
]

/** The organiser without a pass, while wrong guesses go on: one proof of work, one judged call. */
async function enterWithProof(
  rig: Rig,
  { id, editCode, name }: { id: number; editCode: string; name: string },
  counts: CallCounter['counts'],
  verdict: Verdict,
): Promise<void> {
  const before = counts.get(VALIDATE) ?? 0
  const startedMs = performance.now()
  const send = (more = {}) => rig.caller.send(rig.originOf(0), registration(id, editCode, more))
  const asked = (JSON.parse((await send()).text) as { data: { proof_of_work: Challenge } }).data.proof_of_work
  const wrong = await rig.caller.send(
    rig.originOf(0),
    registration(id, '000000', { proof: `${asked.challenge}:0` }),
  )
  verdict.equal(`${name}: a wrong proof`, outcomeOf(wrong), '429 too_many_guesses')
  const proof = await solveProofOfWork(asked)
  const entered = await send({ proof })
  const again = await send({ proof })
  const tookS = (performance.now() - startedMs) / 1000
  console.log(`${name}: in with a proof of ${asked.bits} bits after ${tookS.toFixed(1)} s`)
  verdict.equal(`${name}: the right code with a proof`, entered.status, 200)
  verdict.equal(`${name}: the same proof again`, outcomeOf(again), '429 too_many_guesses')
  verdict.equal(`${name}: judged for the organiser`, (counts.get(VALIDATE) ?? 0) - before, 1)
  verdict.expect(tookS <= IN_WITHIN_S, `${name}: the organiser got in after ${tookS.toFixed(0)} s`)
}

interface Challenge {
  readonly challenge: string
  readonly bits: number
}

function passIn({ text }: Reply): string | undefined {
  return (JSON.parse(text) as { data: { organiser_pass?: { pass: string } } }).data.organiser_pass?.pass
}

/** Wrong codes for invented event ids, several for each: one call to the issuer for each id, and claims go on. */
async function inventIds(rig: Rig, { counts }: CallCounter, count: number, verdict: Verdict): Promise<void> {
  const before = counts.get(VALIDATE) ?? 0
  const ids = Array.from({ length: count }, (_, n) => INVENTED_FROM + n)
  const replies = await inParallel([...ids, ...ids, ...ids], WIDTH, (id, i) =>
    rig.caller.send(rig.originOf(i), registration(id, '000000')),
  )
  const judged = (counts.get(VALIDATE) ?? 0) - before
  console.log(`invented ids: ${tally(replies.map(outcomeOf))}; ${count} ids, ${judged} calls to the issuer`)
  verdict.expect(judged <= count * rig.origins.length, `invented ids: ${judged} calls for ${count} ids`)
  await rig.newEvent(1) // throws if the guesses prevent a registration
}

function wrongCode(right: string, random: Random): string {
  const guess = String(random.below(1_000_000)).padStart(6, '0')
  return guess === right ? wrongCode(right, random) : guess
}

/** Sends one guess for each of many events, of three kinds in turn; the issuer judges all of them. */
async function compareTimes(rig: Rig, samples: number, random: Random, verdict: Verdict): Promise<void> {
  const events = await inParallel(Array.from({ length: 2 * samples }), 8, () => rig.newIssuerEvent(1))
  const kinds: Readonly<Record<string, (at: number) => [id: number, editCode: string]>> = {
    'a wrong code': (at) => [events[at]!.id, '000000'],
    'an unknown event': (at) => [UNKNOWN_FROM + at, '000000'],
    "another event's code": (at) => [events[samples + at]!.id, events[at]!.editCode],
  }
  const times = new Map<string, number[]>(Object.keys(kinds).map((kind) => [kind, []]))
  const answers = new Set<string>()
  for (let at = 0; at < samples; at++) {
    // In a random order, because the first request of a round may be slower than the last
    for (const [kind, guess] of random.shuffle(Object.entries(kinds))) {
      const [id, editCode] = guess(at)
      const startedMs = performance.now()
      const reply = await rig.caller.send(rig.originOf(at), registration(id, editCode))
      times.get(kind)!.push(performance.now() - startedMs)
      answers.add(visibleOf(reply))
    }
  }
  const medians = [...times].map(([kind, list]) => ({ kind, ms: median(list) }))
  console.log(
    `times: ${medians.map(({ kind, ms }) => `${kind} ${ms.toFixed(2)} ms`).join(', ')}; ${samples} of each`,
  )
  const [fastest, slowest] = [
    Math.min(...medians.map(({ ms }) => ms)),
    Math.max(...medians.map(({ ms }) => ms)),
  ]
  const apart = slowest / fastest - 1
  verdict.expect(apart <= MEDIANS_WITHIN, `the medians are ${(100 * apart).toFixed(1)} % apart`)
  verdict.expect(answers.size === 1, `the answers differ: ${[...answers].join(' | ')}`)
}

/** Status, body, and all headers but those that differ in every answer. */
function visibleOf({ status, headers, text }: Reply): string {
  const { date: _date, 'x-request-id': _id, ...others } = headers
  return JSON.stringify([status, others, text])
}
