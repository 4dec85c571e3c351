import { Random } from '@landpass/simulators/random'
import { type Script, sized, tally, type Verdict } from '../script.ts'
import { type Call, outcomeOf } from './calls.ts'
import { compareWithLedger } from './event-records.ts'
import { makePlayers, type Player, signedClaim } from './players.ts'
import { PLACE, type Rig, SETTLE_AT_MOST_MS, withRig } from './rig.ts'

const CLAIMS = 1_000
const CODES = 10
const ROUNDS = 3

/** One player sends a thousand claims at once. */
export const onePlayer: Script = {
  about: '1,000 claims at once by one address in mixed letter case use one code, and none fails with a 5xx',
  run: async ({ seed, engine, issuer, processes, rounds = ROUNDS, scale }, verdict) => {
    const random = new Random(seed)
    await withRig({ engine, issuer, processes }, async (rig) => {
      await rig.issuer.setFaults({ delay_ms: 20, one_per_player: false })
      const players = makePlayers(seed, 'one player', rounds)
      // All at once, because servers ask for the list at most every five seconds
      await rig.presence.putCrowd(
        players.map(({ address }) => address),
        PLACE,
      )
      for (const [i, player] of players.entries()) {
        const name = `round ${i + 1}`
        await claimOften(rig, player, { name, count: sized(CLAIMS, scale), random }, verdict)
      }
    })
  },
}

async function claimOften(
  rig: Rig,
  player: Player,
  { name, count, random }: { name: string; count: number; random: Random },
  verdict: Verdict,
): Promise<void> {
  const event = await rig.newEvent(CODES)
  const calls = claimsOf(player, event.uuid, count, random)
  const replies = await Promise.all(calls.map((call, i) => rig.caller.send(rig.originOf(i), call)))
  const outcomes = replies.map(outcomeOf)
  console.log(`${name}: ${tally(outcomes)}`)
  const others = outcomes.filter((outcome) => outcome !== '200' && outcome !== '409 already_claimed')
  verdict.expect(others.length === 0, `${name}: unexpected answers: ${tally(others)}`)
  verdict.expect(outcomes.includes('200'), `${name}: no claim was accepted`)

  const { records } = await rig.settle(event.id, SETTLE_AT_MOST_MS)
  const mints = await rig.mintsOf(event.id)
  compareWithLedger(verdict, name, records, mints)
  verdict.equal(`${name}: claims in the database`, records.claims.length, 1)
  verdict.equal(`${name}: tokens at the issuer`, mints.length, 1)
  verdict.equal(`${name}: free codes`, (await rig.availability(event)).available, CODES - 1)
}

/** Claims with different times, so that none is a replay, and with random letter case of the address. */
function claimsOf(player: Player, uuid: string, count: number, random: Random): Call[] {
  const nowMs = Date.now()
  return Array.from({ length: count }, (_, i) => {
    const body = JSON.stringify({ address: mixedCase(player.address, random) })
    const call = signedClaim(player, uuid, nowMs + i, body)
    const signer = JSON.stringify({
      type: 'SIGNER',
      payload: mixedCase(player.address, random),
      signature: '',
    })
    return { ...call, headers: { ...call.headers, 'x-identity-auth-chain-0': signer } }
  })
}

function mixedCase(address: string, random: Random): string {
  return `0x${[...address.slice(2)].map((digit) => (random.chance(50) ? digit.toUpperCase() : digit)).join('')}`
}
