import { setImmediate } from 'node:timers/promises'
import { type CsvRow, csvPieces } from '@landpass/client/csv'
import { explorerLink, GIVEN_BY_ORGANISER, isGift } from '@landpass/client/tokens'
import Type from 'typebox'
import { checksumAddress } from '../../../../ethereum/checksum-address.ts'
import { addressText } from '../../../../schema-parts.ts'
import { withoutTurns } from '../../../../text-direction.ts'
import { eventName } from '../../../events/event-json.ts'
import type { Event } from '../../../events/event-queries.ts'
import type { LogPlace } from '../log/token-log-queries.ts'
import { signedToken } from '../signing/token-message.ts'
import type { PoapCount } from './poap-claim-queries.ts'
import type { HeldToken, HolderRow } from './token-list-queries.ts'
import type { SignedToken } from './token-queries.ts'

const isoText = Type.String({ description: 'ISO 8601, UTC.' })

const tokenProperties = {
  id: Type.String({ format: 'uuid' }),
  uid: Type.String({ description: 'The hash that names the attestation.' }),
  number: Type.Integer({ description: 'Which of the tokens of its event.' }),
  event: Type.Object({
    id: Type.Integer(),
    uuid: Type.String(),
    name: Type.String(),
    place: Type.String({ description: '`x,y`, or that it was given: as it is signed.' }),
  }),
  given: Type.Boolean({
    description: 'The organiser gave it to the holder, who did not claim it at a place.',
  }),
  holder: addressText(),
  issuer: addressText(),
  time: isoText,
  revoked: Type.Union([Type.Object({ since: isoText, reason: Type.String() }), Type.Null()]),
}

export const listedTokenSchema = Type.Object(tokenProperties, { title: 'AttendanceToken' })
export const tokenSchema = Type.Object(
  {
    ...tokenProperties,
    event_now: Type.Union([Type.Object({ name: Type.String(), place: Type.String() }), Type.Null()], {
      description: 'Name and place of the event today; null where they are as the token says.',
    }),
    explorer_url: Type.String({ description: 'Shows and checks the token at the public explorer.' }),
    log: Type.Union([Type.Object({ position: Type.Integer(), noted_at: isoText }), Type.Null()], {
      description: 'Where it is in the public log; null for some seconds.',
    }),
  },
  { title: 'AttendanceTokenDetails' },
)

export function listedTokenJson(token: SignedToken) {
  return {
    id: token.id,
    uid: `0x${token.uid.toString('hex')}`,
    number: token.number,
    event: {
      id: token.eventId,
      uuid: token.eventUuid,
      name: token.eventName,
      place: token.eventLocation,
    },
    given: isGift(token),
    holder: token.address,
    issuer: token.signer,
    time: isoOf(token.timeS),
    revoked: revocationOf(token),
  }
}

/** What an event says today. */
type EventToday = Pick<Event, 'issuer_record' | 'coordinates'>

export async function tokenJson(token: SignedToken, event: EventToday, place: LogPlace | undefined) {
  const today = nameAndPlaceOf(event, token)
  const isChanged = today.name !== token.eventName || today.place !== token.eventLocation
  return {
    ...listedTokenJson(token),
    event_now: isChanged ? today : null,
    explorer_url: await explorerLink(signedToken(token, token)),
    log: place ? { position: place.position, noted_at: new Date(place.noted_at_ms).toISOString() } : null,
  }
}

/** The place of a token that is given is none of the event's, wherever that has moved. */
function nameAndPlaceOf(event: EventToday, token: SignedToken) {
  const [first = ''] = event.coordinates.split(';')
  return { name: eventName(event), place: isGift(token) ? token.eventLocation : first }
}

export const metadataSchema = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    image: Type.String(),
    external_url: Type.String(),
    attributes: Type.Array(
      Type.Object({
        trait_type: Type.String(),
        value: Type.Union([Type.String(), Type.Number()]),
        display_type: Type.Optional(Type.String()),
      }),
    ),
  },
  { title: 'AttendanceMetadata' },
)

/**
 * What galleries of tokens read (ERC-721).
 *
 * @param base of the addresses, without a slash at its end
 */
