import autocannon from 'autocannon'

/** What one row of the bench sends: many different requests, so that no single cached answer is measured. */
export interface Request {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface LoadResult {
  readonly perSecond: number
  readonly bytesPerAnswer: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly unexpected: number
}

const CONNECTIONS = 16

/** Asks for `requests` in turn over 16 kept-alive connections, each of which begins at another place. */
export async function load(
  origin: string,
  requests: readonly Request[],
  seconds: number,
  expected: number,
): Promise<LoadResult> {
  const latenciesMs: number[] = []
  let bytes = 0
  let unexpected = 0
  const startedMs = performance.now()
  const runs = Array.from({ length: CONNECTIONS }, (_, i) => {
    const shift = Math.floor((i * requests.length) / CONNECTIONS)
    const inTurn = [...requests.slice(shift), ...requests.slice(0, shift)]
    const options = {
      url: origin,
      connections: 1,
      duration: seconds,
      requests: inTurn.map(({ path, headers }) => ({
        method: 'GET' as const,
        path,
        headers: { ...headers },
      })),
    }
    return new Promise<autocannon.Result>((resolve, reject) => {
      const run = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)))
      run.on('response', (_client, status, size, timeMs) => {
        latenciesMs.push(timeMs)
        bytes += size
        if (status !== expected) unexpected += 1
      })
    })
  })
  const results = await Promise.all(runs)
  const elapsedS = (performance.now() - startedMs) / 1000
  const failed = results.reduce((sum, { errors, timeouts }) => sum + errors + timeouts, 0)
  latenciesMs.sort((a, b) => a - b)
  return {
    perSecond: latenciesMs.length / elapsedS,
    bytesPerAnswer: bytes / Math.max(1, latenciesMs.length),
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    unexpected: unexpected + failed,
  }
}

export function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  )
}
