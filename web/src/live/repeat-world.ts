import { effect } from '@preact/signals'
import { retryPauseMs } from '../api/retry-pause.ts'
import { updateWorld, worldFault, worldStatus } from './world.ts'

/**
 * Reads the world again while it could not be read: after pauses that grow with each failure in a row, and not before the
 * server asks for it. A hidden page waits until it is shown.
 *
 * @param onRead called when it could be read again
 * @returns to stop it
 */
export function repeatWorldWhileFailing(onRead?: () => void): () => void {
  let failures = 0
  return effect(() => {
    const { value: fault } = worldFault // another one with each failure
    const { value: status } = worldStatus
    if (status === 'ready') failures = 0
    if (status !== 'unreachable' && status !== 'failed') return undefined
    failures++
    const again = window.setInterval(
      () => !document.hidden && void read(onRead),
      retryPauseMs(fault, failures),
    )
    return () => window.clearInterval(again)
  })
}

async function read(onRead: (() => void) | undefined): Promise<void> {
  await updateWorld()
  if (worldStatus.peek() === 'ready') onRead?.()
}
