/** What an operator looks after, in the order in which a failure of one explains that of the next. */
export const PARTS = [
  'database',
  'land',
  'chain',
  'offers',
  'attendance',
  'issuer',
  'presence',
  'events',
  'limits',
] as const
export type PartName = (typeof PARTS)[number]

/**
 * `good`; `look`: it works, and the operator should look at it; `bad`: it does not work; `off`: this server does not have it;
 * `unknown`: it was asked nothing since the start, or could not be read.
 */
export const CONDITIONS = ['good', 'look', 'bad', 'off', 'unknown'] as const
export type Condition = (typeof CONDITIONS)[number]

/** Why a part is not good. The pages have for each what to do. */
export const PROBLEMS = [
  'database_unavailable',
  'database_read_only',
  'database_full',
  'queries_wait',
  'world_not_loaded',
  'world_waits',
  'chain_not_read',
  'chain_stopped',
  'chain_old',
  'offers_stopped',
  'attendance_not_configured',
  'issuer_fails',
  'presence_unknown',
  'events_held',
  'events_wait',
  'requests_refused',
  'requests_shed',
  'not_read',
] as const
export type Problem = (typeof PROBLEMS)[number]

/** Numbers that a part is judged by. Counts are those of all processes of the server since their start. */
export const FACTS = [
  'connections',
  'queries_waiting',
  'revision',
  'block',
  'age_s',
  'calls',
  'calls_failed',
  'answers',
  'answers_unknown',
  'waiting',
  'held',
  'refused',
  'shed',
] as const
export type Facts = Readonly<Partial<Record<(typeof FACTS)[number], number>>>

export interface Part {
  readonly part: PartName
  readonly condition: Condition
  /** Null where the part is good or off, or was asked nothing. */
  readonly problem: Problem | null
  readonly facts: Facts
}

/** What was found out about a server; undefined is what it does not have, `unread` what its database did not tell. */
export interface Findings {
  readonly database: {
    readonly problem: Problem | null
    readonly connections: number
    readonly queriesWaiting: number
  }
  readonly land: { readonly revision: number | undefined } | undefined
  /** Only for land that comes from the chain; `empty`: no block was applied yet; `reading`: the history is read. */
  readonly chain:
    | { readonly block: number; readonly ageS: number; readonly isFollowing: boolean }
    | 'empty'
    | 'reading'
    | 'unread'
    | undefined
  readonly offers: { readonly ageS: number | undefined; readonly isFollowing: boolean } | 'unread' | undefined
  readonly attendance: { readonly isConfigured: boolean } | undefined
  /** Calls to the issuer outside. */
  readonly issuer: Counted | undefined
  /** Answers of presence providers. */
  readonly presence: Counted | undefined
  /** Events that wait for approval. */
  readonly events: { readonly waiting: number; readonly held: number } | 'unread' | undefined
  readonly limits: { readonly refused: number; readonly shed: number }
}

export interface Counted {
  readonly all: number
  readonly failed: number
}

/** Fewer calls say nothing about a share. */
const ENOUGH = 10
const MAX_FAILED_CALLS = 0.1
const MAX_UNKNOWN_ANSWERS = 0.2
/** Blocks come every 12 seconds; where only final ones are shown, they are 15 minutes old. */
const OLD_CHAIN_S = 30 * 60

/**
 * Judges what was found out.
 *
 * @example
 * partsOf({ ...findings, land: { revision: undefined } })[1] // { part: 'land', condition: 'bad', problem: 'world_not_loaded', facts: {} }
 */
export function partsOf(found: Findings): readonly Part[] {
  const { database, land, chain, offers, attendance, issuer, presence, events, limits } = found
  const off = (part: PartName): Part => ({ part, condition: 'off', problem: null, facts: {} })
  const unread = (name: PartName): Part => part(name, {}, ['unknown', 'not_read'])
  const part = (name: PartName, facts: Facts, [condition, problem]: Verdict = GOOD): Part => ({
    part: name,
    condition,
    problem,
    facts,
  })
  return [
    part(
      'database',
      { connections: database.connections, queries_waiting: database.queriesWaiting },
      database.problem ? ['bad', database.problem] : unless(database.queriesWaiting === 0, 'queries_wait'),
    ),
    !land
      ? off('land')
      : land.revision === undefined
        ? part('land', {}, ['bad', database.problem || chain ? 'world_waits' : 'world_not_loaded'])
        : part('land', { revision: land.revision }),
    !chain
      ? off('chain')
      : chain === 'unread'
        ? unread('chain')
        : chain === 'empty' || chain === 'reading'
          ? part('chain', {}, [chain === 'empty' ? 'bad' : 'look', 'chain_not_read'])
          : part(
              'chain',
              { block: chain.block, age_s: chain.ageS },
              chain.isFollowing ? unless(chain.ageS <= OLD_CHAIN_S, 'chain_old') : ['look', 'chain_stopped'],
            ),
    !offers
      ? off('offers')
      : offers === 'unread'
        ? unread('offers')
        : part(
            'offers',
            offers.ageS === undefined ? {} : { age_s: offers.ageS },
            offers.isFollowing && offers.ageS === undefined
              ? UNKNOWN
              : unless(offers.isFollowing, 'offers_stopped'),
          ),
    !attendance
      ? off('attendance')
      : part('attendance', {}, attendance.isConfigured ? GOOD : ['bad', 'attendance_not_configured']),
    !issuer
      ? off('issuer')
      : part(
          'issuer',
          { calls: issuer.all, calls_failed: issuer.failed },
          ofShare(issuer, MAX_FAILED_CALLS, 'issuer_fails'),
        ),
    !presence
      ? off('presence')
      : part(
          'presence',
          { answers: presence.all, answers_unknown: presence.failed },
          ofShare(presence, MAX_UNKNOWN_ANSWERS, 'presence_unknown'),
        ),
    !events
      ? off('events')
      : events === 'unread'
        ? unread('events')
        : part(
            'events',
            { waiting: events.waiting, held: events.held },
            events.held > 0 ? ['look', 'events_held'] : unless(events.waiting === 0, 'events_wait'),
          ),
    part(
      'limits',
      { refused: limits.refused, shed: limits.shed },
      limits.shed > 0 ? ['look', 'requests_shed'] : unless(limits.refused === 0, 'requests_refused'),
    ),
  ]
}

type Verdict = readonly [Condition, Problem | null]
const GOOD: Verdict = ['good', null]
const UNKNOWN: Verdict = ['unknown', null]

function unless(isGood: boolean, problem: Problem): Verdict {
  return isGood ? GOOD : ['look', problem]
}

function ofShare({ all, failed }: Counted, share: number, problem: Problem): Verdict {
  return all === 0 ? UNKNOWN : unless(all < ENOUGH || failed / all <= share, problem)
}
