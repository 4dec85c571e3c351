import { type ChildProcess, spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Chain } from '../chain/chain.ts'
import { MINUTE_MS, SECOND_MS } from '../clock.ts'
import { readLines } from './child-lines.ts'

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url))
/** How often is looked whether this process leads. */
const LOOK_AGAIN_MS = 5 * SECOND_MS
const MAX_PAUSE_MS = 10 * MINUTE_MS
/** How often the log says how far it is. */
const LOG_EVERY_MS = 30 * SECOND_MS

/** A world that began with a snapshot of a block would be read from the first block on: only an operator decides that. */
export const NO_STORED_LOGS =
  'the world was made by older rules, and DATA_DIR/chain has no logs to make it again from: it is followed as it is. landpass follow --new-world makes it again from the history of the chain, for which it asks the nodes'

export interface WorldRebuildOptions {
  readonly chain: Pick<Chain, 'leads' | 'isOutdated' | 'hasStoredLogs'>
  /** Writes a line for operators. */
  readonly log: (line: string) => void
  /** Starts `landpass follow --rebuild`; tests replace it. */
  readonly startCommand?: () => ChildProcess
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

/**
 * Makes a world that older rules have made again, by the command `landpass follow --rebuild` in a process of its own. This
 * process goes on following the old world meanwhile, and follows the new one when it is shown. Of several processes the one
 * that leads does it, where logs are stored. What fails is tried again.
 */
export class WorldRebuild {
  private readonly options: WorldRebuildOptions
  private readonly stopping = new AbortController()
  private running: Promise<void> = Promise.resolve()
  private child: ChildProcess | undefined

  constructor(options: WorldRebuildOptions) {
    this.options = options
  }

  start(): void {
    this.running = this.run()
  }

  /** Resolves when the world is of the newest rules, or no logs are stored. */
  get finished(): Promise<void> {
    return this.running
  }

  /** Ends the command, which changes nothing then. */
  async close(): Promise<void> {
    this.stopping.abort()
    if (this.child?.connected) this.child.disconnect()
    await this.running
  }

  private async run(): Promise<void> {
    const { chain, log, pause = pauseFor } = this.options
    const { signal } = this.stopping
    for (let failures = 0; !signal.aborted; ) {
      try {
        if (chain.leads) {
          if (!(await chain.isOutdated()) || signal.aborted) return
          if (!(await chain.hasStoredLogs())) return log(NO_STORED_LOGS)
          if (signal.aborted) return
          if (failures === 0)
            log(
              'the world was made by older rules: it is made again from the stored logs, and followed meanwhile',
            )
          await this.runCommand()
          log('the world was made again, by the newest rules')
          return
        }
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        log(
          `the world cannot be made again at this time, which is tried again: ${error instanceof Error ? error.message : String(error)}`,
        )
      }
      await pause(Math.min(LOOK_AGAIN_MS * 2 ** failures, MAX_PAUSE_MS), signal)
    }
  }

  /** @throws {Error} with the sentence of the command that failed */
  private async runCommand(): Promise<void> {
    const { log, startCommand = startRebuild } = this.options
    const child = startCommand()
    this.child = child
    let failure: string | undefined
    let loggedAtMs = performance.now()
    const code = await readLines(child, (line) => {
      const message = parsed(line)
      failure = message.error ?? failure
      if (message.phase === undefined || performance.now() - loggedAtMs < LOG_EVERY_MS) return
      loggedAtMs = performance.now()
      log(`making the world again: ${message.phase}, block ${message.block}`)
    }).finally(() => {
      this.child = undefined
    })
    if (code !== 0) throw new Error(failure ?? `landpass follow --rebuild ended with ${code}`)
  }
}

function startRebuild(): ChildProcess {
  const child = spawn(process.execPath, [MAIN, 'follow', '--rebuild'], {
    // A process group of its own: Ctrl-C reaches this process alone. The command stops when the channel closes.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  yieldToServer(child)
  return child
}

/** Gives a process a low priority: on a busy machine the answers of servers come first. */
export function yieldToServer({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // It has ended already.
  }
}

async function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}

/** A line of the command: progress, its result or its error. */
interface Message {
  readonly error?: string
  readonly phase?: string
  readonly block?: number
}

function parsed(line: string): Message {
  try {
    return JSON.parse(line) as Message
  } catch {
    return {}
  }
}
