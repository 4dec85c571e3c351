import { type Call, LandpassError } from '@landpass/client'
import { useEffect, useMemo } from 'preact/hooks'
import { send } from '../api/client.ts'
import { type AnswerState, LiveAnswer } from './live-answer.ts'
import { worldChange, worldStatus } from './world.ts'

export interface Answer<Data> extends AnswerState<Data> {
  retry(): void
}

/**
 * Sends a call, and again whenever the world changes or is in reach again. The older answer stays until the
 * next one is there, also that of an earlier call: give the component another `key` to begin with nothing.
 * @param call undefined sends nothing
 */
export function useAnswer<Data>(call: Call<Data> | undefined): Answer<Data> {
  const live = useMemo(() => new LiveAnswer<Data>(send), [])
  const path = call?.path
  useEffect(() => {
    if (call) live.ask(call)
    else live.end()
  }, [live, path])
  useEffect(() => followWorld(live), [live])
  return { ...live.state.value, retry: () => live.refresh() }
}

function followWorld<Data>(live: LiveAnswer<Data>): () => void {
  let count = worldChange.peek().count
  const stopChanges = worldChange.subscribe((change) => {
    if (change.count === count) return // a subscription begins with what is there
    count = change.count
    live.refresh()
  })
  const stopStatus = worldStatus.subscribe((status) => {
    if (status === 'ready' && isPassing(live.state.peek().error)) live.refresh()
  })
  return () => {
    stopChanges()
    stopStatus()
    live.end()
  }
}

/** A failure of the connection or of the server, which may be over. A refusal stays one. */
function isPassing(error: unknown): boolean {
  return error instanceof LandpassError && (error.status === 0 || error.status >= 500)
}
