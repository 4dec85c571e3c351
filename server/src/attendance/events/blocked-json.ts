import Type from 'typebox'
import { addressText } from '../../schema-parts.ts'
import type { BlockedPlayer } from './blocked-queries.ts'

export const blockedSchema = Type.Array(
  Type.Object(
    { address: addressText(), since: Type.String({ description: 'ISO 8601, UTC.' }) },
    { title: 'BlockedPlayer' },
  ),
  { description: 'The players whose new claims are refused, the newest first.' },
)

export function blockedJson({ address, sinceMs }: BlockedPlayer) {
  return { address, since: new Date(sinceMs).toISOString() }
}
