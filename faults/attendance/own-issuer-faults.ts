import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { SECOND_MS } from '@landpass/server/clock'
import { Random } from '@landpass/simulators/random'
import { type ScriptOptions, sized, tally, type Verdict } from '../script.ts'
import { outcomeOf } from './calls.ts'
import { checkWhenSettled, claimWithRetries, retry } from './kill-rounds.ts'
import { makePlayers, type Player, signedClaim } from './players.ts'
import { type BenchEvent, PLACE, type Rig, withRig } from './rig.ts'

const PLAYERS = 1_250
/** The fault comes at a random time in the first part of a round, while claims are under way. */
const FAULT_WITHIN_MS = 600
const AWAY_MS = 3 * SECOND_MS
const NO_KEY = '503 attendance_not_configured'

/** What is in place of the file with the keys when a server starts. Each is mended a little later. */
const KEY_FAULTS: Readonly<Record<string, (path: string) => void>> = {
  'the key file is missing': (path) => rmSync(path),
  'the key file is damaged': (path) => writeFileSync(path, `${readFileSync(path, 'utf8').slice(0, 40)}\n`),
  'the key file cannot be read': (path) => {
    rmSync(path)
    mkdirSync(path) // the scripts may run as root, who can read files of every mode
  },
}
const DATABASE_FAULT = 'the database is away'

/**
 * Faults of events that are made here, one after the other, while players claim. A running server has read its keys, so
 * it goes on signing. One that starts without them refuses claims of such events, and nothing else. It signs again when the file is
 * back, and it was restarted. All claims become the tokens that their stored messages say.
 */
export async function ownIssuerFaults(
  { seed, engine, processes, rounds, scale }: ScriptOptions,
  verdict: Verdict,
): Promise<void> {
  const faults = [...Object.keys(KEY_FAULTS), ...(engine === 'postgres' ? [DATABASE_FAULT] : [])]
  const random = new Random(seed)
  const perRound = 1 + sized(PLAYERS, scale)
  const everybody = makePlayers(seed, 'own faults', (rounds ?? faults.length) * perRound)
  await withRig({ engine, issuer: 'own', processes, env: { CLAIM_WAIT_MS: '500' } }, async (rig) => {
    // All at once, because servers ask for the list at most every five seconds
    await rig.presence.putCrowd(
      everybody.map(({ address }) => address),
      PLACE,
    )
    for (let round = 0; round < (rounds ?? faults.length); round++) {
      const name = faults[round % faults.length]!
      const [visitor, ...players] = everybody.slice(round * perRound, (round + 1) * perRound)
      const event = await rig.newEvent(players.length + 1)
      const accepted = new Set<string>()
      const afterMs = random.below(FAULT_WITHIN_MS)
      const [outcomes] = await Promise.all([
        claimWithRetries(rig, players, event, accepted, name, verdict, [NO_KEY]),
        setTimeout(afterMs).then(() => haveFault({ rig, name, verdict }, event, visitor!)),
      ])
      console.log(`${name}, after ${afterMs} ms: ${tally(outcomes)}`)
      await checkWhenSettled({ rig, verdict }, event, players, accepted, name)
    }
  })
}

interface Tools {
  readonly rig: Rig
  readonly name: string
  readonly verdict: Verdict
}

async function haveFault(tools: Tools, event: BenchEvent, visitor: Player): Promise<void> {
  const breakKeys = KEY_FAULTS[tools.name]
  if (breakKeys) return loseKeys(tools, breakKeys, event, visitor)
  const postgres = tools.rig.postgres!
  await postgres.kill()
  await setTimeout(AWAY_MS)
  await retry(() => postgres.resume())
}

/** The first server is killed, starts without its keys, and again with them. */
async function loseKeys(
  { rig, name, verdict }: Tools,
  breakKeys: (path: string) => void,
  event: BenchEvent,
  visitor: Player,
): Promise<void> {
  const path = rig.tokenKeyPath
  const keys = readFileSync(path, 'utf8')
  breakKeys(path)
  await rig.killServer(0)
  await rig.startServer(0)
  const reply = await rig.caller.send(rig.originOf(0), signedClaim(visitor, event.uuid))
  verdict.equal(`${name}: the answer to a claim`, outcomeOf(reply), NO_KEY)
  const { total } = await rig.availability(event)
  verdict.equal(`${name}: tokens of the event, which is still shown`, total, event.codes)
  await setTimeout(AWAY_MS)
  rmSync(path, { recursive: true, force: true })
  writeFileSync(path, keys, { mode: 0o600 })
  await rig.stopServer(0)
  await rig.startServer(0)
}
