import { followChanges as changesFrom } from '@landpass/client'
import { client } from '../api/client.ts'
import { noteLandChange } from './chain.ts'
import { repeatWorldWhileFailing } from './repeat-world.ts'
import { updateWorld, worldGrid, worldStatus } from './world.ts'

/** Pause before a broken stream is opened again, where the server does not name one. */
const RETRY_MS = 10_000
let round = new AbortController()
let retry: number | undefined

/**
 * Follows the stream of changes (docs/changes.md) and updates the world after each. A hidden page closes its stream,
 * because browsers allow few connections for all tabs of a server; it catches up when it is shown again.
 */
export function followChanges(): void {
  document.addEventListener('visibilitychange', start)
  window.addEventListener('online', start)
  // A server on this machine answers without a network too: the request decides whether it can be reached.
  window.addEventListener('offline', () => document.hidden || void updateWorld())
  // The stream alone would not announce that the world can be read again, and it may have lost its connection unnoticed:
  // so the first successful request starts it anew.
  repeatWorldWhileFailing(start)
  start()
}

/** Opens the stream, anew where there is one; a hidden page closes it. */
function start(): void {
  window.clearTimeout(retry)
  round.abort()
  if (document.hidden) return
  round = new AbortController()
  void listen(round.signal)
}

async function listen(signal: AbortSignal): Promise<void> {
  const options = {
    since: worldGrid.peek()?.state,
    signal,
    retryMs: RETRY_MS,
    // The stream sends what changed since the held state, so a world that is up to date needs no request.
    onOpen: () => worldStatus.peek() !== 'ready' && void updateWorld(),
    // A server that refuses streams may still answer reads; one that answers neither is unreachable.
    onBreak: () => void updateWorld(),
  }
  try {
    for await (const change of changesFrom(client, options)) {
      noteLandChange(change)
      if (change.kind !== 'hello') void updateWorld()
    }
  } catch {
    if (signal.aborted) return
    void updateWorld()
    retry = window.setTimeout(start, RETRY_MS)
  }
}
