import { Draws } from './draws.ts'
import { DAY_MS, demoPlans, type EventPlan, MAX_CODES } from './event-plan.ts'
import { Ledger } from './ledger.ts'
import type { Refusal } from './refusal-texts.ts'
import type { SimulatorSettings } from './settings.ts'

export interface SimulatedEvent {
  readonly plan: EventPlan
  readonly createdAtMs: number
  /** Infinity: never. */
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
  /** As it was sent. */
  readonly address: string
  readonly atMs: number
  readonly requestId: number
  readonly txHash: string
  /** The token is never made. */
  readonly fails: boolean
}

export interface ClaimWish {
  readonly address: string
  readonly hash: string
  readonly secret: string | undefined
}

/** How far the making of a token is: nothing runs in the background, it is a matter of the time that is asked. */
export interface MintState {
  readonly status: 'waiting_tx' | 'pending' | 'passed' | 'failed' | ''
  readonly txHash: string | null
}

const CODE_LENGTH = 6
const CODE_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'
const HEX = '0123456789abcdef'
const FIRST_CODE_ID = 5_500_001
const FIRST_REQUEST_ID = 31_337
/** What the issuer answers today where a code once had a secret of its own. */
const NO_SECRET = 'NOT_REQUIRED_ANYMORE'

/** Everything that the simulated issuer knows, in memory. */
export class IssuerWorld {
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

  /** Makes an event known, in place of the one that had its number. Its codes follow from seed and number. */
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

  /** More codes for an event, as after a request for them. @returns how many it has now */
  addCodes(event: SimulatedEvent, count: number): number {
    const draws = new Draws(this.seed ^ Math.imul(event.plan.id, 0x9e3779b1) ^ event.codes.length)
    while (count > 0 && event.codes.length < MAX_CODES) {
      const hash = draws.text(CODE_LENGTH, CODE_ALPHABET)
      if (this.codes.has(hash)) continue
      const code = { id: this.nextCodeId++, hash, secret: draws.text(32, HEX), event, claim: undefined }
      this.codes.set(hash, code)
      event.codes.push(code)
      count -= 1
    }
    return event.codes.length
  }

  /** Marks the first free codes as used by people who got them elsewhere. @returns how many */
  useElsewhere(event: SimulatedEvent, count: number, nowMs: number): number {
    const draws = new Draws(this.seed ^ event.plan.id ^ event.holders.size)
    const free = event.codes.filter(({ claim }) => !claim).slice(0, count)
    for (const code of free) this.take(code, `0x${draws.text(40, HEX)}`, { nowMs, fails: false })
    return free.length
  }

  /** Marks code and player, when the issuer would. Every wish is in the ledger. */
  claim(
    wish: ClaimWish,
    by: { settings: SimulatorSettings; nowMs: number; fails: boolean },
  ): SimulatedCode | Refusal {
    const code = this.code(wish.hash, by.nowMs)
    const refusal = this.refusalOf(wish, code, by)
    this.ledger.noteWish(wish.hash, refusal)
    if (refusal || !code) return refusal ?? 'no_such_code'
    this.take(code, wish.address, by)
    const { nowMs, fails } = by
    this.ledger.noteMint({
      eventId: code.event.plan.id,
      hash: code.hash,
      address: wish.address,
      nowMs,
      fails,
    })
    return code
  }

  private refusalOf(
    { address, secret }: ClaimWish,
    code: SimulatedCode | undefined,
    { settings, nowMs }: { settings: SimulatorSettings; nowMs: number },
  ): Refusal | undefined {
    if (!/^0x[\da-fA-F]{40}$/.test(address)) return 'bad_address'
    if (!code) return 'no_such_code'
    if (settings.wording !== 'current' && secret !== code.secret) return 'wrong_secret'
    if (isExpired(code.event, nowMs)) return 'expired'
    const isUsed = code.claim !== undefined
    const hasOne = settings.one_per_player && code.event.holders.has(address.toLowerCase())
    // A claim that is sent again is both; the servers of different years say one or the other
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
    const txHash = `0x${new Draws(this.seed ^ requestId).text(64, HEX)}`
    code.claim = { address, atMs: nowMs, requestId, txHash, fails }
    code.event.holders.add(address.toLowerCase())
    this.requests.set(requestId, code)
  }
}

export function isApproved(event: SimulatedEvent, nowMs: number): boolean {
  return nowMs >= event.approvedAtMs
}

export function isExpired({ plan }: SimulatedEvent, nowMs: number): boolean {
  return nowMs >= plan.expiresOnMs + DAY_MS
}

/** @param mintMs from the claim to the token */
export function mintStateOf({ claim }: SimulatedCode, mintMs: number, nowMs: number): MintState {
  if (!claim) return { status: '', txHash: null }
  const elapsedMs = nowMs - claim.atMs
  if (elapsedMs < mintMs / 2) return { status: 'waiting_tx', txHash: null }
  if (elapsedMs < mintMs) return { status: 'pending', txHash: claim.txHash }
  return { status: claim.fails ? 'failed' : 'passed', txHash: claim.txHash }
}

/** What has to be sent with a claim: today a word that means nothing, in older years a secret. */
export function secretOf(code: SimulatedCode, { wording }: SimulatorSettings): string {
  return wording === 'current' ? NO_SECRET : code.secret
}

export function slugOf({ name, id }: EventPlan): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return [...words, id].join('-')
}
