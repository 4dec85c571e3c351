import { MINUTE_MS, SECOND_MS, withTimeLimit } from '../clock.ts'
import type { Captchas } from './captcha/captchas.ts'
import type { Refusals } from './claims/refusals.ts'
import type { Gifts } from './gifts/gifts.ts'
import type { EditCodeGuard } from './organisers/edit-code-guard.ts'
import type { Rehearsals } from './rehearsal/rehearsals.ts'
import type { SignedFetch } from './signed-fetch/signed-fetch.ts'

const FLUSH_EVERY_MS = 2 * SECOND_MS
const DELETE_EVERY_MS = MINUTE_MS
const LOG_EVERY_MS = 10 * SECOND_MS
const GIFTS_EVERY_MS = 5 * SECOND_MS

export interface CleanupOptions {
  readonly captchas: Pick<Captchas, 'deleteExpired'>
  readonly signedFetch: Pick<SignedFetch, 'deleteExpired'>
  readonly guard: Pick<EditCodeGuard, 'deleteOld'>
  /** Events that wait for the operator, or whose makers got no answer. */
  readonly approvals: { deleteOld(): Promise<unknown> }
  readonly answered: { flush(): Promise<void> }
  readonly grants: { deleteOld(): Promise<void> }
  readonly gifts: Pick<Gifts, 'wake'>
  readonly refusals: Pick<Refusals, 'flush'>
  readonly rehearsals: Pick<Rehearsals, 'cleanUp'>
  /** Notes signed tokens in their public log. */
  readonly tokenLog: { update(): Promise<void> }
  readonly log: { warn(facts: object, sentence: string): void }
}

/** Periodic work in the background: writes counts of refusals and the log of tokens, deletes expired rows. A failure is logged and retried. */
export class Cleanup {
  private readonly options: CleanupOptions
  private readonly timers: NodeJS.Timeout[] = []
  private running: Promise<void> = Promise.resolve()
  constructor(options: CleanupOptions) {
    this.options = options
  }

  start(): void {
    const { captchas, signedFetch, guard, approvals, grants, refusals, rehearsals } = this.options
    const { answered, gifts, tokenLog } = this.options
    this.every(FLUSH_EVERY_MS, () => refusals.flush())
    this.every(FLUSH_EVERY_MS, () => answered.flush())
    this.every(LOG_EVERY_MS, () => tokenLog.update())
    // For lists that another process left unfinished, or that wait for more tokens
    this.every(GIFTS_EVERY_MS, async () => gifts.wake())
    this.every(DELETE_EVERY_MS, () => captchas.deleteExpired())
    this.every(DELETE_EVERY_MS, () => signedFetch.deleteExpired())
    this.every(DELETE_EVERY_MS, () => guard.deleteOld())
    this.every(DELETE_EVERY_MS, () => approvals.deleteOld())
    this.every(DELETE_EVERY_MS, () => grants.deleteOld())
    this.every(DELETE_EVERY_MS, () => rehearsals.cleanUp())
  }

  /** Waits for the work that is running and for the last counts, `timeoutMs` at most. */
  async close(timeoutMs: number): Promise<void> {
    for (const timer of this.timers) clearInterval(timer)
    await withTimeLimit(this.finish(), timeoutMs, () => undefined)
  }

  private async finish(): Promise<void> {
    await this.running
    await this.logFailure(() => this.options.refusals.flush())
    await this.logFailure(() => this.options.answered.flush())
  }

  /**
   * Runs `work` every `intervalMs`, unless it still runs or waits; never two works at once, so `close` waits for one promise
   * only.
   */
  private every(intervalMs: number, work: () => Promise<unknown>): void {
    let isDue = false
    const timer = setInterval(() => {
      if (isDue) return
      isDue = true
      this.running = this.running.then(async () => {
        await this.logFailure(work)
        isDue = false
      })
    }, intervalMs)
    this.timers.push(timer.unref())
  }

  private async logFailure(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.options.log.warn({ err: error }, 'cleanup of the attendance tables failed; it will be tried again')
    }
  }
}
