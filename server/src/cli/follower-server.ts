import type { Chain } from '../chain/chain.ts'
import { followerSeries, statusSeries } from '../chain/chain-metrics.ts'
import { type OwnState, StatusReader } from '../chain/follow/status-reader.ts'
import { type Clock, secondsSince } from '../clock.ts'
import type { Config } from '../config/config.ts'
import type { Db } from '../db/engine.ts'
import { AppError } from '../errors.ts'
import { CHECK_TIMEOUT_MS, within } from '../http/health.ts'
import { Metrics } from '../http/metrics.ts'
import { type MetricsServer, serveMetrics } from '../http/metrics-server.ts'

export interface FollowerServerOptions {
  readonly config: Pick<Config, 'metrics'>
  readonly chain: Chain
  readonly db: Db
  readonly clock: Clock
  /** What the process does where it does not follow: it reads the history. */
  readonly ownState: () => OwnState | undefined
  readonly log: (line: string) => void
}

/**
 * Serves metrics and health of a process that only follows, where `METRICS_PORT` is set. A server of the same environment
 * may have the port already: then a line says so, and the process follows without.
 */
export async function serveFollower(options: FollowerServerOptions): Promise<MetricsServer | undefined> {
  const { config, chain, db, clock, ownState, log } = options
  const { host, port, path } = config.metrics
  if (port === undefined) return undefined
  const status = new StatusReader({ db, clock, network: chain.network, ownState })
  const metrics = new Metrics(config.metrics)
  metrics.addSeries(statusSeries(status, () => clock.nowMs()))
  metrics.addSeries(followerSeries(chain))
  const ready = within(CHECK_TIMEOUT_MS, () => readyFacts(status, clock))
  try {
    const server = await serveMetrics(metrics, { host, port, path }, ready)
    log(`the metrics are at http://${host}:${server.port}${path}`)
    return server
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    log(`cannot serve the metrics on ${host}:${port} (${code}): check METRICS_HOST and METRICS_PORT`)
    return undefined
  }
}

/** The process is ready however old the land is, as servers are. */
async function readyFacts(status: StatusReader, clock: Clock): Promise<Record<string, unknown>> {
  const { state, block, reason } = await status.read().catch(() => {
    throw new AppError('database_unavailable', 'The database does not answer.')
  })
  const ageSeconds = block && secondsSince(Date.parse(block.time), clock)
  return {
    chain: { state, ...(block && { block: block.number, ageSeconds }), ...(reason && { reason }) },
  }
}
