import { setTimeout } from 'node:timers/promises'
import { Random } from '@landpass/simulators/random'
import { outcomeOf } from './attendance/calls.ts'
import { compareWithLedger } from './attendance/event-records.ts'
import { makePlayers, type Player, signedClaim } from './attendance/players.ts'
import { type BenchEvent, PLACE, type Rig, SETTLE_AT_MOST_MS, withRig } from './attendance/rig.ts'
import { Balancer } from './balancer.ts'
import { type Script, sized, tally, type Verdict } from './script.ts'

const READS = 50_000
const CLAIMS = 1_000
const RESTARTS = 6
const READERS = 16
const SERVERS = 2
const POLL_EVERY_MS = 200
/** In a short run, between two reads of a reader beyond those that a round needs. */
const PAUSE_MS = 400
/** Longer than the balancer needs to notice on a busy machine, with a poll under way. */
const DELAY_MS = 5_000
/** The world only has to hold the place of the events. */
const RADIUS = 20

/** Both servers are restarted in turn behind a plain balancer, while players read and claim. */
export const rollingRestart: Script = {
  about: 'two servers restart in turn behind a balancer without retries: no read and no claim is lost',
  run: async ({ seed, rounds = RESTARTS, scale }, verdict) => {
    const players = makePlayers(seed, 'rolling', sized(CLAIMS, scale))
    const env = {
      WORLD: `-${RADIUS},-${RADIUS},${RADIUS},${RADIUS}`,
      SHUTDOWN_DELAY_MS: String(DELAY_MS),
    }
    await withRig({ engine: 'postgres', processes: SERVERS, env, demoSeed: 1 }, async (rig) => {
      await rig.presence.putCrowd(
        players.map(({ address }) => address),
        PLACE,
      )
      const event = await rig.newEvent(players.length)
      const balancer = await Balancer.start(rig.origins, POLL_EVERY_MS)
      try {
        const pauseMs = scale < 1 ? PAUSE_MS : 0
        const load = new Load({ rig, balancer, event, players, random: new Random(seed), pauseMs })
        const readsEach = Math.ceil(sized(READS, scale) / rounds)
        for (let round = 0; round < rounds; round++) {
          await load.during(restart(rig, balancer, round % SERVERS), readsEach, rounds)
        }
        await load.finish()
        await judge(rig, event, load, verdict)
      } finally {
        balancer.close()
      }
    })
  },
}

/** SIGTERM, wait for the end, start again, and wait until the balancer uses the server. */
async function restart(rig: Rig, balancer: Balancer, index: number): Promise<void> {
  await rig.stopServer(index)
  await rig.startServer(index)
  while (!balancer.isReady(rig.originOf(index))) await setTimeout(POLL_EVERY_MS / 2)
}

async function judge(rig: Rig, event: BenchEvent, load: Load, verdict: Verdict): Promise<void> {
  console.log(`${load.reads.length} reads: ${tally(load.reads)}`)
  console.log(`${load.claims.length} claims: ${tally(load.claims)}`)
  verdict.equal('reads that were lost', load.reads.filter((outcome) => outcome !== '200').length, 0)
  verdict.equal('claims that were lost', load.claims.filter((outcome) => outcome !== '200').length, 0)
  const { records } = await rig.settle(event.id, SETTLE_AT_MOST_MS)
  const mints = await rig.issuer.mintsOf(event.id)
  compareWithLedger(verdict, 'after the restarts', records, mints)
  verdict.equal('tokens at the issuer', mints.length, load.claims.length)
}

interface LoadOptions {
  readonly rig: Rig
  readonly balancer: Balancer
  readonly event: BenchEvent
  readonly players: readonly Player[]
  readonly random: Random
  /** Pause of a reader after a read beyond those that a round needs. */
  readonly pauseMs: number
}

/** Reads and claims through the balancer, and how each was answered. */
class Load {
  readonly reads: string[] = []
  readonly claims: string[] = []
  private readonly options: LoadOptions
  private nextPlayer = 0

  constructor(options: LoadOptions) {
    this.options = options
  }

  /** Sends at least `reads` reads, and goes on until `work` is done; claims are spread over the first `reads`. */
  async during(work: Promise<void>, reads: number, rounds: number): Promise<void> {
    let isDone = false
    const working = work.finally(() => {
      isDone = true
    })
    const readsPerClaim = Math.max(1, Math.floor(reads / Math.ceil(this.options.players.length / rounds)))
    let sent = 0
    const reader = async () => {
      while (sent < reads || !isDone) {
        if (sent < reads && sent % readsPerClaim === 0) await this.claim()
        sent += 1
        await this.read()
        if (sent > reads && this.options.pauseMs > 0) await setTimeout(this.options.pauseMs)
      }
    }
    await Promise.all([working, ...Array.from({ length: READERS }, reader)])
  }

  /** Sends the claims of all players that have not claimed yet. */
  async finish(): Promise<void> {
    while (this.nextPlayer < this.options.players.length) await this.claim()
  }

  private async read(): Promise<void> {
    const { rig, balancer, random } = this.options
    const [x, y] = [random.between(-RADIUS, RADIUS), random.between(-RADIUS, RADIUS)]
    const path = random.pick([
      `/v1/parcels/${x}/${y}`,
      `/v2/parcels/${x}/${y}`,
      `/v1/parcels/${x}/${y}/bids`,
      `/v1/map.png?center=${x},${y}&width=100&height=100`,
    ])
    this.reads.push(outcomeOf(await rig.caller.send(balancer.origin, { method: 'GET', path, headers: {} })))
  }

  private async claim(): Promise<void> {
    const { rig, balancer, event, players } = this.options
    const player = players[this.nextPlayer++]
    if (!player) return
    const call = signedClaim(player, event.uuid)
    this.claims.push(outcomeOf(await rig.caller.send(balancer.origin, call)))
  }
}
