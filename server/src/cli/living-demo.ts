import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SECOND_MS } from '../clock.ts'
import type { Config, Environment } from '../config/config.ts'
import type { Db } from '../db/engine.ts'
import { readChainPosition } from '../land/changes/chain-position.ts'
import { readLandHead } from '../land/changes/land-head.ts'
import { COMMAND } from '../version.ts'
import type { Simulators } from './simulators.ts'
import { hasEnded, type Simulator, startSimulator } from './stand-ins.ts'

/** The chain that the demo's land is on. */
const CHAIN_ID = 1337
/** With two deeds in each block, land changes hands in two blocks of three; more blocks would cost the server more. */
const BLOCK_TIME_S = 5
const DEEDS_OF_BLOCK = 2
/** How often the server looks for a new block, where CHAIN_POLL_MS is not set. */
const POLL_MS = 2 * SECOND_MS
/** How often it reads signed offers, where LISTINGS_INTERVAL_MS is not set. */
const LISTINGS_INTERVAL_MS = 15 * SECOND_MS
/** Calls to the simulator, where LISTINGS_CALLS_PER_SECOND is not set: it has no limit, and a new user waits for the offers. */
const LISTINGS_CALLS_PER_SECOND = 100

/**
 * The simulated chain that runs beside a demo, in a process of its own: its players trade the land of the demo world. The server
 * follows it like any other chain. It is kept in `DATA_DIR/simulated-chain`, so that it goes on after a restart.
 *
 *   database without a world   the chain begins anew, with the snapshot that fills the database
 *   world at a block of it     the chain goes on
 *   any other world            no chain: `whyStill` says why, and how to get a living one
 */
export class LivingDemo {
  private readonly folder: string
  private readonly env: Environment
  private readonly hasChain: Simulators['hasChain']
  private isNew = false
  private isStopping = false
  private mayBegin = true
  private starting: Promise<Simulator> | undefined
  private simulator: Simulator | undefined
  private reason: string | undefined
  private loading: Promise<void> = Promise.resolve()
  private isLoading = false

  constructor(
    { dataDir }: Pick<Config, 'dataDir'>,
    env: Environment,
    { hasChain }: Pick<Simulators, 'hasChain'>,
  ) {
    this.hasChain = hasChain
    this.folder = join(dataDir, 'simulated-chain')
    this.env = env
  }

  /** Resolves when the simulator does not need the snapshot any more. */
  get loaded(): Promise<void> {
    return this.loading
  }

  /** Where the simulator listens; undefined where the land stands still. */
  get address(): string | undefined {
    return this.simulator?.address
  }

  /** Why the land stands still, in words. */
  get whyStill(): string | undefined {
    return this.reason
  }

  /** Starts the simulator before it is known what the database holds. @param snapshot of a database that is known to be empty */
  begin(snapshot: Promise<string> | undefined): void {
    this.isNew = snapshot !== undefined
    if (snapshot) this.starting = this.startNew(snapshot)
    else if (this.hasChain(this.folder)) this.starting = this.start([])
    this.isLoading = true
    const end = () => {
      this.isLoading = false
    }
    const loading = this.starting?.then((simulator) => simulator.waitFor('loaded'))
    this.loading = Promise.resolve(loading).then(end, end)
  }

  /**
   * Decides by the world of the database. A chain that goes on has been read from its store when this resolves.
   *
   * @param snapshot makes the demo world, where it has to be made
   * @returns the settings with which the server follows the chain; undefined where it does not, or was stopped
   */
  async settle(db: Db, snapshot: () => Promise<string>): Promise<Environment | undefined> {
    const { worldId } = await readLandHead(db)
    if (worldId === null && !this.isNew) {
      await this.stop() // Its chain began with a world that is not there any more.
      await this.loading
      if (!this.mayBegin) return undefined
      this.isStopping = false
      this.begin(snapshot())
    }
    this.reason = worldId === null ? undefined : await this.findReason(db)
    try {
      if (this.reason === undefined) this.simulator = await this.started()
    } catch (error) {
      if (!this.isStopping) this.reason = reasonOf(error as Error, worldId)
    }
    if (!this.simulator) {
      await this.stop()
      return undefined
    }
    const { child } = this.simulator
    if (hasEnded(child)) this.reportEnd()
    else child.once('exit', () => this.reportEnd())
    return {
      CHAIN_RPC_URLS: this.simulator.address,
      CHAIN_NETWORK: this.networkFile,
      CHAIN_POLL_MS: this.env.CHAIN_POLL_MS || String(POLL_MS),
      // The simulator is the marketplace server of what its players sign, too.
      LISTINGS_URL: this.env.LISTINGS_URL || this.simulator.address,
      RENTALS_URL: this.env.RENTALS_URL || this.simulator.address,
      RENTALS_INTERVAL_MS: this.env.RENTALS_INTERVAL_MS || String(LISTINGS_INTERVAL_MS),
      LISTINGS_INTERVAL_MS: this.env.LISTINGS_INTERVAL_MS || String(LISTINGS_INTERVAL_MS),
      LISTINGS_CALLS_PER_SECOND: this.env.LISTINGS_CALLS_PER_SECOND || String(LISTINGS_CALLS_PER_SECOND),
    }
  }

