import { setTimeout } from 'node:timers/promises'
import { usableForMs } from '@landpass/server/attendance/presence/provider'
import { SECOND_MS } from '@landpass/server/clock'
import type { Random } from '@landpass/simulators/random'
import { type Script, sized, type Verdict } from '../script.ts'
import {
  checkWhenSettled,
  claimWithRetries,
  killDuring,
  killServer,
  retry,
  withKillRig,
} from './kill-rounds.ts'
import { makePlayers } from './players.ts'
import { PLACE, type Rig } from './rig.ts'

const ROUNDS = 100
/** So many kills of a server for each of PostgreSQL. */
const SERVER_KILLS_PER_DATABASE_KILL = 5
/** After so many kills the script waits until no claim is under way. */
const KILLS_UNTIL_CHECK = 5
const PLAYERS_PER_KILL = 200
/** A server answers from a list of players for so long, also players who came after it. */
const LIST_IS_READ_AGAIN_AFTER_MS = usableForMs('absent', Number.POSITIVE_INFINITY) + SECOND_MS / 2

export const kill: Script = {
  about: '100 times kill -9 of the server, 20 times of PostgreSQL: no accepted claim lost, none doubled',
  run: (options, verdict) =>
    withKillRig(options, ROUNDS, async ({ rig, random, kills }) => {
      const tools = { rig, seed: options.seed, random, verdict }
      await killRepeatedly(tools, 'server', kills, () => killServer(rig, random.below(options.processes)))
      const { postgres } = rig
      if (!postgres) return
      await setTimeout(LIST_IS_READ_AGAIN_AFTER_MS) // until then the players of the other kills are the only ones
      await killRepeatedly(tools, 'postgres', sized(kills, 1 / SERVER_KILLS_PER_DATABASE_KILL), async () => {
        await postgres.kill()
        await retry(() => postgres.resume())
      })
    }),
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
    const play = () => claimWithRetries(rig, some, event, accepted, name, verdict)
    await killDuring(random, name, { play, killAndRestart })
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
