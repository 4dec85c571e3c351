import { effect } from '@preact/signals'
import { updateWorld, worldGrid, worldStatus } from './world.ts'

/** After so long we try again by hand what has failed: browsers give streams up for good after some kinds of failure. */
const RETRY_MS = 10_000
let source: EventSource | undefined
let retry: number | undefined

/**
 * Hears of every change of the land (docs/changes.md) and brings the world up to it. A page that nobody looks at listens
 * to nothing: browsers have few connections for all of their tabs. It catches up when it is shown again.
 */
export function followChanges(): void {
  document.addEventListener('visibilitychange', () => (document.hidden ? stop() : start()))
  window.addEventListener('online', start)
  window.addEventListener('offline', () => {
    stop()
    if (worldGrid.peek()) worldStatus.value = 'offline'
  })
  effect(askAgainWhileOutOfReach)
  if (!document.hidden) start()
}

/** A stream says nothing of a world that could not be read. */
function askAgainWhileOutOfReach(): (() => void) | undefined {
  if (worldStatus.value !== 'offline' && worldStatus.value !== 'failed') return undefined
  const again = window.setInterval(() => !document.hidden && void updateWorld(), RETRY_MS)
  return () => window.clearInterval(again)
}

function start(): void {
  stop()
  const state = worldGrid.peek()?.state
  source = new EventSource(state ? `/v2/changes?since=${encodeURIComponent(state)}` : '/v2/changes')
  // What changed since the state that is held comes as an event: a world that is as it should be needs no question.
  source.onopen = () => worldStatus.peek() !== 'ready' && void updateWorld()
  for (const name of ['change', 'reset']) source.addEventListener(name, () => void updateWorld())
  source.onerror = () => {
    // A server that refuses streams can still tell what changed; one that does not is out of reach.
    void updateWorld()
    if (source?.readyState !== EventSource.CLOSED) return
    stop()
    retry = window.setTimeout(start, RETRY_MS)
  }
}

function stop(): void {
  window.clearTimeout(retry)
  source?.close()
  source = undefined
}
