import { type Call, pathOf, postFor, read, readAs, write } from './call.ts'
import type { LoadedCodes, Operations, OrganiserPass } from './types.ts'

/**
 * The attendance interface (docs/attendance/README.md): events and their claim codes for organisers, captchas and
 * claims for players. Every function describes one call, which a client sends:
 * `client.send(attendance.event('90001'))`.
 *
 * An event is named by the issuer's number or by the server's uuid. The edit code is sent in bodies, never in an
 * address. The transport signs the requests of players: the client knows no keys. The client retries only GET requests.
 */

type DataOf<Name extends keyof Operations> = Operations[Name]['data']
type BodyOf<Name extends keyof Operations> = Operations[Name] extends { body: infer Body } ? Body : never

/** The options of an event that can be changed: docs/attendance/organisers.md. */
export interface EventChange {
  /** `x,y;x,y` */
  readonly coordinates?: string
  /** False pauses the event. */
  readonly enabled?: boolean
  /** RFC 3339; null for no limit. */
  readonly distribution_start_date?: string | null
  readonly distribution_end_date?: string | null
  readonly requires_captcha?: boolean
  readonly requires_presence?: boolean
  /** Whether a player needs a grant: {@link sendGrant}. */
  readonly requires_grant?: boolean
  /** Whether guests may claim, who lose their token when they leave. */
  readonly allows_guests?: boolean
  /** Until when previews of the scene can rehearse claims: at most 24 hours ahead; null ends it. */
  readonly rehearsal_until?: string | null
  /** More tokens than before, of an event that was made on the server. */
  readonly tokens?: number
  /** Whether the list of holders is for the organiser alone, of an event that was made on the server. */
  readonly hide_holders?: boolean
  /** Only for an event that was made on the server. */
  readonly description?: string
  /** True: all passes of the event become invalid; the answer brings a new one. */
  readonly revoke_passes?: boolean
}

/**
 * What shows that a call comes from the organiser: the edit code, and if the client has them, the pass from
 * `organiser_pass` of an earlier answer, and the proof that a refusal asked for (`solveProofOfWork`).
 */
export type Credentials =
  | string
  | { readonly editCode: string; readonly pass?: string | undefined; readonly proof?: string | undefined }

/** The public data of an event. @throws {LandpassError} `event_not_found` */
export const event = (name: string | number): Call<DataOf<'GET /event/{event}'>> => read(eventPath(name))

/** Whether players can claim tokens now, and if not, why. @throws {LandpassError} `event_not_found` */
export const availability = (name: string | number): Call<DataOf<'GET /event/{event}/availability'>> =>
  read(`${eventPath(name)}/availability`)

/** What players read at a booth of an event. @throws {LandpassError} `event_not_found` */
export const sentences = (name: string | number): Call<DataOf<'GET /event/{event}/sentences'>> =>
  read(`${eventPath(name)}/sentences`)

/** Whether an edit code is right, of an event that is registered here or not. @throws {LandpassError} `wrong_edit_code` */
export const checkEditCode = (
  name: string | number,
  credentials: Credentials,
): Call<DataOf<'POST /event/{event}/check'>> =>
  write('POST', `${eventPath(name)}/check`, fieldsOf(credentials))

/** Registers an event, or replaces the coordinates of a registered one. @throws {LandpassError} `wrong_edit_code` */
export const registerEvent = (
  name: string | number,
  { coordinates, ...credentials }: Exclude<Credentials, string> & { readonly coordinates: string },
): Call<DataOf<'POST /event/{event}'>> =>
  write('POST', eventPath(name), { ...fieldsOf(credentials), coordinates })

/** Changes a registered event; options that are left out stay. @throws {LandpassError} `wrong_edit_code` */
export const changeEvent = (
  name: string | number,
  credentials: Credentials,
  change: EventChange,
): Call<DataOf<'PATCH /event/{event}'>> => {
  const options = Object.entries(change).filter(([, value]) => value !== undefined)
  return write('PATCH', eventPath(name), { ...fieldsOf(credentials), options })
}

