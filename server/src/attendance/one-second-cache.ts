import { SECOND_MS } from '../clock.ts'

/** How old an answer may be. */
const KEPT_MS = SECOND_MS
const MAX_KEPT = 1_000

/**
 * What the database said within the last second, by name. A crowd asks the same a hundred times a second: those who
 * ask in the same second get the same answer, and those who ask while it is read wait for it together. What this
 * process changes is forgotten at once, what others change after a second. The time here is that of the process, not
 * that of the world.
 *
 * @example
 * const event = await events.get('90001', () => readEvent(90001))
 */
export class OneSecondCache<Value> {
  private readonly kept = new Map<string, { readonly answer: Promise<Value>; readonly untilMs: number }>()

  /** @throws what `read` throws: a failure is not kept */
  get(name: string, read: () => Promise<Value>): Promise<Value> {
    const kept = this.kept.get(name)
    if (kept && performance.now() < kept.untilMs) return kept.answer
    this.kept.delete(name)
    if (this.kept.size >= MAX_KEPT) this.kept.delete(this.kept.keys().next().value ?? '')
    const answer = read()
    this.kept.set(name, { answer, untilMs: performance.now() + KEPT_MS })
    answer.catch(() => {
      if (this.kept.get(name)?.answer === answer) this.kept.delete(name)
    })
    return answer
  }

  /** For those who must see what has just happened. */
  forget(name: string): void {
    this.kept.delete(name)
  }
}
