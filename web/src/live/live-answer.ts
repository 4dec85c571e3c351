import { type Call, LandpassError } from '@landpass/client'
import { type ReadonlySignal, signal } from '@preact/signals'

export interface AnswerState<Data> {
  /** The newest answer. It stays while the next request runs, and when that fails. */
  readonly data: Data | undefined
  /** Whether `data` answers an earlier call: the present one has not succeeded yet. */
  readonly isOfEarlierCall: boolean
  /** Why the last request failed; undefined if it succeeded. */
  readonly error: unknown
  readonly isAsking: boolean
}

export type Asker = <Data>(call: Call<Data>, signal: AbortSignal) => Promise<Data>

/**
 * The answer to a call, requested again when the world changes.
 *
 *   ask(call) cancels the running request and sends the call · refresh() sends it again: at once, or once more after the
 *   running request. So a world that changes faster than it answers cannot keep an answer from arriving.
 */
export class LiveAnswer<Data> {
  private readonly held = signal<AnswerState<Data>>({
    data: undefined,
    isOfEarlierCall: false,
    error: undefined,
    isAsking: true,
  })
  private readonly asker: Asker
  private call: Call<Data> | undefined
  private round = new AbortController()
  private isUnderWay = false
  private isOutdated = false

  constructor(asker: Asker) {
    this.asker = asker
  }

  get state(): ReadonlySignal<AnswerState<Data>> {
    return this.held
  }

  /** The call that the state is about. */
  get asked(): Call<Data> | undefined {
    return this.call
  }

  ask(call: Call<Data>): void {
    this.end()
    this.call = call
    this.round = new AbortController()
    const held = this.held.peek()
    this.held.value = { ...held, isOfEarlierCall: held.data !== undefined }
    void this.follow(call, this.round.signal)
  }

  refresh(): void {
    if (this.isUnderWay) this.isOutdated = true
    else if (this.call) void this.follow(this.call, this.round.signal)
  }

  end(): void {
    this.round.abort()
    this.call = undefined
    this.isUnderWay = false
    this.isOutdated = false
  }

  private async follow(call: Call<Data>, signal: AbortSignal): Promise<void> {
    this.isUnderWay = true
    do {
      this.isOutdated = false
      this.held.value = { ...this.held.peek(), isAsking: true }
      const state = await this.asker(call, signal).then(
        (data) => ({ data, isOfEarlierCall: false, error: undefined, isAsking: false }),
        (error: unknown) => ({
          ...this.held.peek(),
          ...(isGone(error) && { data: undefined, isOfEarlierCall: false }),
          error,
          isAsking: false,
        }),
      )
      if (signal.aborted) return
      this.held.value = state
    } while (this.isOutdated)
    this.isUnderWay = false
  }
}

/** After a 404 the held answer is known to be wrong; after other failures it may still be right. */
function isGone(error: unknown): boolean {
  return error instanceof LandpassError && error.status === 404
}
