import { attendance, type Call, type EventInfo, type OrganiserPass, type Report } from '@landpass/client'

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

export interface BlockedPlayer {
  readonly address: string
  readonly since: string
}

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
): Call<GrantSecret> => organiserCall(id, 'grant-secret', credentials, { keepPreviousS })

export const changeBlocked = (
  id: number,
  credentials: Credentials,
  change: { readonly add?: readonly string[]; readonly remove?: readonly string[] } = {},
): Call<{ readonly blocked: readonly BlockedPlayer[] } & WithPass> =>
  organiserCall(id, 'blocked', credentials, change)

/** All claims of the event as CSV. */
export const claimsCsv = (id: number, credentials: Credentials): Call<string> => ({
  ...organiserCall<string>(id, 'claims', credentials, { format: 'csv' }),
  form: 'text',
})

/** Everything about the event as JSON text, without codes and edit codes. */
export const exportEvent = (id: number, credentials: Credentials): Call<string> => ({
  ...organiserCall<string>(id, 'export', credentials, {}),
  form: 'text',
})

function organiserCall<Data>(id: number, name: string, credentials: Credentials, more: object): Call<Data> {
  const { body, path } = attendance.report(id, credentials)
  return {
    method: 'POST',
    path: path.replace(/report$/, name),
    body: { ...body, ...more },
    form: 'envelope',
  }
}
