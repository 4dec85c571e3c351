import type { Config } from '../../config/config.ts'

/**
 * The settings of one of several processes: what a process counts by itself is divided, so that all together keep the limits of the
 * operator. Whole numbers are rounded up, and 0 stays what it means.
 *
 * @example
 * shareOfWorker({ ...config, workers: 2, connections: { max: 20_001, perClient: 0 } }).connections // { max: 10_001, perClient: 0 }
 */
export function shareOfWorker(config: Config): Config {
  const { connections, changeStreams, attendance, workers } = config
  const share = (limit: number) => Math.ceil(limit / workers)
  const { issuer } = attendance
  return {
    ...config,
    connections: { max: share(connections.max), perClient: share(connections.perClient) },
    changeStreams: { max: share(changeStreams.max), perClient: share(changeStreams.perClient) },
    attendance: {
      ...attendance,
      issuer: {
        ...issuer,
        callsPerSecond: issuer.callsPerSecond / workers,
        slowCallsPerSecond: issuer.slowCallsPerSecond / workers,
      },
    },
  }
}
