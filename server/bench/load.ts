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

/** Asks for `requests` in turn over 16 kept-alive connections, each of which has a part of them where there are enough. */
export async function load(
  origin: string,
  requests: readonly Request[],
  seconds: number,
  expected: number,
): Promise<LoadResult> {
  const latenciesMs: number[] = []
  let bytes = 0
  let unexpected = 0
  const runs = Array.from({ length: CONNECTIONS }, (_, i) => {
    const own = requests.length < CONNECTIONS ? requests : requests.filter((_, at) => at % CONNECTIONS === i)
    const options = {
      url: origin,
      connections: 1,
      duration: seconds,
      requests: own.map(({ path, headers }) => ({
        method: 'GET' as const,
        path,
        headers: { ...headers },
      })),
      setupClient: leaveBodiesUnread,
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
  const startedMs = performance.now() // the requests are written by now: that took no server any time
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

/**
 * The generator turns every body into text, which for a picture costs more than the server's whole answer: it would
 * be the generator that is measured.
 */
function leaveBodiesUnread(client: autocannon.Client): void {
  const { pipelinedRequests } = client as unknown as { pipelinedRequests: { addBody(): void } }
  pipelinedRequests.addBody = () => undefined
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
