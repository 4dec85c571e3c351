import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { World } from '@landpass/client/grid'
import type { Network } from '@landpass/server/chain/chain-types'
import { ASK_FINAL_EVERY_BLOCKS } from '@landpass/server/chain/follow/node-source'
import { filterAddresses } from '@landpass/server/chain/logs/log-filter'
import { parseNetwork } from '@landpass/server/chain/networks/parse-network'
import { MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import { type FixedLimits, readConfig } from '@landpass/server/config/config'
import type { Db } from '@landpass/server/db/engine'
import { readLandHead } from '@landpass/server/land/changes/land-head'
import { dropRetiredWorlds } from '@landpass/server/land/snapshot/worlds'
import { SimulatedChain } from '@landpass/simulators/chain/blocks/chain'
import { networkFile } from '@landpass/simulators/chain/contracts/contracts'
import { ContractReads } from '@landpass/simulators/chain/node/contract-reads'
import { Random } from '@landpass/simulators/random'
import { checkImages, checkTraces } from './check-traces.ts'
import { CleanChain, landLogsOf } from './clean-chain.ts'
import { FaultyNode, MissingLogs } from './faulty-node.ts'
import { Findings } from './findings.ts'
import type { SimulatedClock } from './follower-process.ts'
import { FollowerSeat, type Place } from './follower-seat.ts'
import { MadeChain } from './made-chain.ts'
import type { NodeServer } from './node-server.ts'
import { differences, readStoredLand, type StoredLand } from './stored-land.ts'

/** A database that many seeds use, one after the other: each makes new worlds in it. */
export interface SimulationDatabase {
  readonly kind: 'postgres' | 'embedded'
  readonly db: Db
  /** Another pool of connections, for reads while a transaction of the first one is open; none on the embedded engine. */
  readonly readers: Db | undefined
  readonly clock: SimulatedClock
}

export interface SimulationOptions {
  readonly seed: number
  /** How often the chain goes on while it is followed: by a block, or by a reorganisation. */
  readonly blocks: number
  readonly followers: 1 | 2
  readonly database: SimulationDatabase
  readonly server: NodeServer
  /** An empty folder. */
  readonly folder: string
}

/** Blocks of a history that goes through all versions of the contracts. */
const HISTORY_BLOCKS = 160
/** Each seed has a chain of its own: the world of the seed before is of another one. */
const FIRST_CHAIN_ID = 1337
/** Of the newest block of the history, in seconds since 1970. */
const HEAD_TIME_S = Date.UTC(2026, 0, 15) / SECOND_MS
const WORLDS = ['-2,-2,2,2', '-3,-3,3,3', '-4,-4,4,4'] as const
const FINALIZED_DEPTHS = [64, 64, 64, 32, 12] as const
const SAFE_DEPTH = 2
const SLOT_MS = 12 * SECOND_MS
/** Of a thousand awaits of a process, so many are its last one. */
const ENDS_PER_MILLE = 2
const SETTLING_STEPS = 120
const SETTLING_STEP_MS = 31 * SECOND_MS
const HISTORY_TRIES = 40

/**
 * One chain and the processes that follow it, made from a seed. Nothing runs at the same time unless the seed says so:
 * while a process waits for a node or the database, the chain goes on, another process does a step, a reader reads, or the
 * process is killed. So a seed does the same each time.
 */
export class Simulation {
  readonly findings = new Findings()
  private readonly options: SimulationOptions
  private readonly chances: Random
  private readonly world: World
  private readonly network: Network
  private readonly made: MadeChain
  private readonly reads: ContractReads
  private readonly missing: MissingLogs
  private readonly finalizedDepth: number
  private readonly env: Readonly<Record<string, string>>
  private readonly limits: Partial<FixedLimits>
  private readonly seats: readonly FollowerSeat[]
  private clean: CleanChain | undefined
  private isFaulty = true
  private isInside = false
  private revision = 0
  private worldId = 0

  /** Runs a seed. What it finds is in the result; it throws only for a fault of its own. */
  static async run(options: SimulationOptions): Promise<Findings> {
    const random = new Random(options.seed)
    const plan = random.fork('plan')
    const world = plan.pick(WORLDS)
    const chain = new SimulatedChain({
      ...{ chainId: FIRST_CHAIN_ID + options.seed, seed: options.seed, headTimeS: HEAD_TIME_S },
      world: readConfig({ WORLD: world }).world,
      historyBlocks: plan.chance(70) ? HISTORY_BLOCKS : 0,
      transactionsPerBlock: plan.pick([0.3, 1, 1, 2, 3]),
    })
    await chain.makeHistory()
    // A node is used only once it has the first block of the land.
    if (chain.head.number === 0) for (let left = plan.between(1, 5); left > 0; left--) chain.mine()
    const simulation = new Simulation(options, chain, { random, plan, world })
    await simulation.run()
    return simulation.findings
  }

  private constructor(
    options: SimulationOptions,
    chain: SimulatedChain,
    { random, plan, world }: { readonly random: Random; readonly plan: Random; readonly world: string },
  ) {
    this.options = options
    this.chances = random.fork('chances')
    this.world = chain.options.world
    this.finalizedDepth = plan.pick(FINALIZED_DEPTHS)
    this.made = new MadeChain(chain, random.fork('chain'), this.finalizedDepth)
    this.reads = new ContractReads(chain.contracts)
    const file = networkFile(chain.options.chainId, {
      eras: chain.machine.eras,
      contracts: chain.contracts,
      first: 1,
    })
    const parsed = parseNetwork('simulated', file)
    if ('mistakes' in parsed) throw new Error(parsed.mistakes.join('\n'))
    this.network = parsed.network
    const addresses = new Set(filterAddresses(this.network))
    this.missing = new MissingLogs(chain, (block) => landLogsOf(block, addresses).length > 0)
    const path = join(options.folder, 'simulated.json')
    writeFileSync(path, JSON.stringify(file))
    this.env = {
      ...{ WORLD: world, CHAIN_NETWORK: path },
      CHAIN_HEAD: plan.chance(10) ? 'safe' : 'latest',
    }
    this.limits = { chainCallsInFlight: 1, maxRangeBlocks: plan.pick([10_000, 10_000, 50, 7]) }
    this.seats = Array.from({ length: options.followers }, (_, at) =>
      this.newSeat(`follower${at}`, random.fork(`follower ${at}`), plan.between(1, 3)),
    )
  }

  private newSeat(name: string, random: Random, nodes: number): FollowerSeat {
    const { options, made, reads, missing, finalizedDepth } = this
    const { db, clock } = options.database
    const folder = join(options.folder, name)
    mkdirSync(folder)
    return new FollowerSeat({
      ...{ db, clock, reads, missing, random, server: options.server },
      name: `seed${options.seed}-${options.database.kind}-${name}`,
      nodes: Array.from(
        { length: nodes },
        (_, at) =>
          new FaultyNode(made.chain, random.fork(`node ${at}`), {
            finalized_depth: finalizedDepth,
            safe_depth: SAFE_DEPTH,
          }),
      ),
      env: { ...this.env, DATA_DIR: folder },
      limits: this.limits,
      whileWaiting: (seat, place) => this.whileWaiting(seat, place),
      log: (line) => this.findings.log(`${name}: ${line}`),
    })
  }

  private get chain(): SimulatedChain {
    return this.made.chain
  }

  private get isBroken(): boolean {
    return this.findings.problems.length > 0
  }

  private async run(): Promise<void> {
    const { findings, made, options } = this
    const { db, clock } = options.database
    // Each seed begins with the same number of statements, whichever seeds were before it.
    await dropRetiredWorlds(db, 0, clock.nowMs())
    try {
      await this.readHistory()
      while (made.made < options.blocks && !this.isBroken) await this.goOn()
      if (!this.isBroken) await this.settle()
      if (!this.isBroken) await this.compareWithCleanRun()
    } finally {
      this.isFaulty = false
      for (const seat of this.seats) await seat.end()
      clock.pass(MINUTE_MS) // No lease of this seed holds up the next one.
    }
    findings.count('reorganisations', made.reorganisations)
    findings.count('deep reorganisations', made.deepReorganisations)
    findings.count('hidden logs', this.missing.byHash.size)
    for (const seat of this.seats) {
      findings.count('processes', seat.started)
      findings.count('undone', seat.undone)
      findings.count('repaired blocks', seat.repaired)
      findings.count('second looks that failed', seat.failedLooks)
      for (const { faults } of seat.nodes)
        for (const [name, times] of faults) findings.count(`fault ${name}`, times)
    }
  }

  /** The first process makes the world. It may be killed meanwhile, and a node may not have the old blocks. */
  private async readHistory(): Promise<void> {
    const { db, clock } = this.options.database
    const [first] = this.seats
    const last = first!.nodes.length - 1
    if (last > 0 && this.chances.chance(30))
      first!.nodes[last]!.prune(Math.max(0, this.chain.head.number - 70))
    const errors: string[] = []
    for (let tries = 0; ; tries++) {
      const error = await first!.readHistory()
      if (error === undefined) break
      errors.push(String(error))
      this.findings.count('histories that failed')
      if (tries === HISTORY_TRIES) return this.findings.blame('the history could not be read', errors)
      clock.pass(SETTLING_STEP_MS)
    }
    const { number, revision } = await this.readWorld(db)
    this.revision = revision
    const { chain, reads, network, world } = this
    this.clean = new CleanChain({ chain, reads, network, world, firstBlock: number })
    await this.clean.update()
    await this.read(db)
  }

  /** Reads the world that is shown now: from here on it stays. */
  private async readWorld(db: Db): Promise<StoredLand> {
    this.worldId = (await readLandHead(db)).worldId!
    return readStoredLand(db, this.worldId)
  }

  /** One turn: the chain goes on, and followers do some steps, or sleep for a while. */
  private async goOn(): Promise<void> {
    const { chances, seats } = this
    const { clock, db } = this.options.database
    const isAsleep = chances.below(150) === 0
    await this.makeBlocks(isAsleep ? chances.between(20, 90) : 1)
    for (const seat of seats)
      for (const node of seat.nodes)
        if (chances.chance(4)) node.behaveOddly()
        else if (chances.chance(25)) node.behaveWell()
    for (const seat of seats)
      for (let steps = chances.between(0, 2); steps > 0; steps--) await this.step(seat)
    clock.pass(SLOT_MS)
    if (chances.chance(25)) await this.read(db)
  }

  private async makeBlocks(count: number): Promise<void> {
    for (let left = count; left > 0 && this.made.made < this.options.blocks; left--) {
      this.made.next()
      await this.clean?.update()
    }
  }

  private async step(seat: FollowerSeat): Promise<void> {
    const result = await seat.step()
    this.findings.count(`step: ${result ?? 'ended'}`)
    // Finality is never broken here, and no other world is shown.
    if (result === 'stopped' || result === 'no position') this.findings.blame(`${result}: ${seat.whyNot}`)
  }

  /** What else happens while a process waits for an answer. */
  private async whileWaiting(seat: FollowerSeat, place: Place): Promise<void> {
    if (!this.isFaulty || this.isBroken) return
    const { chances } = this
    const { readers } = this.options.database
    if (chances.below(1_000) < ENDS_PER_MILLE) this.endProcess(seat)
    const isFollowing = this.clean !== undefined
    if (place === 'statement') {
      if (isFollowing && readers && chances.below(150) === 0) await this.read(readers)
      return
    }
    if (this.isInside) return
    this.isInside = true
    try {
      if (chances.chance(isFollowing ? 5 : 1)) await this.makeBlocks(chances.pick([1, 1, 3]))
      if (isFollowing) await this.interrupt(seat)
    } finally {
      this.isInside = false
    }
  }

  /** The process waits so long for a node that others are faster. */
  private async interrupt(seat: FollowerSeat): Promise<void> {
    const { chances } = this
    const { db, clock } = this.options.database
    const other = this.seats.find((one) => one !== seat)
    if (other && chances.chance(8)) {
      // Another process takes over, because the lease has ended.
      if (chances.chance(40)) clock.pass(100 * SECOND_MS)
      this.findings.count('steps of one process within a step of the other')
      await this.step(other)
    }
    if (chances.chance(2)) await this.read(db)
  }

  private endProcess(seat: FollowerSeat): void {
    const isKilled = this.chances.chance(70)
    this.findings.count(isKilled ? 'killed' : 'stopped in order')
    if (isKilled) seat.kill()
    else seat.stop()
  }

  /**
   * A reader sees the rows of exactly the block of the position, and never an older revision than the newest one that was known
   * when it began.
   */
  private async read(db: Db): Promise<StoredLand> {
    const { revision: before } = this
    const land = await readStoredLand(db, this.worldId)
    this.findings.count('reads')
    if (land.revision < before) this.findings.blame(`revision ${land.revision} came after revision ${before}`)
    this.revision = Math.max(this.revision, land.revision) // Another reader may have ended meanwhile.
    const at = `a reader at block ${land.number} (${land.hash}), after ${this.made.made} turns`
    try {
      const found = differences(land.rows, await this.clean!.rowsOf(land.blocks))
      if (found.length > 0) this.findings.blame(`${at} saw other rows`, found)
      const wrong = checkImages(land, this.clean!)
      if (wrong.length > 0) this.findings.blame(`${at} saw wrong images for undoing`, wrong)
    } catch (error) {
      this.findings.blame(
        `${at} saw a world that never was: ${error instanceof Error ? error.message : error}`,
      )
    }
    return land
  }

  /** Nodes are good again: the world reaches the newest block, and then every block becomes final. */
  private async settle(): Promise<void> {
    this.isFaulty = false
    const { db } = this.options.database
    this.change({ safe_depth: 0 })
    this.chain.mine()
    await this.clean!.update()
    if (!(await this.followUntil(({ hash }) => hash === this.chain.head.hash)))
      return this.findings.blame(`block ${this.chain.head.number} was not reached`)
    await this.read(db)
    this.change({ safe_depth: 0, finalized_depth: 0 })
    for (let block = 0; block < ASK_FINAL_EVERY_BLOCKS; block++) this.chain.mine()
    await this.clean!.update()
    if (!(await this.followUntil(({ finalizedHash }) => finalizedHash === this.chain.head.hash)))
      return this.findings.blame(`block ${this.chain.head.number} did not become final`)
    const land = await this.read(db)
    const found = differences(land.rows, this.clean!.rowsAt(this.chain.head.hash))
    if (found.length > 0) this.findings.blame('the rows at the end differ from those of a clean run', found)
    const traces = checkTraces(land, this.clean!, this.chain)
    if (traces.length > 0) this.findings.blame('something of an undone branch remains', traces)
  }

  /** All nodes are good from now on. */
  private change(settings: { readonly safe_depth: number; readonly finalized_depth?: number }): void {
    for (const { nodes } of this.seats)
      for (const node of nodes) {
        node.isFaulty = false
        node.behaveWell(settings)
      }
  }

  private async followUntil(isThere: (land: StoredLand) => boolean): Promise<boolean> {
    const { db, clock } = this.options.database
    for (let steps = 0; steps < SETTLING_STEPS; steps++) {
      for (const seat of this.seats) await this.step(seat)
      if (isThere(await readStoredLand(db, this.worldId))) return true
      clock.pass(SETTLING_STEP_MS)
    }
    return false
  }

  /** The whole way of a follower, with a good node and no reorganisation. */
  private async compareWithCleanRun(): Promise<void> {
    const { db } = this.options.database
    const { rows } = await readStoredLand(db, this.worldId)
    for (const seat of this.seats) await seat.end()
    const seat = this.newSeat('clean', new Random(this.options.seed).fork('clean'), 1)
    const [node] = seat.nodes
    node!.isFaulty = false
    node!.behaveWell({ finalized_depth: 0 })
    const error = await seat.readHistory()
    await seat.end()
    if (error !== undefined) return this.findings.blame(`the clean run failed: ${error}`)
    const found = differences(rows, (await this.readWorld(db)).rows)
    if (found.length > 0)
      this.findings.blame('the rows differ from those of a clean run of the follower', found)
  }
}
