import type { Clock } from '../clock.ts'

/** Whether a service answers, and since when it has been so. */
export interface ServiceAnswers {
  readonly isAnswering: boolean
  readonly sinceMs: number
}

/** Whether a service outside answered the last call of this process. */
export class ServiceState {
  private readonly clock: Clock
  private answers: ServiceAnswers | undefined
  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Undefined before the first call. */
  get current(): ServiceAnswers | undefined {
    return this.answers
  }

  note(isAnswering: boolean): void {
    if (this.answers?.isAnswering === isAnswering) return
    this.answers = { isAnswering, sinceMs: this.clock.nowMs() }
  }
}
