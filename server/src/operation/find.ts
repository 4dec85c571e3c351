import type { Attendance } from '../attendance/attendance.ts'
import { SECOND_MS, secondsSince } from '../clock.ts'
import { checkDatabase } from '../db/check-database.ts'
import type { Engine } from '../db/engine.ts'
import { AppError } from '../errors.ts'
import { within } from '../http/health.ts'
import type { ListingsStatusReader } from '../listings/listings-status.ts'
import type { Counted, Findings, Problem } from './parts.ts'
import { isConfigured, type ServedLand } from './readiness.ts'
import { Scrape } from './scrape.ts'

const DATABASE_LIMIT_MS = 1.5 * SECOND_MS
const DATABASE_PROBLEMS: readonly string[] = [
  'database_unavailable',
  'database_read_only',
  'database_full',
] satisfies Problem[]
/** Requests that a limit refused, and connections, whose requests are not read. */
const REFUSALS = ['landpass_limits_refused_total', 'landpass_connections_refused_total']
/** Results of calls to the issuer that say that something is wrong with all calls. */
const FAILED_CALL = /^(?:401|403|429|5\d\d|[a-z_]+)$/

export interface OperatedServer {
  readonly engine: Engine
  /** The metrics of all processes that serve together. */
  readonly metrics: () => Promise<string>
  /** Undefined where the land is not served. */
  readonly served: OperatedLand | undefined
  /** Undefined where attendance is not served. */
  readonly attendance: Attendance | undefined
}

interface OperatedLand extends ServedLand {
  /** Whether this process follows the chain, or tries to. */
  readonly followsChain: boolean
}

export interface Found extends Findings {
  /** When the oldest of the processes began that serve together. */
  readonly startedAtMs: number
}

/** Finds out how each part of a server is. It never fails: what cannot be read is a finding. */
export function findingsOf({ engine, metrics, served, attendance }: OperatedServer): () => Promise<Found> {
  const check = databaseCheckOf(engine, attendance)
  return async () => {
    const problem = await check()
    const scrape = new Scrape(await metrics().catch(() => ''))
    const startedAtMs = scrape.values('process_start_time_seconds').map((at) => at * SECOND_MS)
    const connections = 'landpass_database_connections'
    return {
      startedAtMs: Math.min(performance.timeOrigin, ...startedAtMs),
      database: {
        problem,
        connections: scrape.sum(`${connections}_total`),
        queriesWaiting: scrape.sum(`${connections}_waiting`),
      },
      ...(await landFindings(served)),
      ...(await attendanceFindings(scrape, attendance, problem === null)),
      limits: {
        refused: REFUSALS.reduce((sum, name) => sum + scrape.sum(name), 0),
        shed: scrape.sum('landpass_requests_shed_total'),
      },
    }
  }
}

async function landFindings(
  served: OperatedLand | undefined,
): Promise<Pick<Findings, 'land' | 'chain' | 'offers'>> {
  if (!served) return { land: undefined, chain: undefined, offers: undefined }
  const { keeper, offers } = served
  return {
    land: { revision: keeper.revision === 0 ? undefined : keeper.revision },
    chain: await chainFindings(served),
    offers: await oldestOf(offers),
  }
}

async function chainFindings({ chainStatus, clock, followsChain }: OperatedLand): Promise<Findings['chain']> {
  const status = await chainStatus.recent()
  if (!status) return 'unread'
  const { block, state, reason } = status
  if (!block && state === 'history') return 'reading'
  if (!block) return followsChain || state !== 'off' ? 'empty' : undefined
  return {
    block: block.number,
    ageS: secondsSince(Date.parse(block.time), clock),
    isFollowing: state === 'following' && reason === null,
  }
}

/** The servers that signed offers are read from: the age of the oldest reading, and whether all are followed. */
async function oldestOf(readers: readonly ListingsStatusReader[]): Promise<Findings['offers']> {
  const known = await Promise.all(readers.map(async (reader) => ({ reader, read: await reader.recent() })))
  if (known.some(({ read }) => !read)) return 'unread'
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
  scrape: Scrape,
  attendance: Attendance | undefined,
  hasDatabase: boolean,
): Promise<Pick<Findings, 'attendance' | 'issuer' | 'presence' | 'events'>> {
  if (!attendance) return { attendance: undefined, issuer: undefined, presence: undefined, events: undefined }
  const isSetUp = isConfigured(attendance)
  const waiting = isSetUp && hasDatabase ? await attendance.countWaiting().catch(() => undefined) : undefined
  return {
    attendance: { isConfigured: isSetUp },
    issuer: attendance.offers().hasPoap
      ? countedOf(scrape, 'landpass_issuer_calls_total', (result) => FAILED_CALL.test(result))
      : undefined,
    presence: countedOf(scrape, 'landpass_presence_answers_total', (result) => result === 'unknown'),
    events: !isSetUp
      ? undefined
      : waiting === undefined
        ? 'unread'
        : // Each process counts them in the database
          { waiting, held: Math.max(0, ...scrape.values('landpass_held_events')) },
  }
}

/** @returns why the database cannot be used; null where it can */
function databaseCheckOf(engine: Engine, attendance: Attendance | undefined): () => Promise<Problem | null> {
  const check = within(DATABASE_LIMIT_MS, async () => {
    await checkDatabase(engine, { writes: isConfigured(attendance) })
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

/** A metric, and those of its series whose label `result` says that the work failed. */
function countedOf(scrape: Scrape, name: string, hasFailed: (result: string) => boolean): Counted {
  return { all: scrape.sum(name), failed: scrape.sum(name, ({ result = '' }) => hasFailed(result)) }
}