/**
 * Makes the server load the claim codes from the issuer; with `load_when_approved` also later, when the issuer has
 * approved them. @throws {LandpassError} `wrong_edit_code`
 */
export const loadCodes = (
  name: string | number,
  credentials: Credentials,
  options: { readonly load_when_approved?: boolean | undefined } = {},
): Call<{ readonly body: LoadedCodes; readonly organiser_pass?: OrganiserPass }> =>
  write('POST', pathOf`/addcodes/${name}`, { ...fieldsOf(credentials), ...options })

/** The report of an event, for its organiser. @throws {LandpassError} `wrong_edit_code` */
export const report = (
  name: string | number,
  credentials: Credentials,
): Call<DataOf<'POST /event/{event}/report'>> =>
  write('POST', `${eventPath(name)}/report`, fieldsOf(credentials))

/** Blocks players of an event, lets others claim again, or lists the blocked ones. @throws {LandpassError} `wrong_edit_code` */
export const changeBlocked = (
  name: string | number,
  credentials: Credentials,
  change: { readonly add?: readonly string[]; readonly remove?: readonly string[] } = {},
): Call<DataOf<'POST /event/{event}/blocked'>> =>
  write('POST', `${eventPath(name)}/blocked`, { ...fieldsOf(credentials), ...change })

/**
 * Gives tokens of an event that was made on the server to addresses, one a line, or a table with one in each line. They are made in
 * the background; the report counts them. @throws {LandpassError} `invalid_parameter` with the number of a bad `line`
 */
export const giveTokens = (
  name: string | number,
  credentials: Credentials,
  list: string,
): Call<DataOf<'POST /event/{event}/gifts'>> =>
  write('POST', `${eventPath(name)}/gifts`, { ...fieldsOf(credentials), list })

/** The claims of an event, a page; `next` is the `after` of the next one. @throws {LandpassError} `wrong_edit_code` */
export const listClaims = (
  name: string | number,
  credentials: Credentials,
  page: { readonly after?: string; readonly limit?: number } = {},
): Call<DataOf<'POST /event/{event}/claims'>> =>
  write('POST', `${eventPath(name)}/claims`, { ...fieldsOf(credentials), ...page })

/** All claims of an event as CSV. @throws {LandpassError} `wrong_edit_code` */
export const claimsCsv = (name: string | number, credentials: Credentials): Call<string> =>
  postFor('text', `${eventPath(name)}/claims`, { ...fieldsOf(credentials), format: 'csv' })

/** Everything about an event, without any code. @throws {LandpassError} `wrong_edit_code` */
export const exportEvent = (
  name: string | number,
  credentials: Credentials,
): Call<DataOf<'POST /event/{event}/export'>> =>
  postFor('json', `${eventPath(name)}/export`, fieldsOf(credentials))

/**
 * Makes the secret with which the organiser's own server signs grants; the answer shows it once.
 *
 * @param options.keepPreviousS for so many seconds the secret before stays valid too
 * @param options.withdrawOpen true: all unused grants are withdrawn, because others may know the secret before
 * @throws {LandpassError} `wrong_edit_code`
 */
export const makeGrantSecret = (
  name: string | number,
  credentials: Credentials,
  options: { readonly keepPreviousS?: number; readonly withdrawOpen?: boolean } = {},
): Call<DataOf<'POST /event/{event}/grant-secret'>> =>
  write('POST', `${eventPath(name)}/grant-secret`, {
    ...fieldsOf(credentials),
    ...options,
  })

/**
 * Allows a player to claim, for the organiser's own server. Safe to repeat.
 *
 * @param signature `await signGrant(secret, uuid, grant)`
 * @throws {LandpassError} `bad_grant`, `nonce_used`, `too_many_grants`
 */
export const sendGrant = (
  uuid: string,
  grant: BodyOf<'POST /grants/{uuid}'>,
  signature: string,
): Call<DataOf<'POST /grants/{uuid}'>> => ({
  ...write('POST', pathOf`/grants/${uuid}`, grant),
  headers: { 'landpass-signature': signature },
})

