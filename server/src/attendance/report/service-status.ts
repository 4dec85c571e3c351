import Type from 'typebox'
import { orNull } from '../../schema-parts.ts'
import type { Event } from '../events/event-queries.ts'
import { isoText } from '../events/openness.ts'
import { isOwnEvent } from '../issuers/own/own-event-ids.ts'
import type { ServiceState } from '../service-state.ts'

type IssuerStatus = 'ok' | 'failing' | 'unknown'
type PresenceStatus = 'ok' | 'failing' | 'not_asked'

const since = orNull(Type.String({ description: 'Since when it has been so: ISO 8601, UTC.' }))

function statusSchema<Status extends string>(title: string, states: Status[], description: string) {
  const status = Type.Unsafe<Status>({ type: 'string', enum: states, description })
  return Type.Object({ status, since }, { title })
}

export const issuerStatusSchema = statusSchema<IssuerStatus>(
  'IssuerStatus',
  ['ok', 'failing', 'unknown'],
  'Whether the issuer answered the last call. unknown: none since the start. Always ok of an event made here.',
)
export const presenceStatusSchema = statusSchema<PresenceStatus>(
  'PresenceStatus',
  ['ok', 'failing', 'not_asked'],
  'Whether a provider could say where the last player was. not_asked: not needed, or not asked since the start.',
)

/** What this process knows of the issuer of an event. */
export function issuerStatusJson({ event_id }: Event, { current }: Pick<ServiceState, 'current'>) {
  if (isOwnEvent(event_id)) return { status: 'ok' as const, since: null }
  if (!current) return { status: 'unknown' as const, since: null }
  return { status: answering(current.isAnswering), since: isoText(current.sinceMs) }
}

/** What this process knows of the presence providers, for an event. */
export function presenceStatusJson({ requires_presence }: Event, { current }: Pick<ServiceState, 'current'>) {
  if (!requires_presence || !current) return { status: 'not_asked' as const, since: null }
  return { status: answering(current.isAnswering), since: isoText(current.sinceMs) }
}

function answering(isAnswering: boolean): 'ok' | 'failing' {
  return isAnswering ? 'ok' : 'failing'
}
