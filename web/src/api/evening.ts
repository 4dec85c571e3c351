import {
  attendance,
  type BlockedPlayers,
  type Call,
  type EventInfo,
  type OrganiserPass,
  type Report,
} from '@landpass/client'

/** The calls of an organiser on the evening of an event. Each takes the edit code in its body. */

export type MinuteOfClaims = Report['minutes'][number]
export type GrantCounts = Report['grants']
export type BlockedPlayer = BlockedPlayers['blocked'][number]

export interface EveningEvent extends EventInfo {
  /** Until when claims in previews are answered as a rehearsal: ISO 8601; null: they are refused. */
  readonly rehearsal_until?: string | null
}

export interface RehearsalCounts {
  readonly claims: number
  readonly refusals: number
}

export interface EveningReport extends Omit<Report, 'event'> {
  readonly event: EveningEvent
  /** Undefined at a server that has no rehearsals. */
  readonly rehearsal?: RehearsalCounts
}

/** The options that the organiser changes on the evening; those that are left out stay. */
export interface EveningChange extends attendance.EventChange {
  /** At most a day ahead: ISO 8601; null ends the rehearsal. */
  readonly rehearsal_until?: string | null
}

export const askReport = (id: number, credentials: attendance.Credentials): Call<EveningReport> =>
  attendance.report(id, credentials) as Call<unknown> as Call<EveningReport>

export const changeOptions = (
  id: number,
  credentials: attendance.Credentials,
  change: EveningChange,
): Call<EveningEvent & { readonly organiser_pass?: OrganiserPass }> =>
  attendance.changeEvent(id, credentials, change)

/** Everything about the event as JSON text, without codes and edit codes. */
export const exportText = (id: number, credentials: attendance.Credentials): Call<string> => ({
  ...(attendance.exportEvent(id, credentials) as Call<unknown> as Call<string>),
  form: 'text',
})
