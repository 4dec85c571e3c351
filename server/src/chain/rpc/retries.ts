import { SECOND_MS } from '../../clock.ts'
import { repeatAfterFailures } from '../../retries.ts'
import { NoNodeError } from './no-node-error.ts'
import type { EthereumNode } from './node.ts'
import { type FailureKind, NodeError } from './node-error.ts'
import type { Nodes } from './nodes.ts'
import type { Timing } from './timing.ts'

/** How often something is read from all nodes before the reading fails. */
export const MAX_TRIES = 8
const FIRST_RETRY_MS = SECOND_MS
const MAX_RETRY_MS = 60 * SECOND_MS

/** Failures after which the same node may answer the same call. What nodes refuse in unknown words is one of them. */
const PASSING: ReadonlySet<FailureKind> = new Set<FailureKind>([
  'rate_limit',
  'late',
  'timeout',
  'unreachable',
  'wrong_answer',
  'refused',
])

export interface RetryOptions {
  readonly timing: Timing
  /** Ends a pause: its reason is thrown. */
  readonly signal?: AbortSignal | undefined
  /** Gets each failure after which it is tried again. */
  readonly onFailure?: ((error: unknown) => void) | undefined
}

/**
 * Milliseconds to wait before the next try: 1 second, doubled with each try up to a minute, and at least what the nodes have
 * asked for.
 *
 * @param tries how often it was tried; at least 1
 * @example
 * retryPauseMs(3, error) // 4_000
 */
export function retryPauseMs(tries: number, error: unknown): number {
  const askedMs = error instanceof NoNodeError ? (error.retryAfterMs ?? 0) : 0
  return Math.max(Math.min(FIRST_RETRY_MS * 2 ** (tries - 1), MAX_RETRY_MS), askedMs)
}

/**
 * Does something that asks nodes, and repeats it after failures that pass: for reading that takes hours, which one
 * refusal for the rate of calls must not end.
 *
 * @throws what `work` throws: at once where repeating cannot help, else after {@link MAX_TRIES}
 * @example
 * const heads = await withRetries(() => source.heads(), { timing, signal })
 */
export async function withRetries<T>(
  work: () => Promise<T>,
  { timing, signal, onFailure }: RetryOptions,
): Promise<T> {
  const unlessAborted = () => {
    signal?.throwIfAborted()
    return work()
  }
  return repeatAfterFailures(unlessAborted, {
    pauseAfter: (error, tries) => {
      if (!isPassing(error) || tries >= MAX_TRIES) return undefined
      onFailure?.(error)
      return retryPauseMs(tries, error)
    },
    pause: (ms) => timing.pause(ms, signal),
  })
}

/**
 * Like `nodes.run`, and repeated like {@link withRetries} as long as one of the nodes has a failure that passes: another node,
 * which answers that it does not have the block, is then not the last word.
 */
export function runWithRetries<T>(
  nodes: Nodes,
  work: (node: EthereumNode) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  return withRetries(async () => {
    let passing: NodeError | undefined
    try {
      return await nodes.run(async (node) => {
        try {
          return await work(node)
        } catch (error) {
          if (error instanceof NodeError && isPassing(error)) passing = error
          throw error
        }
      })
    } catch (error) {
      const isLastWord = !(error instanceof NodeError) || error.kind === 'reverted'
      throw isLastWord ? error : (passing ?? error)
    }
  }, options)
}

function isPassing(error: unknown): boolean {
  if (error instanceof NoNodeError) return !error.isLasting
  return error instanceof NodeError && PASSING.has(error.kind) && !error.isLasting
}
