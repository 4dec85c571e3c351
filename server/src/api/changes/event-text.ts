import type { ChangedNames } from '../../state/differences/changed-names.ts'
import { type StateAt, versionOf, versionText } from '../../state/differences/state-version.ts'

/**
 * - `hello`: the current state, for a client that named none.
 * - `change`: the parcels and estates that differ between the previous state and this one.
 * - `reset`: the current state, whose differences from the previous one are not known.
 */
export type EventKind = 'hello' | 'change' | 'reset'

/**
 * The text of an event, with the empty line at its end. Its id is the state, as for `/v2/feed?since=`.
 *
 * @example
 * eventText('change', now, { parcels: ['1,2'], estates: ['5'] })
 * // id: 1.5f1c3a9b2d40.8.0
 * // event: change
 * // data: {"revision":8,"state":"1.5f1c3a9b2d40.8.0","changed_at":"2026-11-20T00:00:00.000Z","parcels":["1,2"],"estates":["5"]}
 * // with `"block":{"number":21000000,"hash":"0x…"}` after the time, where the world follows a chain
 */
export function eventText(kind: EventKind, now: StateAt, names?: ChangedNames): string {
  const { state, openOffers } = now
  const version = versionText(versionOf(now))
  const { changedAtMs } = state.freshness(openOffers.lastExpiryMs)
  const data = {
    revision: state.revision,
    state: version,
    changed_at: new Date(changedAtMs).toISOString(),
    ...(state.parts.block && { block: state.parts.block }),
    ...names,
  }
  return `id: ${version}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`
}
