import { Random } from '../random.ts'
import { DAY_MS, demoPlans, type EventPlan, MAX_CODES } from './event-plan.ts'
import { Ledger } from './ledger.ts'
import type { Refusal } from './refusal-texts.ts'
import type { SimulatorSettings } from './settings.ts'

export interface SimulatedEvent {
  readonly plan: EventPlan
  readonly createdAtMs: number
  /** Infinity where the event is never approved. */
  readonly approvedAtMs: number
  readonly codes: SimulatedCode[]
  /** Players who have a token, in lower case. */
  readonly holders: Set<string>
}

export interface SimulatedCode {
  readonly id: number
  readonly hash: string
  readonly secret: string
  readonly event: SimulatedEvent
  claim: SimulatedClaim | undefined
}

export interface SimulatedClaim {
  /** In the letter case of the request. */
  readonly address: string
  readonly atMs: number
  readonly requestId: number
  readonly txHash: string
  /** Whether making the token fails. */
  readonly fails: boolean
}

export interface ClaimRequest {
  readonly address: string
  readonly hash: string
  readonly secret: string | undefined
}

/** How far a token is made. It follows from the time since the claim; nothing runs in the background. */
export interface MintState {
  readonly status: 'waiting_tx' | 'pending' | 'passed' | 'failed' | ''
  readonly txHash: string | null
}

const CODE_LENGTH = 6
const CODE_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'
const FIRST_CODE_ID = 5_500_001
const FIRST_REQUEST_ID = 31_337
/** What the issuer answers today in place of the secret that codes had in older years. */
const NO_SECRET = 'NOT_REQUIRED_ANYMORE'

/** The data of the simulated issuer, in memory. */
export class IssuerStore {
  readonly ledger = new Ledger()
  private readonly seed: number
  private readonly events = new Map<number, SimulatedEvent>()
  private readonly codes = new Map<string, SimulatedCode>()
  private readonly requests = new Map<number, SimulatedCode>()
  private nextCodeId = FIRST_CODE_ID
  private nextRequestId = FIRST_REQUEST_ID

  constructor(seed: number, nowMs: number) {
    this.seed = seed
    for (const plan of demoPlans(nowMs)) this.put(plan, nowMs)
  }

  /** Adds an event, or replaces the one with the same id. Its codes follow from seed and id. */
  put(plan: EventPlan, nowMs: number): void {
    for (const code of this.events.get(plan.id)?.codes ?? []) this.codes.delete(code.hash)
    this.ledger.forget(plan.id)
    const event: SimulatedEvent = {
      plan,
      createdAtMs: nowMs,
      approvedAtMs:
        plan.approvedAfterMs === undefined ? Number.POSITIVE_INFINITY : nowMs + plan.approvedAfterMs,
      codes: [],
      holders: new Set(),
    }
    this.events.set(plan.id, event)
    this.addCodes(event, plan.codes)
  }

  event(id: number): SimulatedEvent | undefined {
    return this.events.get(id)
  }

  eventBySlug(slug: string): SimulatedEvent | undefined {
    return [...this.events.values()].find(({ plan }) => slugOf(plan) === slug)
  }

  code(hash: string, nowMs: number): SimulatedCode | undefined {
    const code = this.codes.get(hash)
    return code && isApproved(code.event, nowMs) ? code : undefined
  }

  codeOfRequest(requestId: number): SimulatedCode | undefined {
    return this.requests.get(requestId)
  }

  /** Adds codes to an event, as after an organiser's request. @returns how many it has now */
  addCodes(event: SimulatedEvent, count: number): number {
    const random = new Random(this.seed).fork(`codes ${event.plan.id} ${event.codes.length}`)
    while (count > 0 && event.codes.length < MAX_CODES) {
      const hash = random.text(CODE_LENGTH, CODE_ALPHABET)
      if (this.codes.has(hash)) continue
      const code = { id: this.nextCodeId++, hash, secret: random.hex(32).slice(2), event, claim: undefined }
      this.codes.set(hash, code)
      event.codes.push(code)
      count -= 1
    }
    return event.codes.length
  }

