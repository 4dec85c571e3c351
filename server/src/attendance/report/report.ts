import Type from 'typebox'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { HoldReason } from '../../db/schema.ts'
import { orNull } from '../../schema-parts.ts'
import { OneSecondCache } from '../../work/one-second-cache.ts'
import { refusalsByCode } from '../claims/refusal-queries.ts'
import type { Refusals } from '../claims/refusals.ts'
import { findLoad } from '../codes/load-queries.ts'
import { approvalOfEvent, readApproval } from '../events/approval-json.ts'
import { availabilitySchema, readAvailability } from '../events/availability.ts'
import { countBlocked } from '../events/blocked-queries.ts'
import type { CodeCountCache } from '../events/code-count-cache.ts'
import type { EventHolds } from '../events/event-holds.ts'
import { eventInfoSchema } from '../events/event-json.ts'
import type { Event } from '../events/event-queries.ts'
import type { EventHold } from '../events/hold-queries.ts'
import { isoText } from '../events/openness.ts'
import type { Gifts } from '../gifts/gifts.ts'
import { countGrants } from '../grants/grant-queries.ts'
import { lastFailures, MAX_STORED_FAILURES } from '../issuers/failure-queries.ts'
import type { Rehearsals } from '../rehearsal/rehearsals.ts'
import type { ServiceState } from '../service-state.ts'
import { countByMinute, countClaims, type HourOfClaims } from './report-queries.ts'
import {
  issuerStatusJson,
  issuerStatusSchema,
  presenceStatusJson,
  presenceStatusSchema,
} from './service-status.ts'

const count = (description: string) => Type.Integer({ description })
const claimCountProperties = {
  reserved: count('The issuer has not answered definitely yet.'),
  minting: count('The issuer accepted; the token is being made.'),
  minted: count('The token is on the chain.'),
  failed: count('The issuer refused; the player may claim again.'),
  released: count('The player has another token, or somebody else has this one.'),
}
const alarmSchema = Type.Object(
  {
    kind: Type.Unsafe<HoldReason>({
      type: 'string',
      enum: ['unknown_codes', 'other_beneficiary'],
      description:
        'unknown_codes: the issuer does not know codes it listed. other_beneficiary: it gave some to somebody else.',
    }),
    answers: count('Such answers since the last token.'),
    held_since: orNull(
      Type.String({
        description:
          'Since when claims wait, with their codes; null after one answer, which may be true: ISO 8601, UTC.',
      }),
    ),
    next_try_at: orNull(
      Type.String({
        description: 'When one claim asks the issuer again; loading the codes lets all go on: ISO 8601, UTC.',
      }),
    ),
  },
  { title: 'Alarm' },
)
export const reportSchema = Type.Object(
  {
    event: eventInfoSchema,
    availability: availabilitySchema,
    alarms: Type.Array(alarmSchema, {
      description: 'For the organiser; empty when all is well.',
    }),
    codes: Type.Object({
      free: count('For the next claims.'),
      held: count('Tied to a claim.'),
      used: count('Became a token by a claim here.'),
      used_elsewhere: count('Used without this server.'),
      void: count('The issuer no longer takes them.'),
    }),
    claims: Type.Object(claimCountProperties, { title: 'ClaimCounts' }),
    hours: Type.Array(
      Type.Object(
        {
          hour: Type.String({
            description: 'Beginning of the hour in which the claims were made: ISO 8601, UTC.',
          }),
          ...claimCountProperties,
        },
        { title: 'HourOfClaims' },
      ),
      { description: 'The hours of the last week in which there were claims, the newest first.' },
    ),
    minutes: Type.Array(
      Type.Object({
        minute: Type.String({ description: 'Beginning of the minute: ISO 8601, UTC.' }),
        claims: count('Claims that were made in it, whatever became of them.'),
      }),
      { description: 'The minutes of the last three hours in which there were claims, the oldest first.' },
    ),
    refusals: Type.Array(Type.Object({ code: Type.String(), count: Type.Integer() }), {
      description: 'Claims that were refused, by error code, the most frequent first.',
    }),
    grants: Type.Object({
      open: count('Players may still use them.'),
      used: count('A claim has them.'),
      expired: count('Nobody used them in time, or they were withdrawn.'),
    }),
    rehearsal: Type.Object(
      {
        claims: count('Players whose claim succeeded.'),
        refusals: count('Refused claims.'),
      },
      { description: 'The claims of the rehearsal that is on, or of the last one; counted nowhere else.' },
    ),
    issuer_errors: Type.Array(
      Type.Object({
        at: Type.String({ description: 'ISO 8601, UTC.' }),
        call: Type.String({ description: 'What the issuer was asked.' }),
        kind: Type.String({ description: 'unavailable, busy or refused.' }),
        status: Type.Union([Type.Integer(), Type.Null()], {
          description: 'Its HTTP status, where it answered.',
        }),
      }),
      { description: `The last ${MAX_STORED_FAILURES}, the newest first.` },
    ),
    issuer: issuerStatusSchema,
    presence: presenceStatusSchema,
    blocked: count('Players whose claims are refused.'),
    approval: approvalOfEvent,
    gifts: orNull(
      Type.Object(
        {
          allowed: Type.Boolean({ description: 'Whether the operator lets the organiser give tokens.' }),
          waiting: count('Addresses whose token is not made yet.'),
          given: count('Tokens that the organiser gave; they count as claims too.'),
        },
        {
          title: 'GiftCounts',
          description: 'Tokens for a list of addresses; null for an event of POAP.',
        },
      ),
    ),
    codes_load: Type.Union(
      [
        Type.Object({
          until: Type.String({ description: 'Until when the edit code is stored at most: ISO 8601, UTC.' }),
          last_try_at: orNull(
            Type.String({ description: 'When the issuer was last asked in the background: ISO 8601, UTC.' }),
          ),
        }),
        Type.Null(),
      ],
      {
        description: 'The codes are loaded once the issuer approves them; null where nobody asked for it.',
      },
    ),
  },
  { title: 'Report' },
)

