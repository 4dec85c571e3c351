import type { FailureKind } from './node-error.ts'

/** How calls of one method to one node ended in one way. */
export interface CallCount {
  /** The short name of the node. */
  readonly node: string
  readonly method: string
  readonly result: 'ok' | FailureKind
  /** Calls as nodes count them: each call of a batch. */
  readonly calls: number
}

/** Calls to nodes by method and result, for metrics. */
export class CallCounters {
  private readonly counts = new Map<string, CallCount>()

  /** Adds calls that ended in the same way. */
  add(node: string, method: string, result: CallCount['result'], calls = 1): void {
    const key = `${node} ${method} ${result}`
    const before = this.counts.get(key)?.calls ?? 0
    this.counts.set(key, { node, method, result, calls: before + calls })
  }

  /**
   * All counts since the start. Numbers only grow, so a counter of metrics can be set to them.
   *
   * @example
   * counters.read() // [{ node: 'node1', method: 'eth_getLogs', result: 'ok', calls: 12 }]
   */
  read(): readonly CallCount[] {
    return [...this.counts.values()]
  }

  /** All counts since it was called before, for another process or thread that adds them to its own. */
  take(): readonly CallCount[] {
    const counts = this.read()
    this.counts.clear()
    return counts
  }
}
