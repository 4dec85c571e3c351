import { MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import { Random } from '../random.ts'
import type { SimulatorSettings } from './settings.ts'

/** The faults of one request: see settings.ts for each kind. */
export interface Fault {
  readonly kind: 'none' | 'error' | 'error_after' | 'late' | 'drop' | 'drop_after'
  readonly isDuplicated: boolean
  readonly failsMint: boolean
  readonly isMintNotFound: boolean
  readonly mintsForOther: boolean
  readonly isReadUnknown: boolean
  /** The HTTP status of an error. */
  readonly errorStatus: number
}

const ERROR_STATUSES = [500, 502, 503, 504] as const

/** Chooses the fault of each request: the same for the same seed and the same order of requests. */
export class Faults {
  private random: Random
  private windowEndsAtMs = 0
  private countInWindow = 0

  constructor(seed: number) {
    this.random = new Random(seed)
  }

  restart(seed: number): void {
    this.random = new Random(seed)
  }

  next(settings: SimulatorSettings): Fault {
    // Always the same count of random numbers, so that changing one share does not change the other faults
    const isDrawn = (share: number) => this.random.fraction() < share
    const [error, drop, errorAfter, late] = Array.from({ length: 4 }, () => this.random.fraction()) as [
      number,
      number,
      number,
      number,
    ]
    return {
      kind: kindOf({ error, drop, errorAfter, late }, settings),
      isDuplicated: isDrawn(settings.duplicate_rate),
      failsMint: isDrawn(settings.failed_mint_rate),
      isMintNotFound: isDrawn(settings.mint_not_found_rate),
      mintsForOther: isDrawn(settings.other_beneficiary_rate),
      isReadUnknown: isDrawn(settings.unknown_read_rate),
      errorStatus: this.random.pick(ERROR_STATUSES),
    }
  }

  /** Counts a request. @returns the seconds to wait where the limit of this minute is reached; otherwise undefined */
  waitSeconds(limitPerMinute: number, nowMs: number): number | undefined {
    if (limitPerMinute === 0) return undefined
    if (nowMs >= this.windowEndsAtMs) {
      this.windowEndsAtMs = nowMs + MINUTE_MS
      this.countInWindow = 0
    }
    this.countInWindow += 1
    if (this.countInWindow <= limitPerMinute) return undefined
    return Math.max(1, Math.ceil((this.windowEndsAtMs - nowMs) / SECOND_MS))
  }
}

function kindOf(
  drawn: { error: number; drop: number; errorAfter: number; late: number },
  settings: SimulatorSettings,
): Fault['kind'] {
  if (drawn.error < settings.error_rate) return 'error'
  if (drawn.drop < settings.drop_rate) return drawn.drop < settings.drop_rate / 2 ? 'drop' : 'drop_after'
  if (drawn.errorAfter < settings.error_after_rate) return 'error_after'
  return drawn.late < settings.late_rate ? 'late' : 'none'
}
