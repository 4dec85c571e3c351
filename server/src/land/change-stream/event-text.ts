import { type Moment, stateOf, stateText } from '../feed/feed-state.ts'
import type { ChangedNames } from './changed-names.ts'

/**
 * - `hello`: the state when the stream began, for a reader who said nothing of its own.
 * - `change`: what leads from the state before to this one.
 * - `reset`: this is the state, and nobody knows what leads to it from the one before.
 */
export type EventKind = 'hello' | 'change' | 'reset'

/**
 * An event as it is written, empty line and all. Its id is the state, as `/v2/feed?since=` takes it.
 *
 * @example
 * eventText('change', moment, { parcels: ['1,2'], estates: ['5'] })
 * // id: 1.5f1c3a9b2d40.8.0
 * // event: change
 * // data: {"revision":8,"state":"1.5f1c3a9b2d40.8.0","changed_at":"2026-11-20T00:00:00.000Z","parcels":["1,2"],"estates":["5"]}
 */
export function eventText(kind: EventKind, moment: Moment, names?: ChangedNames): string {
  const { present, sales } = moment
  const state = stateText(stateOf(moment))
  const { changedAtMs } = present.freshness(sales.lastExpiryMs)
  const data = {
    revision: present.revision,
    state,
    changed_at: new Date(changedAtMs).toISOString(),
    ...names,
  }
  return `id: ${state}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`
}
