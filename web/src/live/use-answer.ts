import { type Call, LandpassError } from '@landpass/client'
import { useEffect, useMemo } from 'preact/hooks'
import { send } from '../api/client.ts'
import { type AnswerState, LiveAnswer } from './live-answer.ts'
import { worldChange, worldStatus } from './world.ts'

export interface Answer<Data> extends AnswerState<Data> {
  retry(): void
}

/**
 * Sends a call, and sends it again when the world has changed or can be reached again. The previous answer stays until
 * the next one arrives, also that of another call: give the component another `key` to start without it.
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
  const state = live.state.value
  // A call is sent after the rendering that has it first
  const isOfEarlierCall = state.isOfEarlierCall || (state.data !== undefined && live.asked?.path !== path)
  return { ...state, isOfEarlierCall, retry: () => live.refresh() }
}

function followWorld<Data>(live: LiveAnswer<Data>): () => void {
  let count = worldChange.peek().count
  const stopChanges = worldChange.subscribe((change) => {
    if (change.count === count) return // a subscription starts with a call for the current value
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

/** Failures of the connection or the server, and too many requests, can pass: the call is sent again. Other refusals are final. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof LandpassError)) return false
  const { code, status } = error
  return status === 0 || status === 429 || status >= 500 || code === 'unreadable_answer'
}