export interface ReportsOptions {
  readonly db: Db
  readonly clock: Clock
  /** Writes its counts to the database before the report reads them. */
  readonly refusals: Pick<Refusals, 'flush'>
  readonly rehearsals: Pick<Rehearsals, 'count'>
  readonly gifts: Pick<Gifts, 'count'>
  readonly codeCounts: CodeCountCache
  readonly holds: Pick<EventHolds, 'find' | 'forget'>
  readonly issuerState: Pick<ServiceState, 'current'>
  readonly presenceState: Pick<ServiceState, 'current'>
}

/**
 * Makes the report of an event for its organiser, without codes and addresses of players.
 *
 * What it counts over many rows is at most one second old, also after a claim: a page that asks again and again, and
 * several of them, cost one reading a second, also while hundreds claim. `availability` and `codes` show each claim of
 * this process, and the block list and a stored edit code show at once. After a change of the organiser that it counts,
 * this process counts again ({@link forget}); other processes do within a second.
 */
export class Reports {
  private readonly options: ReportsOptions
  private readonly counted = new OneSecondCache<Awaited<ReturnType<Reports['count']>>>()
  constructor(options: ReportsOptions) {
    this.options = options
  }

  async make(event: Event) {
    const { db, clock, holds, issuerState, presenceState } = this.options
    const { event_id: eventId } = event
    const counted = await this.counted.get(String(eventId), () => this.count(eventId))
    holds.forget(eventId)
    const { availability, codes, hold } = await readAvailability(this.options, event, clock.nowMs())
    const load = await findLoad(db, eventId)
    return {
      availability,
      alarms: hold ? [alarmJson(hold)] : [],
      codes,
      issuer: issuerStatusJson(event, issuerState),
      presence: presenceStatusJson(event, presenceState),
      ...counted,
      blocked: await countBlocked(db, eventId),
      approval: await readApproval(db, eventId),
      codes_load: load
        ? { until: new Date(load.until_ms).toISOString(), last_try_at: isoText(load.last_try_at_ms) }
        : null,
    }
  }

  /** The next report counts again. */
  forget(eventId: number): void {
    this.counted.forget(String(eventId))
  }

  private async count(eventId: number) {
    const { db, clock, refusals, rehearsals, gifts } = this.options
    await refusals.flush().catch(() => {}) // those of other events may be on a server of the database that is full
    const { total, hours } = await countClaims(db, eventId, clock.nowMs())
    const minutes = await countByMinute(db, eventId, clock.nowMs())
    const failures = await lastFailures(db, eventId)
    return {
      claims: total,
      hours: hours.map(hourJson),
      minutes: minutes.map(({ minuteMs, claims }) => ({ minute: new Date(minuteMs).toISOString(), claims })),
      refusals: await refusalsByCode(db, eventId),
      grants: await countGrants(db, eventId, clock.nowMs()),
      rehearsal: await rehearsals.count(eventId),
      gifts: await gifts.count(eventId),
      issuer_errors: failures.map(({ at_ms, call, kind, status }) => ({
        at: new Date(at_ms).toISOString(),
        call,
        kind,
        status,
      })),
    }
  }
}

function hourJson({ hourMs, ...counts }: HourOfClaims) {
  return { hour: new Date(hourMs).toISOString(), ...counts }
}

function alarmJson({ reason, answers, held_at_ms, probe_at_ms }: EventHold) {
  return { kind: reason, answers, held_since: isoText(held_at_ms), next_try_at: isoText(probe_at_ms) }
}
