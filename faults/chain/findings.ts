/** What a seed found, and how much of everything happened in it. */
export class Findings {
  readonly problems: string[] = []
  readonly counts = new Map<string, number>()
  /** Why steps failed, without numbers and hashes. */
  readonly failures = new Map<string, number>()
  private readonly lines: string[] = []

  count(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times)
  }

  /** @param details the first of them are shown */
  blame(what: string, details: readonly string[] = []): void {
    this.problems.push([what, ...details.slice(0, SHOWN_DETAILS)].join('\n    '))
  }

  /** A line of a follower's log. */
  log(line: string): void {
    this.lines.push(line)
    const [, failure] = /which is tried again: (.*)$/s.exec(line) ?? []
    if (failure === undefined) return
    const shape = failure.replaceAll(/0x[0-9a-f]+|\d+/g, '#')
    this.failures.set(shape, (this.failures.get(shape) ?? 0) + 1)
  }

  get lastLines(): readonly string[] {
    return this.lines.slice(-SHOWN_LINES)
  }
}

const SHOWN_DETAILS = 6
const SHOWN_LINES = 8

/** Adds the counts of one map to another. */
export function addCounts(to: Map<string, number>, from: ReadonlyMap<string, number>): void {
  for (const [name, times] of from) to.set(name, (to.get(name) ?? 0) + times)
}
