import { followChanges as changesFrom } from '@landpass/client'
import { effect } from '@preact/signals'
import { client } from '../api/client.ts'
import { updateWorld, worldGrid, worldStatus } from './world.ts'

/** After so long we try again what has failed, where the server does not say how long. */
const RETRY_MS = 10_000
let round = new AbortController()
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
    if (worldGrid.peek()) worldStatus.value = 'unreachable'
  })
  effect(askAgainWhileOutOfReach)
  if (!document.hidden) start()
}

/** A stream says nothing of a world that could not be read. */
function askAgainWhileOutOfReach(): (() => void) | undefined {
  if (worldStatus.value !== 'unreachable' && worldStatus.value !== 'failed') return undefined
  const again = window.setInterval(() => !document.hidden && void updateWorld(), RETRY_MS)
  return () => window.clearInterval(again)
}

function start(): void {
  stop()
  round = new AbortController()
  void listen(round.signal)
}

function stop(): void {
  window.clearTimeout(retry)
  round.abort()
}

async function listen(signal: AbortSignal): Promise<void> {
  const options = {
    since: worldGrid.peek()?.state,
    signal,
    retryMs: RETRY_MS,
    // What changed since the state that is held comes as an event: a world that is as it should be needs no question.
    onOpen: () => worldStatus.peek() !== 'ready' && void updateWorld(),
    // A server that refuses streams can still tell what changed; one that does not is out of reach.
    onBreak: () => void updateWorld(),
  }
  try {
    for await (const { kind } of changesFrom(client, options)) if (kind !== 'hello') void updateWorld()
  } catch {
    if (signal.aborted) return
    void updateWorld()
    retry = window.setTimeout(start, RETRY_MS)
  }
}
