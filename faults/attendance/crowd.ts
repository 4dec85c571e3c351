import { type Script, sized, tally, type Verdict } from '../script.ts'
import { outcomeOf } from './calls.ts'
import { compareWithLedger } from './event-records.ts'
import { makePlayers, type Player, signedClaims } from './players.ts'
import { PLACE, type Rig, SETTLE_AT_MOST_MS, withRig } from './rig.ts'

const PLAYERS = 10_000
const CODES = 1_000
const ROUNDS = 3

/** All players claim at once; the event has a code for every tenth player. */
export const crowd: Script = {
  about: '10,000 players claim 1,000 codes at once: 1,000 get one each, 9,000 are answered no_codes_left',
  run: async ({ seed, engine, issuer, processes, rounds = ROUNDS, scale }, verdict) => {
    const players = makePlayers(seed, 'crowd', sized(PLAYERS, scale))
    const codes = sized(CODES, scale)
    await withRig({ engine, issuer, processes }, async (rig) => {
      await rig.presence.putCrowd(
        players.map(({ address }) => address),
        PLACE,
      )
      await rig.issuer.setFaults({ delay_ms: 20, one_per_player: false })
      for (let round = 1; round <= rounds; round++) {
        await claimAtOnce(rig, players, codes, `round ${round}`, verdict)
      }
    })
  },
}

async function claimAtOnce(
  rig: Rig,
  players: readonly Player[],
  codes: number,
  round: string,
  verdict: Verdict,
): Promise<void> {
  const event = await rig.newEvent(codes)
  const calls = signedClaims(players, event.uuid)
  const startedMs = performance.now()
  const replies = await Promise.all(calls.map((call, i) => rig.caller.send(rig.originOf(i), call)))
  const tookS = (performance.now() - startedMs) / 1000
  const outcomes = replies.map(outcomeOf)
  console.log(
    `${round}: ${tally(outcomes)} in ${tookS.toFixed(1)} s, ${(calls.length / tookS).toFixed(0)} a second`,
  )

  const winners = players.filter((_, i) => replies[i]!.status === 200).map(({ address }) => address)
  const losers = outcomes.filter((outcome) => outcome === '409 no_codes_left').length
  verdict.equal(`${round}: claims that got a code`, winners.length, codes)
  verdict.equal(`${round}: claims answered no_codes_left`, losers, players.length - codes)

  const { records, tookMs } = await rig.settle(event.id, SETTLE_AT_MOST_MS)
  const mints = await rig.mintsOf(event.id)
  compareWithLedger(verdict, round, records, mints)
  verdict.equal(`${round}: tokens at the issuer`, mints.length, codes)
  verdict.equal(`${round}: codes left over in the database`, records.codes.free, 0)
  const got = new Set(mints.map(({ address }) => address))
  verdict.equal(`${round}: winners without a token`, winners.filter((address) => !got.has(address)).length, 0)
  const { total, available, claimed } = await rig.availability(event)
  verdict.equal(
    `${round}: availability`,
    `${available} of ${total}, ${claimed} claimed`,
    `0 of ${codes}, ${codes} claimed`,
  )
  console.log(`${round}: settled after ${(tookMs / 1000).toFixed(1)} s, ${mints.length} tokens`)
}
