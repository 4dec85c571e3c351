/** One of the scripts that put the attendance interface under load or break something around it. */
export interface Script {
  /** One line: what must hold. */
  readonly about: string
  run(options: ScriptOptions, verdict: Verdict): Promise<void>
}

export type EngineKind = 'postgres' | 'embedded'
/** Who makes the tokens: the simulator of the other issuer, or the server itself. */
export type IssuerKind = 'simulated' | 'own'

export interface ScriptOptions {
  /** Seed of all random values: players, times, mutations. */
  readonly seed: number
  readonly engine: EngineKind
  /** For the scripts that claim: `crowd`, `one-player`, `issuer-faults`, `kill`, `throughput`. */
  readonly issuer?: IssuerKind
  /** Server processes; the embedded engine takes one. */
  readonly processes: number
  /** Undefined: the default of the script. */
  readonly rounds: number | undefined
  /** How many seeds, from `seed` on, of a script that tries many; undefined: the default of the script. */
  readonly seeds?: number | undefined
  /** Connections of `throughput`, each with one request at a time; undefined: its default. */
  readonly connections?: number | undefined
  /** 1 is the full size, 0.1 a tenth of it. */
  readonly scale: number
}

/** Collects the failed checks of a script. */
export class Verdict {
  readonly broken: string[] = []

  /** Adds `failure` if `isTrue` is false. */
  expect(isTrue: boolean, failure: string): void {
    if (!isTrue) this.broken.push(failure)
  }

  /** Adds a failure with both values if they differ. */
  equal(what: string, got: unknown, wanted: unknown): void {
    this.expect(Object.is(got, wanted), `${what}: ${got}, wanted ${wanted}`)
  }
}

/** `full` times `scale`, rounded, at least 1. */
export function sized(full: number, scale: number): number {
  return Math.max(1, Math.round(full * scale))
}

/** Does `work` for every item, `width` of them at a time; the results in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T, at: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length)
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const at = next++
      results[at] = await work(items[at]!, at)
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker))
  return results
}

/** How often each value occurs, the most frequent first: `200: 1000, 409 no_codes_left: 9000`. */
export function tally(values: Iterable<string>): string {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([value, count]) => `${value}: ${count}`)
    .join(', ')
}
