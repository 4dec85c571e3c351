import Type from 'typebox'
import type { BlockedPlayer } from './blocked-queries.ts'

export const blockedSchema = Type.Array(
  Type.Object({
    address: Type.String({ description: 'In lower case.' }),
    since: Type.String({ description: 'ISO 8601, UTC.' }),
  }),
  { description: 'The players whose new claims are refused, the newest first.' },
)

export function blockedJson({ address, sinceMs }: BlockedPlayer) {
  return { address, since: new Date(sinceMs).toISOString() }
}
