import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Chain, openChain } from '../chain/chain.ts'
import type { OwnState } from '../chain/follow/status-reader.ts'
import { MINUTE_MS, SECOND_MS, SYSTEM_CLOCK } from '../clock.ts'
import type { Config } from '../config/config.ts'
import type { Engine } from '../db/engine.ts'
import { readLandHead } from '../land/changes/land-head.ts'

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url))
/** How often a world that cannot be followed is looked at again: an import or a command may have replaced it. */
const LOOK_AGAIN_MS = 5 * SECOND_MS
const MAX_PAUSE_MS = 10 * MINUTE_MS

export interface ServedChainOptions {
  readonly config: Config
  readonly engine: Engine
}

interface Log {
  info(text: string): void
  error(facts: object, text: string): void
}

/**
 * Follows the chain beside a server. An empty database is filled by the command `landpass follow` in a process of its
 * own, so that reading the history costs the server nothing; it ends with the server.
 */
export class ServedChain {
  private readonly options: ServedChainOptions
  private readonly stopping: AbortController
  private log: Log | undefined
  private running: Promise<void> | undefined
  private child: ChildProcess | undefined
  private own: OwnState | undefined
  readonly chain: Chain

  private constructor(options: ServedChainOptions, chain: Chain, stopping: AbortController) {
    this.options = options
    this.chain = chain
    this.stopping = stopping
  }

  /** @throws {CommandError} where the network file is bad */
  static async create(options: ServedChainOptions): Promise<ServedChain> {
    const { config, engine } = options
    const stopping = new AbortController()
    const chain = await openChain({
      config,
      db: engine.db,
      clock: SYSTEM_CLOCK,
      signal: stopping.signal,
      log: (line) => served.log?.info(`chain: ${line}`),
    })
    const served: ServedChain = new ServedChain(options, chain, stopping)
    return served
  }

  /** What this process does where it does not follow; undefined where it does, or another process may. */
  readonly ownState = (): OwnState | undefined => this.own

  /** The database must be up to date. */
  start(log: Log): void {
    this.log = log
    this.running = this.run()
  }

  async close(): Promise<void> {
    this.stopping.abort()
    if (this.child?.connected) this.child.disconnect()
    await this.running
    await this.chain.close()
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping
    for (let failures = 0; !signal.aborted; ) {
      try {
        const isWaiting = await this.followOnce()
        failures = 0
        if (isWaiting) await this.pause(LOOK_AGAIN_MS)
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        const reason = error instanceof Error ? error.message : String(error)
        this.own = { state: 'stopped', reason: this.chain.nodes.withoutAddresses(reason) }
        this.log?.error({ err: error }, 'the chain cannot be followed')
        await this.pause(Math.min(LOOK_AGAIN_MS * 2 ** failures, MAX_PAUSE_MS))
      }
    }
  }

  /** @returns whether there is nothing to do now */
  private async followOnce(): Promise<boolean> {
    const { signal } = this.stopping
    const { db } = this.options.engine
    if (await this.chain.hasPosition()) {
      this.own = undefined
      await this.chain.follow({ until: undefined, signal, endsAt: ['no position'] })
      return false
    }
    if ((await readLandHead(db)).worldId === null) {
      await this.readHistory()
      return false
    }
    this.own = {
      state: 'stopped',
      reason:
        'The world that is shown was imported and is not followed. landpass follow --new-world replaces it by the history of the chain.',
    }
    return true
  }

  /** @throws {Error} with the sentence of the command that failed */
  private async readHistory(): Promise<void> {
    this.own = { state: 'history', reason: 'The history is read for the first time.' }
    const child = spawn(process.execPath, [MAIN, 'follow', '--until', 'finalized'], {
      // A process group of its own: Ctrl-C reaches this process alone. The command stops when the channel closes.
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    this.child = child
    let failure: string | undefined
    const lines = createInterface({ input: child.stdout! }).on('line', (line) => {
      const message = parsed(line)
      failure = message.error ?? failure
      if (message.phase !== undefined) this.own = { state: 'history', reason: progressText(message) }
    })
    const [[code]] = await Promise.all([once(child, 'exit'), once(lines, 'close')])
    this.child = undefined
    if (code === 0) this.own = undefined
    else if (!this.stopping.signal.aborted) throw new Error(failure ?? `landpass follow ended with ${code}`)
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined)
  }
}

/** A line of the command: progress, its result or its error. */
interface Message {
  readonly error?: string
  readonly phase?: string
  readonly block?: number
  readonly last?: number
  readonly percent?: number
  /** Of `total` records, in a phase that counts them. */
  readonly done?: number
  readonly total?: number
}

function parsed(line: string): Message {
  try {
    return JSON.parse(line) as Message
  } catch {
    return {}
  }
}

/** @example progressText({ phase: 'contracts', block: 7, done: 20, total: 90 }) // 'contracts: block 7, 20 of 90' */
export function progressText({ phase, block, last, percent, done, total }: Message): string {
  const share = percent === undefined ? '' : ` (${percent} %)`
  const place =
    block === undefined ? [] : [`block ${block}${last === undefined ? '' : ` of ${last}`}${share}`]
  const records = done === undefined ? [] : [`${done} of ${total}`]
  return `${phase}: ${[...place, ...records].join(', ')}`
}
