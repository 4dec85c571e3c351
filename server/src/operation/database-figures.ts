import type { Attendance } from '../attendance/attendance.ts'
import { SECOND_MS } from '../clock.ts'
import { checkDatabase } from '../db/check-database.ts'
import type { Engine } from '../db/engine.ts'
import { within } from '../http/health.ts'
import type { GaugeSource, SeriesSource } from '../http/metrics.ts'
import { RecentFigure } from '../work/recent-figure.ts'
import { isConfigured } from './readiness.ts'

/** Whether the database answers, and accepts changes where attendance writes, as a metric. */
export function databaseUpSeries(engine: Engine, attendance: Attendance | undefined): SeriesSource {
  // Within less than the figure waits: while the database hangs, it would stay the last one
  const check = within(SECOND_MS / 2, async () => {
    await checkDatabase(engine, { writes: isConfigured(attendance) })
    return {}
  })
  const isUp = () =>
    check().then(
      () => true,
      () => false,
    )
  const figure = new RecentFigure(isUp, { maxAgeMs: 5 * SECOND_MS })
  return {
    kind: 'gauge',
    name: 'landpass_database_up',
    help: 'Whether the database answers, and accepts changes where attendance is served: 1 or 0.',
    labelNames: [],
    read: async () => [{ labels: {}, value: Number((await figure.read()) ?? false) }],
  }
}

/** The connections to the database, as metrics. */
export function connectionGauges(engine: Engine): readonly GaugeSource[] {
  const connections = 'landpass_database_connections'
  return [
    { name: `${connections}_total`, help: 'Open database connections.', read: () => engine.pool().total },
    { name: `${connections}_idle`, help: 'Idle database connections.', read: () => engine.pool().idle },
    {
      name: `${connections}_waiting`,
      help: 'Queries that wait for a database connection.',
      read: () => engine.pool().waiting,
    },
  ]
}
