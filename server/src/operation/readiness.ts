import type { Attendance } from '../attendance/attendance.ts'
import type { StatusReader } from '../chain/follow/status-reader.ts'
import { type Clock, SECOND_MS, secondsSince } from '../clock.ts'
import { checkDatabase } from '../db/check-database.ts'
import { workerStates } from '../db/distribution.ts'
import type { Engine } from '../db/engine.ts'
import type { ReadinessChecks } from '../http/health.ts'
import { readLandHead } from '../land/changes/land-head.ts'
import type { ListingsStatus } from '../land/changes/listings-reading.ts'
import type { ListingsStatusReader } from '../listings/listings-status.ts'
import type { StateKeeper } from '../state/state-keeper.ts'
import { RecentFigure } from '../work/recent-figure.ts'

/**
 * What `/health/ready` and its parts check. The land answers from memory, attendance from the database.
 *
 * @param served undefined where the land is not served
 * @param attendance undefined where attendance is not served
 */
export function readinessChecks(
  engine: Engine,
  served: ServedLand | undefined,
  attendance: Attendance | undefined,
): ReadinessChecks {
  const land = served && (async () => landFacts(served))
  const workers = new RecentFigure(() => workerStates(engine.db), { maxAgeMs: 5 * SECOND_MS })
  const database = async () => {
    await checkDatabase(engine, { writes: isConfigured(attendance) })
    await readLandHead(engine.db)
    // After the database, whose failure says more: it keeps attendance from being opened
    if (isConfigured(attendance)) attendance.assertConfigured()
    // Still ready: claims of events on other workers go on. Their addresses are in the metrics
    const down = [...((await workers.read()) ?? [])].filter(([, isUp]) => !isUp).length
    return down > 0 ? { workersDown: down } : {}
  }
  return {
    all: async () => ({ ...(await land?.()), ...(await database()) }),
    ...(land && { land }),
    ...(attendance && {
      attendance: async () => {
        attendance.assertConfigured()
        return database()
      },
    }),
  }
}

/** Whether attendance is served, and configured: else it writes nothing. */
export function isConfigured(attendance: Attendance | undefined): attendance is Attendance {
  return attendance !== undefined && !attendance.setupProblem
}

/** The land of a server, as its operator sees it. */
export interface ServedLand {
  readonly keeper: StateKeeper
  readonly chainStatus: StatusReader
  readonly offers: readonly ListingsStatusReader[]
  readonly clock: Clock
}

/** The land is ready however old it is; where it comes from the chain, its age is one of the facts. */
async function landFacts({
  keeper,
  chainStatus,
  offers,
  clock,
}: ServedLand): Promise<Record<string, unknown>> {
  const { revision } = keeper.current()
  const readings = await Promise.all(
    offers.map(async (status) => {
      const read = await status.recent()
      return read && read.state !== 'off' ? [[status.name, listingsFacts(read, status)]] : []
    }),
  )
  const ofOffers = Object.fromEntries(readings.flat())
  const { block, state, reason } = (await chainStatus.recent()) ?? {}
  if (!block) return { revision, ...ofOffers }
  const ageSeconds = secondsSince(Date.parse(block.time), clock)
  return {
    revision,
    chain: { state, block: block.number, ageSeconds, ...(reason && { reason }) },
    ...ofOffers,
  }
}

function listingsFacts(read: ListingsStatus, reader: ListingsStatusReader): Record<string, unknown> {
  const { state, reason } = read
  return { state, ageSeconds: reader.ageSeconds(read) ?? null, ...(reason && { reason }) }
}