/** Makes an event whose tokens the server signs; the answer has its edit code, once. @throws {LandpassError} */
export const makeEvent = (body: BodyOf<'POST /events'>): Call<DataOf<'POST /events'>> =>
  write('POST', '/events', body)

/**
 * Corrects, moves or cancels an event that was made on the server; fields that are left out stay.
 *
 * @throws {LandpassError} `wrong_edit_code`
 */
export const changeMadeEvent = (
  name: string | number,
  credentials: Credentials,
  change: Omit<BodyOf<'PATCH /events/{event}'>, 'editCode' | 'pass' | 'proof'>,
): Call<DataOf<'PATCH /events/{event}'>> =>
  write('PATCH', pathOf`/events/${name}`, { ...fieldsOf(credentials), ...change })

/**
 * Lists the edit codes of co-organisers, makes one or revokes one, by its name. A code of a co-organiser may do all but make and
 * revoke codes, and delete the event.
 *
 * @throws {LandpassError} `first_code_only`, `too_many_codes`, `wrong_edit_code`
 */
export const changeEditCodes = (
  name: string | number,
  editCode: string,
  change: { readonly add?: string; readonly revoke?: string } = {},
): Call<DataOf<'POST /events/{event}/codes'>> =>
  write('POST', pathOf`/events/${name}/codes`, { editCode, ...change })

/** A new first edit code of an event; the transport sends Operator-Key. @throws {LandpassError} `operator_only` */
export const replaceFirstCode = (name: string | number): Call<DataOf<'POST /events/{event}/first-code'>> =>
  write('POST', pathOf`/events/${name}/first-code`)

/** Deletes an event that was made on the server. @throws {LandpassError} `event_has_tokens`, `first_code_only` */
export const deleteEvent = (
  name: string | number,
  credentials: Credentials,
): Call<DataOf<'POST /events/{event}/deletion'>> =>
  write('POST', pathOf`/events/${name}/deletion`, fieldsOf(credentials))

/**
 * The operator's answer to an event that waits, or to its change; the transport sends Operator-Key.
 *
 * @throws {LandpassError} `operator_only`, `content_changed` where the event is not as it was read any more
 */
export const approveEvent = (
  name: string | number,
  answer: BodyOf<'POST /events/{event}/approval'>,
): Call<DataOf<'POST /events/{event}/approval'>> => write('POST', pathOf`/events/${name}/approval`, answer)

/** The events that wait for the operator, whose key the transport sends, the oldest first. @throws {LandpassError} `operator_only` */
export const waitingEvents = (
  query: { readonly after?: number; readonly limit?: number } = {},
): Call<DataOf<'GET /events/waiting'>> => read('/events/waiting', query)

/** The addresses that sign tokens on this server, with their times. */
export const tokenIssuers = (): Call<DataOf<'GET /.well-known/attendance-issuers.json'>> =>
  readAs('json', '/.well-known/attendance-issuers.json')

/** A token that the server signed. @throws {LandpassError} `token_not_found` */
export const attendanceToken = (id: string): Call<DataOf<'GET /tokens/{id}'>> => read(pathOf`/tokens/${id}`)

/** A token as galleries read it (ERC-721). @throws {LandpassError} `token_not_found` */
export const attendanceMetadata = (id: string): Call<DataOf<'GET /tokens/{id}/metadata'>> =>
  readAs('json', pathOf`/tokens/${id}/metadata`)

/** What `verifyToken` of `@landpass/client/tokens` checks. @throws {LandpassError} `token_not_found` */
export const attestation = (id: string): Call<DataOf<'GET /tokens/{id}/attestation'>> =>
  readAs('json', pathOf`/tokens/${id}/attestation`)

/** The picture of a link to a token, PNG of 1200 x 630 pixels. @throws {LandpassError} `token_not_found` */
export const attendanceShareImage = (id: string): Call<DataOf<'GET /tokens/{id}/share.png'>> =>
  readAs('bytes', pathOf`/tokens/${id}/share.png`)

