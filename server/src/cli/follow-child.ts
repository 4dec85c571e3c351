import type { ChildProcess } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { readLines, startCommand } from './child-command.ts'

/** A line that the command writes: progress, its result or its error. */
export interface FollowMessage {
  readonly error?: string
  /** What everyone may read of the error. */
  readonly public?: string
  readonly phase?: string
  readonly block?: number
  readonly last?: number
  readonly percent?: number
  /** Why the history waits, as everyone may read it. */
  readonly reason?: string
  /** How many of `total` records are done, in a phase that counts them. */
  readonly done?: number
  readonly total?: number
}

/** How the command ended. */
export interface FollowEnd {
  /** The exit code; null where a signal ended it. */
  readonly code: number | null
  /** Its last error; nothing where it wrote none. */
  readonly failure: Pick<FollowMessage, 'error' | 'public'>
}

/**
 * The command `landpass follow` in a process of its own, so that its work costs the process that started it nothing.
 *
 * @example
 * const child = new FollowChild(() => startFollow(['--rebuild']))
 * const { code, failure } = await child.run(({ phase, block }) => log(`${phase}: block ${block}`))
 */
export class FollowChild {
  private readonly start: () => ChildProcess
  private child: ChildProcess | undefined

  constructor(start: () => ChildProcess) {
    this.start = start
  }

  /** @throws {Error} where the process could not be started */
  async run(onProgress: (message: FollowMessage) => void): Promise<FollowEnd> {
    const child = this.start()
    this.child = child
    let failure: FollowMessage = {}
    const code = await readLines(child, (line) => {
      const message = parsed(line)
      if (message.error !== undefined) failure = message
      if (message.phase !== undefined) onProgress(message)
    }).finally(() => {
      this.child = undefined
    })
    return { code, failure }
  }

  /** Asks the command to end, where it runs. */
  stop(): void {
    if (this.child?.connected) this.child.disconnect()
  }
}

/**
 * Options of Node.js that keep a history small and cheap; they cannot be changed later than at the start of a process. V8 gives
 * young objects up to three semi-spaces of 16 MB; with 4 MB a process has 10 to 30 MB less at its peak. Helper threads of the
 * garbage collector take a third of the CPU time of a history, most of it for waiting for each other: without them the two
 * threads that work take a sixth more, and a server and its database have the rest.
 */
export const FOLLOW_NODE_OPTIONS: readonly string[] = ['--max-semi-space-size=4', '--single-threaded-gc']

/**
 * Where the GNU C library is: answers of a node go back to the system when they are no longer needed. It would keep the
 * memory of large ones for the next: 20 MB at the peak of a history. Other systems ignore it.
 */
export const FOLLOW_ENV: Readonly<Record<string, string>> = { MALLOC_MMAP_THRESHOLD_: '262144' }

/** Starts `landpass follow` with a low priority: on a busy machine the answers of servers come first. */
export function startFollow(options: readonly string[]): ChildProcess {
  const child = startCommand(['follow', ...options], { ...FOLLOW_ENV, ...process.env }, FOLLOW_NODE_OPTIONS)
  try {
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  } catch {
    // It has ended already.
  }
  return child
}

function parsed(line: string): FollowMessage {
  try {
    return JSON.parse(line) as FollowMessage
  } catch {
    return {}
  }
}
