import Type from 'typebox'
import type { Db } from '../../db/engine.ts'
import { blockedJson, blockedSchema } from '../events/blocked-json.ts'
import { listBlocked } from '../events/blocked-queries.ts'
import { readCoordinates } from '../events/coordinates.ts'
import { eventReferenceJson } from '../events/event-json.ts'
import type { Event } from '../events/event-queries.ts'
import { findMadeEvent } from '../issuers/own/made-events/made-event-queries.ts'
import { listedClaimJson, listedClaimSchema } from './claim-list.ts'
import type { ListedClaim } from './claim-list-queries.ts'
import type { Reports } from './report.ts'

const anything = (description: string) => Type.Object({}, { additionalProperties: true, description })

export const exportSchema = Type.Object(
  {
    exported_at: Type.String({ description: 'ISO 8601, UTC.' }),
    event: anything('As POST /event/:event answers it.'),
    options: anything('As PATCH /event/:event takes them.'),
    places: Type.Array(Type.Object({ x: Type.Integer(), y: Type.Integer() })),
    report: anything('As POST /event/:event/report answers it, without `event`.'),
    blocked: blockedSchema,
    claims: Type.Array(listedClaimSchema),
  },
  { title: 'EventExport' },
)

/** Everything about an event but its claims, which may be many: and never a code. */
export async function exportHead(
  db: Db,
  event: Event,
  reports: Pick<Reports, 'make'>,
  { nowMs, base }: { readonly nowMs: number; readonly base: string },
) {
  const reference = eventReferenceJson(event, base)
  return {
    exported_at: new Date(nowMs).toISOString(),
    event: reference,
    options: await optionsOf(db, reference),
    places: readCoordinates(event.coordinates),
    report: await reports.make(event),
    blocked: (await listBlocked(db, event.event_id)).map(blockedJson),
  }
}

async function optionsOf(db: Db, reference: ReturnType<typeof eventReferenceJson>) {
  const { coordinates, enabled, distribution_start_date, distribution_end_date, ...info } = reference
  const { requires_captcha, requires_presence, requires_grant, allows_guests, rehearsal_until, description } =
    info
  const made = await findMadeEvent(db, reference.id)
  return {
    ...{ coordinates, enabled, distribution_start_date, distribution_end_date },
    ...{ requires_captcha, requires_presence, requires_grant, allows_guests, rehearsal_until },
    ...(made && { tokens: made.supply, hide_holders: made.hides_holders, description }),
  }
}

/**
 * The whole export as JSON, in pieces.
 *
 * @param batches claims as they are read: the event loop goes on between them
 */
export async function* exportPieces(
  head: object,
  batches: AsyncIterable<readonly ListedClaim[]>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"claims":[`
  let separator = '\n'
  for await (const claims of batches) {
    yield separator + claims.map((claim) => JSON.stringify(listedClaimJson(claim))).join(',\n')
    separator = ',\n'
  }
  yield '\n]}\n'
}
