import {
  attendance,
  type BlockedPlayers,
  type Call,
  type EventInfo,
  type OrganiserPass,
  type Report,
} from '@landpass/client'

/** The calls of an organiser on the evening of an event. Each takes the edit code in its body. */

export type Credentials = attendance.Credentials

export type MinuteOfClaims = Report['minutes'][number]

export interface EveningEvent extends EventInfo {
  /** Whether a claim needs a grant of the organiser's own server. */
  readonly requires_grant?: boolean
  /** Until when claims in previews are answered as a rehearsal: ISO 8601; null: they are refused. */
  readonly rehearsal_until?: string | null
}

export interface EveningReport extends Omit<Report, 'event'> {
  readonly event: EveningEvent
  /** Undefined at a server that has none. */
  readonly rehearsal?: RehearsalCounts
  /** Undefined at a server that has none. */
  readonly grants?: GrantCounts
}

export interface RehearsalCounts {
  readonly claims: number
  readonly refusals: number
}

/** Grants of the organiser's own server. */
export interface GrantCounts {
  readonly open: number
  readonly used: number
  readonly expired: number
}

/** The options that the organiser changes on the evening; those that are left out stay. */
export interface EveningChange extends attendance.EventChange {
  readonly requires_grant?: boolean
  /** At most a day ahead: ISO 8601; null ends the rehearsal. */
  readonly rehearsal_until?: string | null
}

interface WithPass {
  readonly organiser_pass?: OrganiserPass
}

export type BlockedPlayer = BlockedPlayers['blocked'][number]

export interface GrantSecret extends WithPass {
  readonly secret: string
  /** When the secret before ends: ISO 8601; null where there was none. */
  readonly previous_ends_at: string | null
}

export const askReport = (id: number, credentials: Credentials): Call<EveningReport> =>
  attendance.report(id, credentials) as Call<unknown> as Call<EveningReport>

export const changeOptions = (
  id: number,
  credentials: Credentials,
  change: EveningChange,
): Call<EveningEvent & WithPass> =>
  attendance.changeEvent(id, credentials, change) as Call<unknown> as Call<EveningEvent & WithPass>

export const makeGrantSecret = (
  id: number,
  credentials: Credentials,
  keepPreviousS: number,
): Call<GrantSecret> => {
  const { body, ...call } = attendance.report(id, credentials)
  const path = call.path.replace(/report$/, 'grant-secret')
  return { ...call, path, body: { ...body, keepPreviousS } } as Call<unknown> as Call<GrantSecret>
}

/** Everything about the event as JSON text, without codes and edit codes. */
export const exportText = (id: number, credentials: Credentials): Call<string> => ({
  ...(attendance.exportEvent(id, credentials) as Call<unknown> as Call<string>),
  form: 'text',
})