/** The picture of a token, PNG. @throws {LandpassError} `token_not_found` */
export const attendanceTokenImage = (id: string): Call<DataOf<'GET /tokens/{id}/image.png'>> =>
  readAs('bytes', pathOf`/tokens/${id}/image.png`)

/**
 * The picture of an event that was made here, PNG.
 *
 * @param query.change for the operator: the picture of the change that waits, where it has one
 * @throws {LandpassError} `event_not_found`
 */
export const eventImage = (
  name: string | number,
  query: { readonly change?: boolean } = {},
): Call<DataOf<'GET /events/{event}/image.png'>> => readAs('bytes', pathOf`/events/${name}/image.png`, query)

type PageQuery = { readonly limit?: number; readonly offset?: number }

/** Takes a token back, for its organiser. @throws {LandpassError} `wrong_edit_code` */
export const revokeToken = (
  id: string,
  credentials: Credentials,
  reason: string,
): Call<DataOf<'POST /tokens/{id}/revocation'>> =>
  write('POST', pathOf`/tokens/${id}/revocation`, { ...fieldsOf(credentials), reason })

/** The tokens that were taken back, signed: for `readRevocationList` of `@landpass/client/tokens`. */
export const revocations = (): Call<DataOf<'GET /.well-known/attendance-revocations.json'>> =>
  readAs('json', '/.well-known/attendance-revocations.json')

/** All tokens in the order of the public log, with the roots of its days. */
export const tokenLog = (
  query: { readonly from?: number; readonly limit?: number } = {},
): Call<DataOf<'GET /tokens/log'>> => read('/tokens/log', query)

/** The tokens of an address, newest first, and what it claimed at this server of events of POAP. */
export const tokensOf = (
  address: string,
  query: PageQuery = {},
): Call<DataOf<'GET /addresses/{address}/tokens'>> => read(pathOf`/addresses/${address}/tokens`, query)

/** The tokens of an event with their holders, by number. @throws {LandpassError} `holders_hidden` */
export const holders = (
  name: string | number,
  query: PageQuery = {},
): Call<DataOf<'GET /events/{event}/holders'>> => read(pathOf`/events/${name}/holders`, query)

/** All holders of an event as CSV. @throws {LandpassError} `holders_hidden` */
export const holdersCsv = (name: string | number): Call<DataOf<'GET /events/{event}/holders.csv'>> =>
  readAs('text', pathOf`/events/${name}/holders.csv`)

/** Whether an address holds a token of an event, or of POAP claimed it at this server. @throws {LandpassError} `event_not_found` */
export const attended = (
  name: string | number,
  address: string,
): Call<DataOf<'GET /events/{event}/holders/{address}'>> =>
  readAs('json', pathOf`/events/${name}/holders/${address}`)

/** Requests a captcha for the player who signs. @throws {LandpassError} `not_signed` */
export const captcha = (): Call<DataOf<'POST /captcha'>> => write('POST', '/captcha')

/** The image of a captcha, PNG. @throws {LandpassError} `captcha_not_found` */
export const captchaImage = (uuid: string): Call<DataOf<'GET /captcha/{uuid}'>> =>
  readAs('bytes', pathOf`/captcha/${uuid}`)

/** Claims a token for the player who signs, or who is named with the answer to a captcha. @throws {LandpassError} */
export const claim = (
  name: string | number,
  body: BodyOf<'POST /claim/{event}'> = {},
): Call<DataOf<'POST /claim/{event}'>> => write('POST', pathOf`/claim/${name}`, body)

function fieldsOf(credentials: Credentials): object {
  if (typeof credentials === 'string') return { editCode: credentials }
  const { editCode, pass, proof } = credentials
  return { editCode, ...(pass !== undefined && { pass }), ...(proof !== undefined && { proof }) }
}

function eventPath(name: string | number): string {
  return pathOf`/event/${name}`
}
