import { setTimeout } from 'node:timers/promises'
import { MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import { startLossyProxy } from '@landpass/server/test/support/database/lossy-proxy'
import { Random } from '@landpass/simulators/random'
import { outcomeOf } from './attendance/calls.ts'
import { checkWhenSettled, claimWithRetries } from './attendance/kill-rounds.ts'
import { makePlayers, type Player } from './attendance/players.ts'
import { type BenchEvent, PLACE, type Rig, withRig } from './attendance/rig.ts'
import { PatroniCluster } from './patroni-cluster.ts'
import { type Script, type ScriptOptions, sized, tally, type Verdict } from './script.ts'

const SERVERS = 2
const KILLS = 10
const CLAIMS_PER_MINUTE = 1_000
/** The fault comes at a random time in the first part of a round. */
const FAULT_WITHIN_MS = 5 * SECOND_MS
/** How long servers may take once there is another primary. */
const WORK_AGAIN_WITHIN_MS = 15 * SECOND_MS
/** What servers answer while their address leads to a former primary. */
const READ_ONLY = ['503 database_read_only']
const POLL_EVERY_MS = 50
const GIVE_UP_MS = MINUTE_MS

export const patroni: Script = {
  about:
    'three machines with the files of deploy/ha: the primary killed ten times, its network cut, a switchover; no accepted claim lost, none doubled',
  run: async (options, verdict) => {
    const cluster = await PatroniCluster.start()
    try {
      await replaceRepeatedly(cluster, options, verdict)
    } finally {
      await cluster.stop()
    }
  },
}

async function replaceRepeatedly(
  cluster: PatroniCluster,
  { seed, issuer, rounds = KILLS, scale }: ScriptOptions,
  verdict: Verdict,
): Promise<void> {
  const database = { url: cluster.url, stop: async () => {} }
  const env = { CLAIM_WAIT_MS: '1000' }
  await withRig({ engine: 'postgres', issuer, processes: SERVERS, database, env }, async (rig) => {
    await rig.issuer.setFaults({ delay_ms: 20, mint_ms: 500, one_per_player: false })
    const perRound = sized(CLAIMS_PER_MINUTE, scale)
    const faults = faultsOf(cluster, sized(rounds, scale))
    const players = makePlayers(seed, 'patroni', faults.length * perRound)
    await rig.presence.putCrowd(
      players.map(({ address }) => address),
      PLACE,
    )
    const random = new Random(seed)
    const played: Round[] = []
    for (const [at, { name, strike, mend }] of faults.entries()) {
      const some = players.slice(at * perRound, (at + 1) * perRound)
      const event = await rig.newEvent(some.length)
      const accepted = new Set<string>()
      played.push({ name, event, players: some, accepted })
      const afterMs = random.below(FAULT_WITHIN_MS * scale)
      const [outcomes, { former, promotedMs, servedMs }] = await Promise.all([
        claimSteadily(some, (player) =>
          claimWithRetries(rig, [player], event, accepted, name, verdict, READ_ONLY),
        ),
        setTimeout(afterMs).then(() => replacePrimary(rig, cluster, strike)),
      ])
      console.log(
        `${name}: after ${afterMs} ms; another primary after ${seconds(promotedMs)}, all servers ready ` +
          `${seconds(servedMs)} later; ${tally(outcomes)}`,
      )
      verdict.expect(servedMs <= WORK_AGAIN_WITHIN_MS, `${name}: the servers were ready after ${servedMs} ms`)
      mend(former)
      await cluster.untilHealthy()
    }
    // At the end: what a later change of the primary lost counts, too
    for (const { name, event, players, accepted } of played)
      await checkWhenSettled({ rig, verdict }, event, players, accepted, name)
    await checkStandby(rig, cluster, verdict)
  })
}

interface Round {
  readonly name: string
  readonly event: BenchEvent
  readonly players: readonly Player[]
  /** Addresses whose claim was answered 200. */
  readonly accepted: ReadonlySet<string>
}

interface Fault {
  readonly name: string
  /** @param leader the machine with the primary */
  strike(leader: string): void | Promise<void>
  /** Called when there is another primary, and servers use it. */
  mend(leader: string): void
}

/** In turn PostgreSQL alone is killed, and a whole machine; then a cut network and a switchover. */
function faultsOf(cluster: PatroniCluster, kills: number): readonly Fault[] {
  const killed = Array.from(
    { length: kills },
    (_, i): Fault =>
      i % 2 === 0
        ? {
            name: `kill ${i + 1}, PostgreSQL alone`,
            strike: (leader) => cluster.killPostgres(leader),
            mend() {},
          }
        : {
            name: `kill ${i + 1}, a machine`,
            strike: (leader) => cluster.killMachine(leader),
            mend: (leader) => cluster.startMachine(leader),
          },
  )
  return [
    ...killed,
    {
      name: 'cut network',
      strike: (leader) => cluster.cutNetwork(leader),
      mend: (leader) => cluster.mendNetwork(leader),
    },
    { name: 'switchover', strike: (leader) => cluster.switchOver(leader), mend() {} },
  ]
}

/** A claim after the other, in the pace of CLAIMS_PER_MINUTE. @returns the outcomes of all requests */
async function claimSteadily(
  players: readonly Player[],
  claim: (player: Player) => Promise<string[]>,
): Promise<readonly string[]> {
  const startedMs = performance.now()
  const running: Promise<string[]>[] = []
  for (const [i, player] of players.entries()) {
    const dueMs = startedMs + (i * MINUTE_MS) / CLAIMS_PER_MINUTE
    await setTimeout(Math.max(0, dueMs - performance.now()))
    running.push(claim(player))
  }
  return (await Promise.all(running)).flat()
}

/** @returns until there is another primary, and then until all servers accept changes */
async function replacePrimary(
  rig: Rig,
  cluster: PatroniCluster,
  strike: Fault['strike'],
): Promise<{ readonly former: string; readonly promotedMs: number; readonly servedMs: number }> {
  const former = (await cluster.leader())!
  const struckMs = performance.now()
  await strike(former)
  await cluster.untilLeaderAfter(former)
  const promotedMs = performance.now()
  await Promise.all(rig.origins.map((origin) => untilReady(rig, origin)))
  return { former, promotedMs: promotedMs - struckMs, servedMs: performance.now() - promotedMs }
}

async function untilReady(rig: Rig, origin: string): Promise<void> {
  const giveUpAtMs = performance.now() + GIVE_UP_MS
  while (performance.now() < giveUpAtMs) {
    const { status } = await rig.caller.send(origin, { method: 'GET', path: '/health/ready', headers: {} })
    if (status === 200) return
    await setTimeout(POLL_EVERY_MS)
  }
}

/** A server whose address leads to a standby from some moment on is not ready, and says why. */
async function checkStandby(rig: Rig, cluster: PatroniCluster, verdict: Verdict): Promise<void> {
  const address = await startLossyProxy(cluster.url)
  const server = await rig.startServerOn(address.url)
  try {
    address.moveTo(await cluster.standbyUrl())
    const giveUpAtMs = performance.now() + GIVE_UP_MS
    let outcome = ''
    while (outcome !== '503 database_read_only' && performance.now() < giveUpAtMs) {
      const call = { method: 'GET', path: '/health/ready', headers: {} }
      outcome = outcomeOf(await rig.caller.send(server.origin, call))
    }
    verdict.equal('/health/ready of a server on a standby', outcome, '503 database_read_only')
    console.log(`a server whose address leads to a standby: /health/ready is ${outcome}`)
  } finally {
    await server.stop()
    await address.stop()
  }
}

const seconds = (ms: number) => `${(ms / SECOND_MS).toFixed(1)} s`
