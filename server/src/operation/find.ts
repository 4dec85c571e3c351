import type { Attendance } from '../attendance/attendance.ts'
import type { StatusReader } from '../chain/follow/status-reader.ts'
import { type Clock, SECOND_MS } from '../clock.ts'
import { checkDatabase } from '../db/check-database.ts'
import type { Engine } from '../db/engine.ts'
import { AppError } from '../errors.ts'
import { within } from '../http/health.ts'
import type { Metrics } from '../http/metrics.ts'
import type { ListingsStatusReader } from '../listings/listings-status.ts'
import type { StateKeeper } from '../state/state-keeper.ts'
import type { Counted, Findings, Problem } from './parts.ts'

const DATABASE_LIMIT_MS = 1.5 * SECOND_MS
const DATABASE_PROBLEMS: readonly string[] = [
  'database_unavailable',
  'database_read_only',
  'database_full',
] satisfies Problem[]
/** Counters of requests that a limit refused. */
const REFUSALS = ['cost', 'large_answers', 'change_streams', 'connections'].map(
  (limit) => `landpass_${limit}_refused_total`,
)
/** Results of calls to the issuer that say that something is wrong with all calls. */
const FAILED_CALL = /^(?:401|403|429|5\d\d|[a-z_]+)$/

export interface OperatedServer {
  readonly engine: Engine
  readonly metrics: Metrics
  /** Undefined where the land is not served. */
  readonly served:
    | {
        readonly keeper: StateKeeper
        readonly chainStatus: StatusReader
        readonly offers: readonly ListingsStatusReader[]
        readonly clock: Clock
      }
    | undefined
  /** Undefined where attendance is not served. */
  readonly attendance: Attendance | undefined
}

/** Finds out how each part of a server is. It never fails: what cannot be read is a finding. */
export function findingsOf({ engine, metrics, served, attendance }: OperatedServer): () => Promise<Findings> {
  const check = databaseCheckOf(engine, { writes: attendance !== undefined })
  return async () => {
    const problem = await check()
    const { total: connections, waiting: queriesWaiting } = engine.pool()
    const refused = await Promise.all(REFUSALS.map((name) => sumOf(metrics, name)))
    return {
      database: { problem, connections, queriesWaiting },
      ...(await landFindings(served)),
      ...(await attendanceFindings(metrics, attendance, problem === null)),
      limits: {
        refused: refused.reduce((sum, count) => sum + count, 0),
        shed: await sumOf(metrics, 'landpass_requests_shed_total'),
      },
    }
  }
}

async function landFindings(
  served: OperatedServer['served'],
): Promise<Pick<Findings, 'land' | 'chain' | 'offers'>> {
  if (!served) return { land: undefined, chain: undefined, offers: undefined }
  const { keeper, chainStatus, offers, clock } = served
  const { block, state } = (await chainStatus.recent()) ?? {}
  return {
    land: { revision: keeper.revision === 0 ? undefined : keeper.revision },
    chain: !block
      ? undefined
      : {
          block: block.number,
          ageS: Math.max(Math.round((clock.nowMs() - Date.parse(block.time)) / SECOND_MS), 0),
          isFollowing: state === 'following',
        },
    offers: await oldestOf(offers),
  }
}

/** The servers that signed offers are read from: the age of the oldest reading, and whether all are followed. */
async function oldestOf(readers: readonly ListingsStatusReader[]): Promise<Findings['offers']> {
  const known = await Promise.all(readers.map(async (reader) => ({ reader, read: await reader.recent() })))
  const readings = known.flatMap(({ reader, read }) =>
    read && read.state !== 'off' ? { age: reader.ageSeconds(read), state: read.state } : [],
  )
  if (readings.length === 0) return undefined
  const ages = readings.flatMap(({ age }) => age ?? [])
  return {
    ageS: ages.length < readings.length ? undefined : Math.max(...ages),
    isFollowing: readings.every(({ state }) => state === 'following'),
  }
}

async function attendanceFindings(
  metrics: Metrics,
  attendance: Attendance | undefined,
  hasDatabase: boolean,
): Promise<Pick<Findings, 'attendance' | 'issuer' | 'presence' | 'events'>> {
  if (!attendance) return { attendance: undefined, issuer: undefined, presence: undefined, events: undefined }
  const isConfigured = !attendance.setupProblem
  const countWaiting = isConfigured && hasDatabase ? attendance.countWaiting() : undefined
  const waiting = await countWaiting?.catch(() => undefined)
  return {
    attendance: { isConfigured },
    issuer: attendance.offers().hasPoap
      ? await countedOf(metrics, 'landpass_issuer_calls_total', (result) => FAILED_CALL.test(result))
      : undefined,
    presence: await countedOf(metrics, 'landpass_presence_answers_total', (result) => result === 'unknown'),
    events:
      waiting === undefined ? undefined : { waiting, held: await sumOf(metrics, 'landpass_held_events') },
  }
}

/** @returns why the database cannot be used; null where it can */
function databaseCheckOf(engine: Engine, needs: { readonly writes: boolean }): () => Promise<Problem | null> {
  const check = within(DATABASE_LIMIT_MS, async () => {
    await checkDatabase(engine, needs)
    return {}
  })
  return async () => {
    try {
      await check()
      return null
    } catch (error) {
      const known = error instanceof AppError && DATABASE_PROBLEMS.includes(error.code)
      return known ? (error.code as Problem) : 'database_unavailable'
    }
  }
}

/** The sum of a metric over its series; 0 for one that this server does not have. @param isCounted which series; all by default */
async function sumOf(
  { registry }: Metrics,
  name: string,
  isCounted: (labels: Readonly<Record<string, string | number | undefined>>) => boolean = () => true,
): Promise<number> {
  const metric = await registry.getSingleMetric(name)?.get()
  return (metric?.values ?? []).reduce((sum, { labels, value }) => sum + (isCounted(labels) ? value : 0), 0)
}

/** A metric, and those of its series whose label `result` says that the work failed. */
async function countedOf(
  metrics: Metrics,
  name: string,
  hasFailed: (result: string) => boolean,
): Promise<Counted> {
  const [all, failed] = await Promise.all([
    sumOf(metrics, name),
    sumOf(metrics, name, ({ result }) => hasFailed(String(result))),
  ])
  return { all, failed }
}