  /** Waits until the simulator has the first block, which the snapshot then names. @returns false where it has ended */
  async waitForFirstBlock(): Promise<boolean> {
    return (
      this.simulator?.waitFor('firstBlock').then(
        () => true,
        () => false,
      ) ?? false
    )
  }

  /** Ends a simulator that waits for a snapshot, or reads it; no other is started afterwards. */
  async stopLoading(): Promise<void> {
    this.mayBegin = false
    if (this.isLoading) await this.stop()
  }

  /** Ends the simulator. Never fails. */
  async stop(): Promise<void> {
    this.isStopping = true
    const simulator = await this.starting?.catch(() => undefined)
    await simulator?.stop()
  }

  /** @throws {CommandError} where the simulator ends before it listens, or before it has read the chain that goes on */
  private async started(): Promise<Simulator | undefined> {
    const simulator = await this.starting
    if (!this.isNew) await simulator?.waitFor('loaded')
    return simulator
  }

  /** Why the world of the database cannot be followed; undefined where it can. */
  private async findReason(db: Db): Promise<string | undefined> {
    const position = await readChainPosition(db)
    if (!position) return `The land of this database was imported. ${HOW_TO_BEGIN_ANEW}`
    if (position.chainId !== CHAIN_ID)
      return `The land of this database is that of chain ${position.chainId}. ${HOW_TO_BEGIN_ANEW}`
    if (!this.starting) return `Its chain is not in ${this.folder} any more. ${HOW_TO_BEGIN_ANEW}`
    return undefined
  }

  private get networkFile(): string {
    return join(this.folder, 'simulated.json')
  }

  private async startNew(snapshot: Promise<string>): Promise<Simulator> {
    const folder = await snapshot
    await rm(this.folder, { recursive: true, force: true })
    return this.start(['--snapshot', folder])
  }

  private start(args: readonly string[]): Promise<Simulator> {
    return startSimulator('chain', [
      ...['--chain-id', String(CHAIN_ID), '--block-time', String(BLOCK_TIME_S)],
      ...['--transactions', String(DEEDS_OF_BLOCK)],
      ...['--store', this.folder, '--write-network', this.networkFile, ...args],
    ])
  }

  private reportEnd(): void {
    if (this.isStopping) return
    console.error('landpass: The chain simulator has ended. The land stays as it is; start again to go on.')
  }
}

/** Whether a demo should have a chain: not where a database, a network or a node is set up, and never in production. */
export function wantsLivingDemo({ isProduction, databaseUrl, chain }: Config): boolean {
  return (
    !isProduction && databaseUrl === undefined && chain.nodeUrls.length === 0 && chain.network === 'mainnet'
  )
}

function reasonOf({ message }: Error, worldId: unknown): string {
  return worldId === null
    ? `The chain simulator did not start: ${message}`
    : `Its chain cannot go on: ${message} ${HOW_TO_BEGIN_ANEW}`
}

const HOW_TO_BEGIN_ANEW = `For a demo whose land changes, start with another folder: DATA_DIR=./living ${COMMAND} serve --demo`

/** Commands for a new user to paste, while looking at the map. */
export function landExample(server: string, simulator: string): readonly string[] {
  return [
    '',
    'The land is alive: beside this server runs a simulated chain whose players buy, sell and name land every few',
    `seconds. Open the map (${server}/). In another terminal, cause a sale, a reorganisation that`,
    'undoes the newest three blocks, or a faster market; the answer to a sale says where it was:',
    '',
    `  curl -X POST ${simulator}/simulator/act -d '{"kind":"sale"}'`,
    `  curl -X POST ${simulator}/simulator/reorganise -d '{"depth":3}'`,
    `  curl -X PATCH ${simulator}/simulator/market -d '{"transactions_per_minute":60}'`,
    '',
    `simulators/src/chain/README.md goes on from here. ${COMMAND} serve --demo --still leaves the chain out.`,
  ]
}
