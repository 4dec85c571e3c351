import autocannon from 'autocannon'

/** One of the many different requests of a row; with a single one, only one cached answer would be measured. */
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

/** Sends `requests` in turn over 16 kept-alive connections; each connection has its own part if there are enough. */
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
  const startedMs = performance.now() // after the requests were prepared, which takes no time of the server
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
 * Stops the generator from decoding bodies into text: for an image that takes more time than the whole answer of the
 * server, and the generator would be measured.
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
