import Type from 'typebox'
import type { Db } from '../../db/engine.ts'
import type { Approval } from '../../db/schema.ts'
import { oneOf, orNull } from '../../schema-parts.ts'
import { findAnswer, findChange, type StoredChange } from './change-queries.ts'

export const approvalSchema = oneOf(['waiting', 'approved', 'refused'], {
  title: 'Approval',
  description: 'waiting: tokens can be claimed when the operator has approved the event.',
})

const reasonSchema = orNull(Type.String({ description: "The operator's, for the organiser." }))

const changeSchema = Type.Object(
  {
    state: oneOf(['waiting', 'refused']),
    reason: reasonSchema,
    name: orNull(Type.String()),
    description: orNull(Type.String()),
    event_url: orNull(Type.String()),
    image: Type.Boolean({ description: 'Whether the picture changes too.' }),
    coordinates: orNull(Type.String({ description: '`x,y;x,y`' })),
    tokens: orNull(Type.Integer()),
    sent_at: Type.String({ description: 'ISO 8601, UTC.' }),
  },
  {
    title: 'EventChange',
    description: 'What stays as it is has null.',
  },
)

/** What the operator has answered, for organiser and operator. */
export const eventApprovalSchema = Type.Object(
  { state: approvalSchema, reason: reasonSchema, change: orNull(changeSchema) },
  {
    title: 'EventApproval',
    description: "The operator's answer, and the change that waits; null for an event of POAP.",
  },
)

/** In answers to the organiser of any event. */
export const approvalOfEvent = orNull(eventApprovalSchema)

export function eventApprovalJson(
  { approval, reason }: { readonly approval: Approval; readonly reason: string | null },
  change: StoredChange | undefined,
) {
  return { state: approval, reason, change: change ? changeJson(change) : null }
}

/** What the operator has answered for an event; null for one that was not made here. */
export async function readApproval(db: Db, eventId: number) {
  const made = await findAnswer(db, eventId)
  return made ? eventApprovalJson(made, await findChange(db, eventId)) : null
}

function changeJson(change: StoredChange) {
  const { is_refused, reason, name, description, event_url, has_image, coordinates, supply, sent_at_ms } =
    change
  return {
    state: is_refused ? ('refused' as const) : ('waiting' as const),
    ...{ reason, name, description, event_url, image: has_image, coordinates },
    tokens: supply,
    sent_at: new Date(sent_at_ms).toISOString(),
  }
}
