import type { ChildProcess } from 'node:child_process'
import type { Chain, Outdated } from '../chain/chain.ts'
import { SECOND_MS } from '../clock.ts'
import { FollowChild, startFollow } from './follow-child.ts'
import { pauseAfterFailuresMs, pauseFor } from './retry-pauses.ts'

/** How often the log says how far it is. */
const LOG_EVERY_MS = 30 * SECOND_MS

const AS_IT_IS =
  'DATA_DIR/chain has no logs to make it again from: it is followed as it is. landpass follow --new-world makes it again from the history of the chain, for which it asks the nodes'

/**
 * What the log says at the begin, at the end, and where no logs are stored: a world that began with a snapshot of a block would be
 * read from the first block on, which only an operator decides.
 */
export const LINES: Readonly<
  Record<Outdated, { readonly begin: string; readonly end: string; readonly withoutLogs: string }>
> = {
  contracts: {
    begin:
      'contracts were added to the network: their history is read, and the world is made again with it and the stored logs. It is followed meanwhile',
    end: 'the world was made again, with the contracts that were added',
    withoutLogs: `the world was made without contracts that were added to the network since, and ${AS_IT_IS}`,
  },
  rules: {
    begin: 'the world was made by older rules: it is made again from the stored logs, and followed meanwhile',
    end: 'the world was made again, by the newest rules',
    withoutLogs: `the world was made by older rules, and ${AS_IT_IS}`,
  },
  'missing logs': {
    begin:
      'some of the land is not what the contracts say: its blocks are read again, and with logs that were missing the world is made again',
    end: 'the blocks of the land that differs were read again',
    withoutLogs: `some of the land is not what the contracts say, and ${AS_IT_IS}`,
  },
}

export interface WorldRebuildOptions {
  readonly chain: Pick<Chain, 'leads' | 'whyOutdated' | 'hasStoredLogs'>
  /** Writes a line for operators. */
  readonly log: (line: string) => void
  /** Starts `landpass follow --rebuild`; tests replace it. */
  readonly startCommand?: () => ChildProcess
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

/**
 * Makes a world again that is outdated, by the command `landpass follow --rebuild` in a process of its own. This
 * process goes on following the old world meanwhile, and follows the new one when it is shown. Of several processes the one
 * that leads does it, where logs are stored. What fails is tried again.
 */
export class WorldRebuild {
  private readonly options: WorldRebuildOptions
  private readonly stopping = new AbortController()
  private running: Promise<void> = Promise.resolve()
  private readonly command: FollowChild

  constructor(options: WorldRebuildOptions) {
    this.options = options
    this.command = new FollowChild(options.startCommand ?? (() => startFollow(['--rebuild'])))
  }

  /** Also again, where the world may be outdated since. */
  start(): void {
    this.running = this.running.then(() => this.run())
  }

  /** Resolves when nothing is to be made again, or no logs are stored. */
  get finished(): Promise<void> {
    return this.running
  }

  /** Ends the command, which changes nothing then. */
  async close(): Promise<void> {
    this.stopping.abort()
    this.command.stop()
    await this.running
  }

  private async run(): Promise<void> {
    const { chain, log, pause = pauseFor } = this.options
    const { signal } = this.stopping
    for (let failures = 0; !signal.aborted; ) {
      try {
        if (chain.leads) {
          const why = await chain.whyOutdated()
          if (why === undefined || signal.aborted) return
          const { begin, end, withoutLogs } = LINES[why]
          if (!(await chain.hasStoredLogs())) return log(withoutLogs)
          if (signal.aborted) return
          if (failures === 0) log(begin)
          await this.runCommand()
          log(end)
          return
        }
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        log(
          `the world cannot be made again at this time, which is tried again: ${error instanceof Error ? error.message : String(error)}`,
        )
      }
      await pause(pauseAfterFailuresMs(failures), signal)
    }
  }

  /** @throws {Error} with the sentence of the command that failed */
  private async runCommand(): Promise<void> {
    const { log } = this.options
    let loggedAtMs = performance.now()
    const { code, failure } = await this.command.run(({ phase, block }) => {
      if (performance.now() - loggedAtMs < LOG_EVERY_MS) return
      loggedAtMs = performance.now()
      log(`making the world again: ${phase}, block ${block}`)
    })
    if (code !== 0) throw new Error(failure.error ?? `landpass follow --rebuild ended with ${code}`)
  }
}
