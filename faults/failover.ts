import { setTimeout } from 'node:timers/promises'
import { SECOND_MS } from '@landpass/server/clock'
import type { Db, Engine } from '@landpass/server/db/engine'
import { openEngine } from '@landpass/server/db/open-engine'
import { renewLineageIfMoved } from '@landpass/server/land/changes/lineage'
import { Random } from '@landpass/simulators/random'
import { checkWhenSettled, claimWithRetries } from './attendance/kill-rounds.ts'
import { makePlayers } from './attendance/players.ts'
import { PLACE, type Rig, withRig } from './attendance/rig.ts'
import { PostgresPair } from './postgres-pair.ts'
import { type Script, type ScriptOptions, sized, tally, type Verdict } from './script.ts'

const FAILOVERS = 20
const PLAYERS_PER_FAILOVER = 200
const FEWEST_PLAYERS = 20
/** The kill comes at a random time in the first part of a round, while claims are under way. */
const KILL_WITHIN_MS = 600
/** After so many failovers the script waits until no claim is under way. */
const FAILOVERS_UNTIL_CHECK = 5
/** How long servers may take once the address leads to the new primary, in a full run; in a shorter one only {@link GIVE_UP_MS} counts. */
const WORK_AGAIN_WITHIN_MS = 5 * SECOND_MS
const POLL_EVERY_MS = 25
const GIVE_UP_MS = 60 * SECOND_MS

export const failover: Script = {
  about:
    'PostgreSQL killed 20 times, its synchronous standby takes over: no accepted claim lost, none doubled',
  run: (options, verdict) => failOverRepeatedly(options, verdict),
}

/** @param beforeCheck what is done to the database before claims are compared; nothing by default */
export async function failOverRepeatedly(
  { seed, engine, processes, rounds = FAILOVERS, scale }: ScriptOptions,
  verdict: Verdict,
  beforeCheck?: (db: Db) => Promise<void>,
): Promise<void> {
  if (engine !== 'postgres') throw new Error('this script needs PostgreSQL')
  const random = new Random(seed)
  const kills = sized(rounds, scale)
  const perKill = Math.max(FEWEST_PLAYERS, sized(PLAYERS_PER_FAILOVER, scale))
  const players = makePlayers(seed, 'failover', kills * perKill)
  const pair = await PostgresPair.start()
  await withRig({ engine, processes, database: pair, env: { CLAIM_WAIT_MS: '1000' } }, async (rig) => {
    await rig.issuer.setFaults({ delay_ms: 20, mint_ms: 500, one_per_player: false })
    await rig.presence.putCrowd(
      players.map(({ address }) => address),
      PLACE,
    )
    const event = await rig.newEvent(players.length)
    const accepted = new Set<string>()
    await expectLineage(pair.url, undefined, verdict)
    await expectToListen(pair.standbyUrl!, verdict)
    for (let round = 1; round <= kills; round++) {
      const name = `failover ${round}`
      const some = players.slice((round - 1) * perKill, round * perKill)
      const afterMs = random.below(KILL_WITHIN_MS)
      const [outcomes, tookMs] = await Promise.all([
        claimWithRetries(rig, some, event, accepted, name, verdict),
        setTimeout(afterMs).then(() => failOver(rig, pair, `/event/${event.uuid}`)),
      ])
      const { promotedMs, servedMs } = tookMs
      console.log(
        `${name}: killed after ${afterMs} ms, new primary ${promotedMs.toFixed(0)} ms later, all servers work again ` +
          `${servedMs.toFixed(0)} ms after that; ${tally(outcomes)}`,
      )
      verdict.expect(
        servedMs <= (scale < 1 ? GIVE_UP_MS : WORK_AGAIN_WITHIN_MS),
        `${name}: the servers worked again after ${servedMs} ms`,
      )
      await expectLineage(pair.url, TOOK_OVER, verdict)
      if (round % FAILOVERS_UNTIL_CHECK === 0 || round === kills) {
        if (beforeCheck) await withDatabase(pair.url, beforeCheck)
        const claimed = players.slice(0, round * perKill)
        await checkWhenSettled({ rig, verdict }, event, claimed, accepted, name)
      }
      if (round < kills) await pair.addStandby()
    }
  })
}

/** Kills the primary and promotes the standby. @returns until there is a new primary, and then until all servers read */
async function failOver(
  rig: Rig,
  pair: PostgresPair,
  path: string,
): Promise<{ promotedMs: number; servedMs: number }> {
  const killedMs = performance.now()
  await pair.killPrimary()
  await pair.promote()
  const promotedMs = performance.now()
  await Promise.all(rig.origins.map((origin) => untilRead(rig, origin, path)))
  return { promotedMs: promotedMs - killedMs, servedMs: performance.now() - promotedMs }
}

/** Waits until a server answers a request that reads the database. */
async function untilRead(rig: Rig, origin: string, path: string): Promise<void> {
  const giveUpAtMs = performance.now() + GIVE_UP_MS
  while (performance.now() < giveUpAtMs) {
    const { status } = await rig.caller.send(origin, { method: 'GET', path, headers: {} })
    if (status === 200) return
    await setTimeout(POLL_EVERY_MS)
  }
}

const TOOK_OVER = 'another server took over, or the cluster was restored to a point in time'

/** Checks that the land gets a new lineage for this reason: an asynchronous standby could lack its last changes. */
async function expectLineage(databaseUrl: string, why: string | undefined, verdict: Verdict): Promise<void> {
  const renewal = await withDatabase(databaseUrl, (db) =>
    renewLineageIfMoved(db, { folder: undefined, nowMs: Date.now() }),
  )
  verdict.expect(renewal !== undefined, 'the land kept its lineage')
  verdict.equal('reason of the new lineage', renewal?.why, why)
}

/** A server of the land may read from a standby, which refuses LISTEN: it looks for changes without. */
async function expectToListen(standbyUrl: string, verdict: Verdict): Promise<void> {
  const listened = await withEngine(standbyUrl, (engine) =>
    engine
      .listen('land', () => {})
      .then(
        () => 'no error',
        (error) => String(error.code),
      ),
  )
  verdict.equal('listening at a standby', listened, 'no error')
}

function withDatabase<T>(databaseUrl: string, work: (db: Db) => Promise<T>): Promise<T> {
  return withEngine(databaseUrl, ({ db }) => work(db))
}

async function withEngine<T>(databaseUrl: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  const settings = {
    dataDir: '',
    syncToDisk: true,
    poolSize: 1,
    statementTimeoutMs: 0,
    mode: 'join',
  } as const
  const engine = await openEngine({ ...settings, databaseUrl })
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}
