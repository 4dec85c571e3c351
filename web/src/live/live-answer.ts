import { type ReadonlySignal, signal } from '@preact/signals'
import { AskError } from '../api/ask.ts'
import type { Question } from '../api/land.ts'

export interface AnswerState<Data> {
  /** The newest answer; it stays while a newer one is on its way, and when that does not come. */
  readonly data: Data | undefined
  /** Why the last try failed; undefined when it did not. */
  readonly error: unknown
  readonly isAsking: boolean
}

export type Asker = <Data>(question: Question<Data>, signal: AbortSignal) => Promise<Data>

/**
 * The answer to a question, kept up with the world.
 *
 *   ask(question) ends whatever is under way and asks · refresh() asks the same again: at once, or once more after what
 *   is under way. So a world that changes faster than it answers cannot keep an answer from arriving.
 */
export class LiveAnswer<Data> {
  private readonly held = signal<AnswerState<Data>>({ data: undefined, error: undefined, isAsking: true })
  private readonly asker: Asker
  private question: Question<Data> | undefined
  private round = new AbortController()
  private isUnderWay = false
  private isOutdated = false

  constructor(asker: Asker) {
    this.asker = asker
  }

  get state(): ReadonlySignal<AnswerState<Data>> {
    return this.held
  }

  ask(question: Question<Data>): void {
    this.end()
    this.question = question
    this.round = new AbortController()
    void this.follow(question, this.round.signal)
  }

  refresh(): void {
    if (this.isUnderWay) this.isOutdated = true
    else if (this.question) void this.follow(this.question, this.round.signal)
  }

  end(): void {
    this.round.abort()
    this.question = undefined
    this.isUnderWay = false
    this.isOutdated = false
  }

  private async follow(question: Question<Data>, signal: AbortSignal): Promise<void> {
    this.isUnderWay = true
    do {
      this.isOutdated = false
      this.held.value = { ...this.held.peek(), isAsking: true }
      const state = await this.asker(question, signal).then(
        (data) => ({ data, error: undefined, isAsking: false }),
        (error: unknown) => ({
          data: isGone(error) ? undefined : this.held.peek().data,
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

/** Only then is what we hold known to be wrong. */
function isGone(error: unknown): boolean {
  return error instanceof AskError && error.status === 404
}
