import { MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import { inParallel, type Script, sized, tally, type Verdict } from '../script.ts'
import { outcomeOf } from './calls.ts'
import { compareWithLedger } from './event-records.ts'
import { ownIssuerFaults } from './own-issuer-faults.ts'
import { makePlayers, signedClaim } from './players.ts'
import { PLACE, type Rig, withRig } from './rig.ts'
import type { IssuerFaults } from './simulators.ts'

const CLAIMS = 5_000
const SPARE_CODES = 100
const FINAL_WITHIN_MS = 5 * MINUTE_MS
const TIMEOUT_MS = SECOND_MS
/** Players who wait for an answer at the same time. */
const WIDTH = 128

/** Three of ten calls fail, in five different ways. */
const FAULTS = {
  /** Executed, but answered after the timeout. */
  late_rate: 0.06,
  late_ms: 3 * TIMEOUT_MS,
  /** Executed twice. */
  duplicate_rate: 0.06,
  /** A 5xx, not executed. */
  error_rate: 0.06,
  /** A 5xx, but executed. */
  error_after_rate: 0.06,
  /** No answer, ever. */
  drop_rate: 0.06,
  html_errors: true,
  delay_ms: 5,
} as const satisfies IssuerFaults

const NO_FAULTS = {
  late_rate: 0,
  duplicate_rate: 0,
  error_rate: 0,
  error_after_rate: 0,
  drop_rate: 0,
} as const satisfies IssuerFaults

/**
 * Issuers with the wordings of several years. The first one gives a player several tokens, so that the ledger shows
 * repeated requests. The others refuse a second token, with texts that have two meanings.
 */
const ISSUERS = [
  { one_per_player: false, wording: 'current' },
  { one_per_player: true, wording: '2022' },
  { one_per_player: true, wording: 'oldest' },
] as const satisfies readonly IssuerFaults[]

export const issuerFaults: Script = {
  about:
    '5,000 claims while 3 of 10 calls to the issuer fail (or, with --issuer own, while its key file or database is away): all final within 5 minutes, no token too many',
  run: async (options, verdict) => {
    if (options.issuer === 'own') return ownIssuerFaults(options, verdict)
    const { seed, engine, processes, rounds = ISSUERS.length, scale } = options
    const env = { ISSUER_TIMEOUT_MS: String(TIMEOUT_MS), CLAIM_WAIT_MS: '500' }
    await withRig({ engine, processes, env }, async (rig) => {
      for (let round = 1; round <= rounds; round++) {
        const issuer = ISSUERS[(round - 1) % ISSUERS.length]!
        const faults = { ...FAULTS, ...issuer, seed: seed + round }
        await claimFromFaulty(
          rig,
          { seed, name: `round ${round}`, claims: sized(CLAIMS, scale), faults },
          verdict,
        )
      }
    })
  },
}

async function claimFromFaulty(
  rig: Rig,
  { seed, name, claims, faults }: { seed: number; name: string; claims: number; faults: IssuerFaults },
  verdict: Verdict,
): Promise<void> {
  const players = makePlayers(seed, name, claims)
  await rig.presence.putCrowd(
    players.map(({ address }) => address),
    PLACE,
  )
  await rig.issuer.setFaults(NO_FAULTS)
  const event = await rig.newEvent(claims + SPARE_CODES)
  await rig.issuer.setFaults(faults)
  console.log(`${name}: the issuer: ${JSON.stringify(faults)}`)

  const replies = await inParallel(players, WIDTH, (player, i) =>
    rig.caller.send(rig.originOf(i), signedClaim(player, event.uuid)),
  )
  console.log(`${name}: ${tally(replies.map(outcomeOf))}`)
  const odd = replies.filter(({ status }) => status === 0 || status === 500)
  verdict.expect(odd.length === 0, `${name}: unexpected answers: ${tally(odd.map(outcomeOf))}`)

  const { records } = await rig.settle(event.id, FINAL_WITHIN_MS)
  const { double_mints, double_codes } = await rig.issuer.ledger()
  const mints = await rig.issuer.mintsOf(event.id)
  compareWithLedger(verdict, name, records, mints)
  verdict.equal(`${name}: tokens beyond the first, in the ledger`, double_mints + double_codes, 0)
  const longestMs = Math.max(
    0,
    ...records.claims.map(({ createdAtMs, updatedAtMs }) => updatedAtMs - createdAtMs),
  )
  verdict.expect(longestMs <= FINAL_WITHIN_MS, `${name}: a claim took ${longestMs} ms`)
  const claimed = new Set(records.claims.map(({ address }) => address))
  const lost = players.filter(({ address }, i) => replies[i]!.status === 200 && !claimed.has(address))
  verdict.equal(`${name}: accepted claims that are lost`, lost.length, 0)
  console.log(
    `${name}: ${tally(records.claims.map(({ state }) => state))}; the longest took ${(longestMs / 1000).toFixed(1)} s; ` +
      `${mints.length} tokens in the ledger`,
  )
}
