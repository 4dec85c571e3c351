import { useEffect, useState } from 'preact/hooks'

const LOOK_EVERY_MS = 500

/** Whole seconds until a time, counting down; 0 from then on, and for no time at all. @param untilMs since 1970 */
export function useSecondsUntil(untilMs: number | undefined): number {
  const [nowMs, setNowMs] = useState(Date.now)
  useEffect(() => {
    if (untilMs === undefined) return
    setNowMs(Date.now())
    const timer = window.setInterval(() => {
      setNowMs(Date.now())
      if (Date.now() >= untilMs) window.clearInterval(timer)
    }, LOOK_EVERY_MS)
    return () => window.clearInterval(timer)
  }, [untilMs])
  return untilMs === undefined ? 0 : Math.max(Math.ceil((untilMs - nowMs) / 1_000), 0)
}
