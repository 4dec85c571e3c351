import { type StateAt, versionOf, versionText } from '../../state/differences/state-version.ts'

/**
 * - `hello`: the current state, for a client that named none.
 * - `change`: the parcels and estates that differ between the previous state and this one.
 * - `reset`: the current state, whose differences from the previous one are not known.
 */
export type EventKind = 'hello' | 'change' | 'reset'

/**
 * The text of an event, with the empty line at its end.
 *
 * @param id the state that a client sends when it comes back; if left out the one for `/v2/feed?since=`
 * @param more what the data have besides
 * @example
 * eventText('change', now, { more: { parcels: ['1,2'], estates: ['5'] } })
 * // id: 1.5f1c3a9b2d40.8.0
 * // event: change
 * // data: {"revision":8,"state":"1.5f1c3a9b2d40.8.0","changed_at":"2026-11-20T00:00:00.000Z","parcels":["1,2"],"estates":["5"]}
 * // with `"block":{"number":21000000,"hash":"0x…"}` after the time, where the world follows a chain
 */
export function eventText(
  kind: EventKind,
  now: StateAt,
  {
    id = versionText(versionOf(now)),
    more,
  }: { readonly id?: string; readonly more?: object | undefined } = {},
): string {
  const { state, openOffers } = now
  const { changedAtMs } = state.freshness(openOffers.lastExpiryMs)
  const data = {
    revision: state.revision,
    state: id,
    changed_at: new Date(changedAtMs).toISOString(),
    ...(state.parts.block && { block: state.parts.block }),
    ...more,
  }
  return `id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`
}
