import { LRUCache } from 'lru-cache'
import { MINUTE_MS, SECOND_MS } from '../clock.ts'
import type { HeaderList } from './cross-origin.ts'
import type { WorkerGroup } from './worker-group.ts'

/** How many addresses have a budget of their own, about 200 bytes each; beyond it the least recently used is dropped. */
const MAX_ADDRESSES = 20_000
/** How long other processes do not know what was spent here: an address can overdraw its budget by what it spends in this time. */
const ANNOUNCE_EVERY_MS = 100

/** What is left of a budget. */
export interface Balance {
  /** False: nothing was taken, because less was left than asked for. */
  readonly isTaken: boolean
  /** Whole units; 0 while the budget is overdrawn. */
  readonly remaining: number
  /** Whole seconds until the budget is full again. */
  readonly resetS: number
  /** Whole seconds, at least one, until the refused units are there; 0 if they were taken. */
  readonly waitS: number
}

/** The headers that say what is left of a budget of `perMinute` units. */
export function balanceHeaders(perMinute: number, { remaining, resetS }: Balance): HeaderList {
  return [
    'ratelimit-limit',
    String(perMinute),
    'ratelimit-remaining',
    String(remaining),
    'ratelimit-reset',
    String(resetS),
  ]
}

/**
 * A budget of cost for each network address: a token bucket. It holds the units of one minute and fills continuously,
 * so an address may use a minute's units at once, and after that as many as flow in. A unit is the cost of reading one
 * parcel, about 0.04 ms of CPU.
 *
 * @example
 * const budget = new CostBudget(200_000)
 * const bucket = budget.bucketOf('192.0.2.7')
 * bucket.take(1).remaining // 199999
 */
export class CostBudget {
  /** Units of a minute, which are also the most that a bucket holds. */
  readonly perMinute: number
  private readonly nowMs: () => number
  /** Number of refused requests since the start. */
  refused = 0
  /** Units that were charged since the start, also where nothing is limited. */
  charged = 0
  private readonly buckets = new LRUCache<string, CostBucket>({ max: MAX_ADDRESSES })
  /** What was spent since the last announcement; undefined where no other process serves. */
  private spent: Map<string, number> | undefined

  /**
   * @param perMinute units; 0 is no limit
   * @param nowMs a steady clock
   */
  constructor(perMinute: number, nowMs: () => number = () => performance.now()) {
    this.perMinute = perMinute
    this.nowMs = nowMs
  }

  /** False where nothing is limited. */
  get isLimited(): boolean {
    return this.perMinute > 0
  }

  /** Number of addresses that have a bucket. */
  get size(): number {
    return this.buckets.size
  }

  /** Makes the budgets those of all processes that serve together. */
  shareWith(group: WorkerGroup): void {
    const spent = new Map<string, number>()
    this.spent = spent
    group.onSpent((elsewhere) => {
      for (const [address, units] of elsewhere) this.bucketOf(address).settleElsewhere(units)
    })
    setInterval(() => {
      if (spent.size === 0) return
      group.announceSpent([...spent])
      spent.clear()
    }, ANNOUNCE_EVERY_MS).unref()
  }

  /** The bucket of an address; a new one is full. */
  bucketOf(address: string): CostBucket {
    const known = this.buckets.get(address)
    if (known) return known
    const { spent } = this
    const onSpent = spent && ((units: number) => spent.set(address, (spent.get(address) ?? 0) + units))
    const made = new CostBucket(this.perMinute, this.nowMs, onSpent)
    this.buckets.set(address, made)
    return made
  }
}

/** The budget of one address. */
export class CostBucket {
  private readonly perMinute: number
  private readonly nowMs: () => number
  private readonly onSpent: ((units: number) => void) | undefined
  private left: number
  private filledAtMs: number

  /** @param onSpent is called with what was taken in this process */
  constructor(perMinute: number, nowMs: () => number, onSpent?: (units: number) => void) {
    this.perMinute = perMinute
    this.nowMs = nowMs
    this.onSpent = onSpent
    this.left = perMinute
    this.filledAtMs = nowMs()
  }

  /**
   * Takes units if so many are left. More than a full bucket holds are taken from a full one.
   *
   * @param units what to take now
   * @param wholeRequest units of the request with those that were taken before: what a repetition needs
   */
  take(units: number, wholeRequest = units): Balance {
    if (!this.has(units)) {
      const missing = Math.min(wholeRequest, this.perMinute) - this.left
      return this.balance(false, Math.max(1, this.secondsFor(missing)))
    }
    this.left -= units
    this.onSpent?.(units)
    return this.balance(true, 0)
  }

  /** Whether so many units are left; nothing is taken. */
  has(units: number): boolean {
    this.fill()
    return Math.min(units, this.perMinute) <= this.left
  }

  /** Takes units for work that is done: the bucket may be overdrawn, and then refuses until it has filled again. */
  settle(units: number): void {
    this.settleElsewhere(units)
    this.onSpent?.(units)
  }

  /** The same for work that another process did. */
  settleElsewhere(units: number): void {
    this.fill()
    this.left -= units
  }

  private fill(): void {
    const nowMs = this.nowMs()
    const flown = ((nowMs - this.filledAtMs) * this.perMinute) / MINUTE_MS
    this.left = Math.min(this.perMinute, this.left + flown)
    this.filledAtMs = nowMs
  }

  private balance(isTaken: boolean, waitS: number): Balance {
    return {
      isTaken,
      remaining: Math.max(0, Math.floor(this.left)),
      resetS: this.secondsFor(this.perMinute - this.left),
      waitS,
    }
  }

  private secondsFor(units: number): number {
    return Math.ceil((units / this.perMinute) * (MINUTE_MS / SECOND_MS))
  }
}
