import { onTestFinished, vi } from 'vitest'

/** Until the end of the test, the time limits of this process stand still, except in {@link passUntil}. */
export function holdTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
}

/** Lets held time pass until `isReached`. @returns the milliseconds that have passed, in steps of 100 */
export async function passUntil(isReached: () => boolean): Promise<number> {
  let passedMs = 0
  for (; !isReached(); passedMs += 100) await vi.advanceTimersByTimeAsync(100)
  return passedMs
}

/** Lets held time pass until `work` has ended. @returns its answer, and the milliseconds that have passed */
export async function passDuring<T>(work: Promise<T>): Promise<{ answer: T; passedMs: number }> {
  let isDone = false
  void work.finally(() => (isDone = true)).catch(() => undefined)
  const passedMs = await passUntil(() => isDone)
  return { answer: await work, passedMs }
}
