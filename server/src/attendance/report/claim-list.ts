import { type CsvRow, csvPieces } from '@landpass/client/csv'
import { GIVEN_BY_ORGANISER } from '@landpass/client/tokens'
import Type from 'typebox'
import type { ClaimState } from '../../db/schema.ts'
import { addressText } from '../../schema-parts.ts'
import type { ClaimPlace, ListedClaim } from './claim-list-queries.ts'

export const listedClaimSchema = Type.Object(
  {
    made_at: Type.String({ description: 'ISO 8601, UTC.' }),
    address: addressText(),
    state: Type.Unsafe<ClaimState>({
      type: 'string',
      enum: ['reserved', 'minting', 'minted', 'failed', 'released'],
      description: 'As in the report.',
    }),
    reason: Type.Optional(
      Type.String({ description: 'Why it failed or was released: a word for programs.' }),
    ),
    token: Type.Optional(
      Type.String({ description: 'Id of the token, of events made here: /tokens/<id> shows it.' }),
    ),
    tx_hash: Type.Optional(Type.String({ description: 'The transaction that made the token.' })),
    given: Type.Optional(
      Type.Literal(true, { description: 'The organiser gave the token; the player claimed nothing.' }),
    ),
  },
  { title: 'ListedClaim' },
)

export function listedClaimJson({ madeAtMs, address, state, reason, tokenId, txHash, isGiven }: ListedClaim) {
  return {
    made_at: new Date(madeAtMs).toISOString(),
    address,
    state,
    ...(reason !== null && { reason }),
    ...(tokenId !== null && { token: tokenId }),
    ...(txHash !== null && { tx_hash: txHash }),
    ...(isGiven && { given: true as const }),
  }
}

/** How a client names the place of a claim: it sends back what it got. */
export const PLACE_PATTERN = '^\\d{1,15}-\\d{1,15}$'

export function placeText({ madeAtMs, id }: ClaimPlace): string {
  return `${madeAtMs}-${id}`
}

/** @param text that fits {@link PLACE_PATTERN} */
export function readPlace(text: string): ClaimPlace {
  const [madeAtMs, id] = text.split('-')
  return { madeAtMs: Number(madeAtMs), id: Number(id) }
}

const CSV_HEADER = ['made_at', 'address', 'state', 'reason', 'token', 'tx_hash', 'given']

/**
 * The claims as CSV, a line each, in pieces.
 *
 * @param batches claims as they are read: the event loop goes on between them
 */
export function claimsCsv(batches: AsyncIterable<readonly ListedClaim[]>): AsyncGenerator<string> {
  return csvPieces(CSV_HEADER, batches, csvRow)
}

function csvRow(claim: ListedClaim): CsvRow {
  const { made_at, address, state, reason, token, tx_hash, given } = listedClaimJson(claim)
  return [made_at, address, state, reason, token, tx_hash, given && GIVEN_BY_ORGANISER]
}
