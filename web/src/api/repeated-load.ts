import { type ReadonlySignal, signal } from '@preact/signals'
import { retryPauseMs } from './retry-pause.ts'

/**
 * Loads something until it succeeds: after a failure it tries again by itself, with growing pauses (retry-pause.ts).
 *
 * @example
 * const texts = new RepeatedLoad(() => send(system.translations('fr')), showTexts)
 * await texts.start() // loaded, or failed once; from then on `fault` says why, until a later try succeeds
 */
export class RepeatedLoad<Result> {
  private readonly load: (signal: AbortSignal) => Promise<Result>
  private readonly onLoaded: (result: Result) => void
  private readonly lastFault = signal<unknown>(undefined)
  private readonly asking = signal(false)
  private readonly end = new AbortController()
  private timer: ReturnType<typeof setTimeout> | undefined
  private failures = 0

  constructor(load: (signal: AbortSignal) => Promise<Result>, onLoaded: (result: Result) => void) {
    this.load = load
    this.onLoaded = onLoaded
  }

  /** Why the last try failed; undefined before that, and after a success. */
  get fault(): ReadonlySignal<unknown> {
    return this.lastFault
  }

  get isAsking(): ReadonlySignal<boolean> {
    return this.asking
  }

  /** Tries now instead of after the pause. Resolves after this try, whatever comes of it. */
  async start(): Promise<void> {
    if (this.asking.peek() || this.end.signal.aborted) return
    clearTimeout(this.timer)
    this.asking.value = true
    try {
      const result = await this.load(this.end.signal)
      if (this.end.signal.aborted) return
      this.lastFault.value = undefined
      this.stop()
      this.onLoaded(result)
    } catch (error) {
      if (this.end.signal.aborted) return
      this.failures++
      this.lastFault.value = error
      this.timer = setTimeout(() => void this.start(), retryPauseMs(error, this.failures))
    } finally {
      this.asking.value = false
    }
  }

  /** Ends the running try and all later ones. */
  stop(): void {
    clearTimeout(this.timer)
    this.end.abort()
  }
}