export function metadataJson(token: SignedToken, event: EventToday, base: string) {
  const { description } = event.issuer_record
  const { number } = token
  const today = nameAndPlaceOf(event, token)
  return {
    name: `${withoutTurns(token.eventName)} #${number}`,
    description: typeof description === 'string' ? withoutTurns(description) : '',
    image: `${base}/tokens/${token.id}/image.png`,
    external_url: `${base}/tokens/${token.id}`,
    attributes: [
      { trait_type: 'Event', value: withoutTurns(token.eventName) },
      { trait_type: isGift(token) ? 'Given' : 'Place', value: token.eventLocation },
      ...(today.name === token.eventName
        ? []
        : [{ trait_type: 'Event now', value: withoutTurns(today.name) }]),
      ...(today.place === token.eventLocation ? [] : [{ trait_type: 'Place now', value: today.place }]),
      { trait_type: 'Date', value: token.timeS, display_type: 'date' },
      { trait_type: 'Number', value: number, display_type: 'number' },
      { trait_type: 'Issuer', value: checksumAddress(token.signer) },
      ...(token.revokedAtS === null
        ? []
        : [
            { trait_type: 'Revoked', value: isoOf(token.revokedAtS) },
            { trait_type: 'Reason', value: withoutTurns(token.revokedReason ?? '') },
          ]),
    ],
  }
}

export const gateSchema = Type.Object(
  {
    attended: Type.Boolean({ description: 'Whether the address holds a token that is not revoked.' }),
    count: Type.Integer(),
    since: Type.Optional(Type.Integer({ description: 'Seconds since 1970.' })),
    uid: Type.Optional(Type.String({ description: 'Only for a token that was signed here.' })),
    issuer: Type.Optional(
      Type.Literal('poap', { description: 'Only for a token of an event of POAP that was claimed here.' }),
    ),
    revoked: Type.Optional(Type.Boolean()),
  },
  { title: 'Attended' },
)

/** The small answer for other services, about the oldest token that counts; keys at the top level, because some of them read only those. */
export function gateJson(token: (HeldToken & { readonly count?: number }) | undefined, poaps?: PoapCount) {
  const own = ownGateJson(token)
  if (!poaps) return own
  const count = own.count + poaps.count
  const isOwnOlder = own.attended && own.since !== undefined && own.since <= poaps.sinceS
  if (isOwnOlder) return { ...own, count }
  return { attended: true, count, since: poaps.sinceS, issuer: 'poap', revoked: false }
}

function ownGateJson(token: (HeldToken & { readonly count?: number }) | undefined) {
  if (!token) return { attended: false, count: 0 }
  const revoked = token.revokedAtS !== null
  return {
    attended: !revoked,
    count: token.count ?? (revoked ? 0 : 1),
    since: token.timeS,
    uid: `0x${token.uid.toString('hex')}`,
    revoked,
  }
}

/** Tokens in one turn of the event loop. The largest page, in a single turn, would block all other requests for 0.1 s. */
const AT_A_TIME = 100

/** The tokens of a page. Yields to the event loop. */
export async function listedTokens(tokens: readonly SignedToken[]) {
  const listed: ReturnType<typeof listedTokenJson>[] = []
  for (const [at, token] of tokens.entries()) {
    if (at > 0 && at % AT_A_TIME === 0) await setImmediate()
    listed.push(listedTokenJson(token))
  }
  return listed
}

const CSV_HEADER = ['number', 'address', 'time', 'uid', 'revoked', 'reason', 'given']

/**
 * The holders of an event as CSV, a line each, in pieces.
 *
 * @param batches rows as they are read: the event loop goes on between them
 */
export function holdersCsv(batches: AsyncIterable<readonly HolderRow[]>): AsyncGenerator<string> {
  return csvPieces(CSV_HEADER, batches, csvRow)
}

function csvRow({ uid, revokedAtS, revokedReason, ...token }: HolderRow): CsvRow {
  const revoked = revokedAtS === null ? '' : isoOf(revokedAtS)
  const given = isGift(token) ? GIVEN_BY_ORGANISER : ''
  const { number, address, timeS } = token
  const name = `0x${uid.toString('hex')}`
  return [number, address, isoOf(timeS), name, revoked, revokedReason, given]
}

function revocationOf({ revokedAtS, revokedReason }: SignedToken) {
  return revokedAtS === null ? null : { since: isoOf(revokedAtS), reason: revokedReason ?? '' }
}

function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