  /** Marks the first free codes as used by made-up players. @returns how many */
  useElsewhere(event: SimulatedEvent, count: number, nowMs: number): number {
    const random = new Random(this.seed).fork(`holders ${event.plan.id} ${event.holders.size}`)
    const free = event.codes.filter(({ claim }) => !claim).slice(0, count)
    for (const code of free) this.take(code, random.address(), { nowMs, fails: false })
    return free.length
  }

  /** Claims a code for a player, where the issuer would. The ledger records every request. */
  claim(
    request: ClaimRequest,
    by: { settings: SimulatorSettings; nowMs: number; fails: boolean; mintsForOther: boolean },
  ): SimulatedCode | Refusal {
    const code = this.code(request.hash, by.nowMs)
    const refusal = this.refusalOf(request, code, by)
    this.ledger.noteClaimRequest(request.hash, refusal)
    if (refusal || !code) return refusal ?? 'no_such_code'
    const { nowMs, fails, mintsForOther } = by
    const address = mintsForOther ? otherThan(request.address) : request.address
    this.take(code, address, by)
    this.ledger.noteMint({
      eventId: code.event.plan.id,
      hash: code.hash,
      address,
      nowMs,
      fails,
    })
    return code
  }

  /** Refuses a claim without a look at it. The ledger records the request. */
  refuse({ hash }: ClaimRequest, refusal: Refusal): Refusal {
    this.ledger.noteClaimRequest(hash, refusal)
    return refusal
  }

  private refusalOf(
    { address, secret }: ClaimRequest,
    code: SimulatedCode | undefined,
    { settings, nowMs }: { settings: SimulatorSettings; nowMs: number },
  ): Refusal | undefined {
    if (!/^0x[\da-fA-F]{40}$/.test(address)) return 'bad_address'
    if (!code) return 'no_such_code'
    if (settings.wording !== 'current' && secret !== code.secret) return 'wrong_secret'
    if (isExpired(code.event, nowMs)) return 'expired'
    const isUsed = code.claim !== undefined
    const hasOne = settings.one_per_player && code.event.holders.has(address.toLowerCase())
    // A repeated claim is both; the issuer gave different reasons in different years
    if (isUsed && hasOne) return settings.wording === 'oldest' ? 'code_used' : 'player_has_one'
    if (isUsed) return 'code_used'
    return hasOne ? 'player_has_one' : undefined
  }

  private take(
    code: SimulatedCode,
    address: string,
    { nowMs, fails }: { nowMs: number; fails: boolean },
  ): void {
    const requestId = this.nextRequestId++
    const txHash = new Random(this.seed).fork(`claim ${requestId}`).hash()
    code.claim = { address, atMs: nowMs, requestId, txHash, fails }
    code.event.holders.add(address.toLowerCase())
    this.requests.set(requestId, code)
  }
}

/** Another address for the same token: every digit is another one. */
function otherThan(address: string): string {
  return address.replace(/(?<=^0x.*)[\da-f]/gi, (digit) => (15 - Number.parseInt(digit, 16)).toString(16))
}

export function isApproved(event: SimulatedEvent, nowMs: number): boolean {
  return nowMs >= event.approvedAtMs
}

export function isExpired({ plan }: SimulatedEvent, nowMs: number): boolean {
  return nowMs >= plan.expiresOnMs + DAY_MS
}

/** @param mintMs time from the claim to the token */
export function mintStateOf({ claim }: SimulatedCode, mintMs: number, nowMs: number): MintState {
  if (!claim) return { status: '', txHash: null }
  const elapsedMs = nowMs - claim.atMs
  if (elapsedMs < mintMs / 2) return { status: 'waiting_tx', txHash: null }
  if (elapsedMs < mintMs) return { status: 'pending', txHash: claim.txHash }
  return { status: claim.fails ? 'failed' : 'passed', txHash: claim.txHash }
}

/** The `secret` of a claim: today a constant, in older years a secret of the code. */
export function secretOf(code: SimulatedCode, { wording }: SimulatorSettings): string {
  return wording === 'current' ? NO_SECRET : code.secret
}

export function slugOf({ name, id }: EventPlan): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return [...words, id].join('-')
}
