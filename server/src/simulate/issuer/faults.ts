import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import { Draws } from './draws.ts'
import type { SimulatorSettings } from './settings.ts'

/** What happens to one request on its way. */
export interface Fault {
  readonly kind: 'none' | 'error' | 'error_after' | 'late' | 'drop' | 'drop_after'
  readonly isDuplicated: boolean
  readonly failsMint: boolean
  /** The status of an error. */
  readonly errorStatus: number
}

const ERROR_STATUSES = [500, 502, 503, 504] as const

/** Decides what goes wrong: the same for the same seed and the same order of requests. */
export class Faults {
  private draws: Draws
  private windowEndsAtMs = 0
  private countInWindow = 0

  constructor(seed: number) {
    this.draws = new Draws(seed)
  }

  restart(seed: number): void {
    this.draws = new Draws(seed)
  }

  next(settings: SimulatorSettings): Fault {
    // Always as many draws, whatever is switched on: so a changed share moves nothing else
    const [error, drop, errorAfter, late, duplicate, mint, which] = Array.from({ length: 7 }, () =>
      this.draws.next(),
    ) as [number, number, number, number, number, number, number]
    return {
      kind: kindOf({ error, drop, errorAfter, late }, settings),
      isDuplicated: duplicate < settings.duplicate_rate,
      failsMint: mint < settings.failed_mint_rate,
      errorStatus: ERROR_STATUSES[Math.floor(which * ERROR_STATUSES.length)]!,
    }
  }

  /** How many seconds a caller has to wait who came too often in this minute; undefined for one who may go on. */
  refusedForS(limitPerMinute: number, nowMs: number): number | undefined {
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
