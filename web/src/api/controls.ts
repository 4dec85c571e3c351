import { attendance, type Call, type Report } from '@landpass/client'

/** The calls of an organiser on the organiser's controls of an event. Each takes the edit code in its body. */

export type MinuteOfClaims = Report['minutes'][number]
export type GrantCounts = Report['grants']
export type RehearsalCounts = Report['rehearsal']

/** Everything about the event as JSON text, without codes and edit codes. */
export const exportText = (id: number, credentials: attendance.Credentials): Call<string> => ({
  ...(attendance.exportEvent(id, credentials) as Call<unknown> as Call<string>),
  form: 'text',
})
