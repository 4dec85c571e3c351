import { DAY_MS } from './event-plan.ts'
import {
  type MintState,
  mintStateOf,
  type SimulatedCode,
  type SimulatedEvent,
  secretOf,
  slugOf,
} from './issuer-store.ts'
import type { SimulatorSettings, Wording } from './settings.ts'

const FIRST_TOKEN_ID = 7_700_001
const SIGNER = '0x00000000000000000000000000000000000000BB'
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/**
 * The issuer's event. The oldest form contains secrets, which a client must not pass on, and other formats of dates.
 */
export function eventJson({ plan, createdAtMs }: SimulatedEvent, { wording }: SimulatorSettings) {
  const imageUrl = plan.fields.image_url ?? `https://images.example.org/${plan.id}.png`
  return {
    id: plan.id,
    fancy_id: slugOf(plan),
    name: plan.name,
    description: '',
    city: '',
    country: '',
    channel: '',
    platform: '',
    location_type: 'virtual',
    event_url: 'https://events.example.org/',
    image_url: imageUrl,
    animation_url: null,
    year: yearOf(plan.fields.start_date) ?? new Date(createdAtMs).getUTCFullYear(),
    start_date: dayText(createdAtMs - DAY_MS, wording),
    end_date: dayText(createdAtMs + DAY_MS, wording),
    expiry_date: dayText(plan.expiresOnMs, wording),
    timezone: 'Europe/Lisbon',
    created_date: new Date(createdAtMs).toISOString(),
    from_admin: false,
    virtual_event: true,
    event_template_id: wording === 'oldest' ? 0 : null,
    private_event: false,
    ...(wording === 'oldest'
      ? { event_host_id: 0, secret_code: plan.editCode, email: 'organiser@example.org' }
      : { drop_image: dropImageJson(plan.id, imageUrl) }),
    ...plan.fields,
  }
}

/** The year in a date of any format. */
function yearOf(startDate = ''): number | undefined {
  const year = /\d{4}/.exec(startDate)?.[0]
  return year === undefined ? undefined : Number(year)
}

/** Answer of `GET /actions/claim-qr`. */
export function claimJson(code: SimulatedCode, settings: SimulatorSettings, nowMs: number) {
  const mint = mintStateOf(code, settings.mint_ms, nowMs)
  return {
    ...commonJson(code, settings),
    tx_hash: mint.txHash,
    secret: secretOf(code, settings),
    tx_status: mint.status,
    ...(mint.status === 'passed' ? { result: { token: tokenIdOf(code) } } : {}),
  }
}

/** Answer of `POST /actions/claim-qr`. */
export function acceptedJson(code: SimulatedCode, settings: SimulatorSettings) {
  const requestId = code.claim?.requestId
  return {
    ...commonJson(code, settings),
    ...(settings.wording === 'current'
      ? { transaction_request_id: requestId }
      : { queue_uid: `queue-${requestId}` }),
  }
}

/** Answer of `GET /transaction-requests/{id}`. */
export function requestJson(id: number, mint: MintState) {
  return { id, status: mint.status, tx_hash: mint.txHash }
}

/** Answer of `GET /actions/scan/{address}/{eventId}` for an address that has the token. */
export function tokenJson(code: SimulatedCode, settings: SimulatorSettings) {
  return {
    event: eventJson(code.event, settings),
    tokenId: String(tokenIdOf(code)),
    owner: code.claim?.address.toLowerCase(),
    chain: 'xdai',
    created: claimedDate(code)?.replace('T', ' ').slice(0, 19),
  }
}

function commonJson(code: SimulatedCode, settings: SimulatorSettings) {
  const { claim, event } = code
  // Another letter case than the one that was sent, because clients must not rely on the letter case
  const beneficiary = claim ? `0x${claim.address.slice(2).toUpperCase()}` : null
  return {
    id: code.id,
    qr_hash: code.hash,
    event_id: event.plan.id,
    beneficiary,
    user_input: claim?.address ?? null,
    signer: claim ? SIGNER : null,
    claimed: claim !== undefined,
    claimed_date: claimedDate(code),
    created_date: new Date(event.createdAtMs).toISOString(),
    is_active: true,
    event: eventJson(event, settings),
  }
}

function claimedDate({ claim }: SimulatedCode): string | null {
  return claim ? new Date(claim.atMs).toISOString() : null
}

function tokenIdOf(code: SimulatedCode): number {
  return FIRST_TOKEN_ID + (code.claim?.requestId ?? 0)
}

function dropImageJson(eventId: number, url: string) {
  const id = String(eventId).padStart(12, '0')
  return {
    public_id: `1f0c2d3e-0000-4000-8000-${id}`,
    drop_id: eventId,
    gateways: [
      {
        image_id: `1f0c2d3f-0000-4000-8000-${id}`,
        filename: 'image.png',
        mime_type: 'image/png',
        url,
        type: 'ORIGINAL',
      },
    ],
  }
}

function dayText(timeMs: number, wording: Wording): string {
  const [year, month, day] = new Date(timeMs).toISOString().slice(0, 10).split('-')
  return wording === 'oldest' ? `${month}-${day}-${year}` : `${day}-${MONTHS[Number(month) - 1]}-${year}`
}
